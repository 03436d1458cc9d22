"""Answers to questions about a commit or a day: by a model within its limits, or by rules."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial

import structlog

from analysis.errors import DigestError
from analysis.models import Commit, Language, Repository, Statement
from analysis.questions.answering import answer
from analysis.questions.kinds import QuestionKind
from analysis.questions.question import ParsedQuestion, Question
from analysis.questions.tools import CommitTools
from bot.services.commit_sources import CommitSources
from bot.services.limits import MeteredModel
from bot.services.tree_answers import TreeAnswers
from bot.store import Store

_MOST_FOUND = 20  # commits of a search

log = structlog.get_logger(__name__)


class AnswerService:
    """Answers questions; the sources give the files of a commit, for names that its diff does not show, and for tools."""

    def __init__(self, sources: CommitSources, store: Store, model: MeteredModel | None = None) -> None:
        self._sources = sources
        self._store = store
        self._model = model
        self._trees = TreeAnswers(sources)

    def from_files(self, asked: ParsedQuestion, repository: Repository, language: Language) -> list[Statement]:
        """Return what the files at the head say of the default or the uses of a name; nothing if something else is asked."""
        return self._trees.answer(asked, repository, language)

    def answer(self, question: Question, language: Language) -> Iterator[Statement]:
        """Yield the statements of an answer, each as soon as it is checked."""
        asked, commit = question.asked, question.entries[0].commit if len(question.entries) == 1 else None
        if commit and QuestionKind.USES in asked.kinds:
            told = self._trees.answer(asked, question.repository, language, commit)
        else:
            told = []
        if told:
            yield from told
        elif self._model is None or not self._model.may_read(question.repository):
            yield from answer(question, language, None, None)
        else:
            yield from self._by_model(self._model, question, language)

    def _by_model(self, model: MeteredModel, question: Question, language: Language) -> Iterator[Statement]:
        from analysis.llm import UsageCounter

        usage = UsageCounter()

        def reserve(tokens: tuple[int, int]) -> AbstractContextManager[None]:
            return model.call("answer", tokens, usage)

        contents = partial(self._contents, question)
        answering = answer(
            question, language, model.chat, usage, contents, tools=self._tools(question), reserve=reserve
        )
        yield from answering
        if answering.failure:
            model.failures.failed(answering.failure.what)
        elif answering.by == "model":
            model.failures.succeeded()
        failure = str(answering.failure) if answering.failure else ""
        log.info("answered", by=answering.by, dropped=answering.dropped, calls=usage.calls, why=failure)

    def _tools(self, question: Question) -> CommitTools | None:
        """Return the tools for a question about one commit of a repository with a mirror."""
        if len(question.entries) != 1:
            return None
        try:
            mirror = self._sources.existing_mirror(question.repository)
        except DigestError as exc:
            log.warning("no mirror", repository=str(question.repository), why=str(exc))
            return None
        stored = _StoredCommits(self._store, question.repository)
        return CommitTools(question.entries[0], mirror, stored) if mirror else None

    def _contents(self, question: Question) -> str:
        """Return the files that the commit changes; empty for a whole day, which is too large."""
        if len(question.entries) != 1:
            return ""
        return self._sources.stored(question.repository).contents(question.entries[0].commit)


class _StoredCommits:
    """The stored commits of one repository."""

    def __init__(self, store: Store, repository: Repository) -> None:
        self._store = store
        self._repository = repository

    def search(self, query: str) -> Sequence[Commit]:
        found = self._store.search_index.search(query, [self._repository], _MOST_FOUND)
        return [each.commit for each in found]

    def with_shas(self, shas: Sequence[str]) -> Sequence[Commit]:
        ids = self._store.read_ids(self._repository, shas)
        return [each.commit for each in self._store.commits(list(ids.values()))]
