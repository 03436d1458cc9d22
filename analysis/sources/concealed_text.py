"""Text that hides a secret from a scanner: written over several literals or lines, or encoded.

String literals and lines are joined without the breaks between them. In a patch the removed and the added lines are joined apart,
each with the lines that stay, as the file has or had them. Runs of base64 or hexadecimal digits are decoded.
"""

import binascii
import heapq
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from analysis.sources.secret_values import is_unmistakable

_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+\d", re.MULTILINE)
_NEW_LINE = r"\r?\n[-+]?[ \t]*"  # a diff may also be quoted in a message
_SPACE = rf"[ \t]*(?:\\?{_NEW_LINE}|(?:\#|//)[^\n]{{0,200}}{_NEW_LINE})?"
# Between two pieces: the end of one literal and the beginning of the next, or a line that goes on after a backslash.
_BREAK = re.compile(
    rf"""(?<=[\w+/=.-])(?: ["'`]{_SPACE}(?:[+.&]{_SPACE})?[bfru]{{0,2}}["'`] | \\{_NEW_LINE} )(?=[\w+/=.-])""",
    re.IGNORECASE | re.VERBOSE,
)
# A line that ends with a part of a token and one that begins with the rest, which is no name.
_LINE_END = re.compile(rf"(?<![\w-])([\w-]{{2,}}){_NEW_LINE}(?:(?:\#|//|\*|>)[ \t]*)?(?=([\w-]+)(?:[\s\"'`,;.)=]|$))")
_NAME = re.compile(r"[-_]*(?:[A-Z]?[a-z]*|[A-Z]+)(?:[-_]+(?:[A-Z]?[a-z]*|[A-Z]+))*")
_SHORTEST_TOKEN = 20  # characters

_TEXT = re.compile(rb"[\t\n\r -~]{20,}")  # as long as the shortest token; hashes and other random bytes have none
# Digits of so many bytes, how many make a group, and their decoder. In base64 of ASCII `+` and `/` (in addresses `-` and `_`)
# only end a group, so that what stands between them decodes by itself.
_ENCODINGS = (
    (re.compile(r"[A-Za-z0-9]{27,}={0,2}"), 4, binascii.a2b_base64),
    (re.compile(r"[A-Fa-f0-9]{40,}"), 2, binascii.unhexlify),
)


class Joined(NamedTuple):
    """A text without its breaks, and where each of its characters stands in the original text."""

    text: str
    offsets: Sequence[int]

    def places(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield where the original text has a part of this one: the start and end of each piece."""
        first = start
        for number in range(start + 1, end + 1):
            if number == end or self.offsets[number] != self.offsets[number - 1] + 1:
                yield self.offsets[first], self.offsets[number - 1] + 1
                first = number


def joined_lines(text: str) -> Iterator[Joined]:
    """Yield a text without the breaks in it, if it has any; that of a patch once for the old and once for the new file."""
    sides = [_side(text, signs) for signs in (" -", " +")] if _HUNK.match(text) else [Joined(text, range(len(text)))]
    for side in sides:
        if breaks := list(_breaks(side.text)):
            yield _joined(side, breaks)


def _side(patch: str, signs: str) -> Joined:
    """Return the lines of a patch with one of some signs, without these."""
    lines: list[str] = []
    offsets: list[int] = []
    start = 0
    for line in patch.split("\n"):
        end = start + len(line) + 1
        if line[:1] and line[0] in signs:
            lines.append(line[1:] + "\n")
            offsets += range(start + 1, end)
        start = end
    return Joined("".join(lines), offsets)


def _breaks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each break, in order."""
    in_code = (match.span() for match in _BREAK.finditer(text))
    at_lines = ((match.end(1), match.end()) for match in _LINE_END.finditer(text) if _is_one_token(match[1], match[2]))
    return heapq.merge(in_code, at_lines)


def _is_one_token(first: str, rest: str) -> bool:
    """Return whether two words on two lines may be the parts of one token."""
    return len(first + rest) >= _SHORTEST_TOKEN and not _NAME.fullmatch(rest) and is_unmistakable(first + rest)


def _joined(side: Joined, breaks: Sequence[tuple[int, int]]) -> Joined:
    """Return a text without its breaks."""
    kept: list[int] = []  # places in the side
    last = 0
    for start, end in breaks:
        kept += range(last, start)
        last = max(last, end)
    kept += range(last, len(side.text))
    return Joined("".join(side.text[place] for place in kept), [side.offsets[place] for place in kept])


def decoded_runs(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start and end of each run of encoded text, with the text that is found in its bytes, if any."""
    for runs, group, decode in _ENCODINGS:
        for run in runs.finditer(text):
            for skipped in range(group):  # a word or an escape, such as `\n`, may stand right before the run
                digits = run[0].rstrip("=")[skipped:]
                if found := _TEXT.findall(decode(digits + "A" * (-len(digits) % group))):
                    yield *run.span(), b"\n".join(found).decode("ascii")
