"""Defaults that differ: of settings, flags and parameters that people leave out."""

import ast
import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from analysis.diff import DiffLine, hunks
from analysis.facts.change import Change, loses
from analysis.facts.options import FLAG_NAME
from analysis.facts.python import statements
from analysis.models import Fact, FactKind, FileChange

_MEMBER = 4  # columns that a class's own fields stand in at most, where the hunk does not show the class
_LOCAL = re.compile(r"[a-z_]\w*\s*[:=]")
_DEFAULT = re.compile(
    r"""^\s*(?:(?P<field>[A-Za-z]\w*)\s*:\s*[\w."'\[\]| ,]+=\s*(?P<value>[^=\s][^#]*?)|.*?\bdefault\s*=\s*(?P<default>[^,)#]+))\s*(?:[,)#].*)?$"""
)


def defaults(_change: Change, file: FileChange) -> Iterator[Fact]:
    """A default that differs between a removed line and the added one that takes its place."""
    if not loses(file):
        return
    found = [
        (after, fact)
        for hunk in hunks(file.patch)
        for context, before, after in _replaced(hunk)
        for fact in _default(file, context, before, after)
    ]
    local = _local_lines(file) if found and file.path.endswith(".py") else frozenset()
    yield from (fact for after, fact in found if after.new not in local)


def _local_lines(file: FileChange) -> frozenset[int | None]:
    """The new lines on which a function's own variables are assigned."""
    return frozenset(
        each.lines[0].new
        for each in statements(file.patch, "+")
        if (each.owner.what == "def" or (each.owner.what == "unknown" and each.indent > _MEMBER))
        and not each.text.endswith(",")
        and _LOCAL.match(each.text)
    )


def _replaced(hunk: Sequence[DiffLine]) -> Iterator[tuple[Sequence[DiffLine], DiffLine, DiffLine]]:
    """(the lines above, a removed line, the added line in its place): where as many lines come as go."""
    runs = [(sign, list(lines)) for sign, lines in groupby(hunk, key=lambda line: line.sign)]
    above: list[DiffLine] = []
    for (sign, gone), (next_sign, come) in pairwise([*runs, (" ", [])]):
        if sign == "-" and next_sign == "+" and len(gone) == len(come):
            for place, (before, after) in enumerate(zip(gone, come, strict=True)):
                yield [*above, *gone[:place]], before, after
        above += gone


def _default(file: FileChange, above: Sequence[DiffLine], before: DiffLine, after: DiffLine) -> Iterator[Fact]:
    old, new = _DEFAULT.match(before.text), _DEFAULT.match(after.text)
    if not old or not new or old["field"] != new["field"]:
        return
    was, now = (match["value"] or match["default"] or "" for match in (old, new))
    name = old["field"] or _flag_of(before.text, above)
    if name and _simple(was) and _simple(now) and _value(was) != _value(now):
        yield Fact(
            kind=FactKind.DEFAULT_CHANGED, name=name, path=file.path, line=after.new, old=was.strip(), new=now.strip()
        )


def _flag_of(line: str, above: Sequence[DiffLine]) -> str:
    """The flag whose definition the line is in: on the line itself, or on the last lines above it."""
    for text in [line, *(each.text for each in reversed(above[-3:]))]:
        found = FLAG_NAME.findall(text)
        if found or ")" in text:
            return "".join(found[:1])
    return ""


def _simple(value: str) -> bool:
    return re.fullmatch(r"""\s*(?:-?\d[\d_.e+-]*|True|False|None|true|false|["'][^"']*["'])\s*""", value) is not None


def _value(text: str) -> object:
    """What a simple default is worth: '' and "" are the same, and so are 10. and 10.0."""
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError):
        return text.strip()
