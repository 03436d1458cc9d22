"""The language of texts: Chinese or English prose, whatever names and quotations it contains."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from analysis.grounding.corpus import SPAN, plain
from analysis.models import Language

_QUOTED = re.compile(r"“[^“”\n]*”|\"[^\"\n]*\"|「[^」\n]*」|『[^』\n]*』|《[^》\n]*》|‘[^‘’\n]*’|（[^（）\n]*）")
_NAME = re.compile(
    r"[A-Za-z0-9_]*(?:[_/.@#]|::|--)[A-Za-z0-9_./@#:-]*|\b\w*[a-z0-9][A-Z]\w*|\b[A-Z]{2,}\w*|\b\w*\d\w*", re.ASCII
)
_MIN_LETTERS = 12  # Chinese characters or English words from which a single text is long enough to check
_MAX_FOREIGN_SHARE = 0.15


def is_in_language(texts: str | Iterable[str], language: Language) -> bool:
    """Return whether the prose of a text, or of several, is in `language`: as a whole and in each longer text.

    Code, paths, names and quotations are ignored; prose that consists only of names counts as either language.
    """
    letters = [_letters(text) for text in ([texts] if isinstance(texts, str) else texts)]
    whole = _Letters(*map(sum, zip(*letters, strict=True)))
    return _is_mostly(whole, language) and all(
        _is_mostly(each, language) for each in letters if sum(each) >= _MIN_LETTERS
    )


class _Letters(NamedTuple):
    """Counts of a text by script: Chinese characters, Latin words, and letters of other scripts."""

    han: int
    words: int
    other: int


def _letters(text: str) -> _Letters:
    bare = _NAME.sub(" ", _QUOTED.sub(_without_latin, SPAN.sub(" ", plain(text))))
    return _Letters(
        han=sum(map(_is_han, bare)),
        words=len(re.findall(r"[A-Za-z\u00c0-\u024f][A-Za-z\u00c0-\u024f'-]+", bare)),
        other=sum(char.isalpha() and char > "\u024f" and not _is_han(char) for char in bare),
    )


def _without_latin(quoted: re.Match[str]) -> str:
    """Drop a quotation in Latin letters, which is a title or a message; keep a Chinese one, which is prose."""
    return quoted[0] if any(map(_is_han, quoted[0])) else " "


def _is_mostly(letters: _Letters, language: Language) -> bool:
    if language == "zh":
        # A character is about half a word; words in other scripts are not loanwords.
        return letters.han > letters.words + 4 * letters.other or not sum(letters)
    return letters.han + letters.other <= _MAX_FOREIGN_SHARE * sum(letters)


def _is_han(char: str) -> bool:
    return "\u4e00" <= char <= "\u9fff" or "\u3400" <= char <= "\u4dbf" or "\U00020000" <= char <= "\U0003ffff"
