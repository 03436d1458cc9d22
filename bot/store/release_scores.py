"""Scores of releases, one for each that was compared with its notes."""

from datetime import datetime

from sqlalchemy import Engine, select

from analysis.models import Repository
from analysis.models.release_scores import ReleaseScore
from bot.store.schema import release_scores as table
from bot.store.transactions import Database


class ReleaseScores:
    """Scores by repository and release, on one engine; thread-safe."""

    def __init__(self, engine: Engine) -> None:
        self._database = Database(engine)

    def save(self, score: ReleaseScore, now: datetime) -> None:
        """Store a release's score, replacing an earlier one."""
        key = {"repository": score.repository.key, "release": score.release}
        values = {"published_at": score.published_at, "body": score.model_dump(mode="json"), "scored_at": now}
        self._database.save(table, key, values)

    def scored(self, repository: Repository) -> set[str]:
        """Return the tags of a repository's releases that have a score."""
        return set(self._database.column(select(table.c.release).where(table.c.repository == repository.key)))

    def latest(self, repository: Repository) -> ReleaseScore | None:
        """Return the score of a repository's release that was published last; None without one, or if it compares nothing."""
        query = (
            select(table.c.body)
            .where(table.c.repository == repository.key)
            .order_by(table.c.published_at.desc())
            .limit(1)
        )
        body = self._database.value(query)
        score = ReleaseScore.model_validate(body) if body else None
        return score if score and score.ranked_named else None
