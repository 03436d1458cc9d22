"""Answers to questions about a commit or a day: by a model within its limits, by rules, or from the files of a mirror."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TypeVar

import structlog

from analysis.errors import DigestError
from analysis.models import Commit, Language, Repository, Statement
from analysis.models.impacts import Downstream
from analysis.questions.answering import Answering
from analysis.questions.files import FileAnswers
from analysis.questions.kinds import QuestionKind
from analysis.questions.proofs import proofs
from analysis.questions.question import ParsedQuestion, Question
from analysis.questions.tools import CommitTools, OwnTree
from analysis.sources.mirror import Mirror
from bot.services.commit_sources import CommitSources
from bot.services.limits import MeteredModel
from bot.store import Store

_MOST_FOUND = 20  # commits of a search
_MOST_SHOWN = 5  # commits of which a model is shown the diffs
_NAMES = 2  # that are looked for in files
_OWN_NAMES = 4  # that are looked for in downstream files

T = TypeVar("T")

log = structlog.get_logger(__name__)


class AnswerService:
    """Answers questions; the sources give the files of a commit, for names that its diff does not show, and for tools."""

    def __init__(self, sources: CommitSources, store: Store, model: MeteredModel | None = None) -> None:
        self._sources = sources
        self._store = store
        self._model = model

    def from_files(
        self, asked: ParsedQuestion, repository: Repository, language: Language, commit: Commit | None = None
    ) -> list[Statement]:
        """Return what the files of a commit, or of the head, say of what is asked; nothing without a mirror, or if something else is."""
        return self._in_files(repository, language, lambda files: files.answer(asked), commit)

    def resolved(
        self, asked: ParsedQuestion, repository: Repository, language: Language, known: Callable[[], frozenset[str]]
    ) -> tuple[ParsedQuestion, list[Statement]]:
        """Return a question with the names that it means in the files of the head, and what is said of typing errors."""
        return next(
            iter(self._in_files(repository, language, lambda files: [files.resolved(asked, known)])), (asked, [])
        )

    def where(self, names: Sequence[str], repository: Repository, language: Language, sha: str = "") -> list[Statement]:
        """Return where names stand in the files of a commit or the head, or that they do not; nothing without a mirror."""
        return self._in_files(
            repository, language, lambda files: [files.where(each) for each in names[:_NAMES]], sha=sha
        )

    def lines_of(
        self, names: Sequence[str], repository: Repository, language: Language, sha: str = ""
    ) -> list[Statement]:
        """Return the lines of the files of a commit or the head that have some names, imports too; nothing of names without any."""
        return self._in_files(repository, language, lambda files: files.lines_of(names[:_OWN_NAMES]), sha=sha)

    def _in_files(
        self,
        repository: Repository,
        language: Language,
        ask: Callable[[FileAnswers], list[T]],
        commit: Commit | None = None,
        sha: str = "",
    ) -> list[T]:
        try:
            mirror = self._sources.existing_mirror(repository)
            if mirror is None:
                return []
            return ask(FileAnswers(mirror, commit or mirror.history("", at=sha, limit=1)[0], language))
        except DigestError as exc:
            log.warning("files not searched", repository=str(repository), why=str(exc))
            return []

    def answer(self, question: Question, language: Language) -> Iterator[Statement]:
        """Yield the statements of an answer, once all of them are checked."""
        if QuestionKind.RELEASE in question.asked.kinds and len(question.entries) == 1:
            source = self._sources.stored(question.repository)
            question = question._replace(entries=tuple(map(source.with_release, question.entries)))
        found = self._found(question, language) if len(question.entries) == 1 else ()
        yield from self.answer_from(question, language, found)

    def asks_model(self, repository: Repository) -> bool:
        """Return whether a model answers questions about a repository."""
        return self._model is not None and self._model.may_read(repository)

    def by_rules(self) -> "FoundByRules":
        """Return the service that answers by rules alone."""
        return FoundByRules(self._sources, self._store)

    def answer_from(
        self, question: Question, language: Language, found: Sequence[Statement], own: Sequence[Downstream] = ()
    ) -> Iterator[Statement]:
        """Yield what a model makes of a question's commits and of what rules `found`; without one, or if it fails, what these say.

        Its tools read `own` downstream trees, too.
        """
        if self._model is None or not self.asks_model(question.repository):
            yield from Answering(question, language, found=found)
        else:
            yield from self._by_model(self._model, question, language, found, own)

    def _found(self, question: Question, language: Language) -> Sequence[Statement]:
        """Return what the files as of a commit say of a name, if that is asked and the commit does not prove it itself."""
        asked, [entry] = question.asked, question.entries
        if QuestionKind.HISTORY in asked.kinds and question.further_commits is not None:
            return ()
        if QuestionKind.USES not in asked.kinds and (not asked.symbols or proofs(entry, asked, language)):
            return ()
        return self.from_files(asked, question.repository, language, entry.commit)

    def _by_model(
        self,
        model: MeteredModel,
        question: Question,
        language: Language,
        found: Sequence[Statement],
        own: Sequence[Downstream],
    ) -> Iterator[Statement]:
        from analysis.llm import UsageCounter

        usage = UsageCounter()

        def reserve(tokens: tuple[int, int]) -> AbstractContextManager[None]:
            return model.call("answer", tokens, usage)

        def contents() -> str:  # a whole day is too large
            source, entries = self._sources.stored(question.repository), question.entries
            return source.contents(entries[0].commit) if len(entries) == 1 else ""

        tools = self._tools(question, own)
        answering = Answering(
            question, language, model.chat, usage, contents, tools=tools, reserve=reserve, found=found
        )
        yield from answering
        if answering.failure:
            model.failures.failed(answering.failure.what)
        elif answering.by == "model":
            model.failures.succeeded()
        failure = str(answering.failure) if answering.failure else ""
        log.info("answered", by=answering.by, dropped=answering.dropped, calls=usage.calls, why=failure)

    def _tools(self, question: Question, own: Sequence[Downstream]) -> CommitTools | None:
        """Return the tools of a repository with a mirror: as of the commit or the day that a question is about, else as of the head."""
        try:
            mirror = self._sources.existing_mirror(question.repository)
            if mirror is None:
                return None
            about = (each.commit for each in question.entries if question.further_commits is None)
            commit = max(about, key=lambda each: each.committed_at, default=None) or mirror.history("", limit=1)[0]
            trees = [*filter(None, map(self._own_tree, own))]
        except DigestError as exc:
            log.warning("no mirror", repository=str(question.repository), why=str(exc))
            return None
        return commit_tools(self._store, mirror, question.repository, commit, trees)

    def _own_tree(self, downstream: Downstream) -> OwnTree | None:
        """Return a downstream tree for tools; None for a folder, or without a mirror."""
        tree = downstream.repository and downstream.repository.model_copy(update={"branch": None})
        mirror = self._sources.existing_mirror(tree) if tree else None
        if mirror is None:
            return None
        return OwnTree(downstream.name, mirror.history("", at=downstream.sha or "", limit=1)[0], mirror)


class FoundByRules(AnswerService):
    """Answers by rules alone, and keeps the commits from which they do: a model is given these."""

    def __init__(self, sources: CommitSources, store: Store) -> None:
        super().__init__(sources, store)
        self._answered: list[Question] = []

    def answer(self, question: Question, language: Language) -> Iterator[Statement]:
        """Yield the statements of the rules' answer."""
        self._answered.append(question)
        return super().answer(question, language)

    def about(self, question: Question) -> Question:
        """Return a question with its own commits and those that were answered from, the best first; a whole day is that."""
        chosen = (each for answered in (question, *self._answered) for each in answered.entries)
        further = (each for answered in self._answered for each in answered.further_commits or ())
        found = tuple({each.commit.sha: each for each in (*chosen, *further)}.values())
        if any(len(each.entries) > 1 and each.further_commits is None for each in self._answered):
            return question._replace(entries=found)
        return question._replace(entries=found[:_MOST_SHOWN], further_commits=found[_MOST_SHOWN:])


def commit_tools(
    store: Store, mirror: Mirror, repository: Repository, commit: Commit, own: Sequence[OwnTree] = ()
) -> CommitTools:
    """Return the tools that read a commit's repository, as of that commit, its stored commits, and `own` trees."""

    def search(query: str) -> Sequence[Commit]:
        return [each.commit for each in store.search_index.search(query, [repository], _MOST_FOUND)]

    return CommitTools(commit, mirror, search, own)
