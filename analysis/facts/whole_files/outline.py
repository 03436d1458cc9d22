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
    """The lines of a function's body, counted from 0; `end` is the first that is not of it, and `last` the last of code."""

    start: int
    last: int
    end: int


def outline(text: str) -> str:
    """Return the text with `...` for the bodies of functions, each definition on its lines as before; constructors stay.

    A body whose end indentation does not tell stays as well. Should the text be no valid Python because it was misread, the
    whole text has to be parsed.
    """
    if "\r" in text:  # which ends a line, too
        return text
    lines = text.split("\n")
    found: list[str] = []
    for body, indent in _bodies(lines):
        found += lines[len(found) : body.start]
        found += [""] * (body.last - body.start)
        found.append(f"{indent} ...")
        found += [""] * (body.end - body.last - 1)
    return "\n".join([*found, *lines[len(found) :]])


def _bodies(lines: Sequence[str]) -> Iterator[tuple[_Body, str]]:
    """Yield the bodies to leave out, with the indentations of their functions."""
    number, within_string = 0, False
    while number < len(lines):
        head = None if within_string else _HEAD.match(lines[number])
        body = _body(lines, number, head["indent"]) if head and head["name"] != _CONSTRUCTOR else None
        if head and body:
            yield body, head["indent"]
            number = body.end
        else:
            within_string ^= _is_open(lines[number])
            number += 1


def _body(lines: Sequence[str], head: int, indent: str) -> _Body | None:
    """Return the body of the function whose head begins on a line; None if that cannot be told."""
    start = _end_of_head(lines, head)
    if start is None:
        return None
    last = None
    end = start
    for end in range(start, len(lines) + 1):
        line = lines[end] if end < len(lines) else "end"
        stripped = line.lstrip()
        if not stripped or (stripped[0] == "#" and not any(each in line for each in _TRIPLE_QUOTES)):
            continue
        if len(line) - len(stripped) <= len(indent):
            break
        last = end
    if last is None or _is_open("\n".join(lines[start : last + 1])):
        return None
    return _Body(start, last, last + 1)


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
