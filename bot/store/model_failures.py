"""The failure of each model's latest call, which every process tells of, whichever made the call."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Engine, delete, select

from analysis.locale import LANGUAGES, Phrase, translated
from analysis.models import Language
from bot.store.schema import model_failures
from bot.store.transactions import Database


class LatestFailure(NamedTuple):
    """Why a model's latest call failed, in each language, and when."""

    reasons: Mapping[Language, str]
    at: datetime


class ModelFailures:
    """The latest failures by the model's name, on one engine; thread-safe."""

    def __init__(self, engine: Engine) -> None:
        self._database = Database(engine)

    def save(self, model: str, reason: str | Phrase, now: datetime) -> None:
        """Store that a model's latest call failed."""
        reasons = {language: str(translated(reason, language)) for language in LANGUAGES}
        self._database.save(model_failures, {"model": model}, {"reasons": reasons, "failed_at": now})

    def remove(self, model: str) -> None:
        """Store that a model's latest call succeeded, which costs one query if the one before did."""
        if self.latest(model):
            self._database.execute(delete(model_failures).filter_by(model=model))

    def latest(self, model: str) -> LatestFailure | None:
        """Return the failure of a model's latest call; None if it succeeded, or none was made."""
        query = select(model_failures.c.reasons, model_failures.c.failed_at).filter_by(model=model)
        row = self._database.first(query)
        return LatestFailure(*row) if row else None
