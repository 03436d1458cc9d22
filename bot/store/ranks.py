"""Ranks that commits were given when their day was first reported, and the scores of releases compared with them."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, select

from analysis.models import Commit, Ranked, Repository
from analysis.models.release_scores import GivenRank, ReleaseScore
from bot.store.schema import commits, ranks, release_scores, repositories
from bot.store.transactions import Records, insert_missing


class GivenRanks(Records):
    """Ranks by commit, which later weights and facts do not change, on one engine; thread-safe."""

    def keep(self, given: Mapping[int, Ranked], now: datetime) -> None:
        """Store commit id -> its rank, given now; the first rank of a commit stays."""
        # A day is reported many times, and written once.
        held = self.database.rows_among(select(ranks.c.commit_id), ranks.c.commit_id, list(given))
        missing = given.keys() - {row.commit_id for row in held}
        rows = [
            {"commit_id": each, "importance": given[each].importance.value, "score": given[each].score, "given_at": now}
            for each in sorted(missing)
        ]
        if rows:
            with self.database.begin() as connection:
                insert_missing(connection, ranks, rows)

    def find(self, repository: Repository, wanted: Sequence[Commit]) -> dict[str, GivenRank]:
        """Return SHA -> rank of the wanted commits that have one.

        A commit that a release branch picked has the rank of the oldest commit with its pull request.
        """
        by_sha = {each.sha: each for each in self._found(repository, commits.c.sha, [each.sha for each in wanted])}
        others = [each for each in wanted if each.sha not in by_sha and each.pr is not None]
        by_pr = {each.pr: each for each in self._found(repository, commits.c.pr, [each.pr for each in others])}
        return by_sha | {each.sha: by_pr[each.pr] for each in others if each.pr in by_pr}

    def _found(
        self, repository: Repository, column: ColumnElement[object], values: Sequence[object]
    ) -> list[GivenRank]:
        """Return the ranks of a repository's commits with these values of a column, the newest commit first."""
        of_commits = [commits.c[name] for name in ("sha", "url", "title", "pr")]
        query = (
            select(*of_commits, ranks.c.importance, ranks.c.score, ranks.c.given_at)
            .join(ranks, ranks.c.commit_id == commits.c.id)
            .join(repositories, repositories.c.id == commits.c.repository_id)
            .where(repositories.c.key == repository.key)
            .order_by(commits.c.committed_at.desc())
        )
        return [GivenRank(**row._asdict()) for row in self.database.rows_among(query, column, values)]


class ReleaseScores(Records):
    """Scores by repository and release, on one engine; thread-safe."""

    def save(self, score: ReleaseScore, now: datetime) -> None:
        """Store a release's score, replacing an earlier one."""
        key = {"repository": score.repository.key, "release": score.release}
        values = {"published_at": score.published_at, "body": score.model_dump(mode="json"), "scored_at": now}
        self.database.save(release_scores, key, values)

    def scored(self, repository: Repository) -> set[str]:
        """Return the tags of a repository's releases that have a score."""
        return set(self.database.column(select(release_scores.c.release).filter_by(repository=repository.key)))

    def latest(self, repository: Repository) -> ReleaseScore | None:
        """Return the score of a repository's release that was published last; None without one, or if it compares nothing."""
        query = select(release_scores.c.body).filter_by(repository=repository.key)
        body = self.database.value(query.order_by(release_scores.c.published_at.desc()).limit(1))
        score = ReleaseScore.model_validate(body) if body else None
        return score if score and score.ranked_named else None
