"""The full-text index of commits: what is stored in it, its search, and what keeps it complete.

The database finds the candidates and counts the terms, SQLite in an FTS5 table and PostgreSQL in a tsvector of the words of
all texts; `analysis.search` ranks them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Text,
    and_,
    cast,
    column,
    delete,
    func,
    insert,
    literal_column,
    or_,
    select,
    table,
    text,
    true,
    update,
)

from analysis.models import FoundCommit, Repository
from analysis.search.text_search import COMMON, WEIGHTS, Term, TextQuery, parse_text_query, rank_candidates
from analysis.search.words import VERSION, CommitWords, IndexedCommit, are_all, commit_words, searchable
from bot.store.commit_rows import latest_ids, of_repository, read_commits
from bot.store.schema import commits, repositories
from bot.store.transactions import Records

_TEXTS = (*CommitWords._fields, "summary")
# Each kind of database has columns of its own beside these.
commit_search = table("commit_search", column("rowid", BigInteger), *(column(name, Text) for name in _TEXTS))
_rowid: ColumnElement[Any] = commit_search.c.rowid
_WORDS = tuple(commit_search.c[name] for name in CommitWords._fields)
_words: ColumnElement[Any] = literal_column("commit_search.words")  # of PostgreSQL

_BATCH = 100  # commits that are indexed in one transaction
_RANKED = 300  # candidates, or as many as are wanted
_NEWEST = 1_000  # of the commits that match on PostgreSQL, which are ranked by ts_rank
_IN_TITLE: ColumnElement[str] = literal_column("'{0.1, 0.1, 0.1, 1.0}'")  # the weights of ts_rank, from label D to A
_MOST_CHARACTERS = 150_000  # of a text: PostgreSQL stores a tsvector of up to 1 MB
_SIGNS = r"[\x01-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]+"  # which part words; its own parser keeps paths and hyphenated words whole
_OUTDATED: ColumnElement[bool] = and_(commits.c.read, commits.c.words_version < VERSION)


class SearchIndex(Records):
    """The full-text index of an engine's commits; thread-safe.

    A commit is indexed when it is stored. Those that an earlier program indexed otherwise are found by their titles and
    paths until they are indexed anew, by `update`.
    """

    def search(self, words: str, among: Sequence[Repository] = (), limit: int = 20) -> list[FoundCommit]:
        """Return the commits that a search means (`analysis.search.text_search`), best match first.

        Search only the repositories in `among`, if given.
        """
        with self.database.engine.connect() as connection:
            matches = _best_matches(connection, words, [each.key for each in among], limit)
            found = read_commits(connection, list(matches))
        return [FoundCommit(key, each.commit) for key, each in zip(matches.values(), found, strict=True)]

    def best(self, repository: Repository, words: str, limit: int) -> list[int]:
        """Return the ids of a repository's commits that a search means, best match first."""
        with self.database.engine.connect() as connection:
            return list(_best_matches(connection, words, [repository.key], limit))

    def documents(self, repository: Repository, since: datetime, until: datetime) -> list[IndexedCommit]:
        """Return the indexed words of a repository's commits that were read and landed on its branch in a period."""
        landed = commits.c.committed_at.between(since, until), commits.c.not_on.is_(None), commits.c.read
        columns = select(commits.c.id, commits.c.committed_at, *_WORDS)
        query = columns.select_from(commits.join(commit_search, commits.c.id == _rowid))
        return [IndexedCommit(*row) for row in self.database.rows(query.where(of_repository(repository), *landed))]

    def words(self, ids: Sequence[int]) -> dict[int, CommitWords]:
        """Return id -> the indexed words of some commits, in the order of the ids."""
        query = select(_rowid, *_WORDS)
        rows = {row[0]: CommitWords(*row[1:]) for row in self.database.rows_among(query, _rowid, ids)}
        return {each: rows[each] for each in ids if each in rows}

    def in_messages(self, repository: Repository, texts: Sequence[str], limit: int) -> list[int]:
        """Return the ids of a repository's commits whose messages have one of the texts, trailers too, the latest first."""
        has_one = or_(*(commits.c.message.icontains(each, autoescape=True) for each in texts))
        return self.database.column(latest_ids(repository).where(has_one).limit(limit))

    def partly_indexed(self, repository: Repository) -> list[int]:
        """Return the ids of a repository's commits that may have words that are not indexed, the latest first."""
        return self.database.column(latest_ids(repository).where(commits.c.words_are_all.is_not(True)))

    def outdated(self) -> int:
        """Return how many commits were indexed by an earlier program."""
        return self.database.value(select(func.count()).select_from(commits).where(_OUTDATED)) or 0

    def update(self) -> Iterator[int]:
        """Index the outdated commits anew from what is stored of them, and yield the number that each batch has done.

        Whoever stops, or is stopped, loses a batch at most. The latest come first.
        """
        below: ColumnElement[bool] = true()  # the last id, so that no batch sorts all that are left
        next_ids = select(commits.c.id).where(_OUTDATED).order_by(commits.c.id.desc()).limit(_BATCH)
        while ids := self.database.column(next_ids.where(below)):
            self._index(ids)
            yield len(ids)
            below = commits.c.id < ids[-1]

    def complete(self) -> None:
        """Index all outdated commits anew."""
        for _ in self.update():
            pass

    def _index(self, ids: Sequence[int]) -> None:
        with self.database.engine.connect() as connection:
            batch = read_commits(connection, ids, patches=True)
        words = {each.id: commit_words(each.commit) for each in batch}
        whole = [each.id for each in batch if are_all(words[each.id], each.commit)]
        with self.database.begin() as connection:
            # Whoever stored one of them meanwhile knew more of it.
            left = select(commits.c.id).where(_OUTDATED, commits.c.id.in_(ids)).with_for_update()
            for each in list(connection.execute(left).scalars()):
                index_commit(connection, each, words[each])
            row = {"words_version": VERSION, "words_are_all": commits.c.id.in_(whole)}
            connection.execute(update(commits).where(commits.c.id.in_(ids)).values(row))


