"""Releases, the pull requests that their notes name, and the commits that they cover."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from analysis.models import Commit, Repository
from analysis.sources.github import GitHub, Release
from analysis.sources.release_notes import Named, named
from analysis.window import Window

LEAST_IN_NOTES = 3  # pull requests named, for notes to be usable


class Noted(NamedTuple):
    """A release and the pull requests that its notes name."""

    release: Release
    named: Named

    @property
    def usable(self) -> bool:
        return len(self.named.every) >= LEAST_IN_NOTES


class Gained(NamedTuple):
    """The commits of a release that an older one lacks, without merges; `by_date` if a tag was missing."""

    commits: tuple[Commit, ...]
    by_date: bool


def noted(release: Release, repository: Repository) -> Noted:
    """Read the notes of a release."""
    return Noted(release, named(release.notes, repository))


def gained_commits(github: GitHub, repository: Repository, older: Release, newer: Release) -> Gained:
    """Return what `newer` has and `older` lacks: by their tags, or by their dates if GitHub has no such tags."""
    gained = github.compare(repository, older.tag, newer.tag).commits if older.tag else ()
    by_date = not gained
    if by_date:
        gained = github.list_commits(repository, Window(older.published_at, newer.published_at))
    return Gained(tuple(commit for commit in gained if not commit.is_merge), by_date)


def between_named(commits: Iterable[Commit], numbers: frozenset[int]) -> Sequence[Commit]:
    """Return the commits from the first to the last that the notes name, oldest first; all if they name none.

    A release is dated after its last commit: commits after the last named one belong to the next release.
    """
    ordered = sorted(commits, key=lambda commit: commit.committed_at)
    places = [place for place, commit in enumerate(ordered) if commit.pr in numbers]
    return ordered[places[0] : places[-1] + 1] if places else ordered
