"""Quotations from a diff: a line with the neighbouring lines that complete it (a call, a string, a signature, a sentence)."""

import re
from collections.abc import Sequence

from analysis.diff import DiffLine
from analysis.text import shorten

_MAX_LINES = 8  # of a quotation
_BACKWARDS = 5  # lines in which what a line continues may begin
_COMPARED = 30  # lines of a block with which a line is compared
_ALIKE = 0.5  # share of common words from which a line replaced another
_FEW_WORDS = 3  # of a line, with which it is like no other
_LENGTH = 320  # characters of a quotation
_LINE_LENGTH = 160  # characters of a line that stands alone

_STRING = re.compile(r"""(['"`])(?:\\.|(?!\1).)*\1""")
_OPENING, _CLOSING = "([{", ")]}"
_MARKER = re.compile(r"^\s*(?:#(?!include|define|if|endif)+|//+|\*|>)\s")
_LISTED = re.compile(r"^\s*(?:-|\d+\.)\s")
_PLAIN_WORD = re.compile(r"[`'\"(*]*[A-Za-z][A-Za-z'-]*[`'\").,:;!?*]*")
_MIN_PROSE, _PROSE_SHARE = 4, 0.7  # words of a line of prose, and the share of plain ones
_CODE = re.compile(
    r"[=({\[;]\s*$|^\s*(?:def|class|if|for|while|return|import|from|elif|else|assert|raise|with|try)\b.*[:)]\s*$"
)
_KEYWORD = re.compile(
    r"^\s*(?:from\s+\S+\s+import|import|assert|return|raise|del|yield|await|elif|using|const|let|var|static)\b|^\s*[rbf]?['\"](?!['\"])"
)
_SENTENCE_END = re.compile(r"[.!?。！？:]['\")`]*\s*$|^\s*$")


def quote(hunk: Sequence[DiffLine], place: int) -> tuple[str, range]:
    """Return the quotation of the line at `place` of a hunk on one line, and the places in the hunk that it covers."""
    sign = hunk[place].sign
    side = [index for index, line in enumerate(hunk) if line.sign in (" ", sign)]
    at = side.index(place)
    texts = [hunk[index].text for index in side]
    first, last = _extent(texts, at)
    while last - first >= _MAX_LINES or (
        last > first and sum(map(len, map(str.strip, texts[first : last + 1]))) > _LENGTH
    ):
        first, last = (first, last - 1) if last - at >= at - first else (first + 1, last)
    covered = range(side[first], side[last] + 1)
    if first == last:
        return shorten(texts[at].strip(), _LINE_LENGTH), covered
    pieces = [texts[first].strip(), *(_bare(text, texts[first]) for text in texts[first + 1 : last + 1])]
    return shorten(_joined(pieces), _LENGTH), covered


def _joined(pieces: Sequence[str]) -> str:
    """Join lines, without the spaces that brackets across lines would leave."""
    text = " ".join(filter(None, pieces))
    return re.sub(r",? (?=[)\]}])", "", re.sub(r"(?<=[(\[{]) ", "", text))


def _bare(text: str, first: str) -> str:
    """Return a line without the comment sign that the first line has, too."""
    return (_MARKER.sub("", text) if _MARKER.match(first) else text).strip()


def _extent(texts: Sequence[str], at: int) -> tuple[int, int]:
    """Return the first and the last line of what the line belongs to."""
    if _is_prose(texts[at]):
        return _sentence(texts, at)
    first = _opened_before(texts, at)
    depth, last = 0, first
    for last in range(first, min(len(texts), first + _MAX_LINES + _BACKWARDS)):
        depth += _balance(texts[last])
        if last >= at and depth <= 0 and not texts[last].rstrip().endswith(("\\", "=")):
            return first, last
    return (first, max(last, at)) if first < at else (at, min(last, at + _MAX_LINES))


def _opened_before(texts: Sequence[str], at: int) -> int:
    """Return the line that opens the bracket which is open at a line; the line itself if there is none so near."""
    depth = 0
    for index in range(at, max(-1, at - _BACKWARDS - 1), -1):
        balance = _balance(texts[index])
        if index < at:
            depth += balance
            if depth > 0:
                return at if _opens_table(texts[index]) else index
        elif balance < 0:
            depth += balance + 1 if texts[index].strip()[:1] in _CLOSING else balance
    return at


def _opens_table(text: str) -> bool:
    """Return whether a line opens a table or a body, whose lines stand for themselves."""
    return bool(re.search(r"[{\[]\s*$", text))


def _balance(text: str) -> int:
    bare = _STRING.sub("", text)
    if '"""' in text or "'''" in text:
        return 0
    bare = re.sub(r"(?:#|//).*$", "", bare)
    return sum(bare.count(each) for each in _OPENING) - sum(bare.count(each) for each in _CLOSING)


def _is_prose(text: str) -> bool:
    words = _MARKER.sub("", text).split()
    plain = sum(bool(_PLAIN_WORD.fullmatch(word)) for word in words)
    if _MARKER.match(text) or _LISTED.match(text):
        return bool(words)
    return len(words) >= _MIN_PROSE and plain >= _PROSE_SHARE * len(words) and not _is_code(text)


def _is_code(text: str) -> bool:
    return bool(_CODE.search(text) or _KEYWORD.match(text))


def _sentence(texts: Sequence[str], at: int) -> tuple[int, int]:
    first = last = at
    while first > 0 and at - first < _BACKWARDS and _continues(texts[first - 1], texts[first]):
        first -= 1
    while last + 1 < len(texts) and last - first < _MAX_LINES and _continues(texts[last], texts[last + 1]):
        last += 1
    return first, last


def _continues(text: str, following: str) -> bool:
    """Return whether a line of prose goes on in the following one."""
    goes_on = re.match(r"^\s*(?:#+|//+|\*|>)?\s*[\w`:'\"(]", following) and not _LISTED.match(following)
    same = bool(_MARKER.match(text)) is bool(_MARKER.match(following))
    return bool(goes_on) and same and not _SENTENCE_END.search(text) and not _is_code(following)


def counterpart(hunk: Sequence[DiffLine], place: int) -> int | None:
    """Return the place of the line that replaced the one at `place`, or that it replaced; None if that is not plain."""
    if hunk[place].sign == " ":
        return None
    first = place
    while first > 0 and hunk[first - 1].sign != " ":
        first -= 1
    last = place
    while last + 1 < len(hunk) and hunk[last + 1].sign != " ":
        last += 1
    removed, added = ([each for each in range(first, last + 1) if hunk[each].sign == sign] for sign in "-+")
    mine, others = (removed, added) if hunk[place].sign == "-" else (added, removed)
    if len(mine) == len(others) <= _MAX_LINES:
        return others[mine.index(place)]
    text = hunk[place].text
    alike = {
        other: _likeness(text, hunk[other].text)
        for other in others[:_COMPARED]
        if hunk[other].text.strip() != text.strip()
    }
    best = max(alike, key=lambda other: alike[other], default=None)
    return best if best is not None and alike[best] >= _ALIKE else None


def _likeness(text: str, other: str) -> float:
    """Return the share of the shorter line's words that the other has, too, from 0 to 1."""
    words, others = ({*re.findall(r"\w+", each)} for each in (text, other))
    return len(words & others) / max(_FEW_WORDS, min(len(words), len(others)))
