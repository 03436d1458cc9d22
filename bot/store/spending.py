"""Spending on models: what each day's calls reserve and cost, in USD."""

from collections.abc import Collection
from datetime import date
from secrets import token_hex

from sqlalchemy import delete, func, insert, select, update

from bot.store.schema import reservations, spending
from bot.store.transactions import Records, insert_missing


class Spending(Records):
    """Costs by day and purpose, and the reservations of calls under way, on one engine; thread-safe."""

    def reserve(self, day: date, purpose: str, usd: float, limit: float, alone: float, process: str = "") -> str | None:
        """Reserve `usd` of a day's budget for a call that `process` makes, and return the reservation's id.

        None if the day's total would exceed `limit`, or this purpose's `alone`.
        """
        row = {"date": day, "purpose": purpose}
        with self.database.begin(alone=f"spending {day}") as connection:
            used: dict[str, float] = {}
            for table, amount in ((spending, spending.c.spent_usd), (reservations, reservations.c.usd)):
                sums = select(table.c.purpose, func.sum(amount)).where(table.c.date == day).group_by(table.c.purpose)
                for each, found in connection.execute(sums):
                    used[each] = used.get(each, 0.0) + found
            if sum(used.values()) + usd > limit or used.get(purpose, 0.0) + usd > alone:
                return None
            reservation = token_hex(8)
            connection.execute(insert(reservations).values(**row, id=reservation, usd=usd, process=process))
        return reservation

    def settle(self, reservation: str, day: date, purpose: str, spent: float) -> None:
        """Replace the reservation of a call by its actual cost in USD, also if the reservation was given back meanwhile."""
        row = {"date": day, "purpose": purpose}
        with self.database.begin(alone=f"spending {day}") as connection:
            connection.execute(delete(reservations).filter_by(id=reservation))
            insert_missing(connection, spending, {**row, "spent_usd": 0.0})
            added = update(spending).filter_by(**row).values(spent_usd=spending.c.spent_usd + spent)
            connection.execute(added)

    def reserving(self, day: date) -> set[str]:
        """Return the processes that have reserved some of a day's budget for calls under way."""
        return set(self.database.column(select(reservations.c.process).distinct().where(reservations.c.date == day)))

    def give_back(self, processes: Collection[str]) -> None:
        """Give back what processes that have ended reserved and never settled."""
        self.database.execute(delete(reservations).where(reservations.c.process.in_(processes)))

    def spent(self, day: date) -> float:
        """Return what has been spent on `day` so far, in USD."""
        return float(self.database.value(select(func.sum(spending.c.spent_usd)).where(spending.c.date == day)) or 0.0)
