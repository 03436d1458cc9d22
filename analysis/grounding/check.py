"""The check of what a model wrote: sentences with a claim that the corpus does not support are removed, the rest is tidied.

No output of a model is kept unchecked. Analyses and answers are checked by the same rules: that what is named exists, and
that what is proven is not denied. Whether the rest is true, a second reading judges.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from analysis.grounding.claims import Claim, find_unsupported
from analysis.grounding.corpus import SPAN, Corpus, plain
from analysis.grounding.finders import Section
from analysis.grounding.plain_text import cut_after_sentence, plain_text, repair_end, sentences
from analysis.models import Analysis, Insight, Risk
from analysis.wordlists import wordlist

_PROSE_LENGTH = 1200  # characters of the summary and of each insight
_ITEM_LENGTH = 600  # characters of a list item
_ITEMS = 12  # of a list
HEADLINE = 90  # characters that a headline is asked to have at most
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]{2,}|[\u4e00-\u9fff]{2}")
_STOPWORDS = wordlist("stopwords") | wordlist("title_words")
_NUMBERS = r"\d{1,6}(?:\s*[-–]\s*\d{1,6})?"
_PLACE = rf"(?:[\w-]*[./][\w./-]*:)?{_NUMBERS}"  # of the diff, or of a file that a tool read
_CITED = re.compile(rf"\s*\[(?:(?:lines?|L|行)\s*)?{_PLACE}(?:\s*[,，、;]\s*{_PLACE})*\]")
_CODE_OR_CITED = re.compile(rf"({SPAN.pattern})|{_CITED.pattern}")  # `shape=[128, 128]` cites nothing
_AFTER_STOP = re.compile(rf"([.!?。！？])((?:{_CITED.pattern})+)")


class Checked(NamedTuple):
    """A text without its false sentences, and the claims in what was removed."""

    text: str
    removed: tuple[Claim, ...]


def false_claims(text: str, corpus: Corpus, section: Section = Section.CONSEQUENCE) -> tuple[Claim, ...]:
    """Return the claims of one sentence or item that the corpus does not support.

    Links, images, headings and instructions to the reader are always false, so call this before `tidied`.
    """
    found = find_unsupported(text, section, corpus)
    if not found and (tidy := plain_text(text)) != text:
        found = find_unsupported(tidy, section, corpus)
    return found


def check(text: str, corpus: Corpus, section: Section = Section.CONSEQUENCE) -> Checked:
    """Remove the sentences of a text that hold a false claim, and the numbers of the lines that it cites."""
    removed: list[Claim] = []
    text = without_citations(text)
    while True:
        # Removing a sentence may change how the rest is read (an unpaired backtick), so repeat; each round removes some.
        pieces = sentences(text)
        false = [false_claims(piece, corpus, section) for piece in pieces]
        if not any(false):
            return Checked(text, tuple(removed))
        removed += (claim for claims in false for claim in claims)
        text = repair_end("".join(piece for piece, claims in zip(pieces, false, strict=True) if not claims))


def without_citations(text: str) -> str:
    """Return a text without the numbers of lines in brackets, wherever they stand in a sentence."""
    return _CODE_OR_CITED.sub(lambda match: match[1] or "", _AFTER_STOP.sub(lambda match: match[2] + match[1], text))


def cited_lines(text: str) -> set[int]:
    """Return the numbers of the lines of the diff that a text cites, the ends of ranges among them."""
    cited = (
        part
        for each in _CITED.finditer(SPAN.sub("", text))
        for part in re.split(r"[,，、;]", each[0])
        if ":" not in part
    )
    return {int(number) for part in cited for number in re.findall(r"\d+", part)}


def check_analysis(analysis: Analysis, corpus: Corpus) -> tuple[Analysis, tuple[Claim, ...]]:
    """Return an analysis in plain text without its false sentences and items, within its lengths, and the claims in what was removed.

    A risk with a false text is removed as a whole; one with only a false mitigation loses the mitigation.
    """
    removed: list[Claim] = []

    def prose(text: str, section: Section) -> str:
        checked = check(text, corpus, section)
        removed.extend(checked.removed)
        return tidied(checked.text)

    def item(text: str, section: Section) -> str:
        found = false_claims(bare := without_citations(text), corpus, section)
        removed.extend(found)
        return "" if found else tidied(bare, _ITEM_LENGTH)

    return rewritten(analysis, prose, item), tuple(removed)


Rewrite = Callable[[str, Section], str]


def rewritten(analysis: Analysis, prose: Rewrite, item: Rewrite) -> Analysis:
    """Return an analysis with each text and each item rewritten; what comes back empty is left out of the lists."""

    def items(texts: Iterable[str], section: Section) -> tuple[str, ...]:
        return tuple(filter(None, [item(text, section) for text in texts]))[:_ITEMS]

    def risks() -> Iterator[Risk]:
        for each in analysis.risks:
            risk, mitigation = item(each.risk, Section.CONSEQUENCE), item(each.mitigation, Section.ADVICE)
            if risk:
                yield Risk(risk=risk, severity=each.severity, mitigation=mitigation)

    def line(text: str) -> str:
        return item(_first_sentence(text), Section.CHANGE).rstrip(".。")

    return analysis.model_copy(
        update={
            "headline": line(analysis.headline),
            "also": line(analysis.also),
            "summary": prose(analysis.summary, Section.CHANGE),
            "scope": items(analysis.scope, Section.CHANGE),
            "insight": Insight(**{name: prose(text, Section.CONSEQUENCE) for name, text in analysis.insight}),
            "risks": tuple(risks())[:_ITEMS],
            "advice": items(analysis.advice, Section.ADVICE),
        }
    )


def _first_sentence(headline: str) -> str:
    """Return a headline, of one that is too long its first sentence."""
    return headline if len(headline) <= HEADLINE else next(iter(sentences(headline)), "").strip()


def tidied(text: str, length: int = _PROSE_LENGTH) -> str:
    """Reduce a text to one line of plain text with `code` spans, at most `length` characters."""
    return cut_after_sentence(plain_text(text), length)


def is_empty(text: str) -> bool:
    """Return whether nothing of substance is left of a text: no letter or digit."""
    return not re.search(r"[^\W_]", plain(text))


def is_about(text: str, corpus: Corpus) -> bool:
    """Return whether a text is about the commits: it shares a distinctive word with a title or path, or quotes their code.

    A small model's summary may contain no false name simply because it names nothing.
    """
    said_words = {word.lower() for word in _WORD.findall(text)}
    titles = (title for each in corpus.commits for title in (each.subject, each.pull.title if each.pull else ""))
    distinctive = {word.lower() for word in _WORD.findall(" ".join((*titles, *corpus.paths)))} - _STOPWORDS
    if said_words & distinctive or not distinctive:
        return True
    return any(corpus.has_word(word) for span in re.findall(r"`([^`]+)`", text) for word in _WORD.findall(span))


def has_known_names(text: str, corpus: Corpus) -> bool:
    """Return whether a Chinese text has no English word, each of which would be a name, or one that is in the commit."""
    names = {word.lower() for word in _WORD.findall(text) if word.isascii()}
    return not is_empty(text) and (not names or bool(names & corpus.words_in_lower_case))
