"""Errors in what somebody typed, as they are told to them."""

from analysis.errors import Misuse
from analysis.phrases import Phrase
from analysis.text import shorten

_SHOWN = 60  # characters of what was typed that are quoted back


class InputError(Misuse):
    """A `Misuse` in the phrase called `name`; `text` is what was typed."""

    def __init__(self, name: str, text: str = "", **values: object) -> None:
        super().__init__(Phrase(name, text=shorten(text, _SHOWN), **values))
