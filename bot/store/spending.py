"""Spending on models: what each day's calls reserve and cost, in USD."""

from collections.abc import Collection, Sequence
from datetime import date
from secrets import token_hex

from sqlalchemy import Connection, Engine, delete, func, insert, select, update

from bot.store.schema import reservations, spending
from bot.store.transactions import Database, insert_missing


class Spending:
    """Reserved and actual costs by day and purpose, on one engine; thread-safe."""

    def __init__(self, engine: Engine) -> None:
        self._database = Database(engine)

    def reserve(self, day: date, purpose: str, usd: float, limit: float, alone: float, process: str = "") -> str | None:
        """Reserve `usd` of a day's budget for a call that `process` makes, and return the reservation's id.

        None if the day's total would exceed `limit`, or this purpose's `alone`.
        """
        with self._database.begin(alone=f"spending {day}") as connection:
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
            if not left.rowcount:
                return None
            reservation = token_hex(8)
            connection.execute(insert(reservations).values(**row, id=reservation, usd=usd, process=process))
            return reservation

    def settle(self, reservation: str, day: date, purpose: str, spent: float) -> None:
        """Replace the reservation of a call by its actual cost in USD, also if the reservation was given back meanwhile."""
        with self._database.begin() as connection:
            _give_back(connection, [reservation])
            connection.execute(
                update(spending).filter_by(date=day, purpose=purpose).values(spent_usd=spending.c.spent_usd + spent)
            )

    def reserving(self, day: date) -> set[str]:
        """Return the processes that have reserved some of a day's budget for calls under way."""
        query = select(reservations.c.process).distinct().where(reservations.c.date == day)
        return set(self._database.column(query))

    def give_back(self, processes: Collection[str]) -> None:
        """Give back what processes that have ended reserved and never settled."""
        with self._database.begin() as connection:
            query = select(reservations.c.id).where(reservations.c.process.in_(processes)).order_by(reservations.c.id)
            _give_back(connection, connection.execute(query).scalars().all())

    def spent(self, day: date) -> float:
        """Return what has been spent on `day` so far, in USD."""
        query = select(func.sum(spending.c.spent_usd)).where(spending.c.date == day)
        return float(self._database.value(query) or 0.0)


def _give_back(connection: Connection, ids: Sequence[str]) -> None:
    """Delete reservations and take them out of the days' sums, except those that others deleted meanwhile."""
    rows = connection.execute(select(reservations).where(reservations.c.id.in_(ids)).order_by(reservations.c.id)).all()
    # All are deleted first: a transaction that waits for a reservation must not hold a sum that its deleter needs.
    own = [row for row in rows if connection.execute(delete(reservations).filter_by(id=row.id)).rowcount]
    for row in own:
        connection.execute(
            update(spending)
            .filter_by(date=row.date, purpose=row.purpose)
            .values(reserved_usd=spending.c.reserved_usd - row.usd)
        )
