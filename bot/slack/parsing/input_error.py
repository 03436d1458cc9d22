"""What is wrong with what somebody typed, told to them: nothing else is guessed from it."""

from analysis.errors import Misuse
from analysis.phrases import Phrase
from analysis.text import shorten

_SHOWN = 60  # characters of what was typed that are quoted back


class InputError(Misuse):
    """A `Misuse` in the phrase called `name`; `text` is what was typed."""

    def __init__(self, name: str, text: str = "", **values: object) -> None:
        super().__init__(Phrase(name, text=shorten(text, _SHOWN), **values))
