"""How a model edited days."""

from datetime import date
from typing import NamedTuple

from sqlalchemy import select

from analysis.models import Edit, Frozen
from bot.store.schema import day_edits
from bot.store.transactions import Records


class CallUsage(Frozen):
    """The calls of a model for one purpose, their tokens and their cost (USD); None if unknown."""

    calls: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None


class EditKey(NamedTuple):
    """A day of a repository, by its key, in a time zone and a language, with the model and the version of its prompt."""

    repository: str
    date: date
    timezone: str
    language: str
    model: str
    prompt: str


class StoredEdit(NamedTuple):
    edit: Edit
    usage: CallUsage


class DayEdits(Records):
    """The latest edit of each day, on one engine; thread-safe."""

    def of(self, key: EditKey) -> StoredEdit | None:
        """Return how a day was edited, or None."""
        row = self.database.first(select(day_edits.c.body, day_edits.c.usage).filter_by(**key._asdict()))
        return StoredEdit(Edit.model_validate(row.body), CallUsage.model_validate(row.usage)) if row else None

    def save(self, key: EditKey, edit: Edit, usage: CallUsage) -> None:
        """Store how a day was edited, replacing an earlier edit."""
        values = {"body": edit.model_dump(mode="json"), "usage": usage.model_dump()}
        self.database.save(day_edits, key._asdict(), values)
