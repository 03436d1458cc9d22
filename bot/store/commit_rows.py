"""Rows of the tables of repositories, commits and files, and the values that they hold."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, Select, null, select, true

from analysis.facts import VERSION as FACTS_VERSION
from analysis.facts.links import keys
from analysis.models import Commit, Fact, FactKind, FileChange, Proof, PullRequest, Repository
from bot.store.schema import commits, files, repositories
from bot.store.transactions import chunks, insert_missing

_KINDS = frozenset(FactKind)
_OF_FILE = tuple(FileChange.model_fields)
# Fields of a commit that columns hold as they are.
_COPIED = (
    *("sha", "url", "author", "authored_at", "committed_at", "message"),
    *("additions", "deletions", "not_on", "read"),
)


class StoredCommit(NamedTuple):
    """A commit with its facts, what proved them, and whether they are `stale`: found by older rules."""

    id: int
    commit: Commit
    facts: tuple[Fact, ...]
    stale: bool
    proof: Proof


def of_repository(repository: Repository) -> ColumnElement[bool]:
    """Return the condition that a commit is of a repository."""
    own = select(repositories.c.id).where(repositories.c.key == repository.key)
    return commits.c.repository_id == own.scalar_subquery()


def latest_ids(repository: Repository) -> Select[int]:
    """Return the query for the ids of a repository's commits on its branch that were read, newest first."""
    on_branch = of_repository(repository), commits.c.read, commits.c.not_on.is_(None)
    return select(commits.c.id).where(*on_branch).order_by(commits.c.committed_at.desc())


def repository_id_of(connection: Connection, repository: Repository) -> int:
    """Return the id of a repository, adding it if it is new."""
    query = select(repositories.c.id).where(repositories.c.key == repository.key)
    found: int | None = connection.execute(query).scalar()
    if found is None:
        insert_missing(connection, repositories, {"key": repository.key})
        found = int(connection.execute(query).scalar_one())
    return found


def commit_ids(connection: Connection, repository_id: int, shas: Sequence[str]) -> dict[str, int]:
    """Return SHA -> id of the commits that are stored."""
    found: dict[str, int] = {}
    own = select(commits.c.sha, commits.c.id).where(commits.c.repository_id == repository_id)
    for chunk in chunks(shas):
        found |= {row.sha: row.id for row in connection.execute(own.where(commits.c.sha.in_(chunk)))}
    return found


def commit_values(
    repository_id: int, commit: Commit, found: Sequence[Fact], proof: Proof = Proof.PATCH
) -> dict[str, Any]:
    """Return the columns of a commit and its facts."""
    return {
        "repository_id": repository_id,
        **commit.model_dump(include=set(_COPIED)),
        "parents": list(commit.parents),
        "title": commit.title,
        "pr": commit.pr,
        "pull": commit.pull.model_dump() if commit.pull else None,
        **fact_columns(found, proof),
        **reference_values(commit),
    }


def reference_values(commit: Commit) -> dict[str, str | None]:
    """Return the columns that refer to other commits."""
    key = keys(commit)
    return {"series": key.series, "reverts_sha": key.reverts_sha, "reverts_title": key.reverts_title}


def fact_columns(found: Sequence[Fact], proof: Proof) -> dict[str, Any]:
    """Return the columns of facts that the current rules found."""
    values = [fact.model_dump(mode="json", exclude_none=True) for fact in found]
    return {"facts": values, "facts_version": FACTS_VERSION, "facts_proof": proof.value}


def replaceable_by(proof: Proof) -> ColumnElement[bool]:
    """Return the condition under which a commit's facts may be replaced: those that files proved only by such."""
    return true() if proof is Proof.FILES else commits.c.facts_proof == Proof.PATCH.value


def read_commits(connection: Connection, ids: Sequence[int], *, patches: bool = False) -> list[StoredCommit]:
    """Return the commits with these ids, in that order; patches only on request, since they are most of the bytes."""
    columns = [files.c[name] if patches or name != "patch" else null().label(name) for name in _OF_FILE]
    rows: dict[int, Row[Any]] = {}
    changes: dict[int, list[FileChange]] = {}
    for chunk in chunks(ids):
        rows |= {row.id: row for row in connection.execute(select(commits).where(commits.c.id.in_(chunk)))}
        query = select(files.c.commit_id, *columns).where(files.c.commit_id.in_(chunk))
        for commit_id, *values in connection.execute(query.order_by(files.c.commit_id, files.c.position)):
            change = FileChange(**dict(zip(_OF_FILE, values, strict=True)))
            changes.setdefault(commit_id, []).append(change)
    return [_stored_commit(rows[each], changes.get(each, [])) for each in ids]


def _stored_commit(row: Row[Any], changes: Iterable[FileChange]) -> StoredCommit:
    commit = Commit(
        **{name: getattr(row, name) for name in _COPIED},
        parents=tuple(row.parents),
        files=tuple(changes),
        pull=PullRequest.model_validate(row.pull) if row.pull else None,
    )
    # Rules of an earlier version may have found kinds that are gone; such facts are stale, and found anew.
    found = tuple(Fact.model_validate(fact) for fact in row.facts if fact["kind"] in _KINDS)
    return StoredCommit(row.id, commit, found, row.facts_version != FACTS_VERSION, Proof(row.facts_proof))
