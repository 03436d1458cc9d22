"""The full-text index on PostgreSQL: tsvectors of the same words that FTS5 finds, ranked by the same bm25.

PostgreSQL's ranking knows neither how rare a word is nor how long a text. So it chooses some candidates by an estimate,
and those are ranked by their hits.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row
from sqlalchemy import text as sql

from analysis.search.commit_words import CommitWords
from analysis.search.words import searchable
from bot.store.search import WEIGHTS, parse_query
from bot.store.tsvector_candidates import candidates
from bot.store.tsvector_terms import (
    Collection,
    Sought,
    index_words,
    optional_term,
    read_collection,
    required_term,
    use_word_indexes,
)

_TITLE, _MESSAGE, _PATHS, _CODE, _SUMMARY = WEIGHTS
# A tsvector has four labels and positions up to 16,383: summaries share the message's label, at positions of their own.
_BY_LABEL = {"A": _TITLE, "B": _PATHS, "C": _CODE, "D": _MESSAGE}
_SUMMARIES = 15_000  # the first position of summaries
_LAST = 16_383
_VECTOR = 900_000  # bytes of a tsvector: PostgreSQL stores up to 1 MB
_LIKE_FTS5 = (1.2, 0.75)  # bm25's k1 and b
_RANKED, _RANKED_OF_LARGE = (
    400,
    200,
)  # commits ranked by their hits, in a small and in a large store; more where more results are wanted
# ts_rank takes weights up to 1, by label from D to A; it divides by the sum of 1/n².
_ESTIMATED = "{0.2, 0.3, 0.4, 1.0}"
_TO_HITS = 10 * math.pi**2 / 6
_ADD_SCOPE = """
CREATE FUNCTION add_search_scope() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE scope tsvector;
BEGIN
    SELECT CAST('/r' || repository_id || ' /e' || id / 16384 AS tsvector) INTO scope FROM commits WHERE id = NEW.rowid;
    NEW.words = NEW.words || scope;
    NEW.title_words = NEW.title_words || scope;
    RETURN NEW;
END $$
"""


def create_index(connection: Connection) -> None:
    """Create the index of a new database: the words of all columns, and of titles alone, for words that very many commits hold.

    A trigger adds the words of a commit's repository and era, so that a search reads only the commits that it is about.
    """
    texts = ", ".join(f"{name} text NOT NULL" for name in (*CommitWords._fields, "summary"))
    connection.exec_driver_sql(
        "CREATE TABLE commit_search (rowid bigint PRIMARY KEY REFERENCES commits (id) ON DELETE CASCADE,"
        f" {texts}, words tsvector NOT NULL, title_words tsvector NOT NULL, length integer NOT NULL)"
    )
    for column in ("words", "title_words"):
        connection.exec_driver_sql(f"CREATE INDEX ix_commit_search_{column} ON commit_search USING gin ({column})")
    connection.exec_driver_sql(_ADD_SCOPE)
    connection.exec_driver_sql(
        "CREATE TRIGGER add_search_scope BEFORE INSERT OR UPDATE ON commit_search"
        " FOR EACH ROW EXECUTE FUNCTION add_search_scope()"
    )


def index_commit(connection: Connection, commit_id: int, words: CommitWords) -> None:
    """Index a commit's words, in place of all that was indexed of it but its summaries."""
    before = sql("SELECT summary FROM commit_search WHERE rowid = :id FOR UPDATE")
    _save(connection, commit_id, words, connection.execute(before, {"id": commit_id}).scalar() or "")


def index_summaries(connection: Connection, commit_id: int, summaries: Iterable[str]) -> None:
    """Index the summaries of a commit's analyses, in place of those indexed before."""
    before = sql("SELECT title, message, paths, code FROM commit_search WHERE rowid = :id FOR UPDATE")
    row = connection.execute(before, {"id": commit_id}).first()
    if row:
        _save(connection, commit_id, CommitWords(*row), searchable(" ".join(summaries)))


def best_matches(connection: Connection, text: str, keys: Sequence[str], limit: int) -> Sequence[Row[Any]]:
    """Return the `id` and the repository's `key` of the commits that a search means, best first.

    Search only the repositories with these `keys`, if there are any.
    """
    query = parse_query(text)
    if not query.required and not query.optional:
        return []
    collection = read_collection(connection)
    use_word_indexes(connection)
    required = [required_term(connection, each, collection) for each in query.required]
    optional = [optional_term(connection, each, collection) for each in query.optional]
    terms = [*required, *optional]
    chosen = candidates(connection, required, optional, collection, keys)
    most = max(limit, _RANKED_OF_LARGE if collection.large else _RANKED)
    ids = _estimated_best(connection, terms, collection, chosen, most)
    scores = _scores(connection, terms, collection, ids)
    best = sorted(scores, key=lambda each: (-scores[each], -each))[:limit]
    found = connection.execute(
        sql(
            "SELECT c.id, r.key, c.committed_at FROM commits c JOIN repositories r ON r.id = c.repository_id"
            " WHERE c.id = ANY(:ids) AND (:everywhere OR r.key = ANY(:keys)) ORDER BY c.committed_at DESC"
        ),
        {"ids": best, "everywhere": not keys, "keys": list(keys)},
    ).all()
    return sorted(found, key=lambda row: -scores[row.id])


# Words


def _save(connection: Connection, commit_id: int, words: CommitWords, summary: str) -> None:
    row = search_row(commit_id, words, summary)
    columns, changes = ", ".join(row), ", ".join(f"{name} = excluded.{name}" for name in row if name != "rowid")
    values = ", ".join(f"CAST(:{name} AS tsvector)" if name in {"words", "title_words"} else f":{name}" for name in row)
    connection.execute(
        sql(f"INSERT INTO commit_search ({columns}) VALUES ({values}) ON CONFLICT (rowid) DO UPDATE SET {changes}"),  # noqa: S608 (the only insertions are ours)
        row,
    )


