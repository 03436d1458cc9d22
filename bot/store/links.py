"""Links between commits, looked up for many commits at once: one indexed query for each kind of link."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cache, lru_cache
from typing import Any, NamedTuple

from sqlalchemy import CompoundSelect, Connection, Select, bindparam, delete, insert, select, union_all

from analysis.facts.links import Keys, keys, series
from analysis.models import SHORT_SHA, Commit, Links
from bot.store.schema import commits, named
from bot.store.transactions import chunks, is_one_of

_MAX_ABBREVIATION = 12  # digits of an abbreviated SHA
_FULL_SHA = 40


class _Known(NamedTuple):
    """The fields of a stored commit that can link it to others."""

    sha: str
    title: str
    pr: int | None
    series: str | None
    reverts_sha: str | None
    reverts_title: str | None
    committed_at: datetime


def save_named(connection: Connection, commit_id: int, commit: Commit) -> None:
    """Store the commits that this one fixes or reverts, so that the link is found from either side."""
    key = keys(commit)
    rows = [
        {"commit_id": commit_id, "tie": tie, "name": name}
        for tie, names in (("fixes", key.fixes), ("reverts", key.reverts_pulls))
        for name in {_stored_form(each) for each in names}
    ]
    connection.execute(delete(named).where(named.c.commit_id == commit_id))
    if rows:
        connection.execute(insert(named), rows)


def linked(connection: Connection, wanted: Mapping[int, Commit]) -> dict[int, Links]:
    """Return commit id -> its links to stored commits of the same repository."""
    if not wanted:
        return {}
    all_keys = {commit_id: keys(commit) for commit_id, commit in wanted.items()}
    query = select(commits.c.repository_id, commits.c.id).where(commits.c.id.in_(wanted))
    groups: dict[int, dict[int, Keys]] = {}
    for row in connection.execute(query):
        groups.setdefault(row.repository_id, {})[row.id] = all_keys[row.id]
    found: dict[int, Links] = {}
    for repository_id, group in groups.items():
        chosen = [wanted[each] for each in group]
        known = _known(connection, repository_id, chosen, list(group.values()))
        naming = _naming(connection, repository_id, chosen)
        found |= {commit_id: _links(wanted[commit_id], key, known, naming) for commit_id, key in group.items()}
    return found


def _known(connection: Connection, repository_id: int, wanted: list[Commit], group_keys: list[Keys]) -> list[_Known]:
    """Return the stored commits that could be linked to any of `wanted`, oldest first."""
    pointed = {each for key in group_keys for each in (*key.fixes, *key.reverts_pulls)}
    shas = {key.reverts_sha for key in group_keys if key.reverts_sha}
    shas |= {each.lower() for each in pointed if not each.startswith("#")}
    quoted = {key.reverts_title for key in group_keys if key.reverts_title}
    lookups: dict[str, set[Any]] = {
        "sha": {each for each in shas if len(each) >= _FULL_SHA},
        "title": quoted,
        "reverts_sha": {sha for commit in wanted for sha in _sha_forms(commit.sha)},
        "reverts_title": {title for commit in wanted for title in (commit.title, _without_number(commit.title))},
        "series": {key.series for key in group_keys if key.series},
        "pr": {int(each[1:]) for each in pointed if each.startswith("#")},
    }
    # GitHub's reverts quote a title with its pull request number, manual ones often without.
    ranges = [("title", f"{title} (#", f"{title} (#:") for title in quoted]
    ranges += [("sha", each, each + "g") for each in shas if len(each) < _FULL_SHA]
    query = _query(
        connection.dialect.name,
        tuple(name for name, values in lookups.items() if values),
        tuple(name for name, _, _ in ranges),
    )
    bound: dict[str, Any] = {name: list(values) for name, values in lookups.items() if values}
    bound |= {f"from_{place}": begin for place, (_, begin, _) in enumerate(ranges)}
    bound |= {f"to_{place}": end for place, (_, _, end) in enumerate(ranges)}
    rows = {_Known(*row) for row in connection.execute(query, {**bound, "repository": repository_id})}
    return sorted(rows, key=lambda row: (row.committed_at, row.sha))


@lru_cache(maxsize=64)  # SQLAlchemy takes longer to build one than SQLite to answer it
def _query(dialect: str, listed: tuple[str, ...], ranged: tuple[str, ...]) -> CompoundSelect[Any]:
    """Return the query for the commits with one of a list of values in some columns, or with a value of a range in others.

    Its parameters are the `repository`, a list for each listed column by its name, and `from_0`, `to_0`, ... of the ranges.
    """
    conditions = [is_one_of(dialect, commits.c[name], name) for name in listed]
    conditions += [
        commits.c[name].between(bindparam(f"from_{place}"), bindparam(f"to_{place}"))
        for place, name in enumerate(ranged)
    ]
    columns = [commits.c[name] for name in _Known._fields]
    own = commits.c.repository_id == bindparam("repository")
    # A query for each condition, since SQLite would scan the table for a combined one; executed as one statement.
    return union_all(*(select(*columns).where(own, each) for each in conditions))


class _Naming(NamedTuple):
    """A stored commit that refers to another, and the kind of reference."""

    tie: str
    name: str
    sha: str
    committed_at: datetime


def _naming(connection: Connection, repository_id: int, wanted: list[Commit]) -> list[_Naming]:
    """Return the stored commits that state that they fix or revert any of `wanted`, oldest first."""
    names = {name for commit in wanted for name in _names(commit)}
    found = connection.execute(_naming_query(connection.dialect.name), {"names": list(names)}).all()
    # Apart from the names, as SQLite would read all commits of the repository for a join.
    dated: dict[int, tuple[str, datetime]] = {}
    for chunk in chunks(sorted({row.commit_id for row in found})):
        columns = select(commits.c.id, commits.c.sha, commits.c.committed_at)
        query = columns.where(commits.c.id.in_(chunk), commits.c.repository_id == repository_id)
        dated |= {row.id: (row.sha, row.committed_at) for row in connection.execute(query)}
    naming = [_Naming(row.tie, row.name, *dated[row.commit_id]) for row in found if row.commit_id in dated]
    return sorted(naming, key=lambda each: (each.committed_at, each.sha))


@cache
def _naming_query(dialect: str) -> Select[tuple[int, str, str]]:
    return select(named.c.commit_id, named.c.tie, named.c.name).where(is_one_of(dialect, named.c.name, "names"))


def _stored_form(name: str) -> str:
    """Return the stored form of a reference: a pull request's number, or at most the first 12 digits of a SHA."""
    return name.lower()[:_MAX_ABBREVIATION]


