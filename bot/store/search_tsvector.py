"""The full-text index on PostgreSQL: tsvectors of the same words that FTS5 finds, ranked by the same bm25.

PostgreSQL's ranking knows neither how rare a word is nor how long a text. So it chooses some candidates by an estimate,
and those are ranked by their hits.
"""

import math
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row
from sqlalchemy import text as sql

from analysis.search.commit_words import CommitWords
from analysis.search.words import searchable, split_words
from bot.store.search import COMMON, WEIGHTS, Term, parse_query

_TITLE, _MESSAGE, _PATHS, _CODE, _SUMMARY = WEIGHTS
# A tsvector has four labels and positions up to 16,383: summaries share the message's label, at positions of their own.
_BY_LABEL = {"A": _TITLE, "B": _PATHS, "C": _CODE, "D": _MESSAGE}
_SUMMARIES = 15_000  # the first position of summaries
_LAST = 16_383
_LEXEME = 500  # characters of a word, and
_VECTOR = 900_000  # bytes of a tsvector: PostgreSQL stores words up to 2 kB, and 1 MB of them
_LIKE_FTS5 = (1.2, 0.75)  # bm25's k1 and b
_LEAST_IDF = 1e-6  # as in FTS5, for a word that most commits hold
_TITLES = 50_000  # commits: titles are counted up to here
_CANDIDATES = 400  # ranked by their hits, more where more results are wanted
_SAMPLED = 20_000  # commits: above, their number and length are estimated
# ts_rank takes weights up to 1, by label from D to A; it divides by the sum of 1/n².
_ESTIMATED = "{0.2, 0.3, 0.4, 1.0}"
_TO_HITS = 10 * math.pi**2 / 6


class _Sought(NamedTuple):
    """A term as it is looked for: its words, where, and how rare it is."""

    words: tuple[str, ...]
    prefix: bool
    query: str  # as a tsquery
    titles: bool  # in titles alone
    idf: float = 0.0


class _Collection(NamedTuple):
    """The number of indexed commits and their mean length in words."""

    commits: float
    length: float


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
    required = [_sought(term) for term in query.required]
    optional = [_sought(term, titles=_is_common(connection, term)) for term in query.optional]
    if not required and not optional:
        return []
    collection = _collection(connection)
    terms = [_with_idf(connection, each, collection) for each in (*required, *optional)]
    required, optional = terms[: len(required)], terms[len(required) :]
    ids = _candidates(connection, required, optional, collection, keys, max(limit, _CANDIDATES))
    scores = _scores(connection, terms, collection, ids)
    best = sorted(scores, key=lambda each: (-scores[each], -each))[:limit]
    found = connection.execute(
        sql(
            "SELECT c.id, r.key, c.committed_at FROM commits c JOIN repositories r ON r.id = c.repository_id"
            " WHERE c.id = ANY(:ids) ORDER BY c.committed_at DESC"
        ),
        {"ids": best},
    ).all()
    return sorted(found, key=lambda row: -scores[row.id])


# Words


def _save(connection: Connection, commit_id: int, words: CommitWords, summary: str) -> None:
    title = _words(words.title)
    vector, length = _vector(title, *(_words(each) for each in (*words[1:], summary)))
    row = {
        "rowid": commit_id,
        **words._asdict(),
        "summary": summary,
        "words": vector,
        "title_words": _vector(title)[0],
        "length": length,
    }
    columns, changes = ", ".join(row), ", ".join(f"{name} = excluded.{name}" for name in row if name != "rowid")
    values = ", ".join(f"CAST(:{name} AS tsvector)" if name in {"words", "title_words"} else f":{name}" for name in row)
    connection.execute(
        sql(f"INSERT INTO commit_search ({columns}) VALUES ({values}) ON CONFLICT (rowid) DO UPDATE SET {changes}"),  # noqa: S608 (the only insertions are ours)
        row,
    )


def _words(text: str) -> list[str]:
    """Return the words of a text in its indexed form, without diacritics, as FTS5's tokenizer splits them."""
    if not text.isascii():
        letters = (each for each in unicodedata.normalize("NFD", text) if not unicodedata.combining(each))
        text = unicodedata.normalize("NFC", "".join(letters))
    return [word[:_LEXEME] for word in split_words(text)]


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


# Queries


def _sought(term: Term, *, titles: bool = False, prefix: bool | None = None) -> _Sought:
    words = tuple(_words(term.phrase))
    prefix = term.prefix if prefix is None else prefix
    query = " <-> ".join(f"'{word}'" for word in words)
    return _Sought(words, prefix, f"{query}{':*' if prefix else ''}", titles)


def _is_common(connection: Connection, term: Term) -> bool:
    """Return whether so many commits hold a term that ranking them takes long."""
    return _count(connection, _sought(term, prefix=False), COMMON) >= COMMON


