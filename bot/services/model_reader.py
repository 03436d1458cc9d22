"""A model's texts about the commits of a repository, in one language and within its limits; each is made once and stored."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from analysis.consequences.period import MOST_LINES, MOST_TOLD, all_lines
from analysis.errors import ModelFailure
from analysis.locale import LANGUAGES, catalogue
from analysis.models import SHORT_SHA, DayReport, Edit, Entry, Importance, Language, Ranked, Repository, Usage
from analysis.ranking import packaged_weights, rank
from analysis.text import shorten
from analysis.writing.prompts import VERSION as PROMPT
from bot.services.answers import commit_tools
from bot.services.commit_sources import CommitSource
from bot.services.limits import FailedCall, MeteredModel
from bot.store import Store, StoredAnalysis, StoredCommit

if TYPE_CHECKING:
    from analysis.llm import UsageCounter
    from analysis.writing.by_model import Analysed, AnalysisRequest, Asker

_FEWEST_LINES = 4  # of a day that is edited
_CODE_NAME = re.compile(r"(?:[\w.]*\.|--)?([\w-]{4,})(?:\(.*\))?", re.ASCII)
_MOST_NAMES, _MOST_CHARACTERS = 3, 200  # names whose uses a prompt shows, and characters of each
_USED = {"calls", "input_tokens", "output_tokens", "cached_tokens", "cost_usd"}  # of `Usage`, in the store as well


class ModelReader:
    """Analyses commits and edits days by a model, from the store where it has done so, otherwise by calls. Thread-safe."""

    def __init__(
        self, store: Store, repository: Repository, language: Language, model: MeteredModel, source: CommitSource
    ) -> None:
        self._store = store
        self._repository = repository
        self._weights = packaged_weights(repository)
        self._language = language
        self._model = model
        self._source = source
        self._lasting: ModelFailure | None = None

    @property
    def at_once(self) -> int:
        return self._model.at_once

    def load(self) -> None:
        """Load what a call needs, in one thread: in eight at once it takes far longer."""
        import_module("analysis.writing.by_model")
        self._model.chat.load()

    def stored(self, ids: Sequence[int]) -> dict[int, StoredAnalysis]:
        """Return commit id -> its analysis."""
        return self._store.analyses(ids, self._language, self._model.name, PROMPT)

    def recent_failures(self, ids: Sequence[int]) -> dict[int, FailedCall]:
        """Return commit id -> its recent failed call."""
        found = {each: self._model.failures.recent((each, self._language)) for each in ids}
        return {each: attempt for each, attempt in found.items() if attempt}

    def unanalysed(self, ids: Sequence[int]) -> list[int]:
        """Return the ids that still need a call; recent failures are not retried."""
        known = self.stored(ids).keys() | self.recent_failures(ids).keys()
        return [each for each in ids if each not in known]

    def low(self, ids: Sequence[int]) -> set[int]:
        """Return the ids of commits of low importance, which are analysed together."""
        return {each.id for each in self._store.commits(ids) if self._rank(each).importance is Importance.LOW}

    def analyse(self, ids: Sequence[int]) -> None:
        """Analyse a commit, or those of low importance in one call."""
        # Both languages wait for one another: the second is a translation.
        subject = str(ids[0]) if len(ids) == 1 else f"of low importance in {self._repository.key}"
        with self._store.locks.alone(f"analysis {subject} {self._model.name} {PROMPT}"):
            from analysis.llm import UsageCounter
            from analysis.writing.by_model import AT_ONCE

            left, in_vain = self._translate(self.unanalysed(ids))
            for start in range(0, len(left), AT_ONCE):
                self._ask(left[start : start + AT_ONCE], UsageCounter() if start else in_vain)

    def _translate(self, ids: list[int]) -> "tuple[list[int], UsageCounter]":
        """Translate what is analysed in the other language; return the ids that are left, and what was used in vain."""
        from analysis.llm import UsageCounter
        from analysis.writing.by_model import translate

        usage = UsageCounter()
        other = next(each for each in LANGUAGES if each != self._language)
        stored = self._store.analyses(ids, other, self._model.name, PROMPT)
        known = {
            each: saved for each, saved in stored.items() if not saved.move_reason
        }  # which is no part of the analysis
        if not known:
            return ids, usage
        try:
            analyses = [each.analysis for each in known.values()]
            found = translate(analyses, self._language, self._asker(usage))
        except ModelFailure as exc:
            self._remember_lasting(exc)
            return ids, usage
        kept = {each: text for each, text in zip(known, found, strict=True) if not isinstance(text, ModelFailure)}
        for (commit_id, analysis), part in zip(kept.items(), usage.parts(len(kept)), strict=True):
            said, now = (sum(map(bool, each.texts)) for each in (known[commit_id].analysis, analysis))
            changed = {"analysis": analysis, "removed_claims": said - now}
            self._save(commit_id, known[commit_id].model_copy(update=changed), part)
        return [each for each in ids if each not in kept], UsageCounter() if kept else usage

    def _ask(self, ids: Sequence[int], usage: "UsageCounter") -> None:
        commits = sorted(self._store.commits(ids, patches=True), key=lambda each: each.commit.committed_at)
        ids, requests = [each.id for each in commits], [self._request(each) for each in commits]
        try:
            if self._lasting:
                raise self._lasting
            found = self._replies(requests, self._asker(usage))
        except ModelFailure as exc:
            self._remember_lasting(exc)
            found = [exc] * len(ids)
        for commit_id, reply, part in zip(ids, found, usage.parts(len(ids)), strict=True):
            if isinstance(reply, ModelFailure):
                self._model.failures.record((commit_id, self._language), reply.what, part)
            else:
                self._save(commit_id, _stored(reply), part)
        if not all(isinstance(each, ModelFailure) for each in found):
            self._model.failures.succeeded()

    @staticmethod
    def _replies(requests: "Sequence[AnalysisRequest]", asker: "Asker") -> "list[Analysed | ModelFailure]":
        from analysis.writing.by_model import analyse, analyse_low

        if len(requests) > 1 or requests[0].ranked.importance is Importance.LOW:
            return analyse_low(requests, asker)
        return [analyse(requests[0], asker)]

    def _request(self, stored: StoredCommit) -> "AnalysisRequest":
        from analysis.writing.by_model import AnalysisRequest

        ranked, links, mirror = self._rank(stored), self._store.links([stored])[stored.id], self._source.mirror
        entry = Entry(commit=stored.commit, facts=stored.facts, ranked=ranked, links=links)
        return AnalysisRequest(
            self._repository,
            stored.commit,
            stored.facts,
            ranked,
            self._language,
            contents=partial(self._source.contents, stored.commit),
            tools=commit_tools(self._store, mirror, self._repository, stored.commit) if mirror else None,
            related=self._related(entry),
            uses=self._uses(stored),
        )

    def _uses(self, stored: StoredCommit) -> list[str]:
        """Return two lines for each of the first names that the commit removes or renames and its files still use."""
        named = (_CODE_NAME.fullmatch(each.name) for each in stored.facts if each.removes)
        names = list(dict.fromkeys(each[1] for each in named if each))[:_MOST_NAMES]
        found = (self._source.uses(stored.commit, name)[:2] for name in names)
        return [shorten(f"{each.path}: {each.text.strip()}", _MOST_CHARACTERS) for lines in found for each in lines]

    def _related(self, entry: Entry) -> list[str]:
        """Return a line for what a commit reverts, and for each other part of its series."""
        links, say = entry.links, catalogue("en")
        told = dict.fromkeys(links.all_reverted, "reverts")
        if links.series:
            part = say("part {part} of a series of {of}", part=links.series.part, of=links.series.of or "N")
            told |= dict.fromkeys(links.series.commits, f"{part}, with")
        told.pop(entry.commit.sha, None)
        ids = self._store.read_ids(self._repository, list(told))
        others = {each.commit.sha: each.commit.title for each in self._store.commits(list(ids.values()))}
        return [f"{how} {sha[:SHORT_SHA]} {others.get(sha, '')}".rstrip() for sha, how in told.items()]

    def _rank(self, stored: StoredCommit) -> Ranked:
        return rank(stored.commit, stored.facts, self._weights)

    def _save(self, commit_id: int, saved: StoredAnalysis, usage: "UsageCounter") -> None:
        used = saved.model_copy(update=self._used(usage).model_dump(include=_USED))
        self._store.save_analysis(commit_id, self._language, self._model.name, PROMPT, used)

    def edit_of(self, report: DayReport) -> Edit | None:
        """Return the stored edit of a day, if it was made of the same commits."""
        found = self._store.edits.of(report, self._model.name, PROMPT)
        return found if found and set(found.commits) == _shas(report) else None

    def edit(self, report: DayReport) -> None:
        """Let the model edit a day, unless it has, or failed to a while ago. What a channel alone knows is not in `report`."""
        from analysis.llm import UsageCounter
        from analysis.writing.by_model import EditedLine, edit

        say, failure = catalogue("en"), (f"edit {report.repository} {report.date} {report.timezone}", self._language)
        lines = [(line, group.heading(say)) for group in all_lines(report) for line in group.lines]
        if len(lines) < _FEWEST_LINES or self.edit_of(report) or self._lasting or self._model.failures.recent(failure):
            return
        ids = self._store.read_ids(self._repository, [line.entry.commit.sha for line, _ in lines])
        whole = {each.commit.sha: each for each in self._store.commits(list(ids.values()), patches=True)}
        shown = [
            EditedLine(
                stored.commit,
                stored.facts,
                group,
                line.entry.ranked.importance,
                line.headline,
                [each.what for each in line.consequences[1:MOST_TOLD]],
            )
            for line, group in lines
            if (stored := whole.get(line.entry.commit.sha))
        ]
        usage = UsageCounter()
        try:
            made = edit(shown, MOST_LINES, self._language, self._repository.full_name, self._asker(usage))
        except ModelFailure as exc:
            self._model.failures.record(failure, exc.what, usage)
            return
        made = made.model_copy(update={"commits": tuple(_shas(report)), "usage": self._used(usage)})
        self._store.edits.save(report, self._model.name, PROMPT, made)

    def usage(self, ids: Sequence[int], report: DayReport) -> Usage:
        """Return what these commits' analyses and the day's edit used, whenever made, including recent failed calls."""
        saved, failed, edit = self.stored(ids), self.recent_failures(ids), self.edit_of(report)
        used = [*saved.values(), *(self._used(each.usage) for each in failed.values()), *([edit.usage] if edit else [])]
        known = {name: [value for each in used if (value := getattr(each, name)) is not None] for name in _USED}
        total = {name: sum(values) for name, values in known.items() if values}
        removed = sum(each.removed_claims for each in saved.values())
        return Usage(model=self._model.name, removed_claims=removed, **total)

    def _used(self, usage: "UsageCounter") -> Usage:
        known = usage.input is not None
        cost = self._model.chat.cost(usage.input or 0, usage.output or 0, usage.cached or 0) if known else None
        tokens = {"input_tokens": usage.input, "output_tokens": usage.output, "cached_tokens": usage.cached}
        return Usage(model=self._model.name, calls=usage.calls, cost_usd=cost, **tokens)

    def _asker(self, usage: "UsageCounter") -> "Asker":
        from analysis.writing.by_model import Asker

        return Asker(self._model.chat, usage, partial(self._slot, usage))

    @contextmanager
    def _slot(self, usage: "UsageCounter", tokens: tuple[int, int]) -> Iterator[None]:
        """Hold a call slot. A failure that lasts is known before the slot is free, so that whoever waits makes no call."""
        with self._model.call("digest", tokens, usage):
            if self._lasting:
                raise self._lasting
            try:
                yield
            except ModelFailure as exc:
                self._remember_lasting(exc)
                raise

    def _remember_lasting(self, failure: ModelFailure) -> None:
        if failure.lasting:
            self._lasting = failure


def _stored(reply: "Analysed") -> StoredAnalysis:
    told = reply._asdict()
    return StoredAnalysis(removed_claims=told.pop("removed"), **told)


def _shas(report: DayReport) -> set[str]:
    return {each.commit.sha for each in (*report.entries, *report.late)}
