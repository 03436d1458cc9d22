"""Failures of the last attempt: of publications of days by target, and of calls of models, for every process to tell of."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import delete, select

from analysis.locale import LANGUAGES, Phrase, translated
from analysis.models import Language
from bot.store.schema import model_failures, publications
from bot.store.transactions import Records


class FailedPublication(NamedTuple):
    """A day that could not be published, as `bot.models.subjects.value_of` writes it, where, and why."""

    day: str
    target: str
    failure: str


class LatestFailure(NamedTuple):
    """Why a model's latest call failed, in each language, and when."""

    reasons: Mapping[Language, str]
    at: datetime


class PublicationOutcomes(Records):
    """The last outcome of each day's publication on one engine; thread-safe."""

    def note(self, day: str, target: str, failure: str, now: datetime) -> None:
        """Store how the last try ended: `failure` says why a day is not published, "" if it is."""
        self.database.save(publications, {"day": day, "target": target}, {"failure": failure, "tried_at": now})

    def failed(self, since: datetime) -> list[FailedPublication]:
        """Return the publications tried since an instant that failed, oldest first."""
        failed = publications.c.tried_at >= since, publications.c.failure != ""
        rows = self.database.rows(select(publications).where(*failed).order_by(publications.c.tried_at))
        return [FailedPublication(row.day, row.target, row.failure) for row in rows]


class ModelFailures(Records):
    """The latest failures by the model's name, on one engine; thread-safe."""

    def save(self, model: str, reason: str | Phrase, now: datetime) -> None:
        """Store that a model's latest call failed."""
        reasons = {language: str(translated(reason, language)) for language in LANGUAGES}
        self.database.save(model_failures, {"model": model}, {"reasons": reasons, "failed_at": now})

    def remove(self, model: str) -> None:
        """Store that a model's latest call succeeded, which costs one query if the one before did."""
        if self.latest(model):
            self.database.execute(delete(model_failures).filter_by(model=model))

    def latest(self, model: str) -> LatestFailure | None:
        """Return the failure of a model's latest call; None if it succeeded, or none was made."""
        query = select(model_failures.c.reasons, model_failures.c.failed_at).filter_by(model=model)
        row = self.database.first(query)
        return LatestFailure(*row) if row else None