def search_row(commit_id: int, words: CommitWords, summary: str) -> dict[str, Any]:
    """Return the row of `commit_search` for a commit's words and the summaries of its analyses, tsvectors as their literals."""
    title = index_words(words.title)
    vector, length = _vector(title, *(index_words(each) for each in (*words[1:], summary)))
    return {
        "rowid": commit_id,
        **words._asdict(),
        "summary": summary,
        "words": vector,
        "title_words": _vector(title)[0],
        "length": length,
    }


def _vector(
    title: Sequence[str],
    message: Sequence[str] = (),
    paths: Sequence[str] = (),
    code: Sequence[str] = (),
    summary: Sequence[str] = (),
) -> tuple[str, int]:
    """Return the tsvector of a commit's words as its literal, and the number of words. Phrases end with their column."""
    places: dict[str, list[str]] = {}
    position, size = 0, 0
    for words, label, last in (
        (title, "A", _SUMMARIES - 1),
        (message, "D", _SUMMARIES - 1),
        (paths, "B", _SUMMARIES - 1),
        (code, "C", _SUMMARIES - 1),
        (summary, "D", _LAST),
    ):
        position = _SUMMARIES if words is summary else position + 1  # a gap, which no phrase bridges
        for word in words:
            if word not in places and (size := size + 4 * len(word)) > _VECTOR:
                break
            places.setdefault(word, []).append(f"{min(position, last)}{label}")
            position += 1
    literal = " ".join(f"'{word}':{','.join(each)}" for word, each in places.items())
    return literal, sum(map(len, (title, message, paths, code, summary)))


# Ranking


def _estimated_best(
    connection: Connection, terms: Sequence[Sought], collection: Collection, ids: Sequence[int], most: int
) -> Sequence[int]:
    """Return those of the commits with the best estimates."""
    if len(ids) <= most:
        return ids
    names = {f"q{number}": term for number, term in enumerate(terms)}
    estimate = " + ".join(_estimate(name, term) for name, term in names.items())
    statement = f"SELECT s.rowid FROM commit_search s WHERE s.rowid = ANY(:ids) ORDER BY {estimate} DESC, s.rowid DESC LIMIT :most"  # noqa: S608 (the only insertions are ours)
    values: dict[str, Any] = {name: term.query for name, term in names.items()}
    values |= {f"i{name}": term.idf for name, term in names.items()}
    values |= {"ids": list(ids), "most": most, "mean": collection.length}
    return list(connection.execute(sql(statement), values).scalars())


def _estimate(name: str, term: Sought) -> str:
    """Return the SQL of a term's bm25, with ts_rank's measure of its hits."""
    column = "title_words" if term.titles else "words"
    k1, b = _LIKE_FTS5
    hits = f"ts_rank('{_ESTIMATED}', s.{column}, CAST(:{name} AS tsquery)) * {_TO_HITS:.3f}"
    return f"CAST(:i{name} AS float8) * (1 - 1 / (1 + {hits} / ({k1} * ({1 - b} + {b} * s.length / CAST(:mean AS float8)))))"


def _scores(
    connection: Connection, terms: Sequence[Sought], collection: Collection, ids: Sequence[int]
) -> dict[int, float]:
    """Return id -> bm25 of the commits, the higher the better."""
    k1, b = _LIKE_FTS5
    # As text, of which a pattern takes the few words that are sought: unnesting all of them takes four times as long.
    query = sql("SELECT rowid, length, CAST(words AS text) AS words FROM commit_search WHERE rowid = ANY(:ids)")
    pattern = _lexemes(terms)
    scores = dict.fromkeys(ids, 0.0)
    for row in connection.execute(query, {"ids": list(ids)}):
        places = {word: _places(listed) for word, listed in pattern.findall(row.words)}
        steep = k1 * (1 - b + b * row.length / collection.length)
        for term in terms:
            hits = sum(_hits(term, places))
            scores[row.rowid] += term.idf * hits * (k1 + 1) / (hits + steep)
    return scores


def _lexemes(terms: Iterable[Sought]) -> re.Pattern[str]:
    """Return a pattern of the words of the terms in a tsvector's text, and of their positions there."""
    words = {word: rf"{re.escape(word)}" for term in terms for word in term.words}
    words |= {term.words[-1]: rf"{re.escape(term.words[-1])}[^']*" for term in terms if term.prefix}
    return re.compile(rf"'({'|'.join(words.values())})':([\dA-D,]+)")


def _places(listed: str) -> dict[int, float]:
    """Return position -> weight, given the positions of a tsvector's word: `2A,17C,30`."""
    found: dict[int, float] = {}
    for each in listed.split(","):
        label = each[-1] if each[-1] in _BY_LABEL else "D"
        position = int(each.rstrip("ABCD"))
        found[position] = _weight(position, label)
    return found


def _weight(position: int, label: str) -> float:
    return _SUMMARY if position >= _SUMMARIES else _BY_LABEL[label]


def _hits(term: Sought, places: Mapping[str, Mapping[int, float]]) -> Iterator[float]:
    """Yield the weights of a term's hits, given word -> position -> weight."""
    *rest, last = term.words
    ends = [last]
    if term.prefix:
        ends = [word for word in places if word.startswith(last)]
    for end in ends:
        for position, weight in places.get(end, {}).items():
            start = position - len(rest)
            if term.titles and weight != _TITLE:
                continue
            if all(start + number in places.get(word, {}) for number, word in enumerate(rest)):
                yield weight
