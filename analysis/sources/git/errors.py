"""The errors of git: what its program says, by cause, and a table to our errors."""

import errno
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from enum import Enum, auto

from analysis.errors import DigestError, MirrorUnavailable, UnknownBranch, UnknownCommit, translated_by
from analysis.locale import Phrase, mark
from analysis.models import SHORT_SHA, Repository
from analysis.sources import github_errors
from analysis.sources.git.locks import LockTimedOut

_NOT_READABLE = mark("git cannot read {repository} ({cause}); try again later")
_FULL = mark("no disk space is left for the mirror of {repository}; free some, or set DIGEST_MIRRORS to another folder")
_LACKING = mark(
    "the mirror of {repository} lacks commit {commit}, as does its server; check the SHA, or the repository"
)
_BROKEN = mark("the mirror of {repository} is damaged; the next fetch clones it again")


class Cause(Enum):
    """Why git failed."""

    FULL = auto()  # the disk is
    REFUSED = auto()  # the server does not know the repository, or does not show it
    MOVED = auto()  # the server sends us elsewhere
    NO_REF = auto()  # the repository has no such branch or tag
    NO_OBJECT = auto()  # the server lacks an object, or does not hand it out
    LACKING = auto()  # the mirror lacks an object
    NO_ANSWER = auto()
    BROKEN = auto()  # the mirror is damaged
    OTHER = auto()


_SIGNS = (  # what git's standard error contains, in lower case -> the cause; the first that fits
    ("no space left", Cause.FULL),
    ("disk quota exceeded", Cause.FULL),
    ("file too large", Cause.FULL),
    ("authentication failed", Cause.REFUSED),
    ("could not read username", Cause.REFUSED),
    ("returned error: 401", Cause.REFUSED),
    ("returned error: 403", Cause.REFUSED),
    ("returned error: 404", Cause.REFUSED),
    ("returned error: 410", Cause.REFUSED),
    ("returned error: 451", Cause.REFUSED),
    ("' not found", Cause.REFUSED),
    ("repository not found", Cause.REFUSED),
    ("access denied", Cause.REFUSED),
    ("returned error: 3", Cause.MOVED),
    ("redirect", Cause.MOVED),
    ("find remote ref", Cause.NO_REF),
    ("not our ref", Cause.NO_OBJECT),
    ("pack-objects died", Cause.NO_OBJECT),
    ("remote error", Cause.NO_OBJECT),
    ("unable to access", Cause.NO_ANSWER),
    ("rpc failed", Cause.NO_ANSWER),
    ("early eof", Cause.NO_ANSWER),
    ("hung up", Cause.NO_ANSWER),
    ("unexpected disconnect", Cause.NO_ANSWER),
    ("protocol", Cause.NO_ANSWER),
    ("not valid: is this a git repository", Cause.NO_ANSWER),
    ("not a git repository", Cause.BROKEN),
    ("corrupt", Cause.BROKEN),
    ("bad object", Cause.BROKEN),
    ("bad pack header", Cause.BROKEN),
    ("packfile", Cause.BROKEN),
    ("index file", Cause.BROKEN),
    ("does not point to a valid object", Cause.BROKEN),
    ("could not parse commit", Cause.BROKEN),
    ("cannot lock ref", Cause.BROKEN),
    ("unable to read", Cause.LACKING),
    ("bad config", Cause.BROKEN),
    ("unable to resolve reference", Cause.BROKEN),
    ("did not send all necessary objects", Cause.BROKEN),
)

_SENTENCES = {Cause.FULL: _FULL, Cause.BROKEN: _BROKEN}

_HTTP_STATUS = re.compile(r"returned error: ([45]\d\d)")


_NOT_RUNNING = "0.0"


class GitMissing(Exception):
    """There is no git, it does not run (`version` 0.0), or its version is too old."""

    def __init__(self, version: str) -> None:
        super().__init__(version)
        self.version = version


class GitTimedOut(Exception):
    """Git took longer than `seconds`."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class GitTooLarge(Exception):
    """A repository has, or would have, more than `limit` megabytes."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.limit = limit


class TreeRefused(Exception):
    """A commit has more or longer paths than are looked at, or two of one name."""


class GitFailed(Exception):
    """Git ended with a failure. Its words may hold an address: they are for telling the `cause`, and never shown."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(status)
        low = words.lower()
        self.status = status
        self.cause = next((cause for sign, cause in _SIGNS if sign in low), Cause.OTHER)
        self.words = words


class ObjectMissing(Exception):
    """The mirror lacks an object, and could not fetch it."""


class MirrorDamaged(Exception):
    """The mirror cannot be read."""


def translated_errors(repository: Repository, host: str, commit: str | None = None) -> AbstractContextManager[None]:
    """Raise git's errors as ours: about a repository, the server that it is fetched from, and a commit if one was asked for."""
    return translated_by(_TABLE, repository, host, commit)


