"""The passages of a diff: changed statements and sentences, each with what it belongs to.

A passage is a call, a field with its explanation, a condition with what follows from it, or a sentence of prose. Its
context is what it stands in: conditions, lists, functions and classes, as far as the patch shows them.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from analysis.diff import DiffLine, Hunk, headed_hunks
from analysis.models import FileChange
from analysis.text import shorten

_MAX_LINES = 8  # of a statement
_LENGTH = 420  # characters of a passage
_LINE_LENGTH = 160  # characters of a line that stands alone
_CONTEXT_LENGTH = 100
_CONTEXTS = 2  # of what a passage stands in, the innermost

_STRING = re.compile(r"""(['"`])(?:\\.|(?!\1).)*\1""")
_TRIPLE = re.compile(r"\"{3}|'{3}")
_STRING_BEGIN = re.compile(r"\s*[rRfF]?(?:\"{3}|'{3})")
_OPENING, _CLOSING = "([{", ")]}"
_MARKER = re.compile(r"^\s*(?:#(?!include|define|if|endif)+|//+|\*|>)\s")
_LISTED = re.compile(r"^\s*(?:-|\d+\.)\s")
_PLAIN_WORD = re.compile(r"[`'\"(*]*[A-Za-z][A-Za-z'-]*[`'\").,:;!?*]*")
_MIN_PROSE, _PROSE_SHARE = 4, 0.7  # words of a line of prose, and the share of plain ones
_SENTENCE_END = re.compile(r"[.!?。！？:]['\")`]*\s*$|^\s*$")
_LITERAL = re.compile(r"""^\s*[rRfFbB]?(?P<mark>['"])(?!(?P=mark){2}).*(?P=mark)\s*$""")
_GOES_ON = re.compile(r"""(?:[\\=]|^\s*["'][\w.-]+["']:)\s*$""")
_ADJACENT_LITERALS = re.compile(r"""(?<![\\(="'])(["']) [fr]?\1(?!\1)""")
_CODE = re.compile(r"\s*(?:from\s+\S+\s+import\b|import\s+\S+(?:\s+as\s+\w+)?\s*$|(?:assert|return|raise|yield|del)\s)")
_CONDITION = re.compile(r"\s*[})]?\s*(?:if|elif|else|except|case)\b")
_OTHERWISE = re.compile(r"\s*[})]?\s*(?:else|except|finally)\b(?!\s+if)")
_OPENS = re.compile(r"(?::|[\[{(]|->)\s*(?:#.*|//.*)?$")
_DEFINED = re.compile(r"(?:async\s+)?(?:def|class|struct|fn|func|function)\s+([A-Za-z_]\w*)")
_FIELD = re.compile(r"^\s*[A-Za-z_]\w*\s*(?::[^=]|=[^=])")
_NAMED = re.compile(r"([A-Za-z_][\w.]*)\s*(?::[^=]*)?(?:=|:\s*$)")
_KEY = re.compile(r"\s*(?:(?:async\s+)?(?:def|class)\s+(\w+)|(?:\w+\.)*[\"']?([A-Za-z_][\w-]*)[\"']?\s*(?::|=(?!=)))")
_ALIKE = 0.5  # share of the words of two lines of which one replaces the other


class Passage(NamedTuple):
    """A passage of a file's diff: the places of its lines in a hunk, what it stands in, outermost first, and its text on one line."""

    file: FileChange
    hunk: tuple[DiffLine, ...]
    places: tuple[int, ...]
    context: tuple[str, ...]
    text: str

    @property
    def changed(self) -> list[DiffLine]:
        return [self.hunk[place] for place in self.places if self.hunk[place].sign != " "]

    @property
    def line(self) -> DiffLine:
        """The first changed line."""
        return self.changed[0]


class _Statement(NamedTuple):
    """The first and the last line of a statement or a sentence, and whether it goes on in a string of several lines."""

    first: int
    last: int
    in_string: bool


@lru_cache(maxsize=256)
def passages(file: FileChange) -> tuple[Passage, ...]:
    """Return the passages of a file's patch, but not those that it removes in one place and adds in another."""
    found = [each for hunk in headed_hunks(file.patch) for sign in "-+" for each in _of_side(file, hunk, sign)]
    kept = {each.text for each in found if each.line.sign == "+"}
    return tuple(each for each in found if each.line.sign == "+" or each.text not in kept)


def definition_in(texts: Sequence[str], defines: Callable[[str], bool]) -> tuple[int, str] | None:
    """Return the place and the text of the first statement among a file's lines that defines something, with what explains it."""
    statements = list(_statements(texts))
    for number, statement in enumerate(statements):
        if any(map(defines, texts[statement.first : statement.last + 1])):
            first = number - 1 if number and _is_comment(texts, statements, number) else number
            last = _completed(texts, statements, first)
            return statements[first].first, _joined(texts, statements[first : last + 1])
    return None


def replaced(passage: Passage) -> Passage | None:
    """Return the passage that took the place of a removed one, or whose place an added one took; None if that is not plain.

    It is alone there, still has its name, or is alike.
    """
    run, sign = _run(passage), passage.line.sign
    beside = [each for each in passages(passage.file) if each.hunk is passage.hunk and not run.isdisjoint(each.places)]
    mine, others = ([each for each in beside if (each.line.sign == sign) is same] for same in (True, False))
    key = name_defined(passage)
    if len(mine) == len(others) == 1 and not (key and name_defined(others[0])):
        return others[0]
    named = [each for each in others if key and name_defined(each) == key]
    alike = [each for each in others if _likeness(each.text, passage.text) >= _ALIKE]
    alike += [
        each for each in others if key and name_defined(each) and _likeness(each.line.text, passage.line.text) >= _ALIKE
    ]
    return max(named or alike, key=lambda each: _likeness(each.text, passage.text), default=None)


def name_defined(passage: Passage) -> str:
    """Return the name that a passage defines or sets; "" for none."""
    found = _KEY.match(passage.line.text)
    return found[found.lastindex or 0] if found else ""


def _likeness(one: str, other: str) -> float:
    """Return the share of the words of two texts that both have."""
    words, others = (set(re.findall(r"[^\W_]+", each)) for each in (one, other))
    return len(words & others) / max(1, len(words | others))


def _run(passage: Passage) -> frozenset[int]:
    """Return the places of the changed lines beside each other among which a passage has its first one."""
    first = last = next(place for place in passage.places if passage.hunk[place].sign != " ")
    while first > 0 and passage.hunk[first - 1].sign != " ":
        first -= 1
    while last + 1 < len(passage.hunk) and passage.hunk[last + 1].sign != " ":
        last += 1
    return frozenset(range(first, last + 1))


def _of_side(file: FileChange, hunk: Hunk, sign: str) -> Iterator[Passage]:
    """Yield the passages of one side of a hunk that have changed lines."""
    side = [place for place, line in enumerate(hunk.lines) if line.sign in (" ", sign)]
    texts = [hunk.lines[place].text for place in side]
    statements = list(_statements(texts))
    opened: list[tuple[int, str]] = [(0, _label(hunk.heading))] if hunk.heading else []
    explained, until = "", -1
    for number, (first, last, in_string) in enumerate(statements):
        depth, before = _indent(texts[first]), ""
        while opened and opened[-1][0] >= depth and not in_string:
            before = opened.pop()[1]
        if not in_string:
            explained = _explained(texts, statements, number)
        is_told = number <= until and (explained or in_string)
        if any(hunk.lines[place].sign == sign for place in side[first : last + 1]) and not is_told:
            until = _completed(texts, statements, number)
            text = _joined(texts, statements[number : until + 1])
            context = [*(label for _, label in opened), explained]
            places = tuple(side[first : statements[until].last + 1])
            if re.search(r"\w", text):
                yield Passage(file, hunk.lines, places, tuple(filter(None, context))[-_CONTEXTS:], text)
        if _OPENS.search(texts[last]) and not in_string:
            label = _label(_statement(texts[first : last + 1]))
            if re.match(r"\s*[)\]}]\W*(?:->.*)?$", texts[first]):  # the end of what spans many lines
                label = before
            opened.append((depth, f"{before} … {label}" if before and _OTHERWISE.match(texts[first]) else label))


def _explained(texts: Sequence[str], statements: Sequence[_Statement], number: int) -> str:
    """Return the name that a string below what defines it explains; "" if a statement is no such string."""
    above = texts[statements[number - 1].first] if number else ""
    is_string = _STRING_BEGIN.match(texts[statements[number].first])
    return _label(above) if is_string and (_FIELD.match(above) or _DEFINED.match(above.lstrip())) else ""


def _completed(texts: Sequence[str], statements: Sequence[_Statement], number: int) -> int:
    """Return the last statement of what begins with one: what follows from a condition, or what explains a field."""
    first, until = statements[number].first, number
    depth, is_condition = _indent(texts[first]), _CONDITION.match(texts[first]) is not None
    for other in range(number + 1, len(statements)):
        begin, end, in_string = statements[other]
        explains = not is_condition and (_explained(texts, statements, other) or (in_string and until > number))
        follows = is_condition and _indent(texts[begin]) > depth
        commented = until == other - 1 and _is_comment(texts, statements, other)
        too_long = sum(len(each.strip()) + 1 for each in texts[first : end + 1]) > _LENGTH
        if not (explains or follows or commented) or too_long:
            break
        until = other
    while (
        is_condition
        and until > number
        and _OPENS.search(texts[statements[until].last])
        and not statements[until].in_string
    ):
        until -= 1
    return until


def _is_comment(texts: Sequence[str], statements: Sequence[_Statement], number: int) -> bool:
    """Return whether a statement goes on in, or is told of by, the comment directly above it."""
    above, here = statements[number - 1], statements[number]
    beside = above.last + 1 == here.first and _indent(texts[above.first]) == _indent(texts[here.first])
    is_parameter = texts[here.first].endswith(",") and not re.match(r"\s*[\"']", texts[here.first])
    is_told = _MARKER.match(texts[here.first]) or (_KEY.match(texts[here.first]) and not is_parameter)
    return bool(beside and _MARKER.match(texts[above.first]) and is_told and not here.in_string)


def _statements(texts: Sequence[str]) -> Iterator[_Statement]:
    """Yield each statement, and each sentence of prose."""
    at, in_string, before = 0, False, ":"
    while at < len(texts):
        if texts[at].strip():
            opens = not in_string and _opens_string(texts[at], before)
            last = _end_of_prose(texts, at, opens=opens) if in_string or opens else _end(texts, at)
            yield _Statement(at, last, in_string)
            is_odd = sum(len(_TRIPLE.findall(text)) for text in texts[at : last + 1]) % 2 == 1
            in_string = in_string is not is_odd if in_string or opens else False
            at, before = last, texts[last]
        at += 1


def _opens_string(text: str, before: str) -> bool:
    """Return whether a line opens a string of several lines; marks alone do only below what a string can explain."""
    if not _STRING_BEGIN.match(text):
        return bool(re.search(r"[=(,]\s*[rRfF]?(?:\"{3}|'{3})", text))
    return bool(text.strip("rRfF\"' \t") or before.rstrip().endswith((":", "=", "(")) or _FIELD.match(before))


def _end(texts: Sequence[str], at: int) -> int:
    """Return the last line of the statement, or of the sentence of comments, that begins at a line."""
    if is_prose(texts[at]):
        return _end_of_prose(texts, at)
    limit = min(len(texts), at + _MAX_LINES)
    depth = length = 0
    for last in range(at, limit):
        depth += _balance(texts[last])
        length += len(texts[last].strip())
        literal = last + 1 < limit and _LITERAL.match(texts[last]) and _LITERAL.match(texts[last + 1])
        if re.search(r"[{\[]\s*$", texts[at]) or length > _LENGTH:
            return last
        if depth <= 0 and not literal and not _GOES_ON.search(texts[last]):
            return last
    return limit - 1


def _end_of_prose(texts: Sequence[str], at: int, *, opens: bool = False) -> int:
    """Return the last line of a sentence, but not beyond the string which it is in, or which it `opens`."""
    last, text = at, texts[at].lstrip()[3:] if opens else texts[at]
    while last + 1 < min(len(texts), at + _MAX_LINES) and not _TRIPLE.search(text):
        if not _continues(texts[last], texts[last + 1]):
            break
        last += 1
        text = texts[last]
    return last


def _balance(text: str) -> int:
    if _TRIPLE.search(text):
        return 0
    bare = re.sub(r"(?:#|//).*$", "", _STRING.sub("", text))
    return sum(bare.count(each) for each in _OPENING) - sum(bare.count(each) for each in _CLOSING)


def is_prose(text: str) -> bool:
    """Return whether a line is a comment, an item of a list or made of plain words."""
    if _CODE.match(text) or ("=" in text and _FIELD.match(text)):
        return False
    words = _MARKER.sub("", text).split()
    plain = sum(bool(_PLAIN_WORD.fullmatch(word)) for word in words)
    if _MARKER.match(text) or _LISTED.match(text):
        return bool(words)
    return len(words) >= _MIN_PROSE and plain >= _PROSE_SHARE * len(words)


def _continues(text: str, following: str) -> bool:
    """Return whether a line of prose goes on in the following one."""
    goes_on = re.match(r"^\s*(?:#+|//+|\*|>)?\s*[\w`:'\"(-]", following) and not _LISTED.match(following)
    same = bool(_MARKER.match(text)) is bool(_MARKER.match(following))
    return bool(goes_on) and same and not _SENTENCE_END.search(text)


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _label(text: str) -> str:
    """Return what a line opens, in short: the name of a definition, of a list or of a field, or a condition."""
    bare = text.strip()
    named = _DEFINED.search(bare) or (None if _CONDITION.match(bare) else _NAMED.match(bare))
    return named[1] if named else shorten(bare.rstrip("({[: "), _CONTEXT_LENGTH)


def _joined(texts: Sequence[str], statements: Sequence[_Statement]) -> str:
    """Return statements on one line."""
    pieces = [_statement(texts[each.first : each.last + 1]) for each in statements]
    if len(pieces) == 1 and statements[0].first == statements[0].last:
        return shorten(pieces[0], _LINE_LENGTH)
    goes_on = (
        before.endswith((":", "{", ",")) or _MARKER.match(before) or _TRIPLE.search(before + after)
        for before, after in pairwise(pieces)
    )
    ends = ["" if each else ";" for each in goes_on] if not statements[-1].in_string else [""] * len(pieces)
    return shorten(" ".join(map("".join, zip(pieces, [*ends, ""], strict=False))), _LENGTH)


def _statement(texts: Sequence[str]) -> str:
    """Join the lines of a statement, without the spaces that brackets and strings across lines would leave."""
    first, *others = texts
    bare = [_MARKER.sub("", each).strip() if _MARKER.match(first) else each.strip() for each in others]
    text = " ".join(filter(None, [first.strip(), *bare]))
    text = re.sub(r",? (?=[)\]}])", "", re.sub(r"(?<=[(\[{]) ", "", text))
    return _ADJACENT_LITERALS.sub("", text)
