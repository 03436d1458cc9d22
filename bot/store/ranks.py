"""The rank that a commit was given when its day was first reported; later weights and facts do not change it."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Engine, select

from analysis.models import Commit, Ranked, Repository
from analysis.models.release_scores import GivenRank
from bot.store.commit_rows import chunks
from bot.store.schema import commits, ranks, repositories
from bot.store.transactions import Database, insert_missing


class GivenRanks:
    """Ranks by commit, on one engine; thread-safe."""

    def __init__(self, engine: Engine) -> None:
        self._database = Database(engine)

    def keep(self, given: Mapping[int, Ranked], now: datetime) -> None:
        """Store commit id -> its rank, given now; the first rank of a commit stays."""
        missing = given.keys() - self._ranked(list(given))
        rows = [
            {"commit_id": each, "importance": given[each].importance.value, "score": given[each].score, "given_at": now}
            for each in sorted(missing)
        ]
        if rows:
            with self._database.begin() as connection:
                insert_missing(connection, ranks, rows)

    def find(self, repository: Repository, wanted: Sequence[Commit]) -> dict[str, GivenRank]:
        """Return SHA -> rank of the wanted commits that have one.

        A commit that a release branch picked has the rank of the oldest commit with its pull request.
        """
        by_sha = {each.sha: each for each in self._found(repository, commits.c.sha, [each.sha for each in wanted])}
        others = [each for each in wanted if each.sha not in by_sha and each.pr is not None]
        by_pr = {each.pr: each for each in self._found(repository, commits.c.pr, [each.pr for each in others])}
        return by_sha | {each.sha: by_pr[each.pr] for each in others if each.pr in by_pr}

    def _ranked(self, ids: Sequence[int]) -> set[int]:
        """Return those of the commits that have a rank."""
        found: set[int] = set()
        for chunk in chunks(ids):
            found.update(self._database.column(select(ranks.c.commit_id).where(ranks.c.commit_id.in_(chunk))))
        return found

    def _found(
        self, repository: Repository, column: ColumnElement[object], values: Sequence[object]
    ) -> list[GivenRank]:
        """Return the ranks of a repository's commits with these values of a column, the newest commit first."""
        query = (
            select(
                commits.c.sha,
                commits.c.url,
                commits.c.title,
                commits.c.pr,
                ranks.c.importance,
                ranks.c.score,
                ranks.c.given_at,
            )
            .join(ranks, ranks.c.commit_id == commits.c.id)
            .join(repositories, repositories.c.id == commits.c.repository_id)
            .where(repositories.c.key == repository.key)
            .order_by(commits.c.committed_at.desc())
        )
        found: list[GivenRank] = []
        for chunk in chunks(values):
            rows = self._database.rows(query.where(column.in_(chunk)))
            found += [GivenRank(**row._asdict()) for row in rows]
        return found
