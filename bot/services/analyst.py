"""Analysis of commits: by a model, in concurrent calls while a day is still being read, or by rules."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import Self

from analysis.consequences.titles import removed_name
from analysis.impact.net_facts import NameInFile, added_facts, net_facts
from analysis.locale import catalogue
from analysis.models import (
    DEPENDENCIES,
    MOST_FILES,
    DayReport,
    Entry,
    Fact,
    Failure,
    Language,
    Proof,
    Ranked,
    Reason,
    Released,
    Repository,
    Shortened,
)
from analysis.ranking import packaged_weights, rank
from analysis.writing.by_rules import VERSION as RULES_VERSION
from analysis.writing.by_rules import analyse_by_rules
from analysis.writing.reasons import MODEL
from bot.services.commit_sources import CommitSource
from bot.services.limits import MeteredModel
from bot.services.model_reader import ModelReader
from bot.store import Store, StoredAnalysis, StoredCommit

_RULES = "rules"
_THREADS_A_CALL = (
    8  # so many that first readings, and the call about low commits, wait for a call before second readings
)


class Analyst:
    """Concurrent analysis of commits: `submit` returns at once, and leaving the `with` block waits for all replies."""

    def __init__(
        self,
        store: Store,
        repository: Repository,
        language: Language,
        model: MeteredModel | None,
        source: CommitSource,
        on_answer: Callable[[], None] = lambda: None,
        *,
        ask: bool = True,
    ) -> None:
        self._store = store
        self._weights = packaged_weights(repository)
        self._language = language
        may_read = model and model.may_read(repository)
        self._reader = ModelReader(store, repository, language, model, source) if model and may_read else None
        self._source = source
        self._on_answer = on_answer
        self._calls: list[Future[None]] = []
        self._pool = ThreadPoolExecutor(_THREADS_A_CALL * self._reader.at_once) if self._reader and ask else None
        self._low: list[int] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool:
            if error is None:
                self.submit_low()
            self._pool.shutdown(cancel_futures=error is not None)
            for call in self._calls if error is None else ():
                call.result()  # re-raise our own bugs, which are not model failures

    def prepare(self) -> None:
        """Load what a call needs. A stored day needs none of it."""
        if self._pool and self._reader:
            self._reader.load()

    def submit(self, commit_ids: Sequence[int]) -> None:
        """Queue for the model those commits that it has not analysed yet; those of low importance wait for `submit_low`."""
        unanalysed = self.unanalysed(commit_ids)
        if not self._reader or not unanalysed:
            return
        self.prepare()
        low = self._reader.low(unanalysed)
        self._low += [each for each in unanalysed if each in low]
        for commit_id in (each for each in unanalysed if each not in low):
            self._submit([commit_id])

    def submit_low(self) -> None:
        """Queue one call for the commits of low importance that were submitted, once no more will be."""
        low, self._low = self._low, []
        if low:
            self._submit(low)

    def _submit(self, commit_ids: Sequence[int]) -> None:
        if self._pool and self._reader:
            self._calls.append(self._pool.submit(self._analyse, self._reader, commit_ids))

    def _analyse(self, reader: ModelReader, commit_ids: Sequence[int]) -> None:
        reader.analyse(commit_ids)
        for _ in commit_ids:
            self._on_answer()

    def edit(self, report: Callable[[], DayReport]) -> None:
        """Let the model edit a day once it has analysed its commits. The `report` is made then."""
        if self._pool and self._reader:
            wait(self._calls)
            self._reader.edit(report())

    def unanalysed(self, commit_ids: Sequence[int]) -> list[int]:
        """Return the ids that still need a model call; recent failures are not retried."""
        return self._reader.unanalysed(commit_ids) if self._pool and self._reader else []

    def entries(self, stored: Sequence[StoredCommit]) -> tuple[Entry, ...]:
        """Return the commits with their analyses: the model's if there is one, otherwise the rules'."""
        ids = [each.id for each in stored]
        links = self._store.links(stored)
        released = self._source.first_releases([each.commit for each in stored])
        by_model = self._by_model(ids)
        by_rules = self._store.analyses(ids, self._language, _RULES, RULES_VERSION)
        found = []
        for each in stored:
            ranked = rank(each.commit, each.facts, self._weights)
            saved = by_model.get(each.id)
            if saved:
                ranked = _with_override(ranked, saved)
            elif each.commit.read:
                saved = by_rules.get(each.id)
                if saved is None or saved.importance is not ranked.importance:
                    written = analyse_by_rules(each.commit, each.facts, ranked, self._language)
                    saved = StoredAnalysis(analysis=written, importance=ranked.importance)
                    self._store.save_analysis(each.id, self._language, _RULES, RULES_VERSION, saved)
            analysis = saved.analysis if saved else None
            found.append(
                Entry(
                    commit=each.commit,
                    facts=each.facts,
                    ranked=ranked,
                    links=links[each.id],
                    analysis=analysis,
                    released=released.get(each.commit.sha, Released()),
                )
            )
        return tuple(found)

    def with_model(self, report: DayReport, ids: Sequence[int]) -> DayReport:
        """Return the report of these commits as the model edited it, and with what it used."""
        if not self._reader:
            return report
        return report.model_copy(
            update={"edit": self._reader.edit_of(report), "usage": self._reader.usage(ids, report)}
        )

    def shortened(self, stored: Sequence[StoredCommit]) -> tuple[Shortened, ...]:
        """Return the commits that were not read whole, or whose input to the model was truncated, and what was left out."""
        saved = self._by_model([each.id for each in stored])
        rest = catalogue(self._language)("all patches, and all but the first {count:,} files", count=MOST_FILES)
        left_out = {each.commit.sha: saved[each.id].left_out for each in stored if each.id in saved}
        left_out |= {each.commit.sha: (rest,) for each in stored if each.commit.is_cut}
        return tuple(Shortened(sha=sha, left_out=paths) for sha, paths in left_out.items() if paths)

    def replaced(self, stored: Sequence[StoredCommit]) -> tuple[Failure, ...]:
        """Return the commits analysed by rules because the model failed, with the reasons."""
        failed = self._reader.recent_failures([each.id for each in stored]) if self._reader else {}
        return tuple(
            Failure(sha=each.commit.sha, stage="analyse", reason=failed[each.id].reason)
            for each in stored
            if each.id in failed
        )

    def _by_model(self, ids: Sequence[int]) -> dict[int, StoredAnalysis]:
        return self._reader.stored(ids) if self._reader else {}


def _with_override(ranked: Ranked, saved: StoredAnalysis) -> Ranked:
    """Return the ranking with the model's tier override, which is listed among the reasons."""
    if not saved.move_reason:
        return ranked
    reason = Reason(signal=MODEL, points=0.0, evidence=saved.move_reason)
    return ranked.model_copy(update={"importance": saved.importance, "reasons": (*ranked.reasons, reason)})


