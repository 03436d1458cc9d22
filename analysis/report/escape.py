"""
Text that nobody here wrote, as Markdown that shows it and does nothing else: no link, image, HTML, outline or table of its own.

`code` spans are kept, since titles and analyses mean them. Everything else that GitHub's Markdown would act on is escaped.
"""

import re

from analysis.text import one_line

_SPANS = re.compile(r"(?<!`)`(?!`)([^`]+)`(?!`)")
_ESCAPED = re.compile(
    r"""
    [\\*~$`]                                 # escapes, emphasis, strike-through, mathematics, unpaired backticks
    | \](?=[(:])                             # what would make a link or a definition of the bracket before it
    | (?<![^\W_])_|_(?![^\W_])               # emphasis; an underscore inside a word is none
    | (?<=:)/(?=/)|(?<=:/)/                  # addresses, which GitHub links wherever they stand
    | (?<=www)\.                             # so it does these
    | (?<=[\w.+-])@(?=[\w-]+\.\w)            # and these
    | (?<=[^\s\#])\#+$                       # the end of a heading is not a part of it
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ENTITY = re.compile(r"&(?=\#?\w+;)")
_TAG = re.compile(r"<(?=[A-Za-z/!?@#])")
_LEADING = re.compile(r"^(?:[#>|=+-]|\d{1,9}(?=[.)]))")
_NUMBERED = re.compile(r"^(\d{1,9})([.)])")


def inline(text: str) -> str:
    """`text` for a paragraph, a heading or an item of a list."""
    line = one_line(text)
    return _started(_outside_code(line))


def cell(text: str) -> str:
    """`text` for a cell of a table."""
    return inline(text).replace("|", r"\|").replace(r"\\|", r"\|")


def link_text(text: str) -> str:
    """`text` for the brackets of a link, which may hold pairs of brackets but no lone one."""
    line = inline(text)
    return line if _paired(line) else re.sub(r"(?<!\\)([\[\]])", r"\\\1", line)


def _paired(line: str) -> bool:
    depth = 0
    for bracket in re.findall(r"(?<!\\)[\[\]]", line):
        depth += 1 if bracket == "[" else -1
        if depth < 0:
            return False
    return depth == 0


def _outside_code(line: str) -> str:
    pieces = _SPANS.split(line)
    if "`" in "".join(pieces[0::2]):  # an unpaired backtick could pair with one that we took for a span's
        return _escaped(line)
    return "".join(f"`{piece}`" if place % 2 else _escaped(piece) for place, piece in enumerate(pieces))


def _escaped(text: str) -> str:
    text = _ESCAPED.sub(lambda match: "".join("\\" + char for char in match[0]), text)
    return _TAG.sub("&lt;", _ENTITY.sub("&amp;", text))


def _started(line: str) -> str:
    """The line without the power that its first characters would have at the start of a block."""
    line = _NUMBERED.sub(r"\1\\\2", line)
    return "\\" + line if _LEADING.match(line) and not line[0].isdigit() else line
