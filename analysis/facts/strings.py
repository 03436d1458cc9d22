"""Multi-line strings in a hunk, one of which may have begun above it.

A triple quote in a hunk may open a string or close one. So each side is read both ways, and the oddities of each
reading are counted: prose in place of code, a docstring that follows no head, text after closing quotes, code within a
string. The reading with the fewest oddities wins.
"""

import keyword
import re
from collections.abc import Iterable, Sequence
from math import inf

from analysis.diff import DiffLine

_QUOTES = ('"""', "'''")
_QUOTE = re.compile(r"[\"'#]")  # begins a string or a comment
_WRONG, _DOUBTFUL = 2, 1  # not valid Python; and plausible within a string, such as sample code
_TOKEN = re.compile(r"""(?P<triple>\"{3}|'{3})|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|(?P<comment>\#.*)""")
# A string in single quotes continues after a backslash at the end of its line.
_LITERAL = re.compile(r""""(?:\\.|[^"\\])*(?:"|\\$)|(?<!\w)'(?:\\.|[^'\\])*(?:'|\\$)|\#.*""")

_KEYWORD = rf"(?:{'|'.join([*keyword.kwlist, 'match', 'case', 'type', 'print'])})\b"
# In Python two words follow each other only if one is a keyword, which is looked at only where two do.
_TWO_WORDS = re.compile(rf"(?<![\w.])(?=[A-Za-z_]\w* +[A-Za-z_])(?!{_KEYWORD})\w+ +(?!{_KEYWORD})")
_MARKUP = re.compile(r"^\s*(?:>>>|```|[A-Z]\w*:\s*$|:\w+ \w+:)")
_STATEMENT = re.compile(
    r"""(?x)^\s*(?:
      (?:async\ )?def\ \w+\( | class\ \w+[(:] | @\w[\w.]*(?:\(|$) | (?:from\ [\w.]+\ )?import\ \w
    | (?:return|assert|raise|del)\b | (?:pass|break|continue)$
    | (?:if|for|while|with|elif)\ .*:$ | (?:try|else|finally):$
    | [\w.\[\]]+(?::\ [\w.\[\]|\ ,]+)?\ =\ \S | self\.\w+ | [)\]}]+[:,]?$ | [\w.]+\(.*[(,)]$
    )"""
)
_OPENS = re.compile(r"(?:^|[=(\[{,:+]|\b(?:return|in|not|else|and|or|yield|print))\s*[rRfFbBuU]{0,2}$")
_FOLLOWS = re.compile(r"\s*(?:$|[)\]},.:;%#+*\\=\[!<>]|(?:if|else|for|in|and|or|not|is)\b)")
_DOCUMENTED = re.compile(r"[:=(,\[{\\)]$|^\s*\w+\s*[:=]|^\s*(?:class|def|@)")
_ASSIGNS = re.compile(r"[=(]\s*[rRfFbB]?$")


def open_quote(lines: Sequence[DiffLine]) -> str:
    """Return the quotes of the string that one side of a hunk begins within; "" if it begins outside any string."""
    if not lines or 1 in (lines[0].old, lines[0].new):
        return ""
    texts = [line.text for line in lines]
    best, fewest = "", _oddities(texts, "", inf)
    for quote in [each for each in _QUOTES if any(each in text for text in texts)] or _QUOTES[:1]:
        if fewest and (count := _oddities(texts, quote, fewest)) < fewest:
            best, fewest = quote, count
    return best


def _oddities(texts: Iterable[str], quote: str, limit: float) -> int:
    """Count the oddities of a reading, up to the `limit` that it must stay below to be chosen."""
    reading = _Reading(quote)
    continued = False
    for text in texts:
        if text.strip() and not continued:
            reading.read_line(text.rstrip())
            if reading.oddities >= limit:
                break
        continued = not reading.quote and text.endswith("\\")
    return reading.oddities


class _Reading:
    """One reading of a hunk, beginning within `quote` or outside strings, with the number of its oddities."""

    def __init__(self, quote: str) -> None:
        self.quote = quote
        self.oddities = 0
        self._above: str | None = None  # the last line of code; None if unknown
        self._margin = 0  # minimum indent (columns) of the string's lines
        self._closed_at: int | None = None  # indent (columns) of the last line, if it held only closing quotes

    def read_line(self, text: str) -> None:
        indent = len(text) - len(text.lstrip())
        began_within = bool(self.quote)
        self._count_if(
            indent < self._margin if self.quote else self._closed_at is not None and indent > self._closed_at
        )
        self._closed_at = None
        code, rest = "", text
        while True:
            if self.quote:
                inside, closing, rest = rest.partition(self.quote)
                self._count_if(not code and bool(_STATEMENT.match(inside)), _DOUBTFUL)
                if not closing:
                    break
                self._close(inside, rest, indent, began=not code)
            else:
                before, opening, rest = _split_at_quotes(rest)
                code += before
                if not opening:
                    break
                self._open(code, opening, indent)
            code += '""'
        bare = _without_literals(code).rstrip()
        self._count_if(bool(_TWO_WORDS.search(bare) or _MARKUP.match(bare)))
        if began_within:
            self._above = None if code else self._above
        elif bare.strip() not in ("", '""'):
            self._above = bare

    def _close(self, inside: str, rest: str, indent: int, *, began: bool) -> None:
        self._count_if(began and bool(_ASSIGNS.search(inside)))
        self._count_if(not _FOLLOWS.match(rest))
        self.quote, self._margin = "", 0
        if not inside.strip() and not rest.strip():
            self._closed_at = indent

    def _open(self, code: str, opening: str, indent: int) -> None:
        self._count_if(not _OPENS.search(code))
        bare = not code.strip()
        self._count_if(bare and self._above is not None and not _DOCUMENTED.search(self._above))
        self.quote, self._margin = opening, indent if bare else 0

    def _count_if(self, odd: bool, weight: int = _WRONG) -> None:  # noqa: FBT001 - what is noted
        self.oddities += weight if odd else 0


def _without_literals(code: str) -> str:
    """Return code with each string emptied and without its comment."""
    if not _QUOTE.search(code):
        return code
    return _LITERAL.sub(lambda match: "" if match[0].startswith("#") else '""', code)


def _split_at_quotes(text: str) -> tuple[str, str, str]:
    """Split at the first triple quotes into (before, quotes, after); (text, "", "") if there are none."""
    for match in _TOKEN.finditer(text) if any(quotes in text for quotes in _QUOTES) else ():
        if match["comment"]:
            break
        if match["triple"]:
            return text[: match.start()], match["triple"], text[match.end() :]
    return text, "", ""
