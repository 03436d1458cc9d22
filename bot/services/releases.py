"""Scores of releases: the ranks that their commits were given, compared with the pull requests that the notes name."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

import structlog

from analysis.errors import DigestError, Misuse
from analysis.models import Commit, Failure, Repository
from analysis.models.release_scores import ReleaseScore
from analysis.ranking import packaged_weights, rank
from analysis.ranking.release_score import ReleasedCommits, score_release
from analysis.sources.github import GitHub, Release
from analysis.sources.release_notes import Named, named
from analysis.text import quantity
from analysis.window import Window
from bot.models.progress import SILENT, Progress
from bot.services.commit_reader import current_commits, read_commits
from bot.services.commit_sources import CommitSources
from bot.services.reader import Reader
from bot.store import Store, Subscriptions

_LEAST_IN_NOTES = 3  # pull requests named, for notes to be usable
_SUGGESTED = 3  # tags, for an unknown one
_UTC = ZoneInfo("UTC")
_SETTLED = timedelta(days=1)  # after which the last days of a release are reported, and its notes no longer edited

log = structlog.get_logger(__name__)


class ScoredRelease(NamedTuple):
    """The score of a release, and the commits that could not be read for it."""

    score: ReleaseScore
    failed: tuple[Failure, ...] = ()


class ReleaseScoring:
    """Scores releases against the store's ranks."""

    def __init__(self, github: GitHub, sources: CommitSources, store: Store) -> None:
        self._github = github
        self._sources = sources
        self._store = store

    def score(
        self,
        repository: Repository,
        tag: str | None,
        now: datetime,
        *,
        read: bool = False,
        tz: ZoneInfo = _UTC,
        progress: Progress = SILENT,
    ) -> ScoredRelease:
        """Score and store the release called `tag`, or the newest one; with `read`, rank first what has no rank.

        `tz` is the time zone of the times in reasons for failures.

        Raise `Misuse` for a release that is unknown, a pre-release or without usable notes, or of which no commit that the
        notes name has a rank.
        """
        release, older = self._chosen(repository, tag)
        names = named(release.notes, repository)
        covered = self._covered(repository, release, names, older)
        failed: tuple[Failure, ...] = ()
        if read:
            failed = self._rank_missing(repository, covered, now, tz, progress)
            covered = covered._replace(ranks=self._store.ranks.find(repository, covered.commits))
        score = self._score(repository, release, names, covered)
        if not score.ranked_named:
            raise Misuse(_incomparable(names, covered, score))
        self._store.release_scores.save(score, now)
        return ScoredRelease(score, failed)

    def score_new(self, followed: Mapping[Repository, datetime], now: datetime) -> None:
        """Score the releases published since a repository was followed that are a day old and have no score, oldest first.

        One of which no commit that the notes name has a rank is left out.
        A failure is logged, and tried again by the next call. Doing it twice changes nothing.
        """
        for repository, since in followed.items():
            try:
                self._score_new(repository, since, now)
            except DigestError as exc:
                log.warning("release not scored", repository=str(repository), why=str(exc))

    def _score_new(self, repository: Repository, since: datetime, now: datetime) -> None:
        releases = [each for each in self._github.releases(repository) if not each.prerelease]
        scored = self._store.release_scores.scored(repository)
        new = [each for each in reversed(releases) if each.published_at > since and each.tag not in scored]
        for release in (each for each in new if now - each.published_at >= _SETTLED):
            names, older = named(release.notes, repository), _older(release, releases)
            if len(names.every) >= _LEAST_IN_NOTES and older:
                covered = self._covered(repository, release, names, older)
                score = self._score(repository, release, names, covered)
                if score.ranked_named:
                    self._store.release_scores.save(score, now)

    def _chosen(self, repository: Repository, tag: str | None) -> tuple[Release, Release]:
        """Return the release called `tag`, or the newest one, and the release before it."""
        every = self._github.releases(repository)
        releases = [each for each in every if not each.prerelease]
        if not releases:
            raise Misuse(f"{repository} has no releases on GitHub")
        release = _named(repository, tag, every) if tag else releases[0]
        if release.prerelease:
            raise Misuse(f"{release.tag} of {repository} is a pre-release; only releases are scored")
        names = named(release.notes, repository).every
        if len(names) < _LEAST_IN_NOTES:
            raise Misuse(
                f"the notes of {repository} {release.tag} name {len(names)} pull requests (#123) by hand; "
                f"a score needs {_LEAST_IN_NOTES}"
            )
        older = _older(release, releases)
        if older is None:
            raise Misuse(f"{release.tag} is the first release of {repository}: there is none to compare it with")
        return release, older

    def _score(self, repository: Repository, release: Release, names: Named, covered: ReleasedCommits) -> ReleaseScore:
        return score_release(repository, release, names, covered, self._store.verdicts.of(repository))

    def _rank_missing(
        self, repository: Repository, covered: ReleasedCommits, now: datetime, tz: ZoneInfo, progress: Progress
    ) -> tuple[Failure, ...]:
        """Read and rank the commits without a rank, by the current weights and without a model. Return those not read."""
        missing = [commit for commit in covered.commits if commit.sha not in covered.ranks]
        known = self._store.read_ids(repository, [commit.sha for commit in missing])
        unread = [commit for commit in missing if commit.sha not in known]
        source = self._sources.current(repository, now, now)
        progress.expect(len(unread))
        unfinished = read_commits(self._store, source, repository, unread, tz, progress)
        ids = self._store.read_ids(repository, [commit.sha for commit in missing])
        weights = packaged_weights(repository)
        stored = current_commits(self._store, list(ids.values()), source)
        self._store.ranks.keep({each.id: rank(each.commit, each.facts, weights) for each in stored}, now)
        return unfinished.failures

    def _covered(self, repository: Repository, release: Release, names: Named, older: Release) -> ReleasedCommits:
        """Return the commits that `older` lacks, with their ranks: by the tags, or by the dates if GitHub has no such tags."""
        tags = older.tag, release.tag
        gained = self._github.compare(repository, *tags).commits if older.tag else ()
        by_date = not gained
        if by_date:
            published = Window(older.published_at, release.published_at)
            gained = self._github.list_commits(repository, published)
        commits: Sequence[Commit] = [commit for commit in gained if not commit.is_merge]
        if by_date:
            commits = _between_named(commits, names.every)
        return ReleasedCommits(commits, self._store.ranks.find(repository, commits), by_date)


