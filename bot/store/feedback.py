"""Judgements of commits and answers: ranks when their day was first reported, scores of releases, and the feedback of readers.

Of each person the latest rating of an answer and the latest verdict on a commit's tier count.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from sqlalchemy import ColumnElement, func, select

from analysis.models import Commit, Importance, Ranked, Repository
from analysis.models.release_scores import GivenRank, GivenVerdict, ReleaseScore, Verdict
from bot.store.commit_rows import of_repository
from bot.store.schema import answer_ratings, commits, labels, ranks, release_scores
from bot.store.transactions import Records, insert_missing

Rating = Literal["helpful", "unhelpful"]


class RatingCounts(NamedTuple):
    """How many answers were rated as helpful, and as unhelpful."""

    helpful: int
    unhelpful: int


class AnswerRatings(Records):
    """The ratings on one engine; thread-safe."""

    def rate(self, channel: str, ts: str, user: str, about: str, rating: Rating, now: datetime) -> None:
        """Store a person's rating of the answer with timestamp `ts` about a subject, in place of their earlier one."""
        key = {"channel": channel, "ts": ts, "user": user}
        self.database.save(answer_ratings, key, {"about": about, "rating": rating, "given_at": now})

    def counts(self, since: datetime) -> RatingCounts:
        """Return the number of ratings given since an instant."""
        rating = answer_ratings.c.rating
        query = select(rating, func.count()).where(answer_ratings.c.given_at >= since).group_by(rating)
        found: dict[str, int] = {row[0]: row[1] for row in self.database.rows(query)}
        return RatingCounts(found.get("helpful", 0), found.get("unhelpful", 0))


class Verdicts(Records):
    """The verdicts on one engine, the latest of each person on a commit; thread-safe."""

    def save(
        self, repository: Repository, given: GivenVerdict, user: str, channel: str, judged: Importance, now: datetime
    ) -> None:
        """Store a person's verdict on a tier, given in a channel, in place of an earlier one."""
        key = {"repository": repository.key, "sha": given.sha, "user": user}
        row = {"verdict": given.verdict, "importance": judged.value, "channel": channel, "given_at": now}
        self.database.save(labels, key, row)

    def of(self, repository: Repository) -> list[GivenVerdict]:
        """Return the verdicts on a repository's commits, oldest first."""
        return self._found(repository)

    def given(self, repository: Repository, since: datetime, until: datetime) -> list[GivenVerdict]:
        """Return the verdicts on a repository's commits from `since` up to `until`, oldest first."""
        return self._found(repository, labels.c.given_at >= since, labels.c.given_at < until)

    def in_channel(self, repository: Repository, channel: str) -> dict[str, Verdict]:
        """Return SHA -> the latest verdict that was given in a channel."""
        return {each.sha: each.verdict for each in self._found(repository, labels.c.channel == channel)}

    def _found(self, repository: Repository, *conditions: ColumnElement[bool]) -> list[GivenVerdict]:
        query = select(labels.c.sha, labels.c.verdict).where(labels.c.repository == repository.key, *conditions)
        return [GivenVerdict(*row) for row in self.database.rows(query.order_by(labels.c.given_at))]


class GivenRanks(Records):
    """Ranks by commit, which later weights and facts do not change, on one engine; thread-safe."""

    def keep(self, given: Mapping[int, Ranked], now: datetime) -> None:
        """Store commit id -> its rank, given now; the first rank of a commit stays."""
        # A day is reported many times, and written once.
        held = self.database.rows_among(select(ranks.c.commit_id), ranks.c.commit_id, list(given))
        missing = given.keys() - {row.commit_id for row in held}
        rows = [
            {"commit_id": each, "importance": given[each].importance.value, "score": given[each].score, "given_at": now}
            for each in sorted(missing)
        ]
        if rows:
            with self.database.begin() as connection:
                insert_missing(connection, ranks, rows)

    def find(self, repository: Repository, wanted: Sequence[Commit]) -> dict[str, GivenRank]:
        """Return SHA -> rank of the wanted commits that have one.

        A commit that a release branch picked has the rank of the oldest commit with its pull request.
        """
        by_sha = {each.sha: each for each in self._found(repository, commits.c.sha, [each.sha for each in wanted])}
        others = [each for each in wanted if each.sha not in by_sha and each.pr is not None]
        by_pr = {each.pr: each for each in self._found(repository, commits.c.pr, [each.pr for each in others])}
        return by_sha | {each.sha: by_pr[each.pr] for each in others if each.pr in by_pr}

    def _found(
        self, repository: Repository, column: ColumnElement[object], values: Sequence[object]
    ) -> list[GivenRank]:
        """Return the ranks of a repository's commits with these values of a column, the newest commit first."""
        of_commits = [commits.c[name] for name in ("sha", "url", "title", "pr")]
        query = (
            select(*of_commits, ranks.c.importance, ranks.c.score, ranks.c.given_at)
            .join(ranks, ranks.c.commit_id == commits.c.id)
            .where(of_repository(repository))
            .order_by(commits.c.committed_at.desc())
        )
        return [GivenRank(**row._asdict()) for row in self.database.rows_among(query, column, values)]


class ReleaseScores(Records):
    """Scores by repository and release, on one engine; thread-safe."""

    def save(self, score: ReleaseScore, now: datetime) -> None:
        """Store a release's score, replacing an earlier one."""
        key = {"repository": score.repository.key, "release": score.release}
        values = {"published_at": score.published_at, "body": score.model_dump(mode="json"), "scored_at": now}
        self.database.save(release_scores, key, values)

    def scored(self, repository: Repository) -> set[str]:
        """Return the tags of a repository's releases that have a score."""
        return set(self.database.column(select(release_scores.c.release).filter_by(repository=repository.key)))

    def latest(self, repository: Repository) -> ReleaseScore | None:
        """Return the score of a repository's release that was published last; None without one, or if it compares nothing."""
        query = select(release_scores.c.body).filter_by(repository=repository.key)
        body = self.database.value(query.order_by(release_scores.c.published_at.desc()).limit(1))
        score = ReleaseScore.model_validate(body) if body else None
        return score if score and score.ranked_named else None
