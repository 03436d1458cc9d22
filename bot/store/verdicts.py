"""People's verdicts on the tiers of commits, as they were given during a period."""

from datetime import datetime
from typing import Literal, NamedTuple

from sqlalchemy import Engine, select

from analysis.models import Repository
from bot.store.schema import labels

Verdict = Literal["too_high", "too_low"]


class GivenVerdict(NamedTuple):
    """A person's latest verdict on a commit."""

    sha: str
    verdict: Verdict


class Verdicts:
    """The verdicts on one engine; thread-safe."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def given(self, repository: Repository, since: datetime, until: datetime) -> list[GivenVerdict]:
        """Return the verdicts on a repository's commits from `since` up to `until`, oldest first."""
        query = (
            select(labels.c.sha, labels.c.verdict)
            .where(labels.c.repository == repository.key, labels.c.given_at >= since, labels.c.given_at < until)
            .order_by(labels.c.given_at)
        )
        with self._engine.connect() as connection:
            return [GivenVerdict(row.sha, row.verdict) for row in connection.execute(query)]
