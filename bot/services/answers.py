"""Answers to questions about a commit or a day: by a model within its limits, or by rules."""

from collections.abc import Iterator
from functools import partial

import structlog

from analysis.errors import ModelFailure
from analysis.models import Language, Question, Statement
from analysis.questions.answering import answer, estimate
from bot.services.commit_sources import CommitSources
from bot.services.metered_model import MeteredModel

log = structlog.get_logger(__name__)


class AnswerService:
    """Answers questions; the sources give the files of a commit, for names that its diff does not show."""

    def __init__(self, sources: CommitSources, model: MeteredModel | None = None) -> None:
        self._sources = sources
        self._model = model

    def answer(self, question: Question, language: Language) -> Iterator[Statement]:
        """Yield the statements of an answer, each as soon as it is checked."""
        if self._model is None:
            yield from answer(question, language, None, None)
            return
        try:
            yield from self._by_model(self._model, question, language)
        except ModelFailure as exc:  # over the budget: no call was made
            self._model.failures.failed(exc.what)
            log.info("rules answer", why=str(exc))
            yield from answer(question, language, None, None)

    def _by_model(self, model: MeteredModel, question: Question, language: Language) -> Iterator[Statement]:
        from analysis.llm import UsageCounter

        usage = UsageCounter()
        with model.call("answer", estimate(question), usage):
            answering = answer(question, language, model.chat, usage, partial(self._contents, question))
            yield from answering
        if answering.failure:
            model.failures.failed(answering.failure.what)
        elif answering.by == "model":
            model.failures.succeeded()
        failure = str(answering.failure) if answering.failure else ""
        log.info("answered", by=answering.by, dropped=answering.dropped, calls=usage.calls, why=failure)

    def _contents(self, question: Question) -> str:
        """Return the files that the commit changes; empty for a whole day, which is too large."""
        if len(question.entries) != 1:
            return ""
        return self._sources.stored(question.repository).contents(question.entries[0].commit)
