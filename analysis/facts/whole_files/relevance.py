"""The relevance of changed lines to a module's interface: a cheap test before both versions of the module are parsed."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from analysis.diff import DiffLine, hunks
from analysis.models import FileChange

_HEAD = re.compile(r"\s*(?:async\s+def|def)\s+(?P<name>\w+)")
_CLASS = re.compile(r"(?P<indent>\s*)class\s+(?P<name>\w+)")
_DECORATOR = re.compile(r"\s*@")
_SELF = re.compile(r"\s*self\.(?P<name>[^\W_]\w*)\s*(?::[^=]+)?=")
_NAME = re.compile(r"(?: {0,4}|\t)(?!(?:else|try|finally)\b)[A-Za-z_]\w*\s*(?:[:=,]|$)")
_FIELD = re.compile(r"(?: {1,4}|\t)(?!(?:else|try|finally)\b)[A-Za-z_]\w*\s*:")
_IMPORTED = re.compile(r"\s*(?:from|import)\s|\s+\w+,?\s*$")
_PARAMETER = re.compile(r"\s+(?:\*{0,2}[A-Za-z_]\w*\s*(?:[:=,)]|$)|\*,|/,)")
_HEAD_LINES = 80  # of the longest signatures
# A name with a type or a value; an equals sign after a bracket or quote may belong to the type.
_BINDING = re.compile(
    r"(?P<name>\s*(?:self\.|\*{1,2})?[A-Za-z_]\w*)\s*(?P<typed>:[^=(\"']*)?(?P<value>=(?!=).*)?,?\s*$"
)
_MARKED = re.compile(r"\b(?:ClassVar|InitVar|KW_ONLY)\b")  # types that decide what a constructor takes


def may_change_interface(file: FileChange, before: str, after: str) -> bool:
    """Return whether a changed line may define something, import something in a package, or lie in a signature."""
    if file.patch is None:
        return True
    change = _Change(_Version(before), _Version(after), package=file.path.endswith("__init__.py"))
    return any(map(change.is_relevant, _rebinding_lines(file)))


class _Version:
    """The lines of a file on one side of a commit, counted from 1."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")

    def above(self, number: int) -> Iterator[str]:
        """Yield the lines above a line, upwards."""
        return (self.lines[index] for index in range(min(number - 1, len(self.lines)) - 1, -1, -1))

    def is_in_head(self, number: int) -> bool:
        """Return whether a line continues the head of a function that begins above it."""
        for _, line in zip(range(_HEAD_LINES), self.above(number), strict=False):
            text = line.partition("#")[0].rstrip()
            if text.endswith(":"):
                return False
            if _HEAD.match(text):
                return True
        return False

    def is_in_function(self, line: DiffLine) -> bool:
        """Return whether a line lies in a function of the module's top level."""
        outermost = next((each for each in self.above(line.number) if each[:1].strip(" \t)]}#")), "")
        return line.text[:1].isspace() and _HEAD.match(outermost) is not None

    def class_of(self, number: int) -> str | None:
        """Return the class around a line; None if it is not of the module's top level."""
        heads = (match for line in self.above(number) if (match := _CLASS.match(line)))
        head = next(heads, None)
        return head["name"] if head and not head["indent"] else None

    def class_text(self, name: str) -> str:
        """Return the text of a top-level class, at least up to the next line that is not indented."""
        found = re.search(rf"^class {name}\b.*\n(?:(?:[ \t)].*)?\n)*", f"{self.text}\n", re.MULTILINE)
        return found[0] if found else ""

    def defines_function(self, name: str) -> bool:
        return re.search(rf"\bdef\s+{name}\b", self.text) is not None


class _Change(NamedTuple):
    """Both versions of a file; of a `package`, what it imports counts as well."""

    before: _Version
    after: _Version
    package: bool

    def is_relevant(self, line: DiffLine) -> bool:
        version = self.before if line.sign == "-" else self.after
        if _PARAMETER.match(line.text) and version.is_in_head(line.number):
            return True
        return self._removal_is_relevant(line) if line.sign == "-" else self._addition_is_relevant(line)

    def _removal_is_relevant(self, line: DiffLine) -> bool:
        text = line.text
        if _HEAD.match(text) or _CLASS.match(text) or _DECORATOR.match(text):
            return True
        if self.package and _IMPORTED.match(text):
            return True
        if attribute := _SELF.match(text):
            return not self._still_mentions(attribute["name"], line)
        return bool(_NAME.match(text)) and not self.before.is_in_function(line)

    def _still_mentions(self, attribute: str, line: DiffLine) -> bool:
        """Return whether the class that set an attribute on `self` uses or sets it after the commit, too."""
        owner = self.before.class_of(line.number)
        return bool(owner and re.search(rf"\bself\.{attribute}\b", self.after.class_text(owner)))

    def _addition_is_relevant(self, line: DiffLine) -> bool:
        """Return whether a line alters a definition: a new function does not, unless subclasses must define it."""
        text = line.text
        if _DECORATOR.match(text):
            below = (match["name"] for each in self.after.lines[line.number :] if (match := _HEAD.match(each)))
            return "abstractmethod" in text or self.before.defines_function(next(below, ""))
        if head := _HEAD.match(text):
            return self.before.defines_function(head["name"])
        if _CLASS.match(text):
            return True  # which may take over the methods of the class above it
        return bool(_FIELD.match(text)) and not self.after.is_in_function(line)


def _rebinding_lines(file: FileChange) -> Iterator[DiffLine]:
    """Yield the changed lines, without those that only give names another type or value in place."""
    for hunk in hunks(file.patch):
        for changed, block in groupby(hunk, key=lambda line: line.sign != " "):
            if changed:
                lines = list(block)
                same = _bindings(lines, "-") == _bindings(lines, "+")
                yield from (line for line in lines if not same or _binding(line) is None)


def _bindings(lines: Iterable[DiffLine], sign: str) -> Sequence[tuple[str, bool, bool]]:
    return [found for line in lines if line.sign == sign and (found := _binding(line))]


def _binding(line: DiffLine) -> tuple[str, bool, bool] | None:
    """Return (name with its indentation, whether it has a type, whether it has a value); None if that cannot be told."""
    match = _BINDING.match(line.text)
    if match is None or _MARKED.search(line.text):
        return None
    return match["name"], match["typed"] is not None, match["value"] is not None
