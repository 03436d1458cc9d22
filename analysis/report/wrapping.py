"""Word wrapping for a terminal, never inside a word, so that a path stays beside its line number.

Chinese and Japanese have no spaces: a row may end after any character but an opening bracket, and begin with any but
closing punctuation (W3C, Requirements for Chinese Text Layout, 3.1.4). A word wider than the terminal is left for it to
wrap.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

_OPENING, _CLOSING = "（「『【《〈", "）」』】》〉，。、；：！？"
_WIDE_CHARACTERS = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"
_WORD = re.compile(rf"\s+|[{_OPENING}]*(?:[^\s{_WIDE_CHARACTERS}]+|[{_WIDE_CHARACTERS}])[{_CLOSING}]*")
_TAB = 8


class Line(NamedTuple):
    """A text with its prefix `lead`; wrapped rows are indented to align with the text."""

    body: Text
    lead: Text = Text()


def print_line(console: Console, line: Line) -> None:
    """Print a line as the rows that fit the console's width; a word too long to stand there moves to the left."""
    lead, indent = line.lead, Text(" " * line.lead.cell_len)
    for row in wrapped(line.body, console.width - lead.cell_len):
        room = console.width - row.cell_len
        if 0 <= room < lead.cell_len:
            if lead.plain.strip():
                console.print(lead, soft_wrap=True)
            lead = Text(" " * room)
        whole = Text.assemble(lead, row)
        whole.rstrip()
        console.print(whole, soft_wrap=True)
        lead = indent


def wrapped(text: Text, width: int) -> Iterator[Text]:
    """Wrap a text into rows of at most `width` columns, except for wider words."""
    for line in text.split("\n", allow_blank=True):
        line.expand_tabs(_TAB)
        for row in line.divide(_breaks(line.plain, width)):
            row.rstrip()
            yield row


def _breaks(line: str, width: int) -> Iterator[int]:
    """Find the offsets at which a new row begins."""
    used = 0
    for piece in _WORD.finditer(line):
        size = cell_len(piece[0])
        if used and used + size > width and not piece[0].isspace():
            yield piece.start()
            used = 0
        used += size
