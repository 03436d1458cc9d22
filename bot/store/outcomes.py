"""Outcomes of work outside: what calls of models cost (USD), why the latest failed, how a model edited days, and how each publication ended."""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from secrets import token_hex
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Table, delete, func, insert, select, update

from analysis.errors import ModelFailure
from analysis.locale import LANGUAGES, Phrase, translated
from analysis.models import DayReport, Edit, Language
from bot.store.schema import day_edits, model_failures, publications, reservations, spending
from bot.store.transactions import Records, insert_missing

# After which a call is over: what a killed process reserved is free again.
_LONGEST_CALL = timedelta(minutes=15)


def budget_used_up() -> ModelFailure:
    """Return the failure of a call for which the day's budget has no room."""
    return ModelFailure(Phrase("today's budget is used up (DIGEST_DAILY_BUDGET_USD)"), lasting=True)


class Spending(Records):
    """Costs by day and purpose, and the reservations of calls under way, on one engine; thread-safe."""

    def reserve(self, day: date, purpose: str, usd: float, limit: float, alone: float, now: datetime) -> str | None:
        """Reserve `usd` of a day's budget for a call, and return the reservation's id.

        A day's total may reach `limit`, and that of this purpose `alone`. Return None while reservations of other calls leave
        no room for it; raise `ModelFailure` if what was spent leaves none.
        """
        with self.database.begin(alone=f"spending {day}") as connection:
            connection.execute(delete(reservations).where(reservations.c.made_at < now - _LONGEST_CALL))
            spent = _by_purpose(connection, spending, spending.c.spent_usd, day)
            held = _by_purpose(connection, reservations, reservations.c.usd, day)
            unspent = limit - sum(spent.values()), alone - spent.get(purpose, 0.0)
            if usd > min(unspent):
                raise budget_used_up()
            if usd > min(unspent[0] - sum(held.values()), unspent[1] - held.get(purpose, 0.0)):
                return None
            row = {"date": day, "purpose": purpose, "usd": usd, "made_at": now}
            reservation = token_hex(8)
            connection.execute(insert(reservations).values(id=reservation, **row))
        return reservation

    def settle(self, reservation: str, day: date, purpose: str, spent: float) -> None:
        """Replace the reservation of a call by its actual cost in USD, also if the reservation counts no more."""
        row = {"date": day, "purpose": purpose}
        with self.database.begin(alone=f"spending {day}") as connection:
            connection.execute(delete(reservations).filter_by(id=reservation))
            insert_missing(connection, spending, {**row, "spent_usd": 0.0})
            added = update(spending).filter_by(**row).values(spent_usd=spending.c.spent_usd + spent)
            connection.execute(added)

    def spent(self, day: date) -> float:
        """Return what has been spent on `day` so far, in USD."""
        return float(self.database.value(select(func.sum(spending.c.spent_usd)).where(spending.c.date == day)) or 0.0)


def _by_purpose(connection: Connection, table: Table, usd: ColumnElement[float], day: date) -> dict[str, float]:
    """Return purpose -> sum of a column of a table's rows of a day."""
    sums = select(table.c.purpose, func.sum(usd)).where(table.c.date == day).group_by(table.c.purpose)
    return {row[0]: row[1] for row in connection.execute(sums)}


class LatestFailure(NamedTuple):
    """Why a model's latest call failed, in each language, and when."""

    reasons: Mapping[Language, str]
    at: datetime


class PublicationOutcomes(Records):
    """The last outcome of each day's publication on one engine; thread-safe."""

    def note(self, day: str, target: str, failure: str, now: datetime) -> None:
        """Store how the last try ended: `failure` says why a day is not published, "" if it is."""
        self.database.save(publications, {"day": day, "target": target}, {"failure": failure, "tried_at": now})

    def failed(self, since: datetime) -> list[str]:
        """Return why publications that were tried since an instant failed, oldest first."""
        failed = publications.c.tried_at >= since, publications.c.failure != ""
        return self.database.column(select(publications.c.failure).where(*failed).order_by(publications.c.tried_at))


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
