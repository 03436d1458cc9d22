"""Python as a patch shows it: the lines of one side, parsed hunk by hunk as far as they are statements.

A hunk may begin and end anywhere. What git shows above it tells its class or function; without that, what is indented is
local to an unknown function. A line that is no statement, such as one of a docstring that began above, is left out.
"""

import ast
import re
from collections import deque
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import takewhile

from analysis.diff import Hunk, headed_hunks
from analysis.facts.syntax import Source, parse_lines, parsing

_MAX_ERRORS = 200  # of one hunk, each a parse
_HEAD = re.compile(r"(?P<scope>class|def|async def|if)\s+\w+")
_OPEN_TABLE = re.compile(r"\w.*=.*(?P<bracket>[\[({])$")
_CLOSING = {"[": "]", "(": ")", "{": "}"}
_UNKNOWN = "def __unknown__():"  # the function that holds what is local to one that no line shows
_BLOCK = "if 1:"
_HEADS = re.compile(r"[A-Za-z_$]")  # the lines that git shows above a hunk
_HEADING = 80  # characters of them
_EMPTY_BLOCK = "expected an indented block after"
_NEVER_CLOSED = "was never closed"
_UNMATCHED = "unmatched"
_DEFINITION = re.compile(r"\s*(?:(?P<function>def|async def)|class)\s+\w+\(")
_END_OF_HEAD = re.compile(r"\s*\)(?:\s*->.*)?:$")
_TYPED = re.compile(r"\s*\*{0,2}\w+\s*:")
_CUT = re.compile(r"(?:async )?def \w+\(")
_SUPER = "super().__init__("
_QUOTES = re.compile(r'"""|\'\'\'')


@lru_cache(maxsize=128)
def fragment(path: str, patch: str, side: str) -> Source:
    """Return what a patch shows of the old ("-") or the new ("+") side of a Python file, its lines numbered as in the file."""
    hunks = headed_hunks(patch)
    shown = {line.number_on(side): line.text for hunk in hunks for line in hunk.lines if line.sign in (" ", side)}
    text = "\n".join(shown.get(number, "") for number in range(1, max(shown, default=0) + 1))
    source = Source(path, text, ast.Module([], []), partial=True)
    classes: dict[str, ast.ClassDef] = {}
    with parsing():
        statements = [each for hunk in _headed_on(side, hunks) for each in _statements(hunk, side, source)]
    for statement in statements:
        known = classes.get(statement.name) if isinstance(statement, ast.ClassDef) else None
        if isinstance(statement, ast.ClassDef) and known:  # a class of which several hunks show a part
            known.body += statement.body
            known.end_lineno = statement.end_lineno
        else:
            source.module.body.append(statement)
            classes |= {statement.name: statement} if isinstance(statement, ast.ClassDef) else {}
    return source


def _headed_on(side: str, hunks: Sequence[Hunk]) -> Iterator[Hunk]:
    """Yield the hunks as they are headed on one side: git shows what is above in the old file, which may have gone."""
    gone = {line.text[:_HEADING] for hunk in hunks for line in hunk.lines if line.sign == "-"} if side == "+" else set()
    last = ""
    for heading, lines in hunks:
        above = last if heading in gone else heading
        shown = above == last[:_HEADING] and "def " in above  # with its head, which counts once
        yield Hunk(_UNKNOWN if shown else above, lines)
        heads = (line.text for line in lines if line.sign in (" ", side) and _HEADS.match(line.text))
        last = next(iter(deque(heads, maxlen=1)), last)


def _statements(hunk: Hunk, side: str, source: Source) -> Sequence[ast.stmt]:
    lines = [line for line in hunk.lines if line.sign in (" ", side)]
    texts = [line.text for line in lines]
    best: Sequence[ast.stmt] = ()
    fewest = len(texts) + 1  # lines left out
    for each in _whole_strings(texts):
        body, kept = _parsed(hunk.heading, each, lines[0].number_on(side) if lines else 1)
        if (left_out := _shown(texts) - kept) < fewest:
            best, fewest = body, left_out
        if not fewest:
            break
    source.has_gaps |= fewest > 0
    return best


