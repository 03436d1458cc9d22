"""Queries on commits, days, analyses, weights and spending, so that nothing is fetched from GitHub twice."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Connection, Engine, Row, TextClause, bindparam, delete, func, insert, select, text, update
from sqlalchemy.dialects.sqlite import insert as upsert

from analysis.facts import VERSION as FACTS_VERSION
from analysis.facts.links import keys
from analysis.models import (
    Analysis,
    Commit,
    Fact,
    FileChange,
    Frozen,
    Importance,
    Language,
    Links,
    PullRequest,
    Remark,
    Repository,
)
from analysis.ranking import Weights
from bot.store.database import writing
from bot.store.links import linked, save_named
from bot.store.schema import analyses, commits, day_commits, days, files, repositories, spending
from bot.store.schema import weights as fitted_weights
from bot.store.searchable import match_query, searchable

_CHUNK = 500  # bound parameters per query
_AMONG = "AND rowid IN (SELECT c.id FROM commits c JOIN repositories r ON r.id = c.repository_id WHERE r.key IN :among)"
_T = TypeVar("_T")


class StoredCommit(NamedTuple):
    """A commit with its facts; `stale` if older rules found them."""

    id: int
    commit: Commit
    facts: tuple[Fact, ...]
    stale: bool


class StoredDay(NamedTuple):
    """A day's listing: the ids of its commits, newest first, and of its late commits."""

    listed_at: datetime
    commit_ids: tuple[int, ...]
    late_ids: tuple[int, ...]
    remarks: tuple[Remark, ...]


class Kept(Frozen):
    """A stored analysis with the commit's tier, the tokens used and the cost (USD)."""

    analysis: Analysis
    importance: Importance
    move_reason: str = ""
    left_out: tuple[str, ...] = ()
    removed_claims: int = 0
    calls: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None


class Found(NamedTuple):
    """A search result: a commit and its repository's key."""

    repository: str
    commit: Commit


