"""The surfaces of downstream repositories, by tree, so that a tree is read once."""

from collections.abc import Collection
from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import delete, select

from analysis.models import Repository
from bot.store.schema import surfaces as table
from bot.store.transactions import Records, insert_or_update

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


def _key(repository: Repository, tree: str, packages: Collection[str]) -> dict[str, str | int]:
    from analysis.impact.surface.extraction import VERSION

    return {
        "repository": repository.full_name.lower(),
        "tree": tree,
        "packages": ",".join(sorted(packages)),
        "version": VERSION,
    }
