"""Check of a model's analysis against its commit: removes false claims, and reduces the texts to plain text.

No output of a model is kept unchecked: a sentence or list item with a claim that the commit does not support is
removed.
"""

import re
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from analysis.grounding.claims import Claim, Section, find_unsupported
from analysis.grounding.corpus import Corpus, plain
from analysis.grounding.plain_text import cut_after_sentence, plain_text, repair_end, sentences
from analysis.models import Analysis, Commit, Insight, Risk
from analysis.wordlists import wordlist

_PROSE_LENGTH = 1200  # characters of the summary and of each insight
_ITEM_LENGTH = 600  # characters of a list item
_ITEMS = 12
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]{2,}|[\u4e00-\u9fff]{2}")
_STOPWORDS = wordlist("stopwords") | wordlist("title_words")


class Checked(NamedTuple):
    """An analysis without its false claims, and the claims in everything that was removed."""

    analysis: Analysis
    removed: tuple[Claim, ...]


def false_claims(analysis: Analysis, commit: Commit, *, kinds: Collection[str] | None = None) -> tuple[Claim, ...]:
    """Return the claims of the analysis that the commit does not support, in the order of the texts.

    Links, images, headings and instructions to the reader are always false, so call this before `cleaned`. With
    `kinds`, only claims of these kinds are checked.
    """
    return _remove_false_claims(analysis, Corpus(commit), kinds).removed


def without_false_claims(analysis: Analysis, commit: Commit, *, kinds: Collection[str] | None = None) -> Checked:
    """Remove the sentences and list items that hold a false claim.

    A risk with a false text is removed as a whole; one with only a false mitigation loses the mitigation.
    """
    corpus = Corpus(commit)
    removed: list[Claim] = []
    while True:
        # Removing a sentence may change how the rest is read (an unpaired backtick), so repeat; each round removes
        # something.
        analysis, more = _remove_false_claims(analysis, corpus, kinds)
        if not more:
            return Checked(analysis, tuple(removed))
        removed += more


def _remove_false_claims(analysis: Analysis, corpus: Corpus, kinds: Collection[str] | None) -> Checked:
    removed: list[Claim] = []

    def is_false(text: str, place: Section) -> bool:
        found = find_unsupported(text, place, corpus, kinds)
        if not found and (tidied := plain_text(text)) != text:
            found = find_unsupported(tidied, place, corpus, kinds)
        removed.extend(found)
        return bool(found)

    def prose(text: str, place: Section) -> str:
        pieces = sentences(text)
        remaining = [piece for piece in pieces if not is_false(piece, place)]
        return text if len(remaining) == len(pieces) else repair_end("".join(remaining))

    def items(texts: tuple[str, ...], place: Section) -> tuple[str, ...]:
        return tuple(text for text in texts if not is_false(text, place))

    def risks() -> Iterator[Risk]:
        for each in analysis.risks:
            wrong = is_false(each.risk, Section.CONSEQUENCE)
            wrong_mitigation = is_false(each.mitigation, Section.ADVICE)
            if not wrong:
                yield each.model_copy(update={"mitigation": ""}) if wrong_mitigation else each

    remaining = _rewrite(analysis, prose=prose, items=items, risks=risks)
    return Checked(remaining, tuple(removed))


def _rewrite(
    analysis: Analysis,
    *,
    prose: Callable[[str, Section], str],
    items: Callable[[tuple[str, ...], Section], tuple[str, ...]],
    risks: Callable[[], Iterator[Risk]],
) -> Analysis:
    return analysis.model_copy(
        update={
            "summary": prose(analysis.summary, Section.CHANGE),
            "scope": items(analysis.scope, Section.CHANGE),
            "insight": Insight(**{name: prose(text, Section.CONSEQUENCE) for name, text in analysis.insight}),
            "risks": tuple(risks()),
            "advice": items(analysis.advice, Section.ADVICE),
        }
    )


def cleaned(analysis: Analysis) -> Analysis:
    """Reduce the analysis to plain text with `code` spans: one line per text, no markup or invisible characters.

    Texts are cut to their maximum length (1200 characters of prose, 600 of an item) and lists to twelve items; empty
    ones are dropped.
    """

    def item(text: str) -> str:
        return cut_after_sentence(plain_text(text), _ITEM_LENGTH)

    def risks() -> Iterator[Risk]:
        for each in analysis.risks:
            if risk := item(each.risk):
                yield each.model_copy(update={"risk": risk, "mitigation": item(each.mitigation)})

    plain = _rewrite(
        analysis,
        prose=lambda text, _: cut_after_sentence(plain_text(text), _PROSE_LENGTH),
        items=lambda texts, _: tuple(filter(None, map(item, texts)))[:_ITEMS],
        risks=risks,
    )
    return plain.model_copy(update={"risks": plain.risks[:_ITEMS]})


def is_empty(analysis: Analysis) -> bool:
    """Return whether nothing of substance is left: a summary without a letter or digit."""
    return not re.search(r"[^\W_]", plain(analysis.summary))


def is_about(analysis: Analysis, commit: Commit) -> bool:
    """Return whether the summary is about this commit: it shares a distinctive word with it, or quotes its code.

    A small model's summary may contain no false name simply because it names nothing.
    """
    said_words = {word.lower() for word in _WORD.findall(analysis.summary)}
    commit_text = " ".join(
        (
            commit.subject,
            commit.pull.title if commit.pull else "",
            *commit.paths,
            *(file.previous_path or "" for file in commit.files),
        )
    )
    distinctive = {word.lower() for word in _WORD.findall(commit_text)} - _STOPWORDS
    if said_words & distinctive or not distinctive:
        return True
    corpus = Corpus(commit)
    return any(
        corpus.has_word(word) for span in re.findall(r"`([^`]+)`", analysis.summary) for word in _WORD.findall(span)
    )
