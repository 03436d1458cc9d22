"""The full-text index of commits: what is stored in it, and the query for the best matches.

SQLite's tokenizer splits words at spaces and punctuation. Chinese, Japanese and Korean have no spaces: each character is
indexed as a word, and a query for several is a phrase. Names in camel case are indexed whole and in parts.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Row, TextClause, bindparam, select
from sqlalchemy import text as sql

from analysis.models import Commit
from bot.store.schema import repositories

_AMONG = "AND rowid IN (SELECT c.id FROM commits c JOIN repositories r ON r.id = c.repository_id WHERE r.key IN :among)"
_CJK = re.compile("([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff])")
_CAMEL = re.compile(r"\b(?=\w*[a-z])(?=\w*[A-Z])[A-Za-z][A-Za-z0-9]+\b")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")


def searchable(text: str) -> str:
    """Return `text` in its indexed form."""
    parts = [" ".join(_PARTS.findall(name)) for name in dict.fromkeys(_CAMEL.findall(text))]
    return " ".join([_spaced(text), *parts])


def match_query(words: str) -> str:
    """Return an FTS5 query for commits that contain all `words` as word prefixes; empty if there are no words."""
    phrases = [_spaced(word.replace('"', " ").replace("\0", " ")).strip() for word in words.split()]
    return " AND ".join(f'"{phrase}"{_prefix_operator(phrase)}' for phrase in phrases if re.search(r"\w", phrase))


def index_commit(connection: Connection, commit_id: int, commit: Commit) -> None:
    """Index a commit's title and paths, in place of all that was indexed of it."""
    connection.execute(sql("DELETE FROM commit_search WHERE rowid = :id"), {"id": commit_id})
    connection.execute(
        sql("INSERT INTO commit_search (rowid, title, paths, summary) VALUES (:id, :title, :paths, '')").bindparams(
            bindparam("id", commit_id),
            bindparam("title", searchable(commit.title)),
            bindparam("paths", searchable(" ".join(commit.paths))),
        )
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
        "SELECT c.id, r.key FROM (SELECT rowid AS id, bm25(commit_search, 10.0, 2.0, 3.0) AS score FROM commit_search "  # noqa: S608 (the only insertion is ours)
        f"WHERE commit_search MATCH :query {within} ORDER BY score, rowid DESC LIMIT :limit) best "
        "JOIN commits c ON c.id = best.id JOIN repositories r ON r.id = c.repository_id ORDER BY best.score, c.committed_at DESC"
    )
    return statement.bindparams(bindparam("among", expanding=True)) if within else statement


def _prefix_operator(phrase: str) -> str:
    """Return the prefix operator for a word, nothing for a pull request number, which must match exactly."""
    return "" if re.fullmatch(r"#\d+", phrase) else "*"


def _spaced(text: str) -> str:
    return _CJK.sub(r" \1 ", text)
