"""The score of given ranks by a release's notes."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from analysis.models import Commit, Importance, Repository
from analysis.models.release_scores import Corrections, GivenRank, GivenVerdict, RankedCommit, ReleaseScore, TierCount
from analysis.sources.github import Release
from analysis.sources.release_notes import Named

_MOST_MISSED = 5
_TIERS = tuple(Importance)


class ReleasedCommits(NamedTuple):
    """The commits that a release covers, without merges; the ranks that they were given, by SHA; whether dates delimit it."""

    commits: Sequence[Commit]
    ranks: Mapping[str, GivenRank]
    by_date: bool = False


class _RankedRow(NamedTuple):
    """The rank of a commit, and whether the notes name it, at all and as breaking."""

    rank: GivenRank
    named: bool
    breaking: bool


def score_release(
    repository: Repository,
    release: Release,
    named: Named,
    released: ReleasedCommits,
    verdicts: Iterable[GivenVerdict] = (),
) -> ReleaseScore:
    """Compare the ranks that a release's commits were given with what its notes name.

    Ranks given only after the release was published count if there are no others.
    """
    every = [_row(commit, rank, named) for commit in released.commits if (rank := released.ranks.get(commit.sha))]
    before = [row for row in every if row.rank.given_at is None or row.rank.given_at <= release.published_at]
    rows = before or every
    without_rank = [commit for commit in released.commits if commit.sha not in released.ranks]
    breaking = [row for row in rows if row.breaking]
    missed = sorted((row for row in rows if not row.named and row.rank.importance is Importance.HIGH), key=_place)
    scored = [(row.named, row.rank.score) for row in rows if row.rank.score is not None]
    labels = [label for label, _ in scored]
    return ReleaseScore(
        repository=repository,
        release=release.tag,
        url=release.url,
        published_at=release.published_at,
        by_date=released.by_date,
        commits=len(released.commits),
        named=sum(row.named for row in every) + sum(commit.pr in named.every for commit in without_rank),
        afterwards=len(every) - len(before),
        left_out=len(every) - len(rows),
        tiers={tier: _tier_count(rows, tier) for tier in _TIERS},
        breaking=len(breaking),
        breaking_low=tuple(_shown(row) for row in breaking if row.rank.importance is Importance.LOW),
        missed=tuple(_shown(row) for row in missed[:_MOST_MISSED]),
        corrections=_corrections(released, verdicts),
        auc=auc(labels, [score for _, score in scored]) if len(set(labels)) > 1 else None,
    )


def auc(labels: Sequence[bool], scores: Sequence[float]) -> float:
    """Return the probability that a labelled commit outscores an unlabelled one.

    Ties count half; it is 0.5 if either kind is missing.
    """
    below = sorted(score for score, label in zip(scores, labels, strict=True) if not label)
    above = [score for score, label in zip(scores, labels, strict=True) if label]
    if not below or not above:
        return 0.5
    won = sum(bisect_left(below, score) + bisect_right(below, score) for score in above)
    return won / (2 * len(below) * len(above))


def _row(commit: Commit, rank: GivenRank, named: Named) -> _RankedRow:
    number = rank.pr if commit.pr is None else commit.pr  # a listed commit may not tell its pull request
    return _RankedRow(rank, number in named.every, number in named.breaking)


def _place(row: _RankedRow) -> float:
    """Return the sort key that puts the highest score first, and ranks without one last."""
    return -row.rank.score if row.rank.score is not None else float("inf")


def _tier_count(rows: Sequence[_RankedRow], tier: Importance) -> TierCount:
    inside = [row for row in rows if row.rank.importance is tier]
    return TierCount(commits=len(inside), named=sum(row.named for row in inside))


def _shown(row: _RankedRow) -> RankedCommit:
    """Return the commit as it is stored: whoever read it redacted its title."""
    return RankedCommit(**row.rank.model_dump(include={"sha", "url", "title", "importance"}))


def _corrections(released: ReleasedCommits, verdicts: Iterable[GivenVerdict]) -> Corrections:
    """Count the corrected commits of the release, also those that a release branch has under another SHA."""
    shas = {commit.sha for commit in released.commits} | {rank.sha for rank in released.ranks.values()}
    return Corrections.of(each for each in verdicts if each.sha in shas)
