"""The outline of a Python file: its text without the bodies of functions, in which nothing is declared."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_HEAD = re.compile(r"(?P<indent>[ \t]*)(?:async[ \t]+)?def[ \t]+(?P<name>\w+)")
_BRACKET = re.compile(r"[()\[\]{}]")
_TRIPLE_QUOTES = ('"""', "'''")
_CONSTRUCTOR = "__init__"  # which sets attributes
_MAX_HEAD = 80  # lines of a signature


class _Body(NamedTuple):
    """The lines of a function's body, counted from 0, up to the `last` that holds code, and the function's indentation."""

    start: int
    last: int
    indent: str


def outline(text: str) -> str:
    """Return the text with `...` for the bodies of functions, each definition on its lines as before; constructors stay.

    So does a body that holds an open string where indentation says that it ends. Where indentation misleads otherwise, the
    outline is no valid Python, and the whole text has to be parsed.
    """
    if "\r" in text:  # which ends a line, too
        return text
    lines = text.split("\n")
    found: list[str] = []
    for body in _bodies(lines):
        found += lines[len(found) : body.start]
        found += [""] * (body.last - body.start)
        found.append(f"{body.indent} ...")
    return "\n".join([*found, *lines[len(found) :]])


def _bodies(lines: Sequence[str]) -> Iterator[_Body]:
    """Yield the bodies to leave out."""
    number, within_string = 0, False
    while number < len(lines):
        head = None if within_string else _HEAD.match(lines[number])
        body = _body(lines, number, head["indent"]) if head and head["name"] != _CONSTRUCTOR else None
        if body:
            yield body
            number = body.last + 1
        else:
            within_string ^= _is_open(lines[number])
            number += 1


def _body(lines: Sequence[str], head: int, indent: str) -> _Body | None:
    """Return the body of the function whose head begins on a line; None if that cannot be told."""
    start = _end_of_head(lines, head)
    if start is None:
        return None
    last = None
    for number in range(start, len(lines)):
        line = lines[number]
        code = line.lstrip()
        if not code or (code[0] == "#" and not any(each in code for each in _TRIPLE_QUOTES)):
            continue
        if len(line) - len(code) <= len(indent):
            break
        last = number
    if last is None or _is_open("\n".join(lines[start : last + 1])):
        return None
    return _Body(start, last, indent)


def _end_of_head(lines: Sequence[str], head: int) -> int | None:
    """Return the line after a head: the first at whose end no bracket is open, which has to end with a colon."""
    depth = 0
    for number in range(head, min(head + _MAX_HEAD, len(lines))):
        code = lines[number].partition("#")[0].rstrip()
        depth += sum(1 if each in "([{" else -1 for each in _BRACKET.findall(code))
        if depth <= 0:
            return number + 1 if depth == 0 and code.endswith(":") else None
    return None


def _is_open(text: str) -> bool:
    """Return whether a string in triple quotes that begins in a text does not end in it."""
    return any(text.count(each) % 2 for each in _TRIPLE_QUOTES)
