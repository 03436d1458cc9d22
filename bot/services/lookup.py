"""One commit, asked for by hand: from the store if it is there, else from GitHub, and said so if it is not on the branch."""

from collections.abc import Sequence
from typing import NamedTuple

from analysis.errors import UnknownCommit, UnknownRepository
from analysis.models import SHORT_SHA, Entry, Language, Repository
from analysis.phrases import Phrase
from bot.services.analyst import Analyst
from bot.services.digest import Services, current, keep
from bot.services.reference import Reference


class Located(NamedTuple):
    """A stored commit and the repository it is of."""

    repository: Repository
    commit_id: int


class SeveralCommits(UnknownCommit):
    """More than one stored commit answers to a reference: `candidates`."""

    def __init__(self, what: str | Phrase, candidates: Sequence[Located]) -> None:
        super().__init__(what)
        self.candidates = tuple(candidates)


def look_up(
    services: Services, reference: Reference, repositories: Sequence[Repository], language: Language
) -> tuple[Repository, Entry]:
    """The commit that `reference` names, with its analysis; errors as of `locate`."""
    located = locate(services, reference, repositories)
    return located.repository, entry_of(services, located, language)


def entry_of(services: Services, located: Located, language: Language, *, patches: bool = False) -> Entry:
    """A commit with its analysis; with its patches for a question, which does not wait for an analysis first."""
    with Analyst(
        services.store, located.repository, language, services.modelling, services.github.contents, ask=not patches
    ) as analyst:
        analyst.submit([located.commit_id])
    entry = analyst.entries(current(services.store, [located.commit_id]))[0]
    if not patches:
        return entry
    whole = services.store.commits([located.commit_id], patches=True)[0].commit
    return entry.model_copy(update={"commit": whole})


def locate(services: Services, reference: Reference, repositories: Sequence[Repository]) -> Located:
    """The commit that `reference` names in one of `repositories`, or in the one that it names itself, read if it was not.

    `SeveralCommits` when several begin like it, `UnknownCommit` when none does.
    """
    wanted = _wanted(reference, repositories)
    located = _in_store(services, reference, wanted) or _from_github(services, reference, wanted)
    stored = services.store.commits([located.commit_id])[0]
    if not stored.commit.read:
        commit = services.github.read_commit(located.repository, stored.commit.sha)
        keep(services.store, located.repository, commit)
    return located


def _wanted(reference: Reference, repositories: Sequence[Repository]) -> list[Repository]:
    if reference.repository is None:
        return list(repositories)
    # A configured repository keeps its branch: an address names none.
    return [each for each in repositories if each.full_name.lower() == reference.repository.key] or [
        reference.repository
    ]


def _in_store(services: Services, reference: Reference, wanted: Sequence[Repository]) -> Located | None:
    found = []
    for repository in wanted:
        if reference.sha:
            hits = services.store.with_sha(reference.sha, repository)
        else:
            hits = services.store.with_pr(reference.pr or 0, repository)
        found += [Located(repository, commit_id) for _, commit_id in hits]
    if len(found) > 1:
        commits = services.store.commits([each.commit_id for each in found])
        listed = ", ".join(
            f"{each.repository} {stored.commit.sha[: SHORT_SHA + 5]}"
            for each, stored in zip(found, commits, strict=True)
        )
        raise SeveralCommits(Phrase("several_commits", text=reference.text, listed=listed), found)
    return found[0] if found else None


def _from_github(services: Services, reference: Reference, wanted: Sequence[Repository]) -> Located:
    missing: UnknownCommit | UnknownRepository | None = None
    for repository in wanted:
        try:
            sha = reference.sha or services.github.merged_as(repository, reference.pr or 0)
            commit = services.github.read_commit(repository, sha)
        except (UnknownCommit, UnknownRepository) as exc:
            missing = missing or exc
            continue
        commit = commit.model_copy(update={"not_on": services.github.branch_without(repository, commit.sha)})
        return Located(repository, keep(services.store, repository, commit))
    raise missing or UnknownCommit(Phrase("nowhere_to_look", text=reference.text))
