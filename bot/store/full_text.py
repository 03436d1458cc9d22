"""The full-text index of commits, of the database's kind: what is stored in it, and the query for the best matches."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from sqlalchemy import Connection, Row

from analysis.search.commit_words import CommitWords
from bot.store import search_fts5, search_tsvector


class _FullText(Protocol):
    def create_index(self, connection: Connection) -> None: ...
    def index_commit(self, connection: Connection, commit_id: int, words: CommitWords) -> None: ...
    def index_summaries(self, connection: Connection, commit_id: int, summaries: Iterable[str]) -> None: ...
    def best_matches(
        self, connection: Connection, text: str, keys: Sequence[str], limit: int
    ) -> Sequence[Row[Any]]: ...


_INDEXES: Mapping[str, _FullText] = {"sqlite": search_fts5, "postgresql": search_tsvector}


def create_index(connection: Connection) -> None:
    """Create the index of a new database."""
    _INDEXES[connection.dialect.name].create_index(connection)


def index_commit(connection: Connection, commit_id: int, words: CommitWords) -> None:
    """Index a commit's words, in place of all that was indexed of it but its summaries."""
    _INDEXES[connection.dialect.name].index_commit(connection, commit_id, words)


def index_summaries(connection: Connection, commit_id: int, summaries: Iterable[str]) -> None:
    """Index the summaries of a commit's analyses, in place of those indexed before."""
    _INDEXES[connection.dialect.name].index_summaries(connection, commit_id, summaries)


def best_matches(connection: Connection, text: str, keys: Sequence[str], limit: int) -> Sequence[Row[Any]]:
    """Return the `id` and the repository's `key` of the commits that a search means (`bot.store.search`), best first.

    Search only the repositories with these `keys`, if there are any.
    """
    return _INDEXES[connection.dialect.name].best_matches(connection, text, keys, limit)
