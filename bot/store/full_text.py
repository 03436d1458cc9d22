"""The full-text index of commits: what is stored in it, and the best matches of a search.

The database finds the candidates and counts the terms, each kind in its own way; `analysis.search` ranks them.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from sqlalchemy import Connection, bindparam, func, select
from sqlalchemy import text as sql

from analysis.search.bm25 import IndexedCommit
from analysis.search.commit_words import CommitWords
from analysis.search.text_search import COMMON, Term, TextQuery, parse_text_query, rank_candidates
from analysis.search.words import searchable
from bot.store import search_fts5, search_tsvector
from bot.store.schema import Instant, commits, repositories

_COLUMNS = (*CommitWords._fields, "summary")
_RANKED = 300  # candidates, or as many as are wanted

_NAMES, _VALUES = ", ".join(_COLUMNS), ", ".join(f":{each}" for each in _COLUMNS)
_INSERT = sql(f"INSERT INTO commit_search (rowid, {_NAMES}) VALUES (:id, {_VALUES})")  # noqa: S608 (the only insertions are ours)
_TEXTS = (
    sql(
        f"SELECT c.id, c.committed_at, r.key, {', '.join(f's.{each}' for each in _COLUMNS)} FROM commit_search s"  # noqa: S608 (the only insertions are ours)
        " JOIN commits c ON c.id = s.rowid JOIN repositories r ON r.id = c.repository_id WHERE s.rowid IN :ids"
    )
    .bindparams(bindparam("ids", expanding=True))
    .columns(committed_at=Instant)
)


class Match(NamedTuple):
    """A commit that a search means: its id and its repository's key."""

    id: int
    key: str


class _Index(Protocol):
    """What differs between the kinds of databases: `search_fts5` and `search_tsvector`, by these names."""

    def create_index(self, connection: Connection, columns: Sequence[str]) -> None: ...
    def count(self, connection: Connection, term: Term, most: int) -> int: ...
    def candidates(
        self,
        connection: Connection,
        query: TextQuery,
        held: Mapping[Term, int],
        among: Sequence[int],
        most: int,
    ) -> list[int]: ...


_INDEXES: Mapping[str, _Index] = {"sqlite": search_fts5, "postgresql": search_tsvector}


def create_index(connection: Connection) -> None:
    """Create the index of a new database."""
    _INDEXES[connection.dialect.name].create_index(connection, _COLUMNS)


def index_commit(connection: Connection, commit_id: int, words: CommitWords) -> None:
    """Index a commit's words, in place of all that was indexed of it but its summaries."""
    key = {"id": commit_id}
    summary = connection.execute(sql("SELECT summary FROM commit_search WHERE rowid = :id"), key).scalar()
    if summary is not None:
        connection.execute(sql("DELETE FROM commit_search WHERE rowid = :id"), key)
    connection.execute(_INSERT, {**key, **words._asdict(), "summary": summary or ""})


def index_summaries(connection: Connection, commit_id: int, summaries: Iterable[str]) -> None:
    """Index the summaries of a commit's analyses, in place of those indexed before."""
    update = sql("UPDATE commit_search SET summary = :summary WHERE rowid = :id")
    connection.execute(update, {"summary": searchable(" ".join(summaries)), "id": commit_id})


def best_matches(connection: Connection, text: str, keys: Sequence[str], limit: int) -> list[Match]:
    """Return the commits that a search means, best first; of the repositories with these `keys`, if there are any."""
    query, index = parse_text_query(text), _INDEXES[connection.dialect.name]
    among = _chosen_repositories(connection, keys)
    if not query.terms or among == []:
        return []
    held = {term: index.count(connection, term, COMMON) for term in query.terms}
    ids = index.candidates(connection, query, held, among or (), max(limit, _RANKED))
    rows = {row.id: row for row in connection.execute(_TEXTS, {"ids": ids})}
    stored = connection.execute(select(func.max(commits.c.id))).scalar() or 0
    found = (IndexedCommit(row.id, row.committed_at, *row[3:]) for row in rows.values())
    return [Match(each.id, rows[each.id].key) for each in rank_candidates(query, found, held, stored)[:limit]]


def _chosen_repositories(connection: Connection, keys: Sequence[str]) -> list[int] | None:
    """Return the ids of the repositories that are searched; None if all are."""
    if not keys:
        return None
    rows = connection.execute(select(repositories.c.id, repositories.c.key)).all()
    chosen = [row.id for row in rows if row.key in keys]
    return chosen if len(chosen) < len(rows) else None
