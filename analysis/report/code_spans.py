"""Text from outside with `code` spans, as HTML and as plain text."""

import re
from html import escape

from analysis.text import one_line

_SPANS = re.compile(r"(?<!`)`(?!`)([^`]+)`(?!`)")


def as_html(text: str) -> str:
    """Escape `text` for an element or an attribute, on one line, with its `code` spans as elements."""
    pieces = _SPANS.split(one_line(text))
    return "".join(f"<code>{escape(each)}</code>" if place % 2 else escape(each) for place, each in enumerate(pieces))


def as_plain(text: str) -> str:
    """Return `text` on one line, without the backticks of its `code` spans."""
    return _SPANS.sub(r"\1", one_line(text))
