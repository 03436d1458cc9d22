"""Search of stored commits, and what keeps its index complete."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Column, ColumnElement, Engine, Select, and_, func, literal_column, or_, select, text, update

from analysis.models import Commit, Repository
from analysis.search.bm25 import IndexedCommit
from analysis.search.commit_words import VERSION, CommitWords, are_all, commit_words
from bot.store.commit_rows import StoredCommit, read_commits, summaries_of
from bot.store.full_text import best_matches, index_commit, index_summaries
from bot.store.schema import commits, repositories
from bot.store.transactions import Database

_BATCH = 100  # commits that are indexed in one transaction


class SearchResult(NamedTuple):
    """A search result: a commit and its repository's key."""

    repository: str
    commit: Commit


class SearchIndex:
    """The full-text index of an engine's commits; thread-safe.

    A commit is indexed when it is stored. Those that an earlier program indexed otherwise are found by their titles and
    paths until they are indexed anew, by `update`.
    """

    def __init__(self, engine: Engine) -> None:
        self._database = Database(engine)

    def search(self, words: str, among: Sequence[Repository] = (), limit: int = 20) -> list[SearchResult]:
        """Return the commits that a search means (`analysis.search.text_search`), best match first.

        Search only the repositories in `among`, if given.
        """
        with self._database.engine.connect() as connection:
            hits = best_matches(connection, words, sorted(each.key for each in among), limit)
            found = read_commits(connection, [hit.id for hit in hits])
        return [SearchResult(hit.key, each.commit) for hit, each in zip(hits, found, strict=True)]

    def best(self, repository: Repository, words: str, limit: int) -> list[int]:
        """Return the ids of a repository's commits that a search means, best match first."""
        with self._database.engine.connect() as connection:
            return [hit.id for hit in best_matches(connection, words, [repository.key], limit)]

    def documents(self, repository: Repository, since: datetime, until: datetime) -> list[IndexedCommit]:
        """Return the indexed words of a repository's commits that were read and landed on its branch in a period."""
        query = _words_of(repository, commits.c.id, commits.c.committed_at).where(
            commits.c.committed_at.between(since, until), commits.c.not_on.is_(None)
        )
        return [IndexedCommit(*row) for row in self._database.rows(query)]

    def words(self, repository: Repository, shas: Sequence[str]) -> dict[str, CommitWords]:
        """Return SHA -> the indexed words of the commits that were read."""
        rows = self._database.rows_among(_words_of(repository, commits.c.sha), commits.c.sha, shas)
        return {sha: CommitWords(*words) for sha, *words in rows}

    def in_messages(self, repository: Repository, texts: Sequence[str], limit: int) -> list[int]:
        """Return the ids of a repository's commits whose messages have one of the texts, trailers too, the latest first."""
        query = (
            select(commits.c.id)
            .join(repositories)
            .where(repositories.c.key == repository.key, commits.c.read, commits.c.not_on.is_(None))
            .where(or_(*(commits.c.message.icontains(each, autoescape=True) for each in texts)))
            .order_by(commits.c.committed_at.desc())
            .limit(limit)
        )
        return self._database.column(query)

    def partly_indexed(self, repository: Repository) -> list[int]:
        """Return the ids of a repository's commits that may have words that are not indexed, the latest first."""
        query = (
            select(commits.c.id)
            .join(repositories)
            .where(
                repositories.c.key == repository.key, commits.c.words_are_all.is_not(True), commits.c.not_on.is_(None)
            )
            .where(commits.c.read)
            .order_by(commits.c.committed_at.desc())
        )
        return self._database.column(query)

    def outdated(self) -> int:
        """Return how many commits were indexed by an earlier program."""
        return self._database.value(select(func.count()).select_from(commits).where(_OUTDATED)) or 0

    def update(self, *, summaries: bool = False) -> Iterator[int]:
        """Index the outdated commits anew from what is stored of them, and yield the number that each batch has done.

        Whoever stops, or is stopped, loses a batch at most. The latest come first. The `summaries` of their analyses are
        indexed too for an index that has none yet.
        """
        before: int | None = None
        while ids := self._outdated_ids(before):
            with self._database.engine.connect() as connection:
                batch = read_commits(connection, ids, patches=True)
            self._index(batch, summaries=summaries)
            yield len(ids)
            before = ids[-1]

    def complete(self) -> None:
        """Index all outdated commits anew."""
        for _ in self.update():
            pass

    def _outdated_ids(self, before: int | None) -> list[int]:
        """Return the next ids, below the last one, so that no batch sorts all that are left."""
        query = select(commits.c.id).where(_OUTDATED).order_by(commits.c.id.desc()).limit(_BATCH)
        return self._database.column(query if before is None else query.where(commits.c.id < before))

    def _index(self, batch: Sequence[StoredCommit], *, summaries: bool) -> None:
        words = {each.id: commit_words(each.commit) for each in batch}
        with self._database.begin() as connection:
            # Whoever stored one of them meanwhile knew more of it.
            left = select(commits.c.id).where(_OUTDATED, commits.c.id.in_(words)).with_for_update()
            for each in list(connection.execute(left).scalars()):
                index_commit(connection, each, words[each])
            if summaries:
                for commit_id, found in summaries_of(connection, words).items():
                    index_summaries(connection, commit_id, found)
            whole = [each.id for each in batch if are_all(words[each.id], each.commit)]
            row = {"words_version": VERSION, "words_are_all": commits.c.id.in_(whole)}
            connection.execute(update(commits).where(commits.c.id.in_(words)).values(row))


def _words_of(repository: Repository, *columns: Column[Any]) -> Select[*tuple[Any, ...]]:
    """Return the query for columns and the indexed words of a repository's commits that were read."""
    indexed = text("commit_search s"), literal_column("s.rowid") == commits.c.id
    return (
        select(*columns, *(literal_column(f"s.{name}") for name in CommitWords._fields))
        .select_from(commits.join(repositories).join(*indexed))
        .where(repositories.c.key == repository.key, commits.c.read)
    )


_OUTDATED: ColumnElement[bool] = and_(commits.c.read, commits.c.words_version < VERSION)
