"""The commits that others name, looked up for many at once: a query a kind of tie, each by an index."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Column, Connection, select

from analysis.links import Keys, keys, series
from analysis.models import SHORT_SHA, Commit, Links
from bot.store.schema import commits

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


def linked(connection: Connection, wanted: Mapping[int, Commit]) -> dict[int, Links]:
    """Commit id -> its ties to stored commits of its repository."""
    if not wanted:
        return {}
    named = {commit_id: keys(commit) for commit_id, commit in wanted.items()}
    query = select(commits.c.repository_id, commits.c.id).where(commits.c.id.in_(wanted))
    groups: dict[int, dict[int, Keys]] = {}
    for row in connection.execute(query):
        groups.setdefault(row.repository_id, {})[row.id] = named[row.id]
    found: dict[int, Links] = {}
    for repository_id, group in groups.items():
        known = _known(connection, repository_id, [wanted[each] for each in group], list(group.values()))
        found |= {commit_id: _links(wanted[commit_id], key, known) for commit_id, key in group.items()}
    return found


def _known(connection: Connection, repository_id: int, wanted: list[Commit], named: list[Keys]) -> list[_Known]:
    """The stored commits that could be tied to any of `wanted`, oldest first."""
    fixed = {each for key in named for each in key.fixes}
    shas = {key.reverts_sha for key in named if key.reverts_sha} | {each for each in fixed if not each.startswith("#")}
    lookups: list[tuple[Column[Any], set[Any]]] = [
        (commits.c.sha, {each for each in shas if len(each) >= _WHOLE}),
        (commits.c.title, {key.reverts_title for key in named if key.reverts_title}),
        (commits.c.reverts_sha, {sha for commit in wanted for sha in _written(commit.sha)}),
        (commits.c.reverts_title, {title for commit in wanted for title in (commit.title, _bare(commit.title))}),
        (commits.c.series, {key.series for key in named if key.series}),
        (commits.c.pr, {int(each[1:]) for each in fixed if each.startswith("#")}),
    ]
    conditions = [column.in_(values) for column, values in lookups if values]
    # GitHub's reverts quote a title with its pull request's number, people's often without.
    quoted = {key.reverts_title for key in named if key.reverts_title}
    conditions += [commits.c.title.between(f"{title} (#", f"{title} (#:") for title in quoted]
    conditions += [commits.c.sha.between(each, each + "g") for each in shas if len(each) < _WHOLE]
    columns = [commits.c[name] for name in _Known._fields]
    rows: set[_Known] = set()
    # A query a condition: of one query for all of them SQLite would make a scan of the table.
    for condition in conditions:
        query = select(*columns).where(commits.c.repository_id == repository_id, condition)
        rows.update(_Known(*row) for row in connection.execute(query))
    return sorted(rows, key=lambda row: (row.committed_at, row.sha))


def _written(sha: str) -> list[str]:
    """The ways in which people write a SHA: whole, or abbreviated."""
    return [sha, *(sha[:length] for length in range(SHORT_SHA, _LONGEST + 1))]


def _links(commit: Commit, key: Keys, known: list[_Known]) -> Links:
    others = [row for row in known if row.sha != commit.sha]
    before = [row for row in others if row.committed_at <= commit.committed_at]
    after = [row for row in others if row.committed_at >= commit.committed_at]
    reverts = _last(row.sha for row in others if key.reverts_sha and row.sha.startswith(key.reverts_sha))
    reverts = reverts or _last(row.sha for row in before if key.reverts_title and _quotes(key.reverts_title, row.title))
    by_sha = (row.sha for row in others if row.reverts_sha and commit.sha.startswith(row.reverts_sha))
    by_title = (row.sha for row in after if row.reverts_title and _quotes(row.reverts_title, commit.title))
    fixes = [_last(row.sha for row in others if _is_named(row, each)) for each in key.fixes]
    parts = tuple(row.sha for row in known if key.series and row.series == key.series)
    return Links(
        # A whole SHA is told even when the store does not have the commit.
        reverts=reverts or (key.reverts_sha if key.reverts_sha and len(key.reverts_sha) == len(commit.sha) else None),
        reverted_by=_last(by_sha) or _last(by_title),
        series=series(key, parts),
        fixes=tuple(sha for sha in fixes if sha),
    )


def _quotes(quoted: str, title: str) -> bool:
    return quoted in (title, _bare(title))


def _bare(title: str) -> str:
    """A title without its pull request's number."""
    return re.sub(r"\s*\(#\d+\)\s*$", "", title)


def _is_named(row: _Known, name: str) -> bool:
    return row.pr == int(name[1:]) if name.startswith("#") else row.sha.startswith(name)


def _last(shas: Iterable[str]) -> str | None:
    found = None
    for sha in shas:
        found = sha
    return found
