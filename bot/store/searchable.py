"""Text and queries in the form that the full-text index needs.

SQLite's tokenizer splits words at spaces and punctuation. Chinese, Japanese and Korean have no spaces: each character is
indexed as a word, and a query for several is a phrase. Names in camel case are indexed whole and in parts.
"""

import re

_CJK = re.compile("([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff])")
_CAMEL = re.compile(r"\b(?=\w*[a-z])(?=\w*[A-Z])[A-Za-z][A-Za-z0-9]+\b")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")


def searchable(text: str) -> str:
    """Return `text` in its indexed form."""
    parts = [" ".join(_PARTS.findall(name)) for name in dict.fromkeys(_CAMEL.findall(text))]
    return " ".join([_spaced(text), *parts])


def match_query(words: str) -> str:
    """Return an FTS5 query for commits that contain all `words` as word prefixes; empty if there are no words."""
    phrases = [_spaced(word.replace('"', " ").replace("\0", " ")).strip() for word in words.split()]
    return " AND ".join(f'"{phrase}"{_prefix_operator(phrase)}' for phrase in phrases if re.search(r"\w", phrase))


def _prefix_operator(phrase: str) -> str:
    """Return the prefix operator for a word, nothing for a pull request number, which must match exactly."""
    return "" if re.fullmatch(r"#\d+", phrase) else "*"


def _spaced(text: str) -> str:
    return _CJK.sub(r" \1 ", text)
