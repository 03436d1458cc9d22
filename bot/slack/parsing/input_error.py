"""Errors in people's input, worded for them."""

from analysis.errors import Misuse
from analysis.locale import Phrase
from analysis.text import shorten

_SHOWN = 60  # characters of the input quoted in the message


class InputError(Misuse):
    """A `Misuse` for people: a sentence of the catalogue whose placeholder {text} is the input, shortened; or a phrase."""

    def __init__(self, what: str | Phrase, text: str = "", **values: object) -> None:
        super().__init__(what if isinstance(what, Phrase) else Phrase(what, text=shorten(text, _SHOWN), **values))
