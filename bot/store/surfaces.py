"""The surfaces of downstream repositories, by tree, so that a tree is read once; and what breaks them, until it is adapted."""

from collections.abc import Collection, Sequence
from datetime import date, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import delete, select, update

from analysis.models import Repository
from bot.store.schema import breaks
from bot.store.schema import surfaces as table
from bot.store.transactions import Records, insert_missing, insert_or_update

if TYPE_CHECKING:
    from analysis.impact.surface.extraction import TreeSurface

_KEPT = 6  # trees of a repository: its heads, and the branches that several channels follow


class Surfaces(Records):
    """Surfaces on one engine, by repository, root tree (its SHA) and upstream packages; thread-safe."""

    def get(self, repository: Repository, tree: str, packages: Collection[str]) -> "TreeSurface | None":
        """Return the surface of a tree; None if none was stored, or only by other rules."""
        from analysis.impact.surface.extraction import TreeSurface

        query = select(table.c.body).filter_by(**_key(repository, tree, packages))
        body = self.database.value(query)
        return TreeSurface.model_validate_json(body) if body else None

    def save(
        self, repository: Repository, tree: str, packages: Collection[str], surface: "TreeSurface", now: datetime
    ) -> None:
        """Store the surface of a tree, and remove those of the repository's older ones."""
        key = _key(repository, tree, packages)
        values = {"body": surface.model_dump_json(), "read_at": now}
        own = table.c.repository == key["repository"]
        with self.database.begin() as connection:
            insert_or_update(connection, table, key, values)
            newest = select(table.c.id).where(own).order_by(table.c.read_at.desc(), table.c.id.desc()).limit(_KEPT)
            connection.execute(delete(table).where(own, table.c.id.not_in(newest)))


class BreakState(StrEnum):
    """The state of a break. The values are part of the store."""

    FOUND = "found"
    ADAPTED = "adapted"  # the downstream code has no such use any more
    UNDONE = "undone"  # upstream reverted the commit
    UNCONCERNED = "no concern"  # by a person's word; digests of the channel flag the name no more


class DownstreamBreak(NamedTuple):
    """A commit breaks downstream code of a channel by what it does to a name.

    `repository` is the key of upstream; `head` is the downstream commit at which the use of the name in `paths` was looked for
    last. `who` took it, or said that it is no concern; it is put off until the day `until`. `by_commit` is the address of the
    commit that adapted or undid it.
    """

    channel: str
    repository: str
    sha: str
    downstream: str
    name: str
    paths: Sequence[str]
    head: str
    state: BreakState = BreakState.FOUND
    who: str = ""
    until: date | None = None
    by_commit: str = ""

    def is_put_off(self, today: date) -> bool:
        """Return whether it is put off until a day after today."""
        return self.state is BreakState.FOUND and self.until is not None and self.until > today


class Breaks(Records):
    """What breaks downstream code, by channel, commit, downstream repository and name, on one engine; thread-safe."""

    def keep(self, found: Sequence[DownstreamBreak], now: datetime) -> None:
        """Store what was found; of what is known nothing changes."""
        rows = [each._asdict() | {"paths": list(each.paths), "updated_at": now} for each in found]
        with self.database.begin() as connection:
            insert_missing(connection, breaks, rows)

    def change(self, some: Sequence[DownstreamBreak], **values: Any) -> None:
        """Set some values of some breaks; `updated_at` is when their lives changed."""
        with self.database.begin() as connection:
            for each in some:
                key = {name: getattr(each, name) for name in _BREAK_KEY}
                connection.execute(update(breaks).filter_by(**key).values(**values))

    def found(self, **values: Any) -> list[DownstreamBreak]:
        """Return the breaks that have some values, in the order in which they were found or changed."""
        query = select(*(breaks.c[name] for name in DownstreamBreak._fields)).filter_by(**values)
        rows = self.database.rows(query.order_by(breaks.c.updated_at, breaks.c.sha, breaks.c.name))
        return [DownstreamBreak(**{**row._asdict(), "state": BreakState(row.state)}) for row in rows]

    def forget(self, before: datetime) -> None:
        """Delete what nobody changed since an instant, except what people said to be no concern."""
        old = breaks.c.updated_at < before, breaks.c.state != BreakState.UNCONCERNED.value
        self.database.execute(delete(breaks).where(*old))


_BREAK_KEY = ("channel", "repository", "sha", "downstream", "name")


def _key(repository: Repository, tree: str, packages: Collection[str]) -> dict[str, str | int]:
    from analysis.impact.surface.extraction import VERSION

    return {
        "repository": repository.full_name.lower(),
        "tree": tree,
        "packages": ",".join(sorted(packages)),
        "version": VERSION,
    }
