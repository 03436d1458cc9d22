"""The store of commits, days and analyses, so that nothing is fetched from GitHub twice."""

from collections.abc import Collection, Iterator, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Engine, Text, cast, delete, func, insert, or_, select, update

from analysis.models import (
    Analysis,
    Commit,
    Fact,
    FactKind,
    Frozen,
    Importance,
    Language,
    Links,
    Proof,
    ReadFrom,
    Remark,
    Repository,
)
from analysis.search.words import VERSION as WORDS_VERSION
from analysis.search.words import are_all, commit_words
from bot.store.breaks import Breaks
from bot.store.commit_rows import (
    StoredCommit,
    commit_ids,
    commit_values,
    fact_columns,
    latest_ids,
    of_repository,
    read_commits,
    reference_values,
    replaceable_by,
    repository_id_of,
)
from bot.store.feedback import AnswerRatings, GivenRanks, ReleaseScores, Verdicts
from bot.store.links import linked, save_named
from bot.store.ongoing_answers import OngoingAnswers
from bot.store.outcomes import DayEdits, ModelFailures, PublicationOutcomes, Spending
from bot.store.process_locks import ProcessLocks
from bot.store.schema import analyses, commits, day_commits, days, files, repositories
from bot.store.search_index import SearchIndex, index_commit, index_summaries
from bot.store.surfaces import Surfaces
from bot.store.transactions import Records, chunks, insert_missing, insert_or_update

_PATCHES_AT_ONCE = 50  # commits
# The commits of days' listings.
_LISTED = day_commits.join(days).join(commits)


class StoredDay(NamedTuple):
    """A day's listing: the ids of its commits, newest first, and of its late commits."""

    listed_at: datetime
    commit_ids: tuple[int, ...]
    late_ids: tuple[int, ...]
    remarks: tuple[Remark, ...]
    read_from: ReadFrom


class StoredAnalysis(Frozen):
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


