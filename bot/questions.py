"""A question about a commit or a day, answered from the store: by a model within its budget and its share of calls, else by rules."""

from collections.abc import Iterator

from analysis.answer import answer, estimate
from analysis.asking import Asked, Statement
from analysis.errors import ModelFailure
from analysis.models import Language
from bot.analysing import Modelling
from bot.digest import Desk


def answered(desk: Desk, asked: Asked, language: Language) -> Iterator[Statement]:
    """The statements of an answer, each as soon as it was checked."""
    if desk.modelling is None:
        yield from answer(asked, language, None, None)
        return
    yield from _by_model(desk, desk.modelling, asked, language)


def _by_model(desk: Desk, modelling: Modelling, asked: Asked, language: Language) -> Iterator[Statement]:
    from analysis.llm import Meter

    meter = Meter()
    try:
        with modelling.answering(), modelling.paid(desk.store, estimate(asked), meter):
            yield from answer(asked, language, modelling.model, meter)
    except ModelFailure:
        yield from answer(asked, language, None, None)
