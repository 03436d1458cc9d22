"""The commits that a search on PostgreSQL ranks: all that match, or of very many those with the best prospects.

A commit is the better the more terms it holds, the rarer they are, and if they are in its title. So the commits with all
terms come first, then those with the rarest, each time those with the term in their title before the others, the newest
first, until there are enough. The index knows the era of a commit and its repository as words (`scope_words`), so that
the newest ones of a common word are found without reading the others.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sqlalchemy import Connection
from sqlalchemy import text as sql

from bot.store.tsvector_terms import Collection, Column, Sought, conjunction, era_word, repository_word

_STEP, _MOST = 300, 900  # commits of a step, and of all steps, in a large store
_STEP_OF_SMALL = 5_000  # commits of a step where all are soon read
_NEWEST_ERAS = (1, 8)  # searched before all of them
_ENOUGH = 100  # commits of a step for which no older eras are searched


class _Step(NamedTuple):
    """A column and what it must match; `whole` if those are all terms."""

    column: Column
    terms: tuple[Sought, ...]
    whole: bool


def candidates(
    connection: Connection,
    required: Sequence[Sought],
    optional: Sequence[Sought],
    collection: Collection,
    keys: Sequence[str],
) -> list[int]:
    """Return the ids of the commits to be ranked; of the repositories with these `keys`, if there are any."""
    within = _within(connection, keys)
    if within == ():
        return []
    found: dict[int, None] = {}
    in_titles: tuple[Sought, ...] = ()  # terms that enough commits have in their titles
    for step in _steps(required, optional):
        if collection.large and (len(found) >= _MOST or step.terms == in_titles):
            continue
        newest = _newest(connection, step, collection, within)
        found |= dict.fromkeys(newest)
        if step.column == "title_words" and len(newest) >= _STEP:
            in_titles = step.terms
            if collection.large and step.whole:
                break
    return list(found)


def _within(connection: Connection, keys: Sequence[str]) -> Sequence[str] | None:
    """Return the words of the repositories searched, of which there may be none; None if all of them are."""
    if not keys:
        return None
    rows = connection.execute(sql("SELECT id, key FROM repositories")).all()
    chosen = tuple(repository_word(row.id) for row in rows if row.key in keys)
    return chosen if len(chosen) < len(rows) else None


def _steps(required: Sequence[Sought], optional: Sequence[Sought]) -> Iterator[_Step]:
    rarest = sorted(optional, key=lambda each: -each.idf)
    groups = [[*required, *rarest], *([*required, each] for each in rarest), *([[*required]] if required else [])]
    for place, group in enumerate(dict.fromkeys(map(tuple, groups))):
        yield _Step("title_words", group, whole=not place)
        if not all(each.titles for each in group):
            yield _Step("words", group, whole=not place)


def _newest(connection: Connection, step: _Step, collection: Collection, within: Sequence[str] | None) -> list[int]:
    """Return the ids of the newest commits that match, without an order."""
    query = conjunction(step.terms)
    if within:
        query += _any_of(within)
    eras = [era_word(each) for each in range(collection.last_era, -1, -1)]
    if collection.large:
        for count in _NEWEST_ERAS:
            found = _matching(connection, step.column, query + _any_of(eras[:count]), _STEP)
            if len(found) >= _ENOUGH or count >= len(eras):
                return found
    return _matching(connection, step.column, query, _STEP if collection.large else _STEP_OF_SMALL)


def _any_of(words: Sequence[str]) -> str:
    return f" & ({' | '.join(words)})"


def _matching(connection: Connection, column: Column, query: str, most: int) -> list[int]:
    statement = (
        f"SELECT rowid FROM commit_search WHERE {column} @@ CAST(:query AS tsquery) ORDER BY rowid DESC LIMIT :most"  # noqa: S608 (the only insertion is ours)
    )
    return list(connection.execute(sql(statement), {"query": query, "most": most}).scalars())