class Store(Records):
    """Commits and all that is derived from them; spending and failures of models, answers, publications, locks.

    On one engine; thread-safe.
    """

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.locks = ProcessLocks(engine)
        self.spending = Spending(engine)
        self.model_failures = ModelFailures(engine)
        self.ongoing_answers = OngoingAnswers(engine)
        self.edits = DayEdits(engine)
        self.publications = PublicationOutcomes(engine)
        self.ratings = AnswerRatings(engine)
        self.verdicts = Verdicts(engine)
        self.ranks = GivenRanks(engine)
        self.release_scores = ReleaseScores(engine)
        self.surfaces = Surfaces(engine)
        self.breaks = Breaks(engine)
        self.search_index = SearchIndex(engine)

    def close(self) -> None:
        self.locks.close()
        self.database.engine.dispose()

    # Days

    def day(self, repository: Repository, day: date, timezone: str) -> StoredDay | None:
        """Return the latest listing of a day, or None if it was never listed."""
        with self.database.engine.connect() as connection:
            row = connection.execute(select(days).where(*_is_day(repository, day, timezone))).first()
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
            read_from=ReadFrom(row.read_from),
        )

    def latest_day_before(self, repository: Repository, day: date, timezone: str) -> date | None:
        """Return the latest listed day before `day`, or None."""
        return max((each for each in self.listed_dates(repository, timezone) if each < day), default=None)

    def first_day(self, repository: Repository, timezone: str) -> date | None:
        """Return the earliest listed day, or None."""
        return min(self.listed_dates(repository, timezone), default=None)

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
        read_from: ReadFrom = ReadFrom.API,
    ) -> StoredDay:
        """Store a day's listing, replacing an earlier one, and return it; commits already stored stay unchanged."""
        with self.database.begin(alone=f"days {repository.key}") as connection:
            repository_id = repository_id_of(connection, repository)
            shown = [*listed, *late]
            insert_missing(connection, commits, [commit_values(repository_id, commit, ()) for commit in shown])
            ids = commit_ids(connection, repository_id, [commit.sha for commit in shown])
            row = {"repository_id": repository_id, "date": day, "timezone": timezone}
            changed = {"listed_at": listed_at, "remarks": list(remarks), "read_from": read_from.value}
            insert_or_update(connection, days, row, changed)
            day_id = connection.execute(select(days.c.id).filter_by(**row)).scalar_one()
            connection.execute(delete(day_commits).where(day_commits.c.day_id == day_id))
            rows = [
                {"day_id": day_id, "position": position, "commit_id": ids[commit.sha], "late": position >= len(listed)}
                for position, commit in enumerate(shown)
            ]
            if rows:
                connection.execute(insert(day_commits), rows)
        listed_ids, late_ids = (tuple(ids[commit.sha] for commit in each) for each in (listed, late))
        return StoredDay(listed_at, listed_ids, late_ids, tuple(remarks), read_from)

    def set_read_from(
        self, repository: Repository, day: date, timezone: str, listed: StoredDay, read_from: ReadFrom
    ) -> StoredDay:
        """Store where a listed day was read from, and return it so."""
        row = update(days).where(*_is_day(repository, day, timezone))
        self.database.execute(row.values(read_from=read_from.value))
        return listed._replace(read_from=read_from)

    def listed_shas(self, repository: Repository, shas: Sequence[str], *, other_than: date) -> set[str]:
        """Return those of `shas` that the listing of any day but the given one contains."""
        query = select(commits.c.sha).select_from(_LISTED).where(of_repository(repository), days.c.date != other_than)
        return {row.sha for row in self.database.rows_among(query, commits.c.sha, shas)}

    def dates_of(self, repository: Repository, sha: str) -> list[date]:
        """Return the days, in any time zone, whose listings contain a commit."""
        query = select(days.c.date).distinct().select_from(_LISTED)
        return self.database.column(query.where(of_repository(repository), commits.c.sha == sha).order_by(days.c.date))

    def listed_dates(self, repository: Repository, timezone: str) -> set[date]:
        """Return the listed days of a repository in a time zone."""
        own = repositories.c.key == repository.key, days.c.timezone == timezone
        return set(self.database.column(select(days.c.date).join(repositories).where(*own)))

    # Commits

    def commits(self, ids: Sequence[int], *, patches: bool = False) -> list[StoredCommit]:
        """Return the commits with these ids, in that order; patches only on request, since they are most of the bytes."""
        with self.database.engine.connect() as connection:
            return read_commits(connection, ids, patches=patches)

    def whole_commits(self, ids: Sequence[int]) -> Iterator[Commit]:
        """Yield the commits with these ids, in that order, with their patches, of which only some are held at once."""
        for start in range(0, len(ids), _PATCHES_AT_ONCE):
            yield from (each.commit for each in self.commits(ids[start : start + _PATCHES_AT_ONCE], patches=True))

    def save_commit(
        self, repository: Repository, commit: Commit, found: Sequence[Fact], proof: Proof = Proof.PATCH
    ) -> int:
        """Store a commit that was read, with its files and facts, index it for search and return its id.

        Facts that whole files proved are not replaced by those of a patch.
        """
        words = commit_words(commit)
        with self.database.begin() as connection:
            repository_id = repository_id_of(connection, repository)
            key, facts = {"repository_id": repository_id, "sha": commit.sha}, fact_columns(found, proof)
            indexed = {"words_version": WORDS_VERSION, "words_are_all": are_all(words, commit)}
            row = {**commit_values(repository_id, commit, found, proof), **indexed}
            values = {name: value for name, value in row.items() if name not in {**key, **facts}}
            insert_or_update(connection, commits, key, values, only_new=facts)
            commit_id = commit_ids(connection, repository_id, [commit.sha])[commit.sha]
            connection.execute(delete(files).where(files.c.commit_id == commit_id))
            if commit.files:
                rows = ({"position": place, **file.model_dump()} for place, file in enumerate(commit.files))
                connection.execute(insert(files), [{"commit_id": commit_id, **each} for each in rows])
            _save_facts(connection, commit_id, commit, facts, proof)
            index_commit(connection, commit_id, words)
        return commit_id

    def save_facts(self, commit_id: int, commit: Commit, found: Sequence[Fact], proof: Proof = Proof.PATCH) -> None:
        """Store the facts that newer rules found in a stored commit, and its references to other commits.

        Facts that whole files proved are not replaced by those of a patch.
        """
        with self.database.begin(alone=f"facts {commit_id}") as connection:
            _save_facts(
                connection, commit_id, commit, {**fact_columns(found, proof), **reference_values(commit)}, proof
            )

    def read_ids(self, repository: Repository, shas: Sequence[str]) -> dict[str, int]:
        """Return SHA -> id of the commits that were read."""
        query = select(commits.c.sha, commits.c.id).where(of_repository(repository), commits.c.read)
        return {row.sha: row.id for row in self.database.rows_among(query, commits.c.sha, shas)}

    def count(self, repository: Repository) -> int:
        """Return how many commits of a repository are stored."""
        query = select(func.count()).select_from(commits).where(of_repository(repository))
        return self.database.value(query) or 0

    def latest(self, repository: Repository, most: int, kinds: Collection[FactKind] = ()) -> list[int]:
        """Return the ids of a repository's `most` latest commits on its branch that were read, newest first.

        With `kinds`, of those commits that have a fact of one of them.
        """
        query, facts = latest_ids(repository).limit(most), cast(commits.c.facts, Text)
        if kinds:
            query = query.where(or_(*(facts.contains(f'"{kind.value}"', autoescape=True) for kind in kinds)))
        return self.database.column(query)

    def with_sha(self, prefix: str, repository: Repository | None = None) -> list[tuple[str, int]]:
        """Return (repository key, id) of the commits whose SHA begins with `prefix`, at most ten, by SHA."""
        low = prefix.lower()
        return self._keyed(repository, commits.c.sha >= low, commits.c.sha < low + "g")

    def with_pr(self, number: int, repository: Repository) -> list[tuple[str, int]]:
        """Return (repository key, id) of the commits of pull request `number`, at most ten, by SHA."""
        return self._keyed(repository, commits.c.pr == number)

    def _keyed(self, repository: Repository | None, *conditions: ColumnElement[bool]) -> list[tuple[str, int]]:
        own = [of_repository(repository)] if repository else []
        query = select(repositories.c.key, commits.c.id).join(commits).where(*conditions, *own)
        query = query.order_by(commits.c.sha, commits.c.id).limit(10)
        return [(row.key, row.id) for row in self.database.rows(query)]

    def links(self, stored: Sequence[StoredCommit]) -> dict[int, Links]:
        """Return commit id -> its links to stored commits, for commits of one repository."""
        found: dict[int, Links] = {}
        with self.database.engine.connect() as connection:
            for chunk in chunks(stored):
                found |= linked(connection, chunk)
        return found

    # Analyses

    def analyses(self, ids: Sequence[int], language: Language, model: str, prompt: str) -> dict[int, StoredAnalysis]:
        """Return commit id -> its analysis in a language, by a model and a version of the prompt."""
        found = {}
        query = select(analyses).filter_by(language=language, model=model, prompt=prompt)
        for row in self.database.rows_among(query, analyses.c.commit_id, ids):
            values = {name: getattr(row, name) for name in StoredAnalysis.model_fields if name != "analysis"}
            found[row.commit_id] = StoredAnalysis(analysis=Analysis.model_validate(row.body), **values)
        return found

    def save_analysis(
        self, commit_id: int, language: Language, model: str, prompt: str, analysis: StoredAnalysis
    ) -> None:
        """Store an analysis, replacing an earlier one, and index its summary for search."""
        key = {"commit_id": commit_id, "language": language, "model": model, "prompt": prompt}
        values = analysis.model_dump(mode="json", exclude={"analysis"})
        values["body"] = analysis.analysis.model_dump(mode="json", exclude_defaults=True)
        with self.database.begin(alone=f"summaries {commit_id}") as connection:
            insert_or_update(connection, analyses, key, values)
            bodies = connection.execute(select(analyses.c.body).where(analyses.c.commit_id == commit_id)).scalars()
            index_summaries(connection, commit_id, [body["summary"] for body in bodies])

    def is_empty(self) -> bool:
        """Return whether the store has no commits."""
        return self.database.first(select(commits.c.id).limit(1)) is None


def _is_day(repository: Repository, day: date, timezone: str) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions of a day's listing."""
    own = select(repositories.c.id).where(repositories.c.key == repository.key).scalar_subquery()
    return days.c.repository_id == own, days.c.date == day, days.c.timezone == timezone


def _save_facts(connection: Connection, commit_id: int, commit: Commit, values: dict[str, Any], proof: Proof) -> None:
    connection.execute(update(commits).where(commits.c.id == commit_id, replaceable_by(proof)).values(**values))
    save_named(connection, commit_id, commit)
