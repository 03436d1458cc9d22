"""Spending on models: what each day's calls reserve and cost, in USD."""

from datetime import date

from sqlalchemy import Engine, func, select, update

from bot.store.database import Writer
from bot.store.schema import spending
from bot.store.upsert import insert_missing


class Spending:
    """Reserved and actual costs by day and purpose, on one engine; thread-safe."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._writing = Writer(engine)

    def reserve(self, day: date, purpose: str, usd: float, limit: float, alone: float) -> bool:
        """Reserve `usd` of a day's budget; return False if the day's total would exceed `limit`, or this purpose's `alone`."""
        with self._writing.begin(alone=f"spending {day}") as connection:
            row = {"date": day, "purpose": purpose}
            insert_missing(connection, spending, {**row, "reserved_usd": 0, "spent_usd": 0})
            total = spending.c.reserved_usd + spending.c.spent_usd
            everything = select(func.sum(total)).where(spending.c.date == day).scalar_subquery()
            left = connection.execute(
                update(spending)
                .filter_by(**row)
                .where(everything + usd <= limit, total + usd <= alone)
                .values(reserved_usd=spending.c.reserved_usd + usd)
            )
            return left.rowcount == 1

    def settle(self, day: date, purpose: str, reserved: float, spent: float) -> None:
        """Replace the reserved cost of a call by its actual cost, both in USD."""
        with self._writing.begin() as connection:
            connection.execute(
                update(spending)
                .filter_by(date=day, purpose=purpose)
                .values(reserved_usd=spending.c.reserved_usd - reserved, spent_usd=spending.c.spent_usd + spent)
            )

    def spent(self, day: date) -> float:
        """Return what has been spent on `day` so far, in USD."""
        with self._engine.connect() as connection:
            query = select(func.sum(spending.c.spent_usd)).where(spending.c.date == day)
            return float(connection.execute(query).scalar() or 0.0)
