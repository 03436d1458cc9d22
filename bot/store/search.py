"""The full-text index of commits: what is stored in it, and the query for the best matches.

A search finds the commits that hold any of its words; those with `+` before them, and phrases in quotation marks, must be
there. Ranked by FTS5's bm25 with a weight a column, the newest first among equals.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Row, TextClause, bindparam, select
from sqlalchemy import text as sql

from analysis.search.commit_words import CommitWords
from analysis.search.words import searchable, spaced
from analysis.wordlists import wordlist
from bot.store.schema import repositories

_AMONG = "AND rowid IN (SELECT c.id FROM commits c JOIN repositories r ON r.id = c.repository_id WHERE r.key IN :among)"
_COLUMNS = CommitWords._fields  # those that are made of the commit; the summary is made of its analyses
_WEIGHTS = "10.0, 2.0, 4.0, 3.0, 1.0"  # title, message, paths, code, summary: the order of the table
_TERM = re.compile(r'(?:(?<=\s)|^)(\+?)(?:["“”]([^"“”]*)["“”]|(\S+))')
_COMMON = 5_000  # commits
_BEGINNING = 3  # characters of a word that finds those that begin with it


def match_query(text: str, is_common: Callable[[str], bool] = lambda _: False) -> str:
    """Return an FTS5 query for the commits that a search means; empty if it has no words.

    A common word that need not be there counts in titles alone, where it says most: ranking takes 1.3 µs a match.
    """
    required: list[str] = []
    optional: dict[str, str] = {}
    for plus, quoted, word in _TERM.findall(text):
        phrase = spaced((quoted or word).replace('"', " ").replace("\0", " ")).strip()
        if re.search(r"[^\W_]", phrase):
            term = f'"{phrase}"{"" if quoted else _prefix_operator(phrase)}'
            if plus or quoted:
                required.append(term)
            else:
                optional[phrase.lower()] = f"{{title}} : {term}" if is_common(f'"{phrase}"') else term
    telling = [term for phrase, term in optional.items() if phrase not in wordlist("stopwords")]
    rest = telling or ([] if required else list(optional.values()))
    every, some = " AND ".join(dict.fromkeys(required)), " OR ".join(rest)
    # What need not be there still counts for the rank.
    return f"({every}) OR ({every} AND ({some}))" if every and some else every or some


def is_common(connection: Connection, query: str) -> bool:
    """Return whether so many commits match an FTS5 query that ranking them takes long."""
    among = sql("SELECT count(*) FROM (SELECT 1 FROM commit_search WHERE commit_search MATCH :query LIMIT :most)")
    return bool(connection.execute(among, {"query": query, "most": _COMMON}).scalar_one() >= _COMMON)


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


def best_matches(connection: Connection, query: str, keys: Sequence[str], limit: int) -> Sequence[Row[Any]]:
    """Return the `id` and the repository's `key` of the commits that match an FTS5 query, best first.

    Search only the repositories with these `keys`, if there are any.
    """
    others = select(repositories.c.id).where(repositories.c.key.not_in(keys)).limit(1)
    within = _AMONG if keys and connection.execute(others).first() else ""
    return connection.execute(_search_statement(within), {"query": query, "limit": limit, "among": keys}).all()


def _search_statement(within: str) -> TextClause:
    # The index alone selects the best matches; only those are looked up, ties newest first.
    statement = sql(
        f"SELECT c.id, r.key FROM (SELECT rowid AS id, bm25(commit_search, {_WEIGHTS}) AS score FROM commit_search "  # noqa: S608 (the only insertions are ours)
        f"WHERE commit_search MATCH :query {within} ORDER BY score, rowid DESC LIMIT :limit) best "
        "JOIN commits c ON c.id = best.id JOIN repositories r ON r.id = c.repository_id ORDER BY best.score, c.committed_at DESC"
    )
    return statement.bindparams(bindparam("among", expanding=True)) if within else statement


def _prefix_operator(phrase: str) -> str:
    """Return the prefix operator; nothing for a pull request number or a short word, which must match exactly."""
    exact = re.fullmatch(r"#\d+", phrase) or (phrase.isascii() and len(phrase) < _BEGINNING)
    return "" if exact else "*"
