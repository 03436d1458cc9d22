"""The terms of a search on PostgreSQL: as tsqueries, and how many commits hold them.

Counting the commits of a common word takes long, so what the planner's statistics know is not counted (`pg_stats` keeps the
frequencies of the thousand commonest words). `EXPLAIN` gives its estimates without running a query.
"""

import math
import unicodedata
from collections.abc import Sequence
from typing import Literal, NamedTuple

from sqlalchemy import Connection
from sqlalchemy import text as sql

from analysis.search.words import split_words
from bot.store.search import COMMON, Term

Column = Literal["words", "title_words"]  # of `commit_search`

_LEXEME = 500  # characters of a word: PostgreSQL stores words up to 2 kB
_LEAST_IDF = 1e-6  # as in FTS5, for a word that most commits hold
_SAMPLED = (
    20_000  # commits: above, their number and length are estimated, and the number of those that hold a common word
)
_SAMPLE = 1_000  # commits whose mean length is taken
_KNOWN_SHARE = 0.01  # of the commits: what more of them hold is known to the statistics
_COUNTED, _COUNTED_OF_LARGE = 50_000, 2_000  # commits that hold a term
_ERA = 16_384  # ids, as in the trigger of `commit_search`


class Sought(NamedTuple):
    """A term as it is looked for: its words, as a tsquery, and in titles alone or everywhere; held by so many commits, and its weight."""

    words: tuple[str, ...]
    prefix: bool
    query: str
    titles: bool
    held: float = 0.0
    idf: float = 0.0


class Collection(NamedTuple):
    """The number of indexed commits, their mean length in words and the era of the last; `large` if the former two are estimated."""

    commits: float
    length: float
    last_era: int
    large: bool


def read_collection(connection: Connection) -> Collection:
    """Return what is known of all indexed commits."""
    pages = "SELECT reltuples FROM pg_class WHERE oid = to_regclass('commit_search')"
    commits = float(connection.exec_driver_sql(pages).scalar_one())
    large = commits > _SAMPLED
    # The same sample each time, so that a search that is repeated ranks alike.
    sample = f" TABLESAMPLE SYSTEM ({100 * _SAMPLE / commits}) REPEATABLE (1)" if large else ""
    counted, length = connection.exec_driver_sql(f"SELECT count(*), avg(length) FROM commit_search{sample}").one()  # noqa: S608 (the only insertion is ours)
    last = connection.exec_driver_sql("SELECT max(rowid) FROM commit_search").scalar() or 0
    return Collection(commits if large else float(counted), float(length or 1), last // _ERA, large)


def required_term(connection: Connection, term: Term, collection: Collection) -> Sought:
    """Return a term that must be there."""
    return _weighed(connection, _sought(term, prefix=term.prefix, titles=False), collection)


def optional_term(connection: Connection, term: Term, collection: Collection) -> Sought:
    """Return a term that need not be there; a common word is looked for in titles alone, where it says most."""
    titles = _held(connection, _sought(term, prefix=False, titles=False), collection, COMMON) >= COMMON
    return _weighed(connection, _sought(term, prefix=term.prefix, titles=titles), collection)


def index_words(text: str) -> list[str]:
    """Return the words of a text in its indexed form, without diacritics, as FTS5's tokenizer splits them."""
    if not text.isascii():
        letters = (each for each in unicodedata.normalize("NFD", text) if not unicodedata.combining(each))
        text = unicodedata.normalize("NFC", "".join(letters))
    return [word[:_LEXEME] for word in split_words(text)]


def repository_word(repository_id: int) -> str:
    """Return the word that the database adds to the commits of a repository; no text has such a word."""
    return f"'/r{repository_id}'"


def era_word(era: int) -> str:
    """Return the word that the database adds to the commits of an era; no text has such a word."""
    return f"'/e{era}'"


def _estimated_share(connection: Connection, column: Column, query: str, collection: Collection) -> float:
    """Return the share of the commits that the planner expects to match a tsquery."""
    statement = sql(f"EXPLAIN (FORMAT JSON) SELECT FROM commit_search WHERE {column} @@ CAST(:query AS tsquery)")
    plan = connection.execute(statement, {"query": query}).scalar_one()
    return float(plan[0]["Plan"]["Plan Rows"]) / max(1.0, collection.commits)


def _sought(term: Term, *, prefix: bool, titles: bool) -> Sought:
    words = tuple(index_words(term.phrase))
    query = " <-> ".join(f"'{word}'" for word in words)
    return Sought(words, prefix, f"{query}{':*' if prefix else ''}", titles)


def _weighed(connection: Connection, sought: Sought, collection: Collection) -> Sought:
    held = _held(connection, sought, collection, _COUNTED)
    rarity = (collection.commits - held + 0.5) / (held + 0.5)
    return sought._replace(held=held, idf=max(math.log(rarity), _LEAST_IDF) if rarity > 0 else _LEAST_IDF)


def _held(connection: Connection, sought: Sought, collection: Collection, most: int) -> float:
    column: Column = "title_words" if sought.titles else "words"
    share = 0.0
    if collection.large:
        share, most = _estimated_share(connection, column, sought.query, collection), _COUNTED_OF_LARGE
        # Each commit with the words of a phrase would have to be read: those of its words are an upper bound.
        if share > _KNOWN_SHARE or len(sought.words) > 1:
            return share * collection.commits
    query = (
        f"SELECT count(*) FROM (SELECT 1 FROM commit_search WHERE {column} @@ CAST(:query AS tsquery) LIMIT :most) f"  # noqa: S608 (the only insertion is ours)
    )
    counted = float(connection.execute(sql(query), {"query": sought.query, "most": most}).scalar_one())
    return counted if counted < most else max(counted, share * collection.commits)


def conjunction(terms: Sequence[Sought]) -> str:
    """Return the tsquery of all of the terms."""
    return " & ".join(f"({each.query})" for each in terms)


def use_word_indexes(connection: Connection) -> None:
    """Have words looked up in their indexes until the transaction ends: the planner does not know that they are stored apart from their commits."""
    connection.exec_driver_sql(
        "SELECT set_config(name, 'off', true) FROM unnest('{enable_seqscan,enable_indexscan}'::text[]) name"
    )