def _whole_strings(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the lines in each of the two ways in which strings may be cut off: at one end, or at none and at both."""
    quotes = [index for index, text in enumerate(texts) if len(_QUOTES.findall(text)) % 2]
    without_end = [*[""] * (quotes[0] + 1), *texts[quotes[0] + 1 :]] if quotes else texts
    yield without_end if len(quotes) % 2 else texts
    if quotes:
        yield (texts if len(quotes) % 2 else without_end)[: quotes[-1]]


def _parsed(heading: str, texts: Sequence[str], first: int) -> tuple[Sequence[ast.stmt], int]:
    """Return the statements of a hunk whose first line has this number, and how many of its lines they are made of."""
    above, below = _surroundings(heading, texts)
    unseen = max(first - 1 - len(above), 0)
    lines = [*[""] * unseen, *above, *texts, *below]
    for _ in range(_MAX_ERRORS):
        try:
            body = parse_lines(lines).body
        except SyntaxError as exc:
            if not _mend(lines, exc):
                break
        else:
            for each in body if first <= len(above) else ():
                ast.increment_lineno(each, first - 1 - len(above))  # at a file's top there is no room above
            return body, _shown(lines[unseen:]) - len(above) - len(below)
    return (), 0


def _shown(texts: Sequence[str]) -> int:
    return sum(bool(text.strip()) for text in texts)


def _mend(texts: list[str], error: SyntaxError) -> bool:
    """Complete a block or a head that is cut off, or leave out what is no statement; return whether there was anything."""
    number = min(error.lineno or 0, len(texts))
    if error.msg.startswith(_EMPTY_BLOCK):
        head = int(error.msg.rpartition(" ")[2]) - 1
        end = next((index for index in range(head, number) if _code(texts[index]).endswith(":")), None)
        if end is not None:
            texts[end] = f"{_code(texts[end])} ..."
            return True
    at = next((index for index in range(number - 1, -1, -1) if texts[index].strip()), None)
    if at is None:
        return False
    first, last = _extent(texts, at, above=error.msg.startswith(_UNMATCHED))
    definition = _DEFINITION.match(texts[at])
    if definition and error.msg.endswith(_NEVER_CLOSED) and last == len(texts):
        end = max(index for index in range(first, last) if texts[index].strip())
        rest = f"{'**' if definition['function'] else ''}__unknown__): ..."
        begun = _code(texts[end])
        texts[end] = f"{begun} {rest}" if begun.endswith(("(", ",")) else f"{begun}, {rest}"
    else:
        texts[first:last] = [""] * (last - first)
    return True


def _extent(texts: Sequence[str], at: int, *, above: bool) -> tuple[int, int]:
    """Return where the lines begin and end of what stands in the block or bracket that a line opens, or closes from `above`."""
    inside = [not text.strip() or _indent(text) > _indent(texts[at]) for text in texts]
    if above:
        return at - sum(1 for _ in takewhile(bool, reversed(inside[:at]))), at + 1
    return at, at + 1 + sum(1 for _ in takewhile(bool, inside[at + 1 :]))


def _surroundings(heading: str, texts: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the lines to be put above and below a hunk, so that each of its lines is in the scope that it has in the file."""
    indents = list(_decreasing_indents(texts))
    head = _HEAD.match(heading)
    in_class = head is not None and head["scope"] == "class"
    if head and in_class and not heading.endswith(":"):
        heading = f"{head[0]}(__unknown__):"
    if not indents or not indents[0]:
        return ([f"{heading} ..."] if in_class else []), []
    if table := _OPEN_TABLE.match(heading):
        return [heading], [_CLOSING[table["bracket"]]]
    if begun := _head_begun_above(heading, texts):
        return [*([heading] if in_class else []), begun], []
    if head is None or not heading.endswith(":"):
        return _openers(sorted({0, *indents}), _UNKNOWN), []
    if not in_class:
        return [heading, *_openers(sorted({*indents} - {0}), _BLOCK)], []
    step = 2 if any(each % 4 for each in indents) else 4
    return [heading, *_openers(sorted({step, *indents} - {0}), _UNKNOWN)], []


def _head_begun_above(heading: str, texts: Sequence[str]) -> str | None:
    """Return the beginning of the head whose last parameters are a hunk's first lines; None if they are anything else.

    Below a class it is the constructor's, if the body calls that of the base.
    """
    end = next((index for index, text in enumerate(texts) if _END_OF_HEAD.match(_code(text))), None)
    if end is None or not any(map(_TYPED.match, texts[:end])):
        return None
    indent = _indent(texts[end])
    if heading.startswith("class ") and indent:
        body = takewhile(lambda text: not text.strip() or _indent(text) > indent, texts[end + 1 :])
        is_constructor = any(text.lstrip().startswith(_SUPER) for text in body)
        begun = f"{' ' * indent}def __init__({'' if texts[0].lstrip().startswith('self') else 'self,'}"
    else:
        is_constructor, begun = False, heading
    if not is_constructor and (indent or not _CUT.fullmatch(heading)):
        return None
    try:
        parse_lines([begun.lstrip(), *texts[:end], "): ..."])
    except SyntaxError:
        return None
    return begun


def _code(text: str) -> str:
    return text.partition("#")[0].rstrip()


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _openers(levels: Sequence[int], first: str) -> list[str]:
    """Return the heads of nested blocks that stand at these indents (columns), but for the deepest; `first` is the outermost."""
    return [" " * level + (_BLOCK if index else first) for index, level in enumerate(levels[:-1])]


def _decreasing_indents(lines: Sequence[str]) -> Iterator[int]:
    """Yield the indent of the first line, and each that is less than all above it."""
    least: int | None = None
    for line in lines:
        if line.strip() and (least is None or _indent(line) < least):
            least = _indent(line)
            yield least
