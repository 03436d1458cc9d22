"""Answers to questions about a commit or a day: by a model within its budget and its share of calls, or by rules."""

from collections.abc import Iterator
from functools import partial

import structlog

from analysis.errors import ModelFailure
from analysis.models import Language, Question, Statement
from analysis.questions.answering import answer, estimate
from bot.services.analyst import Modelling
from bot.services.digest import Services

log = structlog.get_logger(__name__)


def answered(services: Services, asked: Question, language: Language) -> Iterator[Statement]:
    """Yield the statements of an answer, each as soon as it is checked."""
    if services.modelling is None:
        yield from answer(asked, language, None, None)
        return
    try:
        yield from _by_model(services, services.modelling, asked, language)
    except ModelFailure as exc:  # over the budget: no call was made
        services.modelling.attempts.failed(exc.what)
        log.info("rules answer", why=str(exc))
        yield from answer(asked, language, None, None)


def _by_model(services: Services, modelling: Modelling, asked: Question, language: Language) -> Iterator[Statement]:
    from analysis.llm import UsageCounter

    meter = UsageCounter()
    with modelling.answering(), modelling.paid(services.store, "answer", estimate(asked), meter):
        answering = answer(asked, language, modelling.model, meter, partial(_contents, services, asked))
        yield from answering
    if answering.failure:
        modelling.attempts.failed(answering.failure.what)
    elif answering.by == "model":
        modelling.attempts.succeeded()
    told = str(answering.failure) if answering.failure else ""
    log.info("answered", by=answering.by, dropped=answering.dropped, calls=meter.calls, why=told)


def _contents(services: Services, asked: Question) -> str:
    """Return the files that the commit changes, for names outside its diff; empty for a whole day, which is too large."""
    if len(asked.entries) != 1:
        return ""
    return services.github.contents(asked.repository, asked.entries[0].commit)
