"""The commits that others name, looked up for many at once: a query a kind of tie, each by an index."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Column, Connection, delete, insert, select

from analysis.facts.links import Keys, keys, series
from analysis.models import SHORT_SHA, Commit, Links
from bot.store.schema import commits, named

_LONGEST = 12  # digits of an abbreviated SHA
_WHOLE = 40


class _Known(NamedTuple):
    """What of a stored commit ties others to it."""

    sha: str
    title: str
    pr: int | None
    series: str | None
    reverts_sha: str | None
    reverts_title: str | None
    committed_at: datetime


def save_named(connection: Connection, commit_id: int, commit: Commit) -> None:
    """Keeps what a commit says it fixes or reverts, so that it is found from the other side too."""
    key = keys(commit)
    rows = [
        {"commit_id": commit_id, "tie": tie, "name": name}
        for tie, names in (("fixes", key.fixes), ("reverts", key.reverts_pulls))
        for name in {_filed(each) for each in names}
    ]
    connection.execute(delete(named).where(named.c.commit_id == commit_id))
    if rows:
        connection.execute(insert(named), rows)


def linked(connection: Connection, wanted: Mapping[int, Commit]) -> dict[int, Links]:
    """Commit id -> its ties to stored commits of its repository."""
    if not wanted:
        return {}
    told = {commit_id: keys(commit) for commit_id, commit in wanted.items()}
    query = select(commits.c.repository_id, commits.c.id).where(commits.c.id.in_(wanted))
    groups: dict[int, dict[int, Keys]] = {}
    for row in connection.execute(query):
        groups.setdefault(row.repository_id, {})[row.id] = told[row.id]
    found: dict[int, Links] = {}
    for repository_id, group in groups.items():
        chosen = [wanted[each] for each in group]
        known = _known(connection, repository_id, chosen, list(group.values()))
        naming = _naming(connection, repository_id, chosen)
        found |= {commit_id: _links(wanted[commit_id], key, known, naming) for commit_id, key in group.items()}
    return found


def _known(connection: Connection, repository_id: int, wanted: list[Commit], told: list[Keys]) -> list[_Known]:
    """The stored commits that could be tied to any of `wanted`, oldest first."""
    pointed = {each for key in told for each in (*key.fixes, *key.reverts_pulls)}
    shas = {key.reverts_sha for key in told if key.reverts_sha}
    shas |= {each.lower() for each in pointed if not each.startswith("#")}
    lookups: list[tuple[Column[Any], set[Any]]] = [
        (commits.c.sha, {each for each in shas if len(each) >= _WHOLE}),
        (commits.c.title, {key.reverts_title for key in told if key.reverts_title}),
        (commits.c.reverts_sha, {sha for commit in wanted for sha in _written(commit.sha)}),
        (commits.c.reverts_title, {title for commit in wanted for title in (commit.title, _bare(commit.title))}),
        (commits.c.series, {key.series for key in told if key.series}),
        (commits.c.pr, {int(each[1:]) for each in pointed if each.startswith("#")}),
    ]
    conditions = [column.in_(values) for column, values in lookups if values]
    # GitHub's reverts quote a title with its pull request's number, people's often without.
    quoted = {key.reverts_title for key in told if key.reverts_title}
    conditions += [commits.c.title.between(f"{title} (#", f"{title} (#:") for title in quoted]
    conditions += [commits.c.sha.between(each, each + "g") for each in shas if len(each) < _WHOLE]
    columns = [commits.c[name] for name in _Known._fields]
    rows: set[_Known] = set()
    # A query a condition: of one query for all of them SQLite would make a scan of the table.
    for condition in conditions:
        query = select(*columns).where(commits.c.repository_id == repository_id, condition)
        rows.update(_Known(*row) for row in connection.execute(query))
    return sorted(rows, key=lambda row: (row.committed_at, row.sha))


class _Naming(NamedTuple):
    """A stored commit that names another, and how."""

    tie: str
    name: str
    sha: str
    committed_at: datetime


def _naming(connection: Connection, repository_id: int, wanted: list[Commit]) -> list[_Naming]:
    """The stored commits that say they fix or revert any of `wanted`, oldest first."""
    names = {name for commit in wanted for name in _names(commit)}
    query = (
        select(named.c.tie, named.c.name, commits.c.sha, commits.c.committed_at)
        .join(commits)
        .where(named.c.name.in_(names), commits.c.repository_id == repository_id)
        .order_by(commits.c.committed_at, commits.c.sha)
    )
    return [_Naming(*row) for row in connection.execute(query)]


def _filed(name: str) -> str:
    """How a name is kept: a pull request by its number, a commit by at most the first digits of its SHA."""
    return name.lower()[:_LONGEST]


def _names(commit: Commit) -> list[str]:
    """The names under which others may have filed a commit."""
    return [*_written(commit.sha)[1:], *([f"#{commit.pr}"] if commit.pr else [])]


def _written(sha: str) -> list[str]:
    """The ways in which people write a SHA: whole, or abbreviated."""
    return [sha, *(sha[:length] for length in range(SHORT_SHA, _LONGEST + 1))]


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
        # A whole SHA is told even when the store does not have the commit.
        reverts=reverts or (key.reverts_sha if key.reverts_sha and len(key.reverts_sha) == len(commit.sha) else None),
        reverts_also=tuple(sha for sha in pulls if sha != reverts),
        reverted_by=_last(by_sha) or _last(by_title) or _last(later["reverts"]),
        series=series(key, parts),
        fixes=tuple(dict.fromkeys(sha for sha in fixes if sha)),
        fixed_by=tuple(later["fixes"]),
    )


def _later(commit: Commit, naming: list[_Naming]) -> dict[str, dict[str, None]]:
    """The later commits that name this one, oldest first, by how they do."""
    names = set(_names(commit))
    found: dict[str, dict[str, None]] = {"fixes": {}, "reverts": {}}
    for row in naming:
        if row.name in names and row.sha != commit.sha and row.committed_at >= commit.committed_at:
            found[row.tie][row.sha] = None
    return found


def _quotes(quoted: str, title: str) -> bool:
    return quoted in (title, _bare(title))


def _bare(title: str) -> str:
    """A title without its pull request's number."""
    return re.sub(r"\s*\(#\d+\)\s*$", "", title)


def _is_named(row: _Known, name: str) -> bool:
    return row.pr == int(name[1:]) if name.startswith("#") else row.sha.startswith(name.lower())


def _last(shas: Iterable[str]) -> str | None:
    found = None
    for sha in shas:
        found = sha
    return found
