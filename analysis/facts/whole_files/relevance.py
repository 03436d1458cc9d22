"""The relevance of changed lines to a module's interface: a cheap test before both versions of the module are parsed."""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from analysis.diff import DiffLine, hunks
from analysis.facts.indentation import CLASS, FUNCTION, IndentedText
from analysis.models import FileChange

_DECORATOR = re.compile(r"\s*@")
_SELF = re.compile(r"\bself\.([^\W_]\w*)")
_NAME = re.compile(r"(?: {0,4}|\t)(?:(?:for|with)\b|.*:=|(?!(?:else|try|finally)\b)[A-Za-z_]\w*\s*(?:[:=,]|$))")
_FIELD = re.compile(r"(?: {1,4}|\t)(?!(?:else|try|finally)\b)[A-Za-z_]\w*\s*:")
_IMPORTED = re.compile(r"\s*(?:from|import)\s|\s+\w+,?\s*$")
_PARAMETER = re.compile(r"\s+(?:\*{0,2}[A-Za-z_]\w*\s*(?:[:=,)]|$)|\*,|/,)")
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
    change = _Change(IndentedText(before), IndentedText(after), package=file.path.endswith("__init__.py"))
    return any(map(change.is_relevant, _altering_lines(file)))


class _Change(NamedTuple):
    """Both versions of a file; of a `package`, what it imports counts as well."""

    before: IndentedText
    after: IndentedText
    package: bool

    def is_relevant(self, line: DiffLine) -> bool:
        version = self.before if line.sign == "-" else self.after
        function = version.function_headed(line.number) if _PARAMETER.match(line.text) else None
        if function and self.before.defines_function(function):
            return True
        return self._removal_is_relevant(line) if line.sign == "-" else self._addition_is_relevant(line)

    def _removal_is_relevant(self, line: DiffLine) -> bool:
        text = line.text
        if FUNCTION.match(text) or CLASS.match(text) or _DECORATOR.match(text):
            return True
        if self.package and _IMPORTED.match(text):
            return True
        if attributes := _SELF.findall(text):  # whatever the line does with them: it may be one of several of a tuple
            return not all(self._still_mentions(each, line) for each in attributes)
        return bool(_NAME.match(text)) and not self.before.is_in_function(line.number)

    def _still_mentions(self, attribute: str, line: DiffLine) -> bool:
        """Return whether the class that set an attribute on `self` uses or sets it after the commit, too."""
        owner = self.before.class_of(line.number)
        return bool(owner and re.search(rf"\bself\.{attribute}\b", self.after.class_text(owner)))

    def _addition_is_relevant(self, line: DiffLine) -> bool:
        """Return whether a line alters a definition: a new function does not, unless subclasses must define it."""
        text = line.text
        if _DECORATOR.match(text):
            below = (match["name"] for each in self.after.lines[line.number :] if (match := FUNCTION.match(each)))
            return "abstractmethod" in text or self.before.defines_function(next(below, ""))
        if head := FUNCTION.match(text):
            return self.before.defines_function(head["name"])
        if CLASS.match(text):
            return True  # which may take over the methods of the class above it
        binding = _binding(line)
        is_optional = binding is not None and binding.has_value
        return bool(_FIELD.match(text)) and not is_optional and not self.after.is_in_function(line.number)


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
