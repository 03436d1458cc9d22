"""The relevance of changed lines to a module's interface: a cheap test before both versions of the module are parsed."""

import re
from collections.abc import Iterable, Iterator
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
# One name with a type or a value; what has more commas may be several parameters.
_BINDING = re.compile(
    r"""(?P<name>\s*(?:self\.|\*{1,2})?[A-Za-z_]\w*)\s*
    (?P<type>:(?:[^=:,(\["']|"[^"]*"|'[^']*'|\[(?:[^\[\]]|\[[^\[\]]*\])*\])*)?(?P<value>=(?!=)[^=:,]*)?,?\s*$""",
    re.VERBOSE,
)
_MARKS = re.compile(r"\b(?:ClassVar|InitVar|KW_ONLY)\b")  # types that decide what a constructor takes
_DESCRIBED = re.compile(r"\b[Ff]ield\(")  # a field, of which only the arguments tell whether it is required


def may_change_interface(file: FileChange, before: str, after: str) -> bool:
    """Return whether a changed line may define something, import something in a package, or lie in a signature."""
    if file.patch is None:
        return True
    change = _Change(_Version(before), _Version(after), package=file.path.endswith("__init__.py"))
    return any(map(change.is_relevant, _altering_lines(file)))


class _Version:
    """The lines of a file on one side of a commit, counted from 1."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")

    def above(self, number: int) -> Iterator[str]:
        """Yield the lines above a line, upwards."""
        return (self.lines[index] for index in range(min(number - 1, len(self.lines)) - 1, -1, -1))

    def function_headed(self, number: int) -> str | None:
        """Return the function whose head begins above a line and may continue on it."""
        for _, line in zip(range(_HEAD_LINES), self.above(number), strict=False):
            text = line.partition("#")[0].rstrip()
            if text.endswith(":"):
                return None
            if head := _HEAD.match(text):
                return head["name"]
        return None

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
        function = version.function_headed(line.number) if _PARAMETER.match(line.text) else None
        if function and self.before.defines_function(function):
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
        binding = _binding(line)
        is_optional = binding is not None and binding.has_value
        return bool(_FIELD.match(text)) and not is_optional and not self.after.is_in_function(line)


class _Binding(NamedTuple):
    """What a line binds: a name with its indentation, a type with marks that count, and a value."""

    name: str
    has_type: bool
    marks: tuple[str, ...]
    has_value: bool


def _binding(line: DiffLine) -> _Binding | None:
    """Return what a line binds; None if that cannot be told."""
    match = _BINDING.match(line.text)
    if match is None or _DESCRIBED.search(line.text):
        return None
    marks = _MARKS.findall(match["type"] or "")
    return _Binding(match["name"], match["type"] is not None, tuple(marks), match["value"] is not None)


def _altering_lines(file: FileChange) -> Iterator[DiffLine]:
    """Yield the changed lines, without those that only give names another type or value in place."""
    for hunk in hunks(file.patch):
        for changed, block in groupby(hunk, key=lambda line: line.sign != " "):
            if changed:
                lines = list(block)
                same = _bindings(lines, "-") == _bindings(lines, "+")
                yield from (line for line in lines if not same or _binding(line) is None)


def _bindings(lines: Iterable[DiffLine], sign: str) -> list[_Binding]:
    return [found for line in lines if line.sign == sign and (found := _binding(line))]