def _count(connection: Connection, sought: _Sought, most: int) -> int:
    column = "title_words" if sought.titles else "words"
    query = (
        f"SELECT count(*) FROM (SELECT 1 FROM commit_search WHERE {column} @@ CAST(:query AS tsquery) LIMIT :most) f"  # noqa: S608 (the only insertion is ours)
    )
    return int(connection.execute(sql(query), {"query": sought.query, "most": most}).scalar_one())


def _with_idf(connection: Connection, sought: _Sought, collection: _Collection) -> _Sought:
    held = _count(connection, sought, _TITLES if sought.titles else 2 * COMMON)
    rarity = (collection.commits - held + 0.5) / (held + 0.5)
    return sought._replace(idf=max(math.log(rarity), _LEAST_IDF) if rarity > 0 else _LEAST_IDF)


def _collection(connection: Connection) -> _Collection:
    pages = "SELECT reltuples FROM pg_class WHERE oid = to_regclass('commit_search')"
    commits = float(connection.exec_driver_sql(pages).scalar_one())
    sample = " TABLESAMPLE SYSTEM (2)" if commits > _SAMPLED else ""
    counted, length = connection.exec_driver_sql(f"SELECT count(*), avg(length) FROM commit_search{sample}").one()  # noqa: S608 (the only insertion is ours)
    return _Collection(commits if sample else float(counted), float(length or 1))


def _candidates(
    connection: Connection,
    required: Sequence[_Sought],
    optional: Sequence[_Sought],
    collection: _Collection,
    keys: Sequence[str],
    most: int,
) -> list[int]:
    """Return the ids of the commits with the best estimates."""
    terms = [*required, *optional]
    names = {f"q{number}": term for number, term in enumerate(terms)}
    matches = [_match(name, term) for name, term in names.items()]
    where = " AND ".join(matches[: len(required)]) or f"({' OR '.join(matches)})"
    if keys:
        where += (
            " AND s.rowid IN (SELECT c.id FROM commits c JOIN repositories r ON r.id = c.repository_id"
            " WHERE r.key = ANY(:keys))"
        )
    estimate = " + ".join(_estimate(name, term) for name, term in names.items())
    statement = f"SELECT s.rowid FROM commit_search s WHERE {where} ORDER BY {estimate} DESC, s.rowid DESC LIMIT :most"  # noqa: S608 (the only insertions are ours)
    values: dict[str, Any] = {name: term.query for name, term in names.items()}
    values |= {f"i{name}": term.idf for name, term in names.items()}
    values |= {"keys": list(keys), "most": most, "mean": collection.length}
    return list(connection.execute(sql(statement), values).scalars())


def _match(name: str, term: _Sought) -> str:
    return f"s.{'title_words' if term.titles else 'words'} @@ CAST(:{name} AS tsquery)"


def _estimate(name: str, term: _Sought) -> str:
    """Return the SQL of a term's bm25, with ts_rank's measure of its hits."""
    column = "title_words" if term.titles else "words"
    k1, b = _LIKE_FTS5
    hits = f"ts_rank('{_ESTIMATED}', s.{column}, CAST(:{name} AS tsquery)) * {_TO_HITS:.3f}"
    return f"CAST(:i{name} AS float8) * (1 - 1 / (1 + {hits} / ({k1} * ({1 - b} + {b} * s.length / CAST(:mean AS float8)))))"


# Ranking


def _scores(
    connection: Connection, terms: Sequence[_Sought], collection: _Collection, ids: Sequence[int]
) -> dict[int, float]:
    """Return id -> bm25 of the commits, the higher the better."""
    k1, b = _LIKE_FTS5
    exact = {word for term in terms for word in (term.words[:-1] if term.prefix else term.words)}
    query = sql(
        "SELECT s.rowid, s.length, u.lexeme, u.positions, u.weights FROM commit_search s, unnest(s.words) u"
        " WHERE s.rowid = ANY(:ids) AND (u.lexeme = ANY(:exact) OR u.lexeme LIKE ANY(:beginnings))"
    )
    beginnings = [f"{term.words[-1]}%" for term in terms if term.prefix]
    found: dict[int, dict[str, dict[int, float]]] = {each: {} for each in ids}
    lengths: dict[int, int] = {}
    for row in connection.execute(query, {"ids": list(ids), "exact": list(exact), "beginnings": beginnings}):
        found[row.rowid][row.lexeme] = dict(zip(row.positions, map(_weight, row.positions, row.weights), strict=True))
        lengths[row.rowid] = row.length
    scores = dict.fromkeys(ids, 0.0)
    for each, places in found.items():
        steep = k1 * (1 - b + b * lengths.get(each, 0) / collection.length)
        for term in terms:
            hits = sum(_hits(term, places))
            scores[each] += term.idf * hits * (k1 + 1) / (hits + steep)
    return scores


def _weight(position: int, label: str) -> float:
    return _SUMMARY if position >= _SUMMARIES else _BY_LABEL[label]


def _hits(term: _Sought, places: Mapping[str, Mapping[int, float]]) -> Iterator[float]:
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