def _names(commit: Commit) -> list[str]:
    """Return the stored references by which others may refer to a commit."""
    return [*_sha_forms(commit.sha)[1:], *([f"#{commit.pr}"] if commit.pr else [])]


def _sha_forms(sha: str) -> list[str]:
    """Return the forms in which people write a SHA: full or abbreviated."""
    return [sha, *(sha[:length] for length in range(SHORT_SHA, _MAX_ABBREVIATION + 1))]


def _links(commit: Commit, key: Keys, known: list[_Known], naming: list[_Naming]) -> Links:
    others = [row for row in known if row.sha != commit.sha]
    before = [row for row in others if row.committed_at <= commit.committed_at]
    after = [row for row in others if row.committed_at >= commit.committed_at]
    reverts = _last(row.sha for row in others if key.reverts_sha and row.sha.startswith(key.reverts_sha))
    reverts = reverts or _last(row.sha for row in before if key.reverts_title and _quotes(key.reverts_title, row.title))
    pulls = [row.sha for row in before if any(_is_named(row, each) for each in key.reverts_pulls)]
    reverts = reverts or _last(pulls)
    by_sha = (row.sha for row in others if row.reverts_sha and commit.sha.startswith(row.reverts_sha))
    by_title = (row.sha for row in after if row.reverts_title and _quotes(row.reverts_title, commit.title))
    fixes = [_last(row.sha for row in others if _is_named(row, each)) for each in key.fixes]
    parts = tuple(row.sha for row in known if key.series and row.series == key.series)
    later = _later(commit, naming)
    return Links(
        # A full SHA is reported even if the store does not have the commit.
        reverts=reverts or (key.reverts_sha if key.reverts_sha and len(key.reverts_sha) == len(commit.sha) else None),
        reverts_also=tuple(sha for sha in pulls if sha != reverts),
        reverted_by=_last(by_sha) or _last(by_title) or _last(later["reverts"]),
        series=series(key, parts),
        fixes=tuple(dict.fromkeys(sha for sha in fixes if sha)),
        fixed_by=tuple(later["fixes"]),
    )


def _later(commit: Commit, naming: list[_Naming]) -> dict[str, dict[str, None]]:
    """Return the later commits that refer to this one, oldest first, by kind of reference."""
    names = set(_names(commit)) if naming else set()
    found: dict[str, dict[str, None]] = {"fixes": {}, "reverts": {}}
    for row in naming:
        if row.name in names and row.sha != commit.sha and row.committed_at >= commit.committed_at:
            found[row.tie][row.sha] = None
    return found


def _quotes(quoted: str, title: str) -> bool:
    return quoted in (title, _without_number(title))


def _without_number(title: str) -> str:
    """Return a title without its pull request number."""
    return re.sub(r"\s*\(#\d+\)\s*$", "", title)


def _is_named(row: _Known, name: str) -> bool:
    return row.pr == int(name[1:]) if name.startswith("#") else row.sha.startswith(name.lower())


def _last(shas: Iterable[str]) -> str | None:
    found = None
    for sha in shas:
        found = sha
    return found
