"""Ranking weights that were fitted to a repository."""

from datetime import datetime

from sqlalchemy import Engine, delete, select

from analysis.models import Repository
from analysis.ranking import Weights
from bot.store.database import Writer
from bot.store.schema import weights as table
from bot.store.upsert import insert_or_update


class FittedWeights:
    """Weights by repository, shared by its branches, on one engine; thread-safe."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._writing = Writer(engine)

    def get(self, repository: Repository) -> Weights | None:
        """Return a repository's weights, or None."""
        query = select(table.c.body).where(table.c.repository == repository.full_name.lower())
        with self._engine.connect() as connection:
            body = connection.execute(query).scalar()
        return Weights(**body) if body else None

    def save(self, repository: Repository, weights: Weights, now: datetime) -> None:
        """Store a repository's weights, replacing earlier ones."""
        key, values = {"repository": repository.full_name.lower()}, {"body": weights._asdict(), "fitted_at": now}
        with self._writing.begin() as connection:
            insert_or_update(connection, table, key, values)

    def remove(self, repository: Repository) -> None:
        """Remove a repository's weights, so that the packaged ones apply."""
        with self._writing.begin() as connection:
            connection.execute(delete(table).where(table.c.repository == repository.full_name.lower()))
