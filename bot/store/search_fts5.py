"""The full-text index on SQLite: an FTS5 table, ranked by its bm25."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection, Row, TextClause, bindparam, select
from sqlalchemy import text as sql

from analysis.search.commit_words import CommitWords
from analysis.search.words import searchable
from bot.store.schema import repositories
from bot.store.search import COMMON, WEIGHTS, Term, parse_query

_AMONG = "AND rowid IN (SELECT c.id FROM commits c JOIN repositories r ON r.id = c.repository_id WHERE r.key IN :among)"
_COLUMNS = CommitWords._fields  # those that are made of the commit; the summary is made of its analyses


def match_query(text: str, is_common: Callable[[str], bool] = lambda _: False) -> str:
    """Return an FTS5 query for the commits that a search means; empty if it has no words.

    A common word that need not be there counts in titles alone, where it says most: ranking takes 1.3 µs a match.
    """
    query = parse_query(text)
    every = " AND ".join(_match(term) for term in query.required)
    some = " OR ".join(
        f"{{title}} : {_match(term)}" if is_common(f'"{term.phrase}"') else _match(term) for term in query.optional
    )
    # What need not be there still counts for the rank.
    return f"({every}) OR ({every} AND ({some}))" if every and some else every or some


def create_index(connection: Connection) -> None:
    """Create the index of a new database."""
    columns = ", ".join((*_COLUMNS, "summary"))
    connection.exec_driver_sql(
        f"CREATE VIRTUAL TABLE commit_search USING fts5({columns},"
        " tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3')"
    )


def index_commit(connection: Connection, commit_id: int, words: CommitWords) -> None:
    """Index a commit's words, in place of all that was indexed of it but its summaries."""
    row = {"id": commit_id, **words._asdict()}
    changed = ", ".join(f"{name} = :{name}" for name in _COLUMNS)
    if not connection.execute(sql(f"UPDATE commit_search SET {changed} WHERE rowid = :id"), row).rowcount:  # noqa: S608 (the only insertion is ours)
        columns, places = ", ".join(_COLUMNS), ", ".join(f":{name}" for name in _COLUMNS)
        connection.execute(
            sql(f"INSERT INTO commit_search (rowid, {columns}, summary) VALUES (:id, {places}, '')"),  # noqa: S608 (likewise)
            row,
        )


def index_summaries(connection: Connection, commit_id: int, summaries: Iterable[str]) -> None:
    """Index the summaries of a commit's analyses, in place of those indexed before."""
    connection.execute(
        sql("UPDATE commit_search SET summary = :summary WHERE rowid = :id"),
        {"summary": searchable(" ".join(summaries)), "id": commit_id},
    )


def best_matches(connection: Connection, text: str, keys: Sequence[str], limit: int) -> Sequence[Row[Any]]:
    """Return the `id` and the repository's `key` of the commits that a search means, best first.

    Search only the repositories with these `keys`, if there are any.
    """
    query = match_query(text, partial(_is_common, connection))
    if not query:
        return []
    others = select(repositories.c.id).where(repositories.c.key.not_in(keys)).limit(1)
    within = _AMONG if keys and connection.execute(others).first() else ""
    return connection.execute(_search_statement(within), {"query": query, "limit": limit, "among": keys}).all()


def _match(term: Term) -> str:
    return f'"{term.phrase}"{"*" if term.prefix else ""}'


def _is_common(connection: Connection, query: str) -> bool:
    among = sql("SELECT count(*) FROM (SELECT 1 FROM commit_search WHERE commit_search MATCH :query LIMIT :most)")
    return bool(connection.execute(among, {"query": query, "most": COMMON}).scalar_one() >= COMMON)


def _search_statement(within: str) -> TextClause:
    # The index alone selects the best matches; only those are looked up, ties newest first.
    weights = ", ".join(map(str, WEIGHTS))
    statement = sql(
        f"SELECT c.id, r.key FROM (SELECT rowid AS id, bm25(commit_search, {weights}) AS score FROM commit_search "  # noqa: S608 (the only insertions are ours)
        f"WHERE commit_search MATCH :query {within} ORDER BY score, rowid DESC LIMIT :limit) best "
        "JOIN commits c ON c.id = best.id JOIN repositories r ON r.id = c.repository_id ORDER BY best.score, c.committed_at DESC"
    )
    return statement.bindparams(bindparam("among", expanding=True)) if within else statement
