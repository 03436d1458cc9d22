"""Defaults that differ: of settings, flags, parameters and environment variables that people leave out."""

import ast
import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from analysis.diff import DiffLine, hunks
from analysis.facts.change import Change, loses
from analysis.facts.options import ENV_FILE, FLAG_NAME
from analysis.facts.python import SIDES, Side, Statement, statements
from analysis.models import Fact, FactKind, FileChange

_MEMBER = 4  # columns that a class's own fields stand in at most, where the hunk does not show the class
_LOCAL = re.compile(r"[a-z_]\w*\s*[:=]")
_ANNOTATED = re.compile(r"[A-Z][A-Z0-9_]*\s*:")
_LITERAL = r"""-?\d[\d_.e+-]*|True|False|None|true|false|"[^"\n]*"|'[^'\n]*'"""
_VARIABLE = r"""["'](?P<{}>[A-Z][A-Z0-9_]{{2,}})["']\s*"""
_READ = re.compile(
    rf"""(?x)
      \b(?:getenv|environ\.get)\(\s* {_VARIABLE.format("read")} (?:,\s*(?:default\s*=\s*)?(?P<fallback>{_LITERAL})\s*)? ,?\s*\)
      (?:(?:\.\w+\(\))* \s*or\s+ (?P<instead>{_LITERAL}))?
    | \b(?!getenv)\w*env\w*\(\s* {_VARIABLE.format("helped")} ,\s*(?:default\s*=\s*)?(?P<default>{_LITERAL})\s* [,)]
    """
)
_READS = re.compile(r"env\w*\(|environ\.get\(")  # without which there is nothing to compare
_SAME = ({"", "0", "false", "no", "off"}, {"1", "true", "yes", "on"})  # which a program reads alike
_DEFAULT = re.compile(
    r"""^\s*(?:(?P<field>[A-Za-z]\w*)\s*:\s*[\w."'\[\]| ,]+=\s*(?P<value>[^=\s][^#]*?)|.*?\bdefault\s*=\s*(?P<default>[^,)#]+))\s*(?:[,)#].*)?$"""
)


class _Fallback(NamedTuple):
    """What an environment variable is worth where it is not set, as it is written, and the line that says so."""

    text: str
    line: int

    @property
    def meant(self) -> object:
        value = _value(self.text)
        told = str(value).lower()
        return next((place for place, same in enumerate(_SAME) if told in same), value)


def defaults(_change: Change, file: FileChange) -> Iterator[Fact]:
    """A default that differs between a removed line and the added one that takes its place."""
    if not loses(file):
        return
    yield from _of_variables(file)
    found = [
        (after, fact)
        for hunk in hunks(file.patch)
        for context, before, after in _replaced(hunk)
        for fact in _default(file, context, before, after)
    ]
    others = _other_lines(file) if found and file.path.endswith(".py") else frozenset()
    yield from (fact for after, fact in found if after.new not in others)


def _of_variables(file: FileChange) -> Iterator[Fact]:
    """Environment variables that are read with another default; one that is read with several on a side says nothing."""
    if not file.path.endswith(".py") or not _READS.search(file.patch or ""):
        return
    before, after = (_fallbacks(file, side) for side in SIDES)
    for name, new in after.items():
        old = before.get(name)
        if old and len({each.meant for each in old}) == len({each.meant for each in new}) == 1:
            was, now = old[0], new[0]
            if was.meant != now.meant and None not in (
                was.meant,
                now.meant,
            ):  # which means whatever its reader makes of it
                yield Fact(
                    kind=FactKind.DEFAULT_CHANGED, name=name, path=file.path, line=now.line, old=was.text, new=now.text
                )


def _fallbacks(file: FileChange, side: Side) -> dict[str, list[_Fallback]]:
    found: dict[str, list[_Fallback]] = {}
    for hunk in hunks(file.patch):
        lines = [line for line in hunk if line.sign in (" ", side) and not line.text.lstrip().startswith("#")]
        text = "\n".join(line.text for line in lines)
        for match in _READ.finditer(text):
            stated = [each for each in ("fallback", "default", "instead") if match[each]]
            said = next((each for each in stated if _value(match[each])), stated[0] if stated else "read")
            line = lines[text.count("\n", 0, match.start(said))]
            told = match[said] if stated else "None"
            found.setdefault(match["read"] or match["helped"], []).append(_Fallback(told, line.number))
    return found


def _other_lines(file: FileChange) -> frozenset[int | None]:
    """The new lines that assign a function's own variables, or only tell type checkers what a variable is."""
    of_variables = bool(ENV_FILE.search(file.path.lower()))

    def is_default(each: Statement) -> bool:
        unknown = each.owner.what == "unknown"
        if each.owner.what == "types" or (of_variables and unknown and _ANNOTATED.match(each.text)):
            return False
        local = each.owner.what == "def" or (unknown and each.indent > _MEMBER)
        return not local or each.text.endswith(",") or not _LOCAL.match(each.text)

    return frozenset(each.lines[0].new for each in statements(file.patch, "+") if not is_default(each))


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
    return re.fullmatch(rf"\s*(?:{_LITERAL})\s*", value) is not None


def _value(text: str) -> object:
    """What a simple default is worth: '' and "" are the same, and so are 10. and 10.0."""
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError):
        return text.strip()