def followed_repositories(subscriptions: Subscriptions, reader: Reader) -> dict[Repository, datetime]:
    """Return the repositories that channels subscribe to and may see, each with its earliest subscription's time."""
    found: dict[str, tuple[Repository, datetime]] = {}
    for each in subscriptions.all():
        repository = each.terms.repository
        if not reader.within(each.terms.channel).hides(repository):
            _, earliest = found.get(repository.key, (repository, each.created_at))
            found[repository.key] = repository, min(earliest, each.created_at)
    return dict(found.values())


def _between_named(commits: Sequence[Commit], numbers: frozenset[int]) -> Sequence[Commit]:
    """Return the commits from the first to the last that the notes name, oldest first; all if they name none.

    A release is dated after its last commit: commits after the last named one belong to the next release.
    """
    ordered = sorted(commits, key=lambda commit: commit.committed_at)
    places = [place for place, commit in enumerate(ordered) if commit.pr in numbers]
    return ordered[places[0] : places[-1] + 1] if places else ordered


def _named(repository: Repository, tag: str, releases: Sequence[Release]) -> Release:
    """Return the release with a tag, which may lack its `v`. Raise `Misuse`, with the newest tags, if there is none."""
    for each in releases:
        if tag.strip().lower() in (each.tag.lower(), each.tag.lower().removeprefix("v")):
            return each
    newest = ", ".join(each.tag for each in releases[:_SUGGESTED])
    raise Misuse(f"{repository} has no release {tag!r} among its newest {len(releases)}, such as {newest}")


def _incomparable(names: Named, covered: ReleasedCommits, score: ReleaseScore) -> str:
    """Return why a release's ranks cannot be compared with its notes."""
    name, commits = f"{score.repository} {score.release}", quantity(score.commits, "commit")
    if not covered.ranks:
        return f"none of the {commits} of {name} was ranked; score --read reads and ranks them now"
    if not score.named:
        pulls = quantity(len(names.every), "pull request")
        return f"none of the {pulls} that the notes name is among the {commits} of {name}"
    named = f"none of the {quantity(score.named, 'commit')} of {name} that the notes name was ranked"
    if score.left_out:
        return f"{named} before the release was published"
    return f"{named}; score --read reads and ranks them now"


def _older(release: Release, releases: Sequence[Release]) -> Release | None:
    """Return the release before one: by version, since patches of an older version may be published later, or else by date."""
    earlier = [each for each in releases if each.published_at < release.published_at]
    name, version = _version(release.tag)
    same_name = [each for each in earlier if version and _version(each.tag)[0] == name]
    lower = [each for each in same_name if _version(each.tag)[1] < version]
    if lower:
        return max(lower, key=lambda each: (_version(each.tag)[1], each.published_at))
    return max(earlier, key=lambda each: each.published_at, default=None)


def _version(tag: str) -> tuple[str, tuple[int, ...]]:
    """Return what a tag begins with, and the figures of its version: `v` and (0, 16, 0) for `v0.16.0`."""
    name = re.split(r"\d", tag, maxsplit=1)[0]
    return name, tuple(int(figures) for figures in re.findall(r"\d{1,9}", tag))
