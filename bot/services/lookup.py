"""Lookup of single commits: in the store, in the mirror, or else at GitHub, with a note if one is not on the branch."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from analysis.errors import UnknownCommit, UnknownRepository
from analysis.impact.reversal import undoes
from analysis.locale import Phrase
from analysis.models import SHORT_SHA, Commit, Entry, Language, Released, Repository
from analysis.sources.github import GitHub, PullState
from bot.models.reference import Reference
from bot.services.analyst import Analyst, with_needed_patches
from bot.services.commit_reader import current_commits, save_commit
from bot.services.commit_sources import CommitSources
from bot.services.limits import MeteredModel
from bot.store import Store


class Located(NamedTuple):
    """A stored commit's id and its repository."""

    repository: Repository
    commit_id: int


class Unmerged(NamedTuple):
    """A pull request that is not merged, and its repository."""

    repository: Repository
    pull: PullState


class SeveralCommits(UnknownCommit):
    """An ambiguous reference."""


class CommitLookup:
    """Finds commits in the store, in mirrors or at GitHub, and analyses them."""

    def __init__(self, github: GitHub, sources: CommitSources, store: Store, model: MeteredModel | None = None) -> None:
        self._github = github
        self._sources = sources
        self._store = store
        self._model = model

    def look_up(
        self, reference: Reference, repositories: Sequence[Repository], language: Language
    ) -> tuple[Repository, Entry]:
        """Return the commit that `reference` names, with its analysis and its first release. Raise the errors of `locate`."""
        located = self.locate(reference, repositories)
        return located.repository, self.with_release(located.repository, self.entry(located, language))

    def with_release(self, repository: Repository, entry: Entry) -> Entry:
        """Return an entry with the release that had its commit first, asking GitHub if no mirror tells."""
        return self._sources.stored(repository).with_release(entry)

    def entry(self, located: Located, language: Language, *, patches: bool = False) -> Entry:
        """Return a commit with its analysis; with `patches`, for questions, include its patches and make no model call."""
        source = self._sources.stored(located.repository)
        [current] = current_commits(self._store, [located.commit_id], source)
        with Analyst(self._store, located.repository, language, self._model, source, ask=not patches) as analyst:
            analyst.submit([located.commit_id])
        [entry] = analyst.entries([current])
        if not patches:
            return with_needed_patches(self._store, {entry.commit.sha: located.commit_id}, [entry])[0]
        whole = self._store.commits([located.commit_id], patches=True)[0].commit
        return entry.model_copy(update={"commit": whole})

    def locate(self, reference: Reference, repositories: Sequence[Repository]) -> Located:
        """Return the commit that `reference` names, in its own repository or in one of `repositories`; read it if necessary.

        Raise `SeveralCommits` if the reference is ambiguous, `UnknownCommit` if nothing matches.
        """
        located = self.find(reference, repositories)
        if isinstance(located, Unmerged):
            raise UnknownCommit(
                Phrase(
                    "pull request #{number} of {repository} is not merged yet",
                    number=located.pull.number,
                    repository=located.repository.full_name,
                )
            )
        return located

    def find(self, reference: Reference, repositories: Sequence[Repository]) -> Located | Unmerged:
        """Return the commit that `reference` names, as `locate` does, or the pull request if that is not merged."""
        candidates = _candidates(reference, repositories)
        located = self._in_store(reference, candidates) or self._from_github(reference, candidates)
        if isinstance(located, Unmerged):
            return located
        stored = self._store.commits([located.commit_id])[0]
        if not stored.commit.read:
            read = self._sources.stored(located.repository).read_commit(stored.commit.sha)
            save_commit(self._store, located.repository, read)
        return located

    def canonical_name(self, repository: Repository) -> Repository:
        """Return a repository under GitHub's spelling. Raise `UnknownRepository` or `UnknownBranch` if there is none."""
        return self._github.canonical_name(repository)

    def _in_store(self, reference: Reference, candidates: Sequence[Repository]) -> Located | None:
        found = []
        for repository in candidates:
            if reference.sha:
                hits = self._store.with_sha(reference.sha, repository)
            else:
                hits = self._store.with_pr(reference.pr or 0, repository)
            found += [Located(repository, commit_id) for _, commit_id in hits]
        if len(found) > 1:
            commits = self._store.commits([each.commit_id for each in found])
            listed = ", ".join(
                f"{each.repository} {stored.commit.sha[: SHORT_SHA + 5]}"
                for each, stored in zip(found, commits, strict=True)
            )
            raise SeveralCommits(
                Phrase(
                    "{text} matches several commits: {listed}; use a longer SHA, or name the repository",
                    text=reference.text,
                    listed=listed,
                )
            )
        return found[0] if found else None

    def revert(self, repository: Repository, sha: str) -> tuple[Commit, Commit] | None:
        """Return a commit that was read, and the stored one that undoes it; None if none does."""
        for stored in self._store.commits(list(self._store.read_ids(repository, [sha]).values())):
            by = self._store.links([stored])[stored.id].reverted_by
            for _, commit_id in self._store.with_sha(by, repository) if by else ():
                [reverting] = self._store.commits([commit_id])
                if undoes(reverting.commit, stored.commit, stored.facts):
                    return stored.commit, reverting.commit
        return None

    def first_release(self, repository: Repository, sha: str, fetched_at: datetime | None = None) -> Released:
        """Return in which release a commit was first; read the commit if necessary, and at an instant fetch the mirror."""
        located = self.locate(Reference(sha, sha=sha), [repository])
        [stored] = self._store.commits([located.commit_id])
        sources = self._sources
        source = sources.current(repository, fetched_at, fetched_at) if fetched_at else sources.stored(repository)
        return source.first_release(stored.commit)

    def knows_releases(self, repository: Repository) -> bool:
        """Return whether releases of a repository are known."""
        return self._sources.stored(repository).knows_releases()

    def pull_state(self, repository: Repository, number: int) -> PullState:
        """Return how pull request `number` stands at GitHub; `UnknownCommit` if it is missing."""
        return self._github.pull_state(repository, number)

    def _from_github(self, reference: Reference, candidates: Sequence[Repository]) -> Located | Unmerged:
        missing: UnknownCommit | UnknownRepository | None = None
        unmerged: Unmerged | None = None
        for repository in candidates:
            try:
                sha = reference.sha
                if not sha:
                    pull = self._github.pull_state(repository, reference.pr or 0)
                    sha = pull.merged_as
                    if not sha:
                        unmerged = unmerged or Unmerged(repository, pull)
                        continue
                read = self._sources.stored(repository).find_commit(sha)
            except (UnknownCommit, UnknownRepository) as exc:
                missing = missing or exc
                continue
            return Located(repository, save_commit(self._store, repository, read))
        if unmerged:
            return unmerged
        raise missing or UnknownCommit(
            Phrase("no repository is configured to search for {text}; name one: owner/name", text=reference.text)
        )


def _candidates(reference: Reference, repositories: Sequence[Repository]) -> list[Repository]:
    if reference.repository is None:
        return list(repositories)
    # Prefer the configured repository, which has a branch: a URL has none.
    return [each for each in repositories if each.full_name.lower() == reference.repository.key] or [
        reference.repository
    ]
