"""Links between the stored commits of a repository, looked up for many commits at once: one indexed query for each kind of link."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, delete, insert, select, union_all

from analysis.facts.links import Keys, keys, series
from analysis.models import SHORT_SHA, Commit, Links
from bot.store.commit_rows import StoredCommit
from bot.store.schema import commits, named

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


class _Naming(NamedTuple):
    """A stored commit that refers to another, and the kind of reference."""

    tie: str
    name: str
    sha: str
    committed_at: datetime


def save_named(connection: Connection, commit_id: int, commit: Commit) -> None:
    """Store the commits that this one fixes or reverts, so that the link is found from either side."""
    key = keys(commit)
    # A name is a pull request's number, or at most the first 12 digits of a SHA.
    rows = [
        {"commit_id": commit_id, "tie": tie, "name": name}
        for tie, names in (("fixes", key.fixes), ("reverts", key.reverts_pulls))
        for name in {each.lower()[:_MAX_ABBREVIATION] for each in names}
    ]
    connection.execute(delete(named).where(named.c.commit_id == commit_id))
    if rows:
        connection.execute(insert(named), rows)


def linked(connection: Connection, wanted: Sequence[StoredCommit]) -> dict[int, Links]:
    """Return commit id -> its links, for commits of one repository."""
    if not wanted:
        return {}
    query = select(commits.c.repository_id).where(commits.c.id == wanted[0].id)
    repository_id: int = connection.execute(query).scalar_one()
    references = {each.id: keys(each.commit) for each in wanted}
    chosen = [each.commit for each in wanted]
    known = _known(connection, repository_id, chosen, list(references.values()))
    naming = _naming(connection, repository_id, chosen)
    return {each.id: _links(each.commit, references[each.id], known, naming) for each in wanted}


def _known(
    connection: Connection, repository_id: int, wanted: Sequence[Commit], references: Sequence[Keys]
) -> list[_Known]:
    """Return the stored commits that could be linked to any of `wanted`, oldest first."""
    pointed = {each.lower() for key in references for each in (*key.fixes, *key.reverts_pulls)}
    shas = {key.reverts_sha for key in references if key.reverts_sha} | {each for each in pointed if each[0] != "#"}
    quoted = {key.reverts_title for key in references if key.reverts_title}
    lookups = (
        (commits.c.sha, {each for each in shas if len(each) >= _FULL_SHA}),
        (commits.c.title, quoted),
        (commits.c.pr, {int(each[1:]) for each in pointed if each[0] == "#"}),
        (commits.c.series, {key.series for key in references if key.series}),
        (commits.c.reverts_sha, {form for commit in wanted for form in (commit.sha, *_short_forms(commit.sha))}),
        (
            commits.c.reverts_title,
            {form for commit in wanted for form in (commit.title, _without_number(commit.title))},
        ),
    )
    conditions: list[ColumnElement[bool]] = [column.in_(values) for column, values in lookups if values]
    # GitHub's reverts quote a title with its pull request number, manual ones often without.
    conditions += [commits.c.title.between(f"{title} (#", f"{title} (#:") for title in quoted]
    conditions += [commits.c.sha.between(each, each + "g") for each in shas if len(each) < _FULL_SHA]
    columns = select(*(commits.c[name] for name in _Known._fields)).where(commits.c.repository_id == repository_id)
    # A query for each condition, since SQLite would scan the table for a combined one; executed as one statement.
    found = connection.execute(union_all(*(columns.where(each) for each in conditions)))
    return sorted({_Known(*row) for row in found}, key=lambda row: (row.committed_at, row.sha))


def _naming(connection: Connection, repository_id: int, wanted: Sequence[Commit]) -> list[_Naming]:
    """Return the stored commits that state that they fix or revert any of `wanted`, oldest first."""
    query = (
        select(named.c.tie, named.c.name, commits.c.sha, commits.c.committed_at)
        .join(commits)
        .where(named.c.name.in_({name for commit in wanted for name in _names(commit)}))
        .where(commits.c.repository_id + 0 == repository_id)  # by whose index SQLite would read all its commits
        .order_by(commits.c.committed_at, commits.c.sha)
    )
    return [_Naming(*row) for row in connection.execute(query)]


def _names(commit: Commit) -> list[str]:
    """Return the stored references by which others may refer to a commit."""
    return [*_short_forms(commit.sha), *([f"#{commit.pr}"] if commit.pr else [])]


def _short_forms(sha: str) -> list[str]:
    """Return the abbreviated forms in which people write a SHA."""
    return [sha[:length] for length in range(SHORT_SHA, _MAX_ABBREVIATION + 1)]


def _links(commit: Commit, key: Keys, known: Sequence[_Known], naming: Sequence[_Naming]) -> Links:
    others = [row for row in known if row.sha != commit.sha]
    before = [row for row in others if row.committed_at <= commit.committed_at]
    after = [row for row in others if row.committed_at >= commit.committed_at]
    reverts = _last(row.sha for row in others if key.reverts_sha and row.sha.startswith(key.reverts_sha))
    reverts = reverts or _last(row.sha for row in before if _quotes(key.reverts_title, row.title))
    pulls = [row.sha for row in before if any(_is_named(row, each) for each in key.reverts_pulls)]
    reverts = reverts or _last(pulls)
    by_sha = (row.sha for row in others if row.reverts_sha and commit.sha.startswith(row.reverts_sha))
    by_title = (row.sha for row in after if _quotes(row.reverts_title, commit.title))
    fixes = [_last(row.sha for row in others if _is_named(row, each)) for each in key.fixes]
    parts = tuple(row.sha for row in known if key.series and row.series == key.series)
    return Links(
        # A full SHA is reported even if the store does not have the commit.
        reverts=reverts or (key.reverts_sha if key.reverts_sha and len(key.reverts_sha) == len(commit.sha) else None),
        reverts_also=tuple(sha for sha in pulls if sha != reverts),
        reverted_by=_last(by_sha) or _last(by_title) or _last(_later(commit, naming, "reverts")),
        series=series(key, parts),
        fixes=tuple(dict.fromkeys(sha for sha in fixes if sha)),
        fixed_by=tuple(dict.fromkeys(_later(commit, naming, "fixes"))),
    )


def _later(commit: Commit, naming: Sequence[_Naming], tie: str) -> list[str]:
    """Return the later commits with a kind of reference to this one, oldest first."""
    names = set(_names(commit)) if naming else set()
    later = [row for row in naming if row.committed_at >= commit.committed_at and row.sha != commit.sha]
    return [row.sha for row in later if row.tie == tie and row.name in names]


def _quotes(quoted: str | None, title: str) -> bool:
    return bool(quoted) and quoted in (title, _without_number(title))


def _without_number(title: str) -> str:
    """Return a title without its pull request number."""
    return re.sub(r"\s*\(#\d+\)\s*$", "", title)


def _is_named(row: _Known, name: str) -> bool:
    return row.pr == int(name[1:]) if name.startswith("#") else row.sha.startswith(name.lower())


def _last(shas: Iterable[str]) -> str | None:
    return next(reversed(list(shas)), None)
