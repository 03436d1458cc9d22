"""The relevance of a patch to what its file declares: a check of its lines before both versions of the file are parsed."""

import re
from collections.abc import Iterable, Iterator, Sequence

from analysis.diff import DiffLine, hunks
from analysis.facts.change import SIDES
from analysis.models import FileChange

_DEFINITION = re.compile(r"\s*(?:(?:async )?def |class |@|del |\)\s*(?:->.*)?:)")
_DEFINITION_ADDED = re.compile(r"\s*(?:class |@.*abstract)")  # a new function breaks nothing unless it is abstract
_DECORATED = re.compile(r"^\+\s*@.*\n (?=\s*(?:@|(?:async )?def |class ))", re.MULTILINE)  # what was there before
_IMPORTED = re.compile(r"\s*(?:from|import)\s|\s+[\w\"']+,?\s*(?:#.*)?$")
_PARAMETER = re.compile(r"\s+(?:\*{0,2}[A-Za-z_][\w.]*\s*(?:[:=,)\[]|$)|\*,|/,)")
_CUT_PARAMETER = re.compile(r"\s+(?:\*{0,2}\w+(?:\s*:[^=]*)?(?:\s*=.*)?,\s*(?:#.*)?$|\*{0,2}\w+\s*:|\w+=)")
_VARIABLE = re.compile(r"(?: {0,4}|\t)(?!(?:else|try|finally)\b)[A-Za-z_][\w, ]*(?::.*)?(?:[:=]|$)")
_REQUIRED = re.compile(r"(?: {1,4}|\t)(?!(?:else|try|finally)\b)\w+\s*:\s*(?:[^=]+$|.*\b[Ff]ield\()")
_RETURNED = re.compile(r"^[-+]\s*return\s*(?:\(\s*(?:#.*)?$|[^#\n]*,)", re.MULTILINE)  # several values
_ATTRIBUTE = re.compile(r"\bself\.(\w+)")
_BODY = re.compile(r"\s*(?:(?:async )?def\b.*|\).*):\s*(?:#.*)?$")  # follows the last line of a function's head
_HEAD = re.compile(r"\s*(?:class|(?:async )?def)\b.*[(\[,]\s*(?:#.*)?$")
_OPEN = re.compile(r".*[(\[{]\s*(?:#.*)?$")


def may_alter_declarations(file: FileChange) -> bool:
    """Return whether a changed line may define something, lie in a signature, or import something in a package."""
    if file.patch is None or _loses_attributes(file.patch):
        return True
    if _DECORATED.search(file.patch) or _RETURNED.search(file.patch):
        return True
    if file.path.endswith("__init__.py") and re.search(rf"^-(?:{_IMPORTED.pattern})", file.patch, re.MULTILINE):
        return True
    sides = (
        (side, [line for line in hunk if line.sign in (" ", side)]) for hunk in hunks(file.patch) for side in SIDES
    )
    return any(
        _is_relevant(line, above) for side, lines in sides for line, above in _with_openers(lines) if line.sign == side
    )


def _with_openers(lines: Iterable[DiffLine]) -> Iterator[tuple[DiffLine, Sequence[DiffLine]]]:
    """Yield each line that is not blank with those that open the blocks and brackets around it, as far as they are shown."""
    above: list[tuple[int, DiffLine]] = []
    for line in lines:
        if line.text.strip():
            indent = len(line.text) - len(line.text.lstrip())
            while above and above[-1][0] >= indent:
                above.pop()
            yield line, [each for _, each in above]
            above.append((indent, line))


def _is_relevant(line: DiffLine, above: Sequence[DiffLine]) -> bool:
    """Return whether a changed line alters a definition, given the lines that open the blocks and brackets around it."""
    text, added = line.text, line.sign == "+"
    if _DEFINITION.match(text):
        return not added or bool(_DEFINITION_ADDED.match(text))
    if any(_BODY.match(each.text) for each in above):
        return False
    if above and _HEAD.match(above[-1].text):
        return above[-1].sign == " " and bool(_PARAMETER.match(text))
    if above and _OPEN.match(above[-1].text):
        return False
    if not above and _CUT_PARAMETER.match(text):
        return True
    return bool((_REQUIRED if added else _VARIABLE).match(text))


def _loses_attributes(patch: str) -> bool:
    """Return whether the patch no longer mentions an attribute of `self` that a removed line does."""
    lines = patch.split("\n")
    removed = {name for line in lines if line.startswith("-") for name in _ATTRIBUTE.findall(line)}
    kept = {name for line in lines if line.startswith("+") for name in _ATTRIBUTE.findall(line)}
    return not removed <= kept
