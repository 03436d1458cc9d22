"""Python as a patch shows it: the lines of one side, parsed hunk by hunk as far as they are statements.

A hunk may begin and end anywhere. What git shows above it tells its class or function; without that, what is indented is
local to an unknown function. A line that is no statement, such as one of a docstring that began above, is left out.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from analysis.diff import Hunk, headed_hunks
from analysis.facts.syntax import Source, parse_lines, parsing

_MAX_ERRORS = 200  # of one hunk, each a parse
_HEAD = re.compile(r"(?P<scope>class|def|async def|if)\s+\w+")
_OPEN_TABLE = re.compile(r"\w.*=.*(?P<bracket>[\[({])$")
_CLOSING = {"[": "]", "(": ")", "{": "}"}
_UNKNOWN = "def _():"  # the function that holds what nobody knows the function of
_BLOCK = "if 1:"
_EMPTY_BLOCK = "expected an indented block"


@lru_cache(maxsize=128)
def fragment(path: str, patch: str, side: str) -> Source:
    """Return what a patch shows of the old ("-") or the new ("+") side of a Python file, its lines numbered as in the file."""
    hunks = headed_hunks(patch)
    shown = {line.number_on(side): line.text for hunk in hunks for line in hunk.lines if line.sign in (" ", side)}
    text = "\n".join(shown.get(number, "") for number in range(1, max(shown, default=0) + 1))
    source = Source(path, text, ast.Module([], []), partial=True)
    gone = {line.text for hunk in hunks for line in hunk.lines if line.sign == "-"} if side == "+" else set()
    classes: dict[str, ast.ClassDef] = {}
    for hunk in hunks:
        heading = "" if hunk.heading in gone else hunk.heading  # git shows what was above in the old file
        with parsing():
            statements = _statements(Hunk(heading, hunk.lines), side, source)
        for statement in statements:
            known = classes.get(statement.name) if isinstance(statement, ast.ClassDef) else None
            if isinstance(statement, ast.ClassDef) and known:  # a class of which several hunks show a part
                known.body += statement.body
                known.end_lineno = statement.end_lineno
            else:
                source.module.body.append(statement)
                classes |= {statement.name: statement} if isinstance(statement, ast.ClassDef) else {}
    return source


def _statements(hunk: Hunk, side: str, source: Source) -> Sequence[ast.stmt]:
    lines = [line for line in hunk.lines if line.sign in (" ", side)]
    above, below = _surroundings(hunk.heading, [line.text for line in lines])
    texts = [*above, *(line.text for line in lines), *below]
    first = lines[0].number_on(side) if lines else 1
    for _ in range(_MAX_ERRORS):
        try:
            module = parse_lines(texts)
        except SyntaxError as exc:
            if not _mend(texts, exc, source):
                return ()
        else:
            ast.increment_lineno(module, first - 1 - len(above))
            return module.body
    return ()


def _mend(texts: list[str], error: SyntaxError, source: Source) -> bool:
    """Complete a block that is cut off, or leave out the line that is no statement; return whether there was such a line."""
    number = min(error.lineno or 0, len(texts))
    if error.msg.startswith(_EMPTY_BLOCK):
        heads = (index for index in range(number - 1, -1, -1) if texts[index].partition("#")[0].rstrip().endswith(":"))
        head = next(heads, None)
        if head is not None:
            texts[head] = f"{texts[head].partition('#')[0].rstrip()} ..."
            return True
    source.has_gaps = True
    while number and not texts[number - 1].strip():
        number -= 1
    if number:
        texts[number - 1] = ""
    return bool(number)


def _surroundings(heading: str, lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the lines to be put above and below a hunk, so that each of its lines is in the scope that it has in the file."""
    indents = list(_decreasing_indents(lines))
    head = _HEAD.match(heading)
    if not indents or not indents[0]:
        return ([f"{heading} ..."] if head and head["scope"] == "class" and heading.endswith(":") else []), []
    if table := _OPEN_TABLE.match(heading):
        return [heading], [_CLOSING[table["bracket"]]]
    if head is None or (head["scope"] == "class" and not heading.endswith(":")):
        return _openers(sorted({0, *indents}), _UNKNOWN), []
    if head["scope"] != "class":
        return [heading, *_openers(sorted({*indents} - {0}), _BLOCK)], []
    step = 2 if any(each % 4 for each in indents) else 4
    return [heading, *_openers(sorted({step, *indents} - {0}), _UNKNOWN)], []


def _openers(levels: Sequence[int], first: str) -> list[str]:
    """Return the heads of nested blocks that stand at these indents (columns), but for the deepest; `first` is the outermost."""
    return [" " * level + (_BLOCK if index else first) for index, level in enumerate(levels[:-1])]


def _decreasing_indents(lines: Sequence[str]) -> Iterator[int]:
    """Yield the indent of the first line, and each that is less than all above it."""
    least: int | None = None
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if line.strip() and (least is None or indent < least):
            least = indent
            yield indent
