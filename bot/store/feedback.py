"""Feedback of readers: ratings of answers, and verdicts on the tiers of commits. The latest of each person counts."""

from datetime import datetime
from typing import Literal, NamedTuple

from sqlalchemy import ColumnElement, func, select

from analysis.models import Importance, Repository
from bot.store.schema import answer_ratings, labels
from bot.store.transactions import Records

Rating = Literal["helpful", "unhelpful"]
Verdict = Literal["too_high", "too_low"]


class RatingCounts(NamedTuple):
    """How many answers were rated as helpful, and as unhelpful."""

    helpful: int
    unhelpful: int


class GivenVerdict(NamedTuple):
    """A person's latest verdict on a commit."""

    sha: str
    verdict: Verdict


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
