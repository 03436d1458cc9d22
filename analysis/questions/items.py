"""The items of an answer: statements of a commit's facts, records, authors' sentences and changed lines, with their places.

A line is quoted with the neighbouring lines that complete it: a call, a string, a signature, a sentence.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from analysis.citations import to_commit, to_fact, to_line
from analysis.diff import DiffLine
from analysis.locale import Catalogue, catalogue, mark
from analysis.locale.punctuation import as_sentence, join_sentences
from analysis.models import Entry, Fact, Language, Statement, by_kind
from analysis.questions.evidence import DiffPlace, EvidenceFound
from analysis.questions.matches import facts_asked
from analysis.questions.metadata import Record
from analysis.questions.question import ParsedQuestion
from analysis.text import shorten
from analysis.writing.by_rules import code, list_names
from analysis.writing.fact_sentences import FACT_SENTENCES

MAX_ITEMS = 5
SEARCHED = 40  # hits from which the items are made; hits beside each other make one
_SENTENCE_LENGTH = 300  # characters of an author's sentence
_CHANGES = {"-": mark("removes {code}"), "+": mark("adds {code}"), " ": mark("unchanged: {code}")}

_MAX_LINES = 8  # of a quotation
_BACKWARDS = 5  # lines in which what a line continues may begin
_LENGTH = 320  # characters of a quotation
_LINE_LENGTH = 160  # characters of a line that stands alone

_STRING = re.compile(r"""(['"`])(?:\\.|(?!\1).)*\1""")
_OPENING, _CLOSING = "([{", ")]}"
_MARKER = re.compile(r"^\s*(?:#(?!include|define|if|endif)+|//+|\*|>)\s")
_LISTED = re.compile(r"^\s*(?:-|\d+\.)\s")
_PLAIN_WORD = re.compile(r"[`'\"(*]*[A-Za-z][A-Za-z'-]*[`'\").,:;!?*]*")
_MIN_PROSE, _PROSE_SHARE = 4, 0.7  # words of a line of prose, and the share of plain ones
_SENTENCE_END = re.compile(r"[.!?。！？:]['\")`]*\s*$|^\s*$")


class Quoted(NamedTuple):
    """The lines of a hunk that an item quotes."""

    hunk: Sequence[DiffLine]
    places: frozenset[int]


def best_items(entry: Entry, found: EvidenceFound, language: Language) -> list[Statement]:
    """Return the best hits as statements; lines that are quoted with a better one, or that prove a fact, are left out."""
    quoted: list[Quoted] = []
    labels: set[str] = set()
    items: list[Statement] = []
    for hit in found.hits:
        item = hit.document.item
        match item:
            case DiffPlace():
                statement = line_item(entry, item, quoted, language)
            case Fact():
                statement = fact_item(entry, [item], language)
            case Record():
                statement = item.statement.model_copy(update={"kind": "item"})
            case str():
                text = code(shorten(item, _SENTENCE_LENGTH))
                told = catalogue(language)("the author writes: {text}", text=text)
                statement = Statement(text=told, citations=(to_commit(entry.commit),), kind="item")
        if statement is None or (isinstance(item, Fact | DiffPlace) and statement.citations[0].label in labels):
            continue
        labels.add(statement.citations[0].label)
        items.append(statement)
    return items[:MAX_ITEMS]


def proven_items(entry: Entry, asked: ParsedQuestion, language: Language) -> list[Statement]:
    """Return the facts that answer what happened, those of a kind as one; none if none does, or something else is asked."""
    proven = facts_asked(asked, entry.facts) if asked.facts.happened else []
    return [fact_item(entry, facts, language) for _, facts in by_kind(proven)]


def fact_item(entry: Entry, facts: Sequence[Fact], language: Language) -> Statement:
    """Return facts of one kind as an item, with the places of the first."""
    say = catalogue(language)
    text = FACT_SENTENCES[facts[0].kind].named(list_names(facts, say), len(facts), say)
    places = tuple(to_fact(entry.commit, fact) for fact in facts[:MAX_ITEMS])
    return Statement(text=text, citations=places, kind="item")


def line_item(entry: Entry, found: DiffPlace, quoted: list[Quoted], language: Language) -> Statement | None:
    """Quote a line with those that complete it, beside the line that it replaces; None if it is in `quoted`, which grows."""
    say, hunk, file = catalogue(language), found.hunk, found.file
    text, places = quote(hunk, found.place)
    if any(hunk is each.hunk and not each.places.isdisjoint({*places, found.place}) for each in quoted):
        return None
    covered, other = {*places}, counterpart(hunk, found.place)
    citations = [to_line(entry.commit, file, found.line)]
    if other is None:
        told = say(_CHANGES[found.line.sign], code=code(text))
    else:
        other_text, other_places = quote(hunk, other)
        covered |= {*other_places, other}
        old, new = (text, other_text) if found.line.sign == "-" else (other_text, text)
        told = say("changes {old} to {new}", old=code(old), new=code(new))
        citations.append(to_line(entry.commit, file, hunk[other]))
    quoted.append(Quoted(hunk, frozenset(covered)))
    return Statement(text=told, citations=tuple(citations), kind="item")


def joined(told: Sequence[Statement], say: Catalogue) -> Statement | None:
    """Return several statements as one; None for none."""
    if len(told) <= 1:
        return next(iter(told), None)
    text = join_sentences((as_sentence(each.text, say) for each in told), say)
    return Statement(text=text, citations=tuple(place for each in told for place in each.citations))


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
    return len(words) >= _MIN_PROSE and plain >= _PROSE_SHARE * len(words)


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
    return bool(goes_on) and same and not _SENTENCE_END.search(text)


def counterpart(hunk: Sequence[DiffLine], place: int) -> int | None:
    """Return the place of the line that replaced the one at `place`, or that it replaced; None if that is not plain."""
    first = last = place
    while first > 0 and hunk[first - 1].sign != " ":
        first -= 1
    while last + 1 < len(hunk) and hunk[last + 1].sign != " ":
        last += 1
    removed, added = ([each for each in range(first, last + 1) if hunk[each].sign == sign] for sign in "-+")
    if hunk[place].sign == " " or len(removed) != len(added) or len(added) > _MAX_LINES:
        return None
    mine, others = (removed, added) if hunk[place].sign == "-" else (added, removed)
    return others[mine.index(place)]
