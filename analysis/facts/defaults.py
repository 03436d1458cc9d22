"""Changed defaults of settings, flags, parameters and environment variables."""

import ast
import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from analysis.diff import DiffLine, hunks
from analysis.facts.change import Change, removes_lines
from analysis.facts.options import ENV_FILE, FLAG_NAME
from analysis.facts.python import SIDES, CodeStatement, Side, statements
from analysis.facts.settings.comparison import changed_settings, variable_meaning
from analysis.models import Fact, FactKind, FileChange

_FIELD_INDENT = 4  # the deepest indent (columns) of a class's own fields, where the hunk does not show the class
_LOCAL = re.compile(r"[a-z_]\w*\s*[:=]")
_ANNOTATED = re.compile(r"[A-Z][A-Z0-9_]*\s*:")
_LITERAL = r"""-?\d[\d_.e+-]*|True|False|None|true|false|"[^"\n]*"|'[^'\n]*'"""
_VARIABLE = r"""["'](?P<{}>[A-Z][A-Z0-9_]{{2,}})["']\s*"""
_VARIABLE_READ = re.compile(
    rf"""(?x)
      \b(?:getenv|environ\.get)\(\s* {_VARIABLE.format("read")} (?:,\s*(?:default\s*=\s*)?(?P<fallback>{_LITERAL})\s*)? ,?\s*\)
      (?:(?:\.\w+\(\))* \s*or\s+ (?P<instead>{_LITERAL}))?
    | \b(?!getenv)\w*env\w*\(\s* {_VARIABLE.format("helped")} ,\s*(?:default\s*=\s*)?(?P<default>{_LITERAL})\s* [,)]
    """
)
_READ_HINT = re.compile(r"env\w*\(|environ\.get\(")  # a cheap check: without a match there is nothing to compare
_DEFAULT = re.compile(
    r"""^\s*(?:(?P<field>[A-Za-z]\w*)\s*:\s*[\w."'\[\]| ,]+=\s*(?P<value>[^=\s][^#]*?)|.*?\bdefault\s*=\s*(?P<default>[^,)#]+))\s*(?:[,)#].*)?$"""
)


class _Fallback(NamedTuple):
    """The default of an unset environment variable, as written in the source, and its line."""

    text: str
    line: int

    @property
    def meaning(self) -> object:
        value = _value(self.text)
        return variable_meaning(value)


def changed_defaults(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield each default that differs before and after: by the whole files if they can be read, else by the patch."""
    if not removes_lines(file):
        return
    by_files = changed_settings(change, file)
    yield from by_files if by_files is not None else _by_patch(file)


def _by_patch(file: FileChange) -> Iterator[Fact]:
    """Yield each default that differs between a removed line and the added line that replaces it."""
    yield from _variable_defaults(file)
    found = [
        (after, fact)
        for hunk in hunks(file.patch)
        for context, before, after in _replaced_lines(hunk)
        for fact in _line_default(file, context, before, after)
    ]
    others = _lines_without_defaults(file) if found and file.path.endswith(".py") else frozenset()
    yield from (fact for after, fact in found if after.new not in others)


def _variable_defaults(file: FileChange) -> Iterator[Fact]:
    """Yield environment variables whose default changed; one with several defaults on one side is skipped."""
    if not file.path.endswith(".py") or not _READ_HINT.search(file.patch or ""):
        return
    before, after = (_fallbacks(file, side) for side in SIDES)
    for name, new in after.items():
        old = before.get(name)
        if old and len({each.meaning for each in old}) == len({each.meaning for each in new}) == 1:
            was, now = old[0], new[0]
            if was.meaning != now.meaning and None not in (
                was.meaning,
                now.meaning,
            ):  # None: the meaning depends on the code that reads it
                yield Fact(
                    kind=FactKind.DEFAULT_CHANGED, name=name, path=file.path, line=now.line, old=was.text, new=now.text
                )


def _fallbacks(file: FileChange, side: Side) -> dict[str, list[_Fallback]]:
    found: dict[str, list[_Fallback]] = {}
    for hunk in hunks(file.patch):
        lines = [line for line in hunk if line.sign in (" ", side) and not line.text.lstrip().startswith("#")]
        text = "\n".join(line.text for line in lines)
        for match in _VARIABLE_READ.finditer(text):
            groups = [each for each in ("fallback", "default", "instead") if match[each]]
            group = next((each for each in groups if _value(match[each])), groups[0] if groups else "read")
            line = lines[text.count("\n", 0, match.start(group))]
            value = match[group] if groups else "None"
            found.setdefault(match["read"] or match["helped"], []).append(_Fallback(value, line.number))
    return found


def _lines_without_defaults(file: FileChange) -> frozenset[int | None]:
    """Return the new line numbers that assign local variables or only annotate a type."""
    of_variables = bool(ENV_FILE.search(file.path.lower()))

    def is_default(each: CodeStatement) -> bool:
        unknown = each.owner.what == "unknown"
        if each.owner.what == "types" or (of_variables and unknown and _ANNOTATED.match(each.text)):
            return False
        local = each.owner.what == "def" or (unknown and each.indent > _FIELD_INDENT)
        return not local or each.text.endswith(",") or not _LOCAL.match(each.text)

    return frozenset(each.lines[0].new for each in statements(file.patch, "+") if not is_default(each))


def _replaced_lines(hunk: Sequence[DiffLine]) -> Iterator[tuple[Sequence[DiffLine], DiffLine, DiffLine]]:
    """Yield (lines above, removed line, added line) where a run of lines is replaced by as many."""
    runs = [(sign, list(lines)) for sign, lines in groupby(hunk, key=lambda line: line.sign)]
    above: list[DiffLine] = []
    for (sign, removed), (next_sign, added) in pairwise([*runs, (" ", [])]):
        if sign == "-" and next_sign == "+" and len(removed) == len(added):
            for index, (before, after) in enumerate(zip(removed, added, strict=True)):
                yield [*above, *removed[:index]], before, after
        above += removed


def _line_default(file: FileChange, above: Sequence[DiffLine], before: DiffLine, after: DiffLine) -> Iterator[Fact]:
    old, new = _DEFAULT.match(before.text), _DEFAULT.match(after.text)
    if not old or not new or old["field"] != new["field"]:
        return
    was, now = (match["value"] or match["default"] or "" for match in (old, new))
    name = old["field"] or _flag_of(before.text, above)
    if name and _is_literal(was) and _is_literal(now) and _value(was) != _value(now):
        yield Fact(
            kind=FactKind.DEFAULT_CHANGED, name=name, path=file.path, line=after.new, old=was.strip(), new=now.strip()
        )


def _flag_of(line: str, above: Sequence[DiffLine]) -> str:
    """Return the flag defined on the line or on the three lines above it; "" if there is none."""
    for text in [line, *(each.text for each in reversed(above[-3:]))]:
        found = FLAG_NAME.findall(text)
        if found or ")" in text:
            return "".join(found[:1])
    return ""


def _is_literal(value: str) -> bool:
    return re.fullmatch(rf"\s*(?:{_LITERAL})\s*", value) is not None


def _value(text: str) -> object:
    """Evaluate a literal default, so that '' equals "" and 10. equals 10.0; other text is returned stripped."""
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError):
        return text.strip()
