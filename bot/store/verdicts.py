"""People's verdicts on the tiers of commits."""

from datetime import datetime
from typing import Literal, NamedTuple

from sqlalchemy import ColumnElement, Engine, select

from analysis.models import Importance, Repository
from bot.store.schema import labels
from bot.store.transactions import Database

Verdict = Literal["too_high", "too_low"]


class GivenVerdict(NamedTuple):
    """A person's latest verdict on a commit."""

    sha: str
    verdict: Verdict


class Verdicts:
    """The verdicts on one engine, the latest of each person on a commit; thread-safe."""

    def __init__(self, engine: Engine) -> None:
        self._database = Database(engine)

    def save(
        self, repository: Repository, given: GivenVerdict, user: str, channel: str, judged: Importance, now: datetime
    ) -> None:
        """Store a person's verdict on a tier, given in a channel, in place of an earlier one."""
        key = {"repository": repository.key, "sha": given.sha, "user": user}
        row = {"verdict": given.verdict, "importance": judged.value, "channel": channel, "given_at": now}
        self._database.save(labels, key, row)

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
        return [GivenVerdict(*row) for row in self._database.rows(query.order_by(labels.c.given_at))]
