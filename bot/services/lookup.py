"""Lookup of a single commit: from the store, or else from GitHub, with a note if it is not on the branch."""

from collections.abc import Sequence
from typing import NamedTuple

from analysis.errors import UnknownCommit, UnknownRepository
from analysis.locale import Phrase
from analysis.models import SHORT_SHA, Entry, Language, Repository
from bot.services.analyst import Analyst
from bot.services.digest import Services, current, keep
from bot.services.reference import Reference


class Located(NamedTuple):
    """A stored commit's id and its repository."""

    repository: Repository
    commit_id: int


class SeveralCommits(UnknownCommit):
    """An ambiguous reference; `candidates` are the stored commits that match it."""

    def __init__(self, what: str | Phrase, candidates: Sequence[Located]) -> None:
        super().__init__(what)
        self.candidates = tuple(candidates)


def look_up(
    services: Services, reference: Reference, repositories: Sequence[Repository], language: Language
) -> tuple[Repository, Entry]:
    """Return the commit that `reference` names, with its analysis. Raise the errors of `locate`."""
    located = locate(services, reference, repositories)
    return located.repository, entry_of(services, located, language)


def entry_of(services: Services, located: Located, language: Language, *, patches: bool = False) -> Entry:
    """Return a commit with its analysis; with `patches`, for questions, include its patches and make no model call."""
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
    """Return the commit that `reference` names, in its own repository or in one of `repositories`; read it if necessary.

    Raise `SeveralCommits` if the reference is ambiguous, `UnknownCommit` if nothing matches.
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
    # Prefer the configured repository, which has a branch: a URL has none.
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
        raise SeveralCommits(
            Phrase(
                "{text} names several commits: {listed}; give more of the SHA, or --repo",
                text=reference.text,
                listed=listed,
            ),
            found,
        )
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
    raise missing or UnknownCommit(
        Phrase("no repository is configured to look for {text} in; use --repo owner/name", text=reference.text)
    )
