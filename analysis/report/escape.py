"""Escaping of untrusted text for Markdown, so that it creates no link, image, HTML, heading or table, and for HTML.

`code` spans are kept, since titles and analyses use them. Everything else that GitHub's Markdown would interpret is
escaped.
"""

import re
from collections.abc import Callable, Sequence
from html import escape

from analysis.text import one_line

_SPANS = re.compile(r"(?<!`)`(?!`)([^`]+)`(?!`)")
_ESCAPED = re.compile(
    r"""
    [\\*~$`]                                 # escapes, emphasis, strike-through, mathematics, unpaired backticks
    | \](?=[(:])                             # what would make a link or a definition of the bracket before it
    | (?<![^\W_])_|_(?![^\W_])               # emphasis; an underscore inside a word is none
    | /(?=/)|(?<=/)/                         # addresses, which GitHub links wherever they stand, and others without a scheme
    | (?<=www)\.                             # so it does these
    | (?<=\s)\#+$                            # the end of a heading is not a part of it
    """,
    re.VERBOSE | re.IGNORECASE,
)
# GitHub links these even when escaped, but not in code.
_EMAIL = re.compile(r"(?<![\w.+-])(?=[\w.+-]+@[\w.+-]*\.\w)([\w.+-]+@[\w.+@-]*\w)", re.ASCII)
_ENTITY = re.compile(r"&(?=\#?\w+;)")
_TAG = re.compile(r"<(?!=?\s)")  # also an e-mail autolink, which may begin with nearly anything, even code
_SLACK_TOKEN = re.compile(r"<(?:[!@#]|https?:)")
# A numbered item, or: heading, quotation, item, underline, table row or rule, task, definition (even across code).
_STARTING = re.compile(r"^(\d{1,9}(?=[.)](?:\s|$))|(?=[#>|=+-]|:-|\[[ xX]\]\s|\[(?:\\.|[^\\\[\]])*\]:))")
# The group matches a bracket that is neither escaped nor in a code span.
_BRACKETS = re.compile(r"\\.|`[^`]*`|([\[\]])")


def as_html(text: str) -> str:
    """Escape `text` for an HTML element or attribute, on one line, with its `code` spans as elements."""
    pieces = _SPANS.split(one_line(text))
    return "".join(f"<code>{escape(each)}</code>" if place % 2 else escape(each) for place, each in enumerate(pieces))


def as_plain(text: str) -> str:
    """Return `text` on one line, without the backticks of its `code` spans."""
    return _SPANS.sub(r"\1", one_line(text))


def inline(text: str) -> str:
    """Escape `text` for a paragraph, a heading or a list item."""
    return _STARTING.sub(r"\1\\", _escaped_outside_code(one_line(text)))


def cell(text: str) -> str:
    """Escape `text` for a table cell, where a pipe is escaped in code as well."""
    return _escaped_outside_code(one_line(text)).replace("|", r"\|")


def link_text(text: str) -> str:
    """Escape `text` for the brackets of a link, which may contain paired brackets but no single one."""
    line = one_line(text)
    # After such a bracket even code could end a definition.
    line = _escaped(line) if "]:" in line else _escaped_outside_code(line)
    return line if _has_paired_brackets(line) else _BRACKETS.sub(lambda match: "\\" * bool(match[1]) + match[0], line)


def _has_paired_brackets(line: str) -> bool:
    depth = 0
    for bracket in filter(None, _BRACKETS.findall(line)):
        depth += 1 if bracket == "[" else -1
        if depth < 0:
            return False
    return depth == 0


def _escaped_outside_code(line: str) -> str:
    pieces = _SPANS.split(line)
    escaped = _alternating(pieces, _escaped)
    # An unpaired backtick, or one next to another, could pair with one that we took for a span's; and in Slack, where
    # the report may be pasted, a token is active in code too.
    unsafe = "`" in "".join(pieces[0::2]) or "``" in escaped or _SLACK_TOKEN.search("".join(pieces[1::2]))
    return _escaped(line) if unsafe else escaped


def _escaped(text: str) -> str:
    return _alternating(_EMAIL.split(text), _escaped_characters)


def _escaped_characters(text: str) -> str:
    text = _ESCAPED.sub(r"\\\g<0>", text)
    return _TAG.sub("&lt;", _ENTITY.sub("&amp;", text))


def _alternating(pieces: Sequence[str], shown: Callable[[str], str]) -> str:
    """Format every second piece as a code span, and the others by `shown`."""
    return "".join(f"`{piece}`" if index % 2 else shown(piece) for index, piece in enumerate(pieces))
