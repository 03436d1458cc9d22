"""Text as it reads: letters that imitate Latin ones as these, and without what nobody sees. Searched, never shown."""

import re
import unicodedata
from functools import lru_cache

# Letters that can hardly be told from Latin ones: Cyrillic, Greek, and of Latin's own phonetic ones.
_LATIN = str.maketrans(
    "авԁеһіјӏԛорԍсѕтухѵԝАВЕНІЈКМОРԚЅСТУХԜαϲηικνορτυχγΑΒΕΖΗΙΚΜΝΟΡΤΥΧıɡɑ",
    "abdehijlqopgcstyxvwABEHIJKMOPQSCTYXWacnikvoptuxyABEZHIKMNOPTYXiga",
)
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_WORD = re.compile(r"[^\W\d_]+")
_LATIN_LETTER = re.compile("[A-Za-z]")
# Letters and a symbol that are drawn as a gap or as nothing: Hangul fillers and the blank pattern of Braille.
_BLANK = "\u2800"
FILLERS = f"\u115f\u1160\u3164\uffa0{_BLANK}"
_UNSEEN = ("Cf", "Mn", "Me")  # categories: formats, and marks on other characters


def as_read(text: str) -> str:
    """Return a text with compatible forms (full-width, mathematical) as ASCII, and words of mixed alphabets as Latin ones.

    Words in another alphabet alone stay as they are.
    """
    if text.isascii():
        return text
    return _WORD.sub(_as_latin, _NOT_ASCII.sub(lambda char: _plain(char[0]), text))


def place_in(text: str, offset: int) -> int:
    """Return where in a text the character stands that is at an offset of `as_read(text)`."""
    if text.isascii():
        return offset
    for place, char in enumerate(text):
        offset -= len(_plain(char))
        if offset < 0:
            return place
    return len(text)


@lru_cache(maxsize=8192)
def _plain(char: str) -> str:
    """Return the ASCII characters that a character is a form of, nothing for one that is not seen, else itself."""
    if char.isascii():
        return char
    if char == _BLANK:
        return " "
    if unicodedata.category(char) in _UNSEEN or char in FILLERS:
        return ""
    compatible = unicodedata.normalize("NFKC", char)
    return compatible if compatible.isascii() else char


def _as_latin(word: re.Match[str]) -> str:
    """Return a partly Latin word with Latin letters for what looks like them, if it then has no others; of the same length."""
    latin = word[0].translate(_LATIN)
    return latin if latin.isascii() and _LATIN_LETTER.search(word[0]) else word[0]