def net_changes(
    store: Store, source: CommitSource, stored: Sequence[StoredCommit], entries: Sequence[Entry]
) -> dict[str, tuple[Fact, ...]]:
    """Return SHA -> what a window's commits change in sum, where that differs from their own facts.

    It is found in the patches, and the files, of those that touch the same files.
    """
    ids = {each.commit.sha: each.id for each in stored}
    by_files = {each.commit.sha for each in stored if each.proof is Proof.FILES}

    def additions(wanted: Mapping[str, frozenset[NameInFile]]) -> dict[str, tuple[Fact, ...]]:
        return {
            each.sha: added_facts(each, wanted[each.sha], source.trees(each) if each.sha in by_files else None)
            for each in store.whole_commits([ids[sha] for sha in wanted])
        }

    newest_first = sorted(entries, key=lambda entry: entry.commit.committed_at, reverse=True)
    return net_facts(newest_first[::-1], additions)


def with_needed_patches(store: Store, ids: Mapping[str, int], entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return the entries, those whose consequences a patch tells with theirs; `ids` maps the SHA of each to its id.

    A patch may name the replacement of what goes, it shows whether a title is right that says so, and who needs a dependency.
    """
    removing = (
        any((fact.removes and not fact.new) or fact.kind in DEPENDENCIES for fact in each.facts) for each in entries
    )
    wanted = [
        ids[each.commit.sha] for each, goes in zip(entries, removing, strict=True) if goes or removed_name(each.commit)
    ]
    whole = {each.commit.sha: each.commit for each in store.commits(wanted, patches=True)} if wanted else {}
    return tuple(each.model_copy(update={"commit": whole.get(each.commit.sha, each.commit)}) for each in entries)
