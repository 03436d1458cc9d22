"""How a model edited days."""

from typing import Any

from sqlalchemy import select

from analysis.models import DayReport, Edit
from bot.store.schema import day_edits
from bot.store.transactions import Records


class DayEdits(Records):
    """The latest edit of each day by a model and a version of its prompt, on one engine; thread-safe."""

    def of(self, report: DayReport, model: str, prompt: str) -> Edit | None:
        """Return how the day of a report was edited, or None."""
        body = self.database.value(select(day_edits.c.body).filter_by(**_key(report, model, prompt)))
        return Edit.model_validate(body) if body else None

    def save(self, report: DayReport, model: str, prompt: str, edit: Edit) -> None:
        """Store how the day of a report was edited, replacing an earlier edit."""
        self.database.save(day_edits, _key(report, model, prompt), {"body": edit.model_dump(mode="json")})


def _key(report: DayReport, model: str, prompt: str) -> dict[str, Any]:
    day = report.model_dump(include={"date", "timezone", "language"})
    return {"repository": report.repository.key, **day, "model": model, "prompt": prompt}
