"""The commits that a search on PostgreSQL ranks: all that match, or of very many those with the best prospects.

A commit is the better the more terms it holds, the rarer they are, and if they are in its title. So the commits with all
terms come first, then those with the rarest, each time those with the term in their title before the others, the newest
first, until there are enough. Every step reads a bounded number of commits, whatever the size of the store.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection
from sqlalchemy import text as sql

from bot.store.tsvector_terms import Collection, Column, Sought, conjunction, estimated_rows, estimated_share, set_plans

_STEP, _MOST = 300, 900  # commits of a step, and of all steps, in a large store
_STEP_OF_SMALL = 5_000  # commits of a step where all are soon read
_ENOUGH = 100  # commits of a step for which no older ones are looked for
_SPARE = 4.0  # times the commits that a step is expected to need
_PHRASE_SHARES = (
    1 / 64,
    1 / 8,
)  # of the commits, from the newest on: only reading them tells whether the words stand together
# What reading takes (µs): a commit in the index of words or of ids, its place there, and a commit to be tested, whose
# words are stored apart from it but for those of its title.
_FETCHED, _LISTED = 10.0, 0.5
_TESTED: dict[Column, float] = {"title_words": 7.0, "words": 35.0}
_JOINED = 15.0  # a commit found by its repository


class _Scope(NamedTuple):
    """The collection, the ids of the repositories searched if not all are, and the share of the commits that they have."""

    collection: Collection
    repositories: Sequence[int] | None
    share: float


class _Step(NamedTuple):
    """A column and what it must match; `whole` if those are all terms."""

    column: Column
    terms: tuple[Sought, ...]
    whole: bool

    @property
    def query(self) -> str:
        return conjunction(self.terms)


def candidates(
    connection: Connection,
    required: Sequence[Sought],
    optional: Sequence[Sought],
    collection: Collection,
    keys: Sequence[str],
) -> list[int]:
    """Return the ids of the commits to be ranked; of the repositories with these `keys`, if there are any."""
    scope = _scope(connection, collection, keys)
    found: dict[int, None] = {}
    in_titles: tuple[Sought, ...] = ()  # terms that enough commits have in their titles
    for step in _steps(required, optional):
        if collection.large and (len(found) >= _MOST or step.terms == in_titles):
            continue
        newest = _newest(connection, step, scope)
        found |= dict.fromkeys(newest)
        if step.column == "title_words" and len(newest) >= _STEP:
            in_titles = step.terms
            if collection.large and step.whole:
                break
    set_plans(connection, enable_seqscan="on", enable_indexscan="on", enable_bitmapscan="on")
    return list(found)


def _scope(connection: Connection, collection: Collection, keys: Sequence[str]) -> _Scope:
    if keys:
        query = sql("SELECT id, key = ANY(:keys) AS chosen FROM repositories")
        rows = connection.execute(query, {"keys": list(keys)}).all()
        chosen = [row.id for row in rows if row.chosen]
        if len(chosen) < len(rows):
            statement = "SELECT FROM commits WHERE repository_id = ANY(:ids)"
            share = estimated_rows(connection, statement, {"ids": chosen}) / max(1.0, collection.commits)
            return _Scope(collection, chosen, min(1.0, share))
    return _Scope(collection, None, 1.0)


def _steps(required: Sequence[Sought], optional: Sequence[Sought]) -> Iterator[_Step]:
    rarest = sorted(optional, key=lambda each: -each.idf)
    groups = [[*required, *rarest], *([*required, each] for each in rarest), *([[*required]] if required else [])]
    for place, group in enumerate(dict.fromkeys(map(tuple, groups))):
        yield _Step("title_words", group, whole=not place)
        if not all(each.titles for each in group):
            yield _Step("words", group, whole=not place)


def _newest(connection: Connection, step: _Step, scope: _Scope) -> list[int]:
    """Return the ids of the newest commits that match, without an order."""
    if not scope.collection.large:
        return _by_words(connection, step, scope, 0)
    commits = scope.collection.commits
    estimate = estimated_share(connection, step.column, step.query, scope.collection)
    density = min(estimate, *(max(1.0, each.held) / commits for each in step.terms), 1.0)
    matching = density * commits
    needed = _SPARE * _STEP / density / max(scope.share, 0.01)  # of the newest commits
    newer = [max(0.0, 1 - needed / commits)]
    ways = [
        (matching * (_LISTED + _FETCHED), _by_words, [0.0]),
        ((matching + needed) * _LISTED + needed * density * _FETCHED, _by_words, newer),
    ]
    if scope.repositories is not None and len(scope.repositories) == 1:
        tested = min(_STEP / density, scope.share * commits)
        ways.append((tested * (_TESTED[step.column] + _JOINED), _in_repository, [0.0]))
    else:
        ways.append((needed / _SPARE * _TESTED[step.column], _in_order, newer))
    if step.column == "words" and any(len(each.words) > 1 for each in step.terms):
        ways = [(0.0, _by_words, [1 - each for each in _PHRASE_SHARES])]
    _, read, starts = min(ways, key=lambda each: each[0])
    for start in starts:
        found = read(connection, step, scope, int(start * scope.collection.last))
        if len(found) >= _ENOUGH or not start:
            return found
    return _by_words(connection, step, scope, 0)


def _by_words(connection: Connection, step: _Step, scope: _Scope, first: int) -> list[int]:
    """Look the words up in their index."""
    set_plans(connection, enable_seqscan="off", enable_indexscan="off", enable_bitmapscan="on")
    newer = "AND rowid > :first" if first else ""
    statement = f"WITH found AS MATERIALIZED (SELECT rowid FROM commit_search WHERE {step.column} @@ CAST(:query AS tsquery) {newer})"  # noqa: S608 (the only insertions are ours)
    within = ""
    if scope.repositories is not None:
        set_plans(connection, enable_seqscan="off", enable_indexscan="on", enable_bitmapscan="on")
        within = (
            "WHERE EXISTS (SELECT FROM commits c WHERE c.id = found.rowid AND c.repository_id = ANY(:repositories))"
        )
    statement += f" SELECT rowid FROM found {within} ORDER BY rowid DESC LIMIT :most"  # noqa: S608 (likewise)
    return _ids(connection, statement, step, scope, first)


def _in_order(connection: Connection, step: _Step, scope: _Scope, first: int) -> list[int]:
    """Test one commit after the other, from the latest on."""
    set_plans(connection, enable_seqscan="off", enable_indexscan="on", enable_bitmapscan="off")
    within = ""
    if scope.repositories is not None:
        within = (
            "AND EXISTS (SELECT FROM commits c WHERE c.id = s.rowid AND c.repository_id = ANY(:repositories) OFFSET 0)"
        )
    statement = (
        f"SELECT s.rowid FROM commit_search s WHERE s.rowid > :first AND s.{step.column} @@ CAST(:query AS tsquery)"  # noqa: S608 (the only insertions are ours)
        f" {within} ORDER BY s.rowid DESC LIMIT :most"
    )
    return _ids(connection, statement, step, scope, first)


def _in_repository(connection: Connection, step: _Step, scope: _Scope, first: int) -> list[int]:
    """Test one commit of a repository after the other, from the latest on."""
    set_plans(connection, enable_seqscan="off", enable_indexscan="on", enable_bitmapscan="off")
    statement = (
        "SELECT c.id FROM (SELECT id, committed_at FROM commits WHERE repository_id = (CAST(:repositories AS bigint[]))[1] AND id > :first"  # noqa: S608 (the only insertions are ours)
        f" ORDER BY committed_at DESC OFFSET 0) c JOIN LATERAL (SELECT FROM commit_search s WHERE s.rowid = c.id AND s.{step.column} @@ CAST(:query AS tsquery) OFFSET 0) m ON true"
        " LIMIT :most"
    )
    return _ids(connection, statement, step, scope, first)


def _ids(connection: Connection, statement: str, step: _Step, scope: _Scope, first: int) -> list[int]:
    most = _STEP if scope.collection.large else _STEP_OF_SMALL
    values: dict[str, Any] = {"query": step.query, "most": most}
    if ":first" in statement:
        values["first"] = first
    if ":repositories" in statement:
        values["repositories"] = list(scope.repositories or ())
    return list(connection.execute(sql(statement), values).scalars())
