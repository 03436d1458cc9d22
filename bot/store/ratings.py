"""People's ratings of answers: the last one that a person gave to an answer."""

from datetime import datetime
from typing import Literal, NamedTuple

from sqlalchemy import Engine, func, select

from bot.store.schema import answer_ratings
from bot.store.transactions import Database

Rating = Literal["helpful", "unhelpful"]


class RatingCounts(NamedTuple):
    """How many answers were rated as helpful, and as unhelpful."""

    helpful: int
    unhelpful: int


class AnswerRatings:
    """The ratings on one engine; thread-safe."""

    def __init__(self, engine: Engine) -> None:
        self._database = Database(engine)

    def rate(self, channel: str, ts: str, user: str, about: str, rating: Rating, now: datetime) -> None:
        """Store a person's rating of the answer with timestamp `ts` about a subject, in place of their earlier one."""
        key = {"channel": channel, "ts": ts, "user": user}
        row = {"about": about, "rating": rating, "given_at": now}
        self._database.save(answer_ratings, key, row)

    def counts(self, since: datetime) -> RatingCounts:
        """Return the number of ratings given since an instant."""
        query = (
            select(answer_ratings.c.rating, func.count())
            .where(answer_ratings.c.given_at >= since)
            .group_by(answer_ratings.c.rating)
        )
        found = {row[0]: row[1] for row in self._database.rows(query)}
        return RatingCounts(found.get("helpful", 0), found.get("unhelpful", 0))
