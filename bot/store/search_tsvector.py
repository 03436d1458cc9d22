"""The full-text index on PostgreSQL: a tsvector of the words of all texts."""

from collections.abc import Iterator, Mapping, Sequence

from sqlalchemy import Connection
from sqlalchemy import text as sql

from analysis.search.text_search import Term, TextQuery

_MOST_CHARACTERS = 150_000  # of a text: PostgreSQL stores a tsvector of up to 1 MB
_SIGNS = r"[\x01-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]+"  # which part words; its own parser keeps paths and hyphenated words whole
_NEWEST = 1_000  # of the commits that match, which are ranked by ts_rank
_IN_TITLE = "{0.1, 0.1, 0.1, 1.0}"  # the weights of ts_rank, from label D to A


def create_index(connection: Connection, columns: Sequence[str]) -> None:
    """Create the index of a new database."""
    texts = ", ".join(f"{name} text NOT NULL" for name in columns)
    words = " || ".join(
        f"setweight(to_tsvector('simple', {_plain(name)}), '{'A' if name == 'title' else 'D'}')" for name in columns
    )
    connection.exec_driver_sql(
        "CREATE TABLE commit_search (rowid bigint PRIMARY KEY REFERENCES commits (id) ON DELETE CASCADE,"
        f" {texts}, words tsvector GENERATED ALWAYS AS ({words}) STORED)"
    )
    connection.exec_driver_sql("CREATE INDEX ix_commit_search_words ON commit_search USING gin (words)")


def _plain(column: str) -> str:
    """Return the SQL of a text's words with spaces between them, without diacritics."""
    letters = f"regexp_replace(normalize(left({column}, {_MOST_CHARACTERS}), NFD), '[\u0300-\u036f]+', '', 'g')"
    return f"regexp_replace(normalize({letters}, NFC), '{_SIGNS}', ' ', 'g')"


def count(connection: Connection, term: Term, most: int) -> int:
    """Return how many commits hold a term, up to `most`."""
    query = (
        "SELECT count(*) FROM (SELECT 1 FROM commit_search WHERE words @@ CAST(:query AS tsquery) LIMIT :most) found"
    )
    return int(connection.execute(sql(query), {"query": _tsquery([term]), "most": most}).scalar_one())


def candidates(
    connection: Connection, query: TextQuery, held: Mapping[Term, int], among: Sequence[int], most: int
) -> list[int]:
    """Return the ids of the commits of a search with the best prospects; of the repositories `among`, if there are any.

    Those with all terms come first, then those with the rarest, until there are enough; the newest are looked at.
    """
    statement = sql(
        "SELECT rowid FROM (SELECT s.rowid, words FROM commit_search s JOIN commits c ON c.id = s.rowid"  # noqa: S608 (the only insertions are ours)
        " WHERE words @@ CAST(:query AS tsquery) AND (:everywhere OR c.repository_id = ANY(:among))"
        f" ORDER BY s.rowid DESC LIMIT {_NEWEST}) newest"
        f" ORDER BY ts_rank('{_IN_TITLE}', words, CAST(:query AS tsquery)) DESC, rowid DESC LIMIT :most"
    )
    found: dict[int, None] = {}
    for terms in _steps(query, held):
        values = {"query": _tsquery(terms), "everywhere": not among, "among": list(among), "most": most}
        found |= dict.fromkeys(connection.execute(statement, values).scalars())
        if len(found) >= most:
            break
    return list(found)


def _steps(query: TextQuery, held: Mapping[Term, int]) -> Iterator[Sequence[Term]]:
    """Yield terms that commits are to hold together, the most telling first."""
    rarest = sorted(query.optional, key=lambda each: held[each])
    yield [*query.required, *rarest]
    yield from ([*query.required, each] for each in rarest if len(query.terms) > 1)
    if query.required and rarest:
        yield query.required


def _tsquery(terms: Sequence[Term]) -> str:
    """Return the tsquery of all of the terms."""
    phrases = (" <-> ".join(f"'{word}'" for word in term.words) + (":*" if term.prefix else "") for term in terms)
    return " & ".join(f"({phrase})" for phrase in phrases)
