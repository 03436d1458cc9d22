"""Untrusted text: sanitized for display, and as it reads.

Commit titles, names, paths and descriptions may contain any character. Two steps apply, and each surface adds its own
escaping: `scalar` makes a string storable, `visible` replaces characters that would act on the display. What is searched
for, and never shown, is read with `as_read`: letters that imitate Latin ones as these, and without what nobody sees.
"""

import re
import unicodedata
from functools import lru_cache

# Letters and a symbol that are drawn as a gap or as nothing: Hangul fillers and the blank pattern of Braille.
_BLANK = "\u2800"
FILLERS = f"\u115f\u1160\u3164\uffa0{_BLANK}"
# Characters that move, hide or reorder the text around them: C0 and C1 controls, soft hyphen, bidirectional embeddings,
# overrides, isolates and marks, zero-width and invisible operators, line separators, annotations, tags, fillers.
ACTIVE = (
    "\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    f"\U000e0000-\U000e007f{FILLERS}"
)
_ACTIVE = re.compile(f"[{ACTIVE}]")
# Joiners shape letters in Persian and Indic scripts and in emoji; between ASCII letters they only hide.
_HIDDEN_JOINER = re.compile("(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])")
_SURROGATE = re.compile("[\ud800-\udfff]")
_MAY_BE_STACK = re.compile("[^\x00-\u02ff]{5,}")
_STACK = 4  # marks on one letter: pointed Hebrew and Vietnamese need three at most


def scalar(text: str) -> str:
    """Replace lone surrogates in `text`, which JSON may carry and UTF-8 cannot."""
    return _SURROGATE.sub("\ufffd", text)


def visible(text: str, *, keep: str = "") -> str:
    """Show every character that acts on its surroundings as a symbol: ESC as ␛, U+202E as ⟨U+202E⟩.

    Of marks stacked on a letter, which would cover the lines above and below, the first four are left. `keep`
    lists control characters that the surface handles itself, such as a newline.
    """

    def show(match: re.Match[str]) -> str:
        char = match[0]
        if char in keep:
            return char
        code = ord(char)
        if code < 0x20:  # noqa: PLR2004 (C0: Unicode has a picture for each)
            return chr(0x2400 + code)
        return f"⟨U+{code:04X}⟩"

    return _HIDDEN_JOINER.sub(show, _ACTIVE.sub(show, _MAY_BE_STACK.sub(_lowered, text)))


def _lowered(match: re.Match[str]) -> str:
    """Return some characters without the marks above the fourth of each stack; joiners between them count as nothing."""
    kept, height = [], 0
    for char in match[0]:
        if char not in "\u200c\u200d":
            height = height + 1 if unicodedata.category(char) in ("Mn", "Me") else 0
        if height <= _STACK:
            kept.append(char)
    return "".join(kept)


def one_line(text: str) -> str:
    """Put `text` on one line: line breaks and tabs become spaces, and other active characters become visible."""
    return visible(re.sub(r" *[\t\r\n\f\v][ \t\r\n\f\v]*", " ", text).strip())


def mentions(text: str, name: str) -> bool:
    """Return whether `name` occurs in the text, not as a part of a longer or a hyphenated name."""
    return bool(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text))


def shorten(text: str, length: int) -> str:
    """Cut `text` to at most `length` characters, including three final dots if anything was cut."""
    return text if len(text) <= length else text[: length - 3] + "..."


def quantity(count: int, noun: str) -> str:
    """Return the count with its noun: `1 file`, `2 files`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


# Letters that can hardly be told from Latin ones: Cyrillic, Greek, and of Latin's own phonetic ones.
_LATIN = str.maketrans(
    "авԁеһіјӏԛорԍсѕтухѵԝАВЕНІЈКМОРԚЅСТУХԜαϲηικνορτυχγΑΒΕΖΗΙΚΜΝΟΡΤΥΧıɡɑ",
    "abdehijlqopgcstyxvwABEHIJKMOPQSCTYXWacnikvoptuxyABEZHIKMNOPTYXiga",
)
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_WORD = re.compile(r"[^\W\d_]+")
_LATIN_LETTER = re.compile("[A-Za-z]")
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
