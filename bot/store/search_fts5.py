"""The full-text index on SQLite: an FTS5 table."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, bindparam
from sqlalchemy import text as sql

from analysis.search.text_search import COMMON, WEIGHTS, Term, TextQuery

_WITHIN = "AND rowid IN (SELECT id FROM commits WHERE repository_id IN :among)"


def create_index(connection: Connection, columns: Sequence[str]) -> None:
    """Create the index of a new database."""
    connection.exec_driver_sql(
        f"CREATE VIRTUAL TABLE commit_search USING fts5({', '.join(columns)},"
        " tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3')"
    )


def count(connection: Connection, term: Term, most: int) -> int:
    """Return how many commits hold a term, up to `most`."""
    query = sql("SELECT count(*) FROM (SELECT 1 FROM commit_search WHERE commit_search MATCH :query LIMIT :most)")
    return int(connection.execute(query, {"query": _match(term), "most": most}).scalar_one())


def candidates(
    connection: Connection, query: TextQuery, held: Mapping[Term, int], among: Sequence[int], most: int
) -> list[int]:
    """Return the ids of the commits of a search with the best prospects; of the repositories `among`, if there are any.

    A common term that need not be there is looked for in titles alone: ranking takes 1.3 µs a match.
    """
    every = " AND ".join(map(_match, query.required))
    some = " OR ".join(
        f"{{title}} : {_match(term)}" if held[term] >= COMMON else _match(term) for term in query.optional
    )
    # What need not be there still counts for the rank.
    match = f"({every}) OR ({every} AND ({some}))" if every and some else every or some
    weights = ", ".join(map(str, WEIGHTS))
    statement = sql(
        f"SELECT rowid FROM commit_search WHERE commit_search MATCH :query {_WITHIN if among else ''}"  # noqa: S608 (the only insertions are ours)
        f" ORDER BY bm25(commit_search, {weights}), rowid DESC LIMIT :most"
    )
    if among:
        statement = statement.bindparams(bindparam("among", expanding=True))
    return list(connection.execute(statement, {"query": match, "among": among, "most": most}).scalars())


def _match(term: Term) -> str:
    return f'"{term.phrase}"{"*" if term.prefix else ""}'
