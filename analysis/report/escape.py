"""Text that nobody here wrote, as Markdown that shows it and does nothing else: no link, image, HTML, outline or table of its own.

`code` spans are kept, since titles and analyses mean them. Everything else that GitHub's Markdown would act on is escaped.
"""

import re
from collections.abc import Callable, Sequence

from analysis.text import one_line

_SPANS = re.compile(r"(?<!`)`(?!`)([^`]+)`(?!`)")
_ESCAPED = re.compile(
    r"""
    [\\*~$`]                                 # escapes, emphasis, strike-through, mathematics, unpaired backticks
    | \](?=[(:])                             # what would make a link or a definition of the bracket before it
    | (?<![^\W_])_|_(?![^\W_])               # emphasis; an underscore inside a word is none
    | (?<=:)/(?=/)|(?<=:/)/                  # addresses, which GitHub links wherever they stand
    | (?<=www)\.                             # so it does these
    | (?<=\s)\#+$                            # the end of a heading is not a part of it
    """,
    re.VERBOSE | re.IGNORECASE,
)
# GitHub links these even where they are escaped, but not in code.
_EMAIL = re.compile(r"(?<![\w.+-])(?=[\w.+-]+@[\w.+-]*\.\w)([\w.+-]+@[\w.+@-]*\w)", re.ASCII)
_ENTITY = re.compile(r"&(?=\#?\w+;)")
_TAG = re.compile(r"<(?!=?\s)")  # or an address of mail, which may begin with nearly anything, even code
_SLACK_TOKEN = re.compile(r"<(?:[!@#]|https?:)")
# A numbered item, or: heading, quotation, item, underline, row or rule of a table, task, definition (even across code).
_STARTING = re.compile(r"^(\d{1,9}(?=[.)](?:\s|$))|(?=[#>|=+-]|:-|\[[ xX]\]\s|\[(?:\\.|[^\\\[\]])*\]:))")
# A lone bracket is the second kind: neither escaped nor in a code span.
_BRACKETS = re.compile(r"\\.|`[^`]*`|([\[\]])")


def inline(text: str) -> str:
    """`text` for a paragraph, a heading or an item of a list."""
    return _STARTING.sub(r"\1\\", _outside_code(one_line(text)))


def cell(text: str) -> str:
    """`text` for a cell of a table, where a pipe is escaped in code as well."""
    return _outside_code(one_line(text)).replace("|", r"\|")


def link_text(text: str) -> str:
    """`text` for the brackets of a link, which may hold pairs of brackets but no lone one."""
    line = one_line(text)
    # With the bracket in front of it, even code could end a definition.
    line = _escaped(line) if "]:" in line else _outside_code(line)
    return line if _paired(line) else _BRACKETS.sub(lambda match: "\\" * bool(match[1]) + match[0], line)


def _paired(line: str) -> bool:
    depth = 0
    for bracket in filter(None, _BRACKETS.findall(line)):
        depth += 1 if bracket == "[" else -1
        if depth < 0:
            return False
    return depth == 0


def _outside_code(line: str) -> str:
    pieces = _SPANS.split(line)
    kept = _alternating(pieces, _escaped)
    # A backtick that is unpaired, or next to another, could pair with one that we took for a span's; and to Slack, where
    # the report may be pasted, a token is one in code too.
    unsafe = "`" in "".join(pieces[0::2]) or "``" in kept or _SLACK_TOKEN.search("".join(pieces[1::2]))
    return _escaped(line) if unsafe else kept


def _escaped(text: str) -> str:
    return _alternating(_EMAIL.split(text), _shown)


def _shown(text: str) -> str:
    text = _ESCAPED.sub(r"\\\g<0>", text)
    return _TAG.sub("&lt;", _ENTITY.sub("&amp;", text))


def _alternating(pieces: Sequence[str], shown: Callable[[str], str]) -> str:
    """Every second piece as a code span, the others as `shown` has them."""
    return "".join(f"`{piece}`" if place % 2 else shown(piece) for place, piece in enumerate(pieces))