def create_index(connection: Connection) -> None:
    """Create the index of a new database."""
    if connection.dialect.name == "sqlite":
        tokens = "tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3'"
        connection.exec_driver_sql(f"CREATE VIRTUAL TABLE commit_search USING fts5({', '.join(_TEXTS)}, {tokens})")
        return
    texts = ", ".join(f"{name} text NOT NULL" for name in _TEXTS)
    words = " || ".join(
        f"setweight(to_tsvector('simple', {_plain(name)}), '{'A' if name == 'title' else 'D'}')" for name in _TEXTS
    )
    connection.exec_driver_sql(
        "CREATE TABLE commit_search (rowid bigint PRIMARY KEY REFERENCES commits (id) ON DELETE CASCADE,"
        f" {texts}, words tsvector GENERATED ALWAYS AS ({words}) STORED)"
    )
    connection.exec_driver_sql("CREATE INDEX ix_commit_search_words ON commit_search USING gin (words)")


def _plain(name: str) -> str:
    """Return the SQL of a column's words with spaces between them, without diacritics."""
    letters = f"regexp_replace(normalize(left({name}, {_MOST_CHARACTERS}), NFD), '[\u0300-\u036f]+', '', 'g')"
    return f"regexp_replace(normalize({letters}, NFC), '{_SIGNS}', ' ', 'g')"


def index_commit(connection: Connection, commit_id: int, words: CommitWords) -> None:
    """Index a commit's words, in place of all that was indexed of it but its summaries."""
    summary = connection.execute(select(commit_search.c.summary).where(_rowid == commit_id)).scalar()
    connection.execute(delete(commit_search).where(_rowid == commit_id))
    row = {"rowid": commit_id, **words._asdict(), "summary": summary or ""}
    connection.execute(insert(commit_search).values(row))


def index_summaries(connection: Connection, commit_id: int, summaries: Iterable[str]) -> None:
    """Index the summaries of a commit's analyses, in place of those indexed before."""
    values = {"summary": searchable(" ".join(summaries))}
    connection.execute(update(commit_search).where(_rowid == commit_id).values(values))