class Store:
    """Commits and all that is derived from them, on one engine; thread-safe."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._writing = writing(engine)

    def close(self) -> None:
        self._engine.dispose()

    # Days

    def day(self, repository: Repository, day: date, timezone: str) -> StoredDay | None:
        """Return the latest listing of a day, or None if it was never listed."""
        with self._engine.connect() as connection:
            row = connection.execute(
                select(days.c.id, days.c.listed_at, days.c.remarks)
                .join(repositories)
                .where(repositories.c.key == repository.key, days.c.date == day, days.c.timezone == timezone)
            ).first()
            if row is None:
                return None
            listed = connection.execute(
                select(day_commits.c.commit_id, day_commits.c.late)
                .where(day_commits.c.day_id == row.id)
                .order_by(day_commits.c.position)
            ).all()
        return StoredDay(
            listed_at=row.listed_at,
            commit_ids=tuple(each.commit_id for each in listed if not each.late),
            late_ids=tuple(each.commit_id for each in listed if each.late),
            remarks=tuple(Remark(each) for each in row.remarks),
        )

    def latest_day_before(self, repository: Repository, day: date, timezone: str) -> date | None:
        """Return the latest listed day before `day`, or None."""
        with self._engine.connect() as connection:
            return connection.execute(
                select(func.max(days.c.date))
                .join(repositories)
                .where(repositories.c.key == repository.key, days.c.timezone == timezone, days.c.date < day)
            ).scalar()

    def save_day(
        self,
        repository: Repository,
        day: date,
        timezone: str,
        *,
        listed: Sequence[Commit],
        late: Sequence[Commit],
        remarks: Sequence[Remark],
        listed_at: datetime,
    ) -> StoredDay:
        """Store a day's listing, replacing an earlier one, and return it; commits already stored stay unchanged."""
        with self._writing.begin() as connection:
            repository_id = _repository_id(connection, repository)
            _insert_new(connection, repository_id, [*listed, *late])
            ids = _ids(connection, repository_id, [commit.sha for commit in [*listed, *late]])
            row = {"repository_id": repository_id, "date": day, "timezone": timezone}
            changed = {"listed_at": listed_at, "remarks": list(remarks)}
            connection.execute(
                upsert(days).values(**row, **changed).on_conflict_do_update(index_elements=list(row), set_=changed)
            )
            day_id = connection.execute(select(days.c.id).filter_by(**row)).scalar_one()
            connection.execute(delete(day_commits).where(day_commits.c.day_id == day_id))
            rows = [
                {"day_id": day_id, "position": position, "commit_id": ids[commit.sha], "late": position >= len(listed)}
                for position, commit in enumerate([*listed, *late])
            ]
            if rows:
                connection.execute(insert(day_commits), rows)
        return StoredDay(
            listed_at,
            tuple(ids[commit.sha] for commit in listed),
            tuple(ids[commit.sha] for commit in late),
            tuple(remarks),
        )

    def listed_shas(self, repository: Repository, shas: Sequence[str]) -> set[str]:
        """Return those of `shas` that any day's listing contains."""
        found: set[str] = set()
        with self._engine.connect() as connection:
            for chunk in _chunks(shas):
                found.update(
                    connection.execute(
                        select(commits.c.sha)
                        .join(repositories)
                        .join(day_commits)
                        .where(repositories.c.key == repository.key, commits.c.sha.in_(chunk))
                    ).scalars()
                )
        return found

    def dates_of(self, repository: Repository, sha: str) -> list[date]:
        """Return the days, in any time zone, whose listings contain a commit."""
        with self._engine.connect() as connection:
            query = (
                select(days.c.date)
                .distinct()
                .join(repositories, repositories.c.id == days.c.repository_id)
                .join(day_commits, day_commits.c.day_id == days.c.id)
                .join(commits, commits.c.id == day_commits.c.commit_id)
                .where(repositories.c.key == repository.key, commits.c.sha == sha)
                .order_by(days.c.date)
            )
            return list(connection.execute(query).scalars())

    def listed_dates(self, repository: Repository, timezone: str) -> set[date]:
        """Return the listed days of a repository in a time zone."""
        with self._engine.connect() as connection:
            query = (
                select(days.c.date)
                .join(repositories)
                .where(repositories.c.key == repository.key, days.c.timezone == timezone)
            )
            return set(connection.execute(query).scalars())

    # Commits

    def commits(self, ids: Sequence[int], *, patches: bool = False) -> list[StoredCommit]:
        """Return the commits with these ids, in that order; patches only on request, since they are most of the bytes."""
        wanted = [column for column in files.c if patches or column is not files.c.patch]
        rows: dict[int, Row[Any]] = {}
        changes: dict[int, list[FileChange]] = {}
        with self._engine.connect() as connection:
            for chunk in _chunks(ids):
                rows |= {row.id: row for row in connection.execute(select(commits).where(commits.c.id.in_(chunk)))}
                query = (
                    select(*wanted).where(files.c.commit_id.in_(chunk)).order_by(files.c.commit_id, files.c.position)
                )
                for row in connection.execute(query):
                    changes.setdefault(row.commit_id, []).append(_file(row))
        return [_stored(rows[each], changes.get(each, [])) for each in ids]

    def save_commit(self, repository: Repository, commit: Commit, found: Sequence[Fact]) -> int:
        """Store a commit that was read, with its files and facts, index it for search and return its id."""
        with self._writing.begin() as connection:
            repository_id = _repository_id(connection, repository)
            row = _row(repository_id, commit, found)
            connection.execute(
                upsert(commits).values(row).on_conflict_do_update(index_elements=["repository_id", "sha"], set_=row)
            )
            commit_id = _ids(connection, repository_id, [commit.sha])[commit.sha]
            connection.execute(delete(files).where(files.c.commit_id == commit_id))
            if commit.files:
                connection.execute(
                    insert(files),
                    [
                        {"commit_id": commit_id, "position": place, **file.model_dump()}
                        for place, file in enumerate(commit.files)
                    ],
                )
            save_named(connection, commit_id, commit)
            _index(connection, commit_id, commit)
        return commit_id

    def save_facts(self, commit_id: int, commit: Commit, found: Sequence[Fact]) -> None:
        """Store the facts that newer rules found in a stored commit, and its references to other commits."""
        with self._writing.begin() as connection:
            values = {"facts": _facts_json(found), "facts_version": FACTS_VERSION, **_named_by(commit)}
            connection.execute(update(commits).where(commits.c.id == commit_id).values(**values))
            save_named(connection, commit_id, commit)

    def read_ids(self, repository: Repository, shas: Sequence[str]) -> dict[str, int]:
        """Return SHA -> id of the commits that were read."""
        found: dict[str, int] = {}
        with self._engine.connect() as connection:
            for chunk in _chunks(shas):
                query = (
                    select(commits.c.sha, commits.c.id)
                    .join(repositories)
                    .where(repositories.c.key == repository.key, commits.c.sha.in_(chunk), commits.c.read)
                )
                found |= {row.sha: row.id for row in connection.execute(query)}
        return found

    def latest(self, repository: Repository, most: int) -> list[int]:
        """Return the ids of a repository's `most` latest commits on its branch that were read, newest first."""
        query = (
            select(commits.c.id)
            .join(repositories)
            .where(repositories.c.key == repository.key, commits.c.read, commits.c.not_on.is_(None))
            .order_by(commits.c.committed_at.desc())
            .limit(most)
        )
        with self._engine.connect() as connection:
            return list(connection.execute(query).scalars())

    def with_sha(self, prefix: str, repository: Repository | None = None) -> list[tuple[str, int]]:
        """Return (repository key, id) of the commits whose SHA begins with `prefix`, at most ten."""
        low = prefix.lower()
        return self._where(commits.c.sha >= low, commits.c.sha < low + "g", repository=repository)

    def with_pr(self, number: int, repository: Repository) -> list[tuple[str, int]]:
        """Return (repository key, id) of the commits of pull request `number`, at most ten."""
        return self._where(commits.c.pr == number, repository=repository)

    def _where(self, *conditions: Any, repository: Repository | None) -> list[tuple[str, int]]:
        query = select(repositories.c.key, commits.c.id).join(repositories).where(*conditions).limit(10)
        if repository:
            query = query.where(repositories.c.key == repository.key)
        with self._engine.connect() as connection:
            return [(row.key, row.id) for row in connection.execute(query)]

    def links(self, stored: Sequence[StoredCommit]) -> dict[int, Links]:
        """Return commit id -> its links to stored commits."""
        found: dict[int, Links] = {}
        with self._engine.connect() as connection:
            for chunk in _chunks(stored):
                found |= linked(connection, {each.id: each.commit for each in chunk})
        return found

    # Analyses

    def analyses(self, ids: Sequence[int], language: Language, model: str, prompt: str) -> dict[int, Kept]:
        """Return commit id -> its analysis in a language, by a model and a version of the prompt."""
        found = {}
        with self._engine.connect() as connection:
            for chunk in _chunks(ids):
                query = select(analyses).where(
                    analyses.c.commit_id.in_(chunk),
                    analyses.c.language == language,
                    analyses.c.model == model,
                    analyses.c.prompt == prompt,
                )
                for row in connection.execute(query):
                    values = {name: getattr(row, name) for name in Kept.model_fields if name != "analysis"}
                    found[row.commit_id] = Kept(analysis=Analysis.model_validate(row.body), **values)
        return found

    def save_analysis(self, commit_id: int, language: Language, model: str, prompt: str, kept: Kept) -> None:
        """Store an analysis, replacing an earlier one, and index its summary for search."""
        key = {"commit_id": commit_id, "language": language, "model": model, "prompt": prompt}
        values = kept.model_dump(mode="json", exclude={"analysis"})
        values["body"] = kept.analysis.model_dump(mode="json", exclude_defaults=True)
        with self._writing.begin() as connection:
            connection.execute(
                upsert(analyses).values(**key, **values).on_conflict_do_update(index_elements=list(key), set_=values)
            )
            bodies = connection.execute(select(analyses.c.body).where(analyses.c.commit_id == commit_id)).scalars()
            summary = searchable(" ".join(body["summary"] for body in bodies))
            connection.execute(
                text("UPDATE commit_search SET summary = :summary WHERE rowid = :id"),
                {"summary": summary, "id": commit_id},
            )

    # Weights of the ranking

    def weights(self, repository: Repository) -> Weights | None:
        """Return the weights fitted to a repository, shared by its branches; None if there are none."""
        query = select(fitted_weights.c.body).where(fitted_weights.c.repository == repository.full_name.lower())
        with self._engine.connect() as connection:
            body = connection.execute(query).scalar()
        return Weights(**body) if body else None

    def save_weights(self, repository: Repository, weights: Weights, now: datetime) -> None:
        """Store a repository's weights, replacing earlier ones."""
        key, values = {"repository": repository.full_name.lower()}, {"body": weights._asdict(), "fitted_at": now}
        with self._writing.begin() as connection:
            connection.execute(
                upsert(fitted_weights)
                .values(**key, **values)
                .on_conflict_do_update(index_elements=list(key), set_=values)
            )

    # Spending

    def reserve(self, day: date, purpose: str, usd: float, limit: float, alone: float) -> bool:
        """Reserve `usd` of a day's budget; return False if the day's total would exceed `limit`, or this purpose's `alone`."""
        with self._writing.begin() as connection:
            row = {"date": day, "purpose": purpose}
            connection.execute(upsert(spending).values(**row, reserved_usd=0, spent_usd=0).on_conflict_do_nothing())
            total = spending.c.reserved_usd + spending.c.spent_usd
            everything = select(func.sum(total)).where(spending.c.date == day).scalar_subquery()
            left = connection.execute(
                update(spending)
                .filter_by(**row)
                .where(everything + usd <= limit, total + usd <= alone)
                .values(reserved_usd=spending.c.reserved_usd + usd)
            )
            return left.rowcount == 1

    def settle(self, day: date, purpose: str, reserved: float, spent: float) -> None:
        """Replace the reserved cost of a call by its actual cost, both in USD."""
        with self._writing.begin() as connection:
            connection.execute(
                update(spending)
                .filter_by(date=day, purpose=purpose)
                .values(reserved_usd=spending.c.reserved_usd - reserved, spent_usd=spending.c.spent_usd + spent)
            )

    def spent(self, day: date) -> float:
        """Return what has been spent on `day` so far, in USD."""
        with self._engine.connect() as connection:
            query = select(func.sum(spending.c.spent_usd)).where(spending.c.date == day)
            return float(connection.execute(query).scalar() or 0.0)

    # Search

    def search(self, words: str, among: Sequence[Repository] = (), limit: int = 20) -> list[Found]:
        """Return the commits whose title, paths or summaries contain all words as prefixes, best match first.

        Search only the repositories in `among`, if given.
        """
        query = match_query(words)
        if not query:
            return []
        wanted = sorted(each.key for each in among)
        with self._engine.connect() as connection:
            others = select(repositories.c.id).where(repositories.c.key.not_in(wanted)).limit(1)
            within = _AMONG if wanted and connection.execute(others).first() else ""
            hits = connection.execute(
                _search_statement(within), {"query": query, "limit": limit, "among": wanted}
            ).all()
        found = self.commits([hit.id for hit in hits])
        return [Found(hit.key, each.commit) for hit, each in zip(hits, found, strict=True)]

    def is_empty(self) -> bool:
        """Return whether the store has no commits."""
        with self._engine.connect() as connection:
            return connection.execute(select(commits.c.id).limit(1)).first() is None


