"""Errors in people's input, worded for them."""

from analysis.errors import Misuse
from analysis.phrases import Phrase
from analysis.text import shorten

_SHOWN = 60  # characters of the input quoted in the message


class InputError(Misuse):
    """A `Misuse` worded by the phrase `name`; `text` is the input."""

    def __init__(self, name: str, text: str = "", **values: object) -> None:
        super().__init__(Phrase(name, text=shorten(text, _SHOWN), **values))
