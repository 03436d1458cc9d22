"""The class or function around a line of a Python file, found by indentation, without parsing the file."""

import re
from collections.abc import Iterator

FUNCTION = re.compile(r"\s*(?:async\s+def|def)\s+(?P<name>\w+)")
CLASS = re.compile(r"(?P<indent>\s*)class\s+(?P<name>\w+)")
_HEAD_LINES = 80  # of the longest signatures
_CLOSING = (")", "]", "}", "#")  # what ends an expression may stand further left than its beginning


class IndentedText:
    """The text of a Python file; its lines are counted from 1."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")

    def function_headed(self, number: int) -> str | None:
        """Return the function whose head begins above a line and may continue on it."""
        for _, line in zip(range(_HEAD_LINES), self._above(number), strict=False):
            text = line.partition("#")[0].rstrip()
            if text.endswith(":"):
                return None
            if head := FUNCTION.match(text):
                return head["name"]
        return None

    def is_in_function(self, number: int) -> bool:
        """Return whether a line lies in the head or the body of a function that begins above it."""
        return any(map(FUNCTION.match, self._around(number)))

    def class_of(self, number: int) -> str | None:
        """Return the class around a line; None if it is not of the module's top level."""
        heads = (match for line in self._above(number) if (match := CLASS.match(line)))
        head = next(heads, None)
        return head["name"] if head and not head["indent"] else None

    def class_text(self, name: str) -> str:
        """Return the text of a top-level class, at least up to the next line that is not indented."""
        found = re.search(rf"^class {name}\b.*\n(?:(?:[ \t)].*)?\n)*", f"{self.text}\n", re.MULTILINE)
        return found[0] if found else ""

    def defines_function(self, name: str) -> bool:
        """Return whether the file defines a function or a method of this name."""
        return re.search(rf"\bdef\s+{name}\b", self.text) is not None

    def _above(self, number: int) -> Iterator[str]:
        return (self.lines[index] for index in range(min(number - 1, len(self.lines)) - 1, -1, -1))

    def _around(self, number: int) -> Iterator[str]:
        """Yield the lines above a line of which each is indented less than the one before."""
        indent = _indent(self.lines[number - 1]) if 0 < number <= len(self.lines) else 0
        for line in self._above(number):
            if not indent:
                return
            text = line.lstrip()
            if len(line) - len(text) < indent and text and not text.startswith(_CLOSING):
                indent = len(line) - len(text)
                yield line


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