def translated_git_errors() -> AbstractContextManager[None]:
    """Raise the errors of a git that is missing or too old as ours."""
    return translated_by({GitMissing: _missing})


def unknown_commit(repository: Repository, name: str) -> UnknownCommit:
    return github_errors.unknown_commit(repository, name, _LACKING)


def unknown_branch(repository: Repository) -> UnknownBranch:
    return UnknownBranch(Phrase("GitHub has no branch {repository}; check the spelling", repository=repository))


def _missing(exc: GitMissing, *_: object) -> DigestError:
    if exc.version == _NOT_RUNNING:
        return MirrorUnavailable(Phrase("git does not run on this machine; install git 2.38 or newer"))
    if exc.version:
        return MirrorUnavailable(Phrase("git {version} is too old; install git 2.38 or newer", version=exc.version))
    return MirrorUnavailable(Phrase("git is not installed; install git 2.38 or newer"))


def _timed_out(exc: GitTimedOut, repository: Repository, *_: object) -> DigestError:
    return MirrorUnavailable(
        Phrase(
            "git took longer than {seconds:,.0f} s for {repository}; try again later",
            seconds=exc.seconds,
            repository=repository.full_name,
        )
    )


def _too_large(exc: GitTooLarge, repository: Repository, *_: object) -> DigestError:
    return MirrorUnavailable(
        Phrase(
            "{repository} is too large for a mirror; the limit is {limit:,} MB",
            repository=repository.full_name,
            limit=exc.limit,
        )
    )


def _tree_refused(_: TreeRefused, repository: Repository, *__: object) -> DigestError:
    name = repository.full_name
    return MirrorUnavailable(Phrase("{repository} has too many or too long paths, or two of one name", repository=name))


def _object_missing(_: ObjectMissing, repository: Repository, host: str, commit: str | None) -> DigestError:
    return MirrorUnavailable(
        Phrase(
            "{host} does not serve the files of {commit}; try again later",
            host=host,
            commit=(commit or repository.full_name)[:SHORT_SHA] if commit else repository.full_name,
        )
    )


def _damaged(_: MirrorDamaged, repository: Repository, *__: object) -> DigestError:
    return MirrorUnavailable(Phrase(_BROKEN, repository=repository.full_name))


def _lock_timed_out(exc: LockTimedOut, repository: Repository, *_: object) -> DigestError:
    return MirrorUnavailable(
        Phrase(
            "the mirror of {repository} is still being cloned or fetched after {seconds:,.0f} s; try again later",
            repository=repository.full_name,
            seconds=exc.seconds,
        )
    )


def _failed(exc: GitFailed, repository: Repository, host: str, commit: str | None) -> DigestError:
    if exc.cause is Cause.NO_OBJECT and commit:
        return unknown_commit(repository, commit)
    if exc.cause is Cause.NO_REF and repository.branch:
        return unknown_branch(repository)
    if exc.cause in _SENTENCES:
        return MirrorUnavailable(Phrase(_SENTENCES[exc.cause], repository=repository.full_name))
    if status := _HTTP_STATUS.search(exc.words):
        return MirrorUnavailable(
            Phrase("{host} returned status {status}; try again later", host=host, status=status[1])
        )
    if exc.cause is Cause.NO_ANSWER:
        cause = github_errors.known_cause(exc.words) or Phrase("no response")
        return _unreadable(repository, Phrase("{host}: {cause}", host=host, cause=cause))
    causes = {
        Cause.REFUSED: Phrase("the server denied access"),
        Cause.MOVED: Phrase("the server redirected the request"),
        Cause.NO_REF: Phrase("the repository is empty"),
        Cause.LACKING: Phrase("objects are missing in the mirror"),
        Cause.NO_OBJECT: Phrase("objects are missing on the server"),
    }
    return _unreadable(
        repository, causes.get(exc.cause) or Phrase("git failed with status {status}", status=exc.status)
    )


def _system_error(exc: OSError, repository: Repository, *_: object) -> DigestError:
    if exc.errno in (errno.ENOSPC, errno.EDQUOT):
        return MirrorUnavailable(Phrase(_FULL, repository=repository.full_name))
    return MirrorUnavailable(
        Phrase("the mirror folder cannot be used ({reason}); check DIGEST_MIRRORS", reason=exc.strerror or "")
    )


def _unreadable(repository: Repository, cause: Phrase) -> MirrorUnavailable:
    return MirrorUnavailable(Phrase(_NOT_READABLE, repository=repository.full_name, cause=cause))


_TABLE: Mapping[type[Exception], Callable[..., DigestError]] = {
    GitMissing: _missing,
    GitTimedOut: _timed_out,
    GitTooLarge: _too_large,
    TreeRefused: _tree_refused,
    GitFailed: _failed,
    ObjectMissing: _object_missing,
    MirrorDamaged: _damaged,
    LockTimedOut: _lock_timed_out,
    OSError: _system_error,
}