def _best_matches(connection: Connection, words: str, keys: Sequence[str], limit: int) -> dict[int, str]:
    """Return id -> repository's key of the commits that a search means, best first; of the repositories with these `keys`, if there are any."""
    query = parse_text_query(words)
    stored = connection.execute(select(repositories.c.id, repositories.c.key)).all()
    among = [row.id for row in stored if not keys or row.key in keys]
    if not query.terms or not among:
        return {}
    own = [] if len(among) == len(stored) else [commits.c.repository_id.in_(among)]
    is_sqlite = connection.dialect.name == "sqlite"
    held = {
        term: _count(connection, _fts5_match(_phrase(term)) if is_sqlite else _tsvector([term])) for term in query.terms
    }
    find = fts5_candidates if is_sqlite else tsvector_candidates
    texts = (commit_search.c[name] for name in _TEXTS)
    candidates = (
        select(commits.c.id, commits.c.committed_at, repositories.c.key, *texts)
        .select_from(commits.join(repositories).join(commit_search, commits.c.id == _rowid))
        .where(_rowid.in_(find(connection, query, held, own, max(limit, _RANKED))))
    )
    rows = {row.id: row for row in connection.execute(candidates)}
    number = connection.execute(select(func.max(commits.c.id))).scalar() or 0
    found = (IndexedCommit(row.id, row.committed_at, *row[3:]) for row in rows.values())
    return {each.id: rows[each.id].key for each in rank_candidates(query, found, held, number)[:limit]}


def _count(connection: Connection, matches: ColumnElement[bool]) -> int:
    """Return how many commits match, up to `COMMON`."""
    some = select(_rowid).where(matches).limit(COMMON).subquery()
    return connection.execute(select(func.count()).select_from(some)).scalar_one()


def fts5_candidates(
    connection: Connection, query: TextQuery, held: Mapping[Term, int], own: Sequence[ColumnElement[bool]], most: int
) -> Sequence[int]:
    """Return the ids of the commits of a search with the best prospects, of those with which the conditions `own` hold.

    A common term that need not be there is looked for in titles alone: ranking takes 1.3 µs a match.
    """
    every = " AND ".join(map(_phrase, query.required))
    some = " OR ".join(
        f"{{title}} : {_phrase(each)}" if held[each] >= COMMON else _phrase(each) for each in query.optional
    )
    # What need not be there still counts for the rank.
    match = f"({every}) OR ({every} AND ({some}))" if every and some else every or some
    rank = text(f"bm25(commit_search, {', '.join(map(str, WEIGHTS))})")
    found = select(_rowid).where(_fts5_match(match)).order_by(rank, _rowid.desc()).limit(most)
    within = [_rowid.in_(select(commits.c.id).where(*own))] if own else []
    return connection.execute(found.where(*within)).scalars().all()


def _fts5_match(match: str) -> ColumnElement[bool]:
    return literal_column("commit_search").op("MATCH", is_comparison=True)(match)


def _phrase(term: Term) -> str:
    return f'"{term.phrase}"{"*" if term.prefix else ""}'


def tsvector_candidates(
    connection: Connection, query: TextQuery, held: Mapping[Term, int], own: Sequence[ColumnElement[bool]], most: int
) -> Sequence[int]:
    """Return the ids of the commits of a search with the best prospects, of those with which the conditions `own` hold.

    Those with all terms come first, then those with the rarest, until there are enough; the newest are looked at.
    """
    rarest = sorted(query.optional, key=lambda each: held[each])
    steps: list[Sequence[Term]] = [[*query.required, *rarest]]
    steps += [[*query.required, each] for each in rarest if len(query.terms) > 1]
    steps += [query.required] if query.required and rarest else []
    found: dict[int, None] = {}
    for terms in steps:
        matching = select(_rowid, _words.label("words")).select_from(
            commit_search.join(commits, commits.c.id == _rowid)
        )
        newest = matching.where(_tsvector(terms), *own).order_by(_rowid.desc()).limit(_NEWEST).subquery()
        rank = func.ts_rank(_IN_TITLE, newest.c.words, _tsquery(terms))
        ranked = select(newest.c.rowid).order_by(rank.desc(), newest.c.rowid.desc()).limit(most)
        found |= dict.fromkeys(connection.execute(ranked).scalars())
        if len(found) >= most:
            break
    return list(found)


def _tsvector(terms: Sequence[Term]) -> ColumnElement[bool]:
    return _words.op("@@", is_comparison=True)(_tsquery(terms))


def _tsquery(terms: Sequence[Term]) -> ColumnElement[Any]:
    """Return the tsquery of all of the terms."""
    from sqlalchemy.dialects.postgresql import TSQUERY  # 25 ms that SQLite does not need

    phrases = (" <-> ".join(f"'{word}'" for word in term.words) + (":*" if term.prefix else "") for term in terms)
    return cast(" & ".join(f"({phrase})" for phrase in phrases), TSQUERY)
