"""The indexed form of texts, and the names in code.

Full-text tokenizers split words at spaces and punctuation, so also at `_`. Chinese, Japanese and Korean have no spaces:
each character is indexed as a word. Names in camel case are indexed whole and in parts.
"""

import re
import unicodedata
from collections.abc import Iterable

# A character of kana, Han or Hangul, which are indexed one by one.
UNSPACED = "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]"
_CJK = re.compile(f"({UNSPACED})")
_CAMEL = re.compile(r"(?<![A-Za-z0-9])(?=[A-Za-z0-9]*[a-z])(?=[A-Za-z0-9]*[A-Z])[A-Za-z][A-Za-z0-9]+")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")
# A flag is one name; a hash, a base64 string and other long runs are none.
_NAME = re.compile(r"(?<![\w-])--[A-Za-z][\w-]{1,79}(?![\w-])|(?<!\w)[A-Za-z_]\w{1,79}(?!\w)", re.ASCII)
_WORD = re.compile(r"[^\W_]+")


def searchable(text: str) -> str:
    """Return `text` in its indexed form: with spaced characters, and the parts of names in camel case at its end."""
    return " ".join([spaced(text), *_camel_parts(dict.fromkeys(_CAMEL.findall(text)))])


def spaced(text: str) -> str:
    """Return `text` with spaces around the characters of scripts that have none between words."""
    return _CJK.sub(r" \1 ", text)


def names(text: str) -> list[str]:
    """Return the names and flags in code, in order and with repetitions."""
    return _NAME.findall(text)


def without_accents(text: str) -> str:
    """Return a text in lower case without diacritics, as the search indexes compare it."""
    if text.isascii():
        return text.lower()
    letters = (each for each in unicodedata.normalize("NFD", text.lower()) if not unicodedata.combining(each))
    return unicodedata.normalize("NFC", "".join(letters))


def split_words(text: str) -> list[str]:
    """Return the words of a text in its indexed form, as a tokenizer splits them, in lower case."""
    return _WORD.findall(text.lower())


def _camel_parts(found: Iterable[str]) -> list[str]:
    parts = (_PARTS.findall(name) for name in found)
    return [" ".join(each) for each in parts if len(each) > 1]