def _search_statement(within: str) -> TextClause:
    # The index alone selects the best matches; only those are looked up, ties newest first.
    statement = text(
        "SELECT c.id, r.key FROM (SELECT rowid AS id, bm25(commit_search, 10.0, 2.0, 3.0) AS score FROM commit_search "  # noqa: S608 (the only insertion is ours)
        f"WHERE commit_search MATCH :query {within} ORDER BY score, rowid DESC LIMIT :limit) best "
        "JOIN commits c ON c.id = best.id JOIN repositories r ON r.id = c.repository_id ORDER BY best.score, c.committed_at DESC"
    )
    return statement.bindparams(bindparam("among", expanding=True)) if within else statement


def _repository_id(connection: Connection, repository: Repository) -> int:
    connection.execute(upsert(repositories).values(key=repository.key).on_conflict_do_nothing())
    found: int = connection.execute(select(repositories.c.id).where(repositories.c.key == repository.key)).scalar_one()
    return found


def _ids(connection: Connection, repository_id: int, shas: Sequence[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for chunk in _chunks(shas):
        query = select(commits.c.sha, commits.c.id).where(
            commits.c.repository_id == repository_id, commits.c.sha.in_(chunk)
        )
        found |= {row.sha: row.id for row in connection.execute(query)}
    return found


def _insert_new(connection: Connection, repository_id: int, listed: Iterable[Commit]) -> None:
    rows = [_row(repository_id, commit, ()) for commit in listed]
    if rows:
        connection.execute(upsert(commits).on_conflict_do_nothing(), rows)


def _row(repository_id: int, commit: Commit, found: Sequence[Fact]) -> dict[str, Any]:
    return {
        "repository_id": repository_id,
        **commit.model_dump(
            include={
                "sha",
                "url",
                "author",
                "authored_at",
                "committed_at",
                "message",
                "additions",
                "deletions",
                "not_on",
                "read",
            }
        ),
        "parents": list(commit.parents),
        "title": commit.title,
        "pr": commit.pr,
        "pull": commit.pull.model_dump() if commit.pull else None,
        "facts": _facts_json(found),
        "facts_version": FACTS_VERSION,
        **_named_by(commit),
    }


def _named_by(commit: Commit) -> dict[str, str | None]:
    key = keys(commit)
    return {"series": key.series, "reverts_sha": key.reverts_sha, "reverts_title": key.reverts_title}


def _facts_json(found: Sequence[Fact]) -> list[dict[str, Any]]:
    return [fact.model_dump(mode="json", exclude_none=True) for fact in found]


def _stored(row: Row[Any], changes: Sequence[FileChange]) -> StoredCommit:
    commit = Commit(
        sha=row.sha,
        url=row.url,
        parents=tuple(row.parents),
        author=row.author,
        authored_at=row.authored_at,
        committed_at=row.committed_at,
        message=row.message,
        files=tuple(changes),
        additions=row.additions,
        deletions=row.deletions,
        pull=PullRequest.model_validate(row.pull) if row.pull else None,
        not_on=row.not_on,
        read=row.read,
    )
    return StoredCommit(
        row.id, commit, tuple(Fact.model_validate(fact) for fact in row.facts), row.facts_version != FACTS_VERSION
    )


def _file(row: Row[Any]) -> FileChange:
    return FileChange(
        path=row.path,
        previous_path=row.previous_path,
        status=row.status,
        additions=row.additions,
        deletions=row.deletions,
        patch=getattr(row, "patch", None),
    )


def _index(connection: Connection, commit_id: int, commit: Commit) -> None:
    connection.execute(text("DELETE FROM commit_search WHERE rowid = :id"), {"id": commit_id})
    connection.execute(
        text("INSERT INTO commit_search (rowid, title, paths, summary) VALUES (:id, :title, :paths, '')").bindparams(
            bindparam("id", commit_id),
            bindparam("title", searchable(commit.title)),
            bindparam("paths", searchable(" ".join(commit.paths))),
        )
    )


def _chunks(items: Sequence[_T]) -> Iterable[Sequence[_T]]:
    return (items[start : start + _CHUNK] for start in range(0, len(items), _CHUNK))
