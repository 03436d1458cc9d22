"""Failures of git to read a repository, with a sentence for each; the output of its program is told by its cause."""

import errno
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from enum import Enum

from analysis.errors import DigestError, MirrorUnavailable, UnknownBranch, UnknownCommit, translated_by
from analysis.locale import Phrase, mark
from analysis.models import SHORT_SHA, Repository
from analysis.sources import github_errors

_NOT_READABLE = mark("git cannot read {repository} ({cause}); try again later")
_FULL = mark("no disk space is left for the mirror of {repository}; free some, or set DIGEST_MIRRORS to another folder")
_LACKING = mark(
    "the mirror of {repository} lacks commit {commit}, as does its server; check the SHA, or the repository"
)
_BROKEN = mark("the mirror of {repository} is damaged; the next fetch clones it again")
_HTTP_STATUS = re.compile(r"returned error: ([45]\d\d)")


class GitCause(Enum):
    """Why git failed, in the words of the sentence about it."""

    FULL = _FULL
    REFUSED = mark("the server denied access")
    MOVED = mark("the server redirected the request")
    NO_REF = mark("the repository is empty")
    NO_OBJECT = mark("objects are missing on the server")
    LACKING = mark("objects are missing in the mirror")
    NO_ANSWER = mark("no response")
    BROKEN = _BROKEN
    OTHER = mark("git failed with status {status}")


_SIGNS = (  # a cause, and what git's standard error contains then, in lower case; the first that fits
    (GitCause.FULL, ("no space left", "disk quota exceeded", "file too large")),
    (GitCause.REFUSED, ("authentication failed", "could not read username", "' not found", "repository not found")),
    (GitCause.REFUSED, ("access denied", *(f"returned error: {status}" for status in (401, 403, 404, 410, 451)))),
    (GitCause.MOVED, ("returned error: 3", "redirect")),
    (GitCause.NO_REF, ("find remote ref",)),
    (GitCause.NO_OBJECT, ("not our ref", "pack-objects died", "remote error")),
    (
        GitCause.NO_ANSWER,
        ("unable to access", "rpc failed", "early eof", "hung up", "unexpected disconnect", "protocol"),
    ),
    (GitCause.NO_ANSWER, ("not valid: is this a git repository",)),
    (GitCause.BROKEN, ("not a git repository", "corrupt", "bad object", "bad pack header", "packfile", "index file")),
    (GitCause.BROKEN, ("does not point to a valid object", "could not parse commit", "cannot lock ref")),
    (GitCause.LACKING, ("unable to read",)),
    (GitCause.BROKEN, ("bad config", "unable to resolve reference", "did not send all necessary objects")),
)


class GitProblem(Exception):
    """What keeps git from reading a repository: a sentence with placeholders, and the values of some of them.

    {repository}, {host} and {commit} are filled in where they are known.
    """

    sentence = _NOT_READABLE

    def __init__(self, sentence: str = "", **values: object) -> None:
        super().__init__(sentence)
        self.sentence = sentence or self.sentence
        self.values = values


class GitTimedOut(GitProblem):
    """Git took longer than `seconds`."""

    sentence = mark("git took longer than {seconds:,.0f} s for {repository}; try again later")


class LockTimedOut(GitProblem):
    """Somebody else held the lock of a mirror for longer than `seconds`."""

    sentence = mark(
        "the mirror of {repository} is still being cloned or fetched after {seconds:,.0f} s; try again later"
    )


class GitTooLarge(GitProblem):
    """A repository has, or would have, more than `limit` megabytes."""

    sentence = mark("{repository} is too large for a mirror; the limit is {limit:,} MB")


class TreeRefused(GitProblem):
    """A commit has more or longer paths than are looked at, or two of one name."""

    sentence = mark("{repository} has too many or too long paths, or two of one name")


class ObjectMissing(GitProblem):
    """The mirror lacks an object, and could not fetch it."""

    sentence = mark("{host} does not serve the files of {commit}; try again later")


class MirrorDamaged(GitProblem):
    """The mirror cannot be read."""

    sentence = _BROKEN


class GitFailed(Exception):
    """Git ended with a failure. Its words may hold an address: they are for telling the `cause`, and never shown."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(status)
        low = words.lower()
        self.status = status
        self.cause = next((cause for cause, signs in _SIGNS if any(sign in low for sign in signs)), GitCause.OTHER)
        self.words = words


def translated_errors(
    repository: Repository | None, host: str = "", commit: str | None = None
) -> AbstractContextManager[None]:
    """Raise git's errors as ours: about a repository, the server that it is fetched from, and a commit if one was asked for."""
    return translated_by(_TABLE, repository, host, commit)


def unknown_commit(repository: Repository, name: str) -> UnknownCommit:
    return github_errors.unknown_commit(repository, name, _LACKING)


def unknown_branch(repository: Repository) -> UnknownBranch:
    return UnknownBranch(Phrase("GitHub has no branch {repository}; check the spelling", repository=repository))


def _problem(exc: GitProblem, repository: Repository | None, host: str, commit: str | None) -> DigestError:
    name = repository.full_name if repository else ""
    known = {"repository": name, "host": host, "commit": commit[:SHORT_SHA] if commit else name}
    return MirrorUnavailable(Phrase(exc.sentence, **known, **exc.values))


def _failed(exc: GitFailed, repository: Repository, host: str, commit: str | None) -> DigestError:
    if exc.cause is GitCause.NO_OBJECT and commit:
        return unknown_commit(repository, commit)
    if exc.cause is GitCause.NO_REF and repository.branch:
        return unknown_branch(repository)
    name = repository.full_name
    if exc.cause in (GitCause.FULL, GitCause.BROKEN):
        return MirrorUnavailable(Phrase(exc.cause.value, repository=name))
    if status := _HTTP_STATUS.search(exc.words):
        return MirrorUnavailable(
            Phrase("{host} returned status {status}; try again later", host=host, status=status[1])
        )
    cause = Phrase(exc.cause.value, status=exc.status)
    if exc.cause is GitCause.NO_ANSWER:
        cause = Phrase("{host}: {cause}", host=host, cause=github_errors.known_cause(exc.words) or cause)
    return MirrorUnavailable(Phrase(_NOT_READABLE, repository=name, cause=cause))


def _system_error(exc: OSError, repository: Repository, *_: object) -> DigestError:
    if exc.errno in (errno.ENOSPC, errno.EDQUOT):
        return MirrorUnavailable(Phrase(_FULL, repository=repository.full_name))
    return MirrorUnavailable(
        Phrase("the mirror folder cannot be used ({reason}); check DIGEST_MIRRORS", reason=exc.strerror or "")
    )


_TABLE: Mapping[type[Exception], Callable[..., DigestError]] = {
    GitProblem: _problem,
    GitFailed: _failed,
    OSError: _system_error,
}
