"""Checks a model's analysis against its commit: removes false claims, cleans the texts and verifies the language.

No output of a model is kept unchecked: a sentence or list item with a claim that the commit does not support is
removed.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from analysis.grounding.claims import SPAN, Claim, Section, find_unsupported
from analysis.grounding.corpus import Corpus, plain
from analysis.models import Analysis, Commit, Insight, Language, Risk
from analysis.wordlists import wordlist

__all__ = ["Checked", "Claim", "cleaned", "false_claims", "is_empty", "is_in_language", "without_false_claims"]

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
        if not found and (tidied := _without_markup(text)) != text:
            found = find_unsupported(tidied, place, corpus, kinds)
        removed.extend(found)
        return bool(found)

    def prose(text: str, place: Section) -> str:
        pieces = sentences(text)
        kept = [piece for piece in pieces if not is_false(piece, place)]
        return text if len(kept) == len(pieces) else _repair_end("".join(kept))

    def items(texts: tuple[str, ...], place: Section) -> tuple[str, ...]:
        return tuple(text for text in texts if not is_false(text, place))

    def risks() -> Iterator[Risk]:
        for each in analysis.risks:
            wrong = is_false(each.risk, Section.CONSEQUENCE)
            wrong_mitigation = is_false(each.mitigation, Section.ADVICE)
            if not wrong:
                yield each.model_copy(update={"mitigation": ""}) if wrong_mitigation else each

    kept = _rewrite(analysis, prose=prose, items=items, risks=risks)
    return Checked(kept, tuple(removed))


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


_ABBREVIATIONS = (
    "e.g|i.e|etc|vs|cf|approx|fig|no|nos|vol|al|resp|incl|excl|ca|dr|mr|ms|st|inc|ltd|eq|sec|ver|max|min|avg"
)
_STOP = re.compile(
    r"""
    \n+
    | [。！？；]+[”’」』）)】"']*[ \t]*
    | (?<=[\w`)\]"'”’%…*}>.])[.!?]+["'”’)\]]*[ \t]+(?=["'“‘(\[*]*[A-Z\u4e00-\u9fff`_0-9-])
    """,
    re.VERBOSE,
)
_NOT_A_STOP = re.compile(rf"(?:^|[\s(])(?:(?i:{_ABBREVIATIONS})|[A-Z])\.$|^\s*\d{{1,3}}\.$")


def sentences(text: str) -> list[str]:
    """Split a Chinese or English text into sentences, each with the separator after it; joined they equal the text."""
    masked = SPAN.sub(lambda match: "`" + "_" * (len(match[0]) - 2) + "`", text)
    pieces, start = [], 0
    for stop in _STOP.finditer(masked):
        up_to = masked[start : stop.end()].rstrip()
        if up_to.endswith(".") and _NOT_A_STOP.search(up_to):
            continue
        pieces.append(text[start : stop.end()])
        start = stop.end()
    return [*pieces, text[start:]] if start < len(text) else pieces


def _repair_end(text: str) -> str:
    """Repair the end of a text from which sentences were removed."""
    bare = text.strip()
    if not re.search(r"[；;，,、]$", bare):
        return bare
    return bare[:-1].rstrip("；;，,、 ") + ("." if bare[-1] in ";," else "。")


def cleaned(analysis: Analysis) -> Analysis:
    """Reduce the analysis to plain text with `code` spans: one line per text, no markup or invisible characters.

    Texts are cut to their maximum length (1200 characters of prose, 600 of an item) and lists to twelve items; empty
    ones are dropped.
    """

    def item(text: str) -> str:
        return _shortened(_without_markup(text), _ITEM_LENGTH)

    def risks() -> Iterator[Risk]:
        for each in analysis.risks:
            if risk := item(each.risk):
                yield each.model_copy(update={"risk": risk, "mitigation": item(each.mitigation)})

    kept = _rewrite(
        analysis,
        prose=lambda text, _: _shortened(_without_markup(text), _PROSE_LENGTH),
        items=lambda texts, _: tuple(filter(None, map(item, texts)))[:_ITEMS],
        risks=risks,
    )
    return kept.model_copy(update={"risks": kept.risks[:_ITEMS]})


_FENCE = re.compile(r"^[ \t]*(?:```+|~~~+)[^`\n]*$|^[ \t]*(?:={3,}|-{3,}|\*{3,}|_{3,})[ \t]*$", re.MULTILINE)
_LEADING = re.compile(r"^[ \t]*(?:(?:#{1,6}|[-*+•·▪>]|\d{1,2}[.)]|\[[ xX]\])(?:[ \t]+|$))+", re.MULTILINE)
_ADDRESSED = re.compile(r"!?\[([^\[\]\n]*)\](?:\([^)\n]*\)|\[[^\[\]\n]*\])")
_AUTOLINK = re.compile(r"<(?:https?|ftp|mailto):[^<>\s]*>", re.IGNORECASE)
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_TAG = re.compile(
    r"<!--.*?-->|</?(?:a|b|big|blockquote|body|center|code|del|details|div|em|font|form|h[1-6]|head|hr|html|i|iframe|img|input|ins|kbd|li|"
    r"link|mark|meta|object|ol|p|pre|q|s|samp|script|small|span|strike|strong|style|sub|summary|sup|svg|table|tbody|td|th|thead|tr|tt|u|ul)"
    r"(?:\s[^<>]*)?/?>|<(?:video|audio|image|embed|source|button)\s[^<>]*>",
    re.IGNORECASE | re.DOTALL,
)
_BOLD = re.compile(r"(?<![\w/*])\*\*(?=[^\s*])([^*\n`]*(?:`[^`\n]*`[^*\n`]*)*)(?<=[^\s*])\*\*(?![/*])")


def _without_markup(text: str) -> str:
    """Remove the markup of one text, except for code spans. Idempotent."""
    while True:
        once = _without_markup_once(text)
        if once == text:
            return text
        text = once


def _without_markup_once(text: str) -> str:
    text = _without_invisible(re.sub(r"\r\n?|[\u2028\u2029\x85\v\f]", "\n", text))
    text = _LEADING.sub("", _FENCE.sub("", text))
    text = _BOLD.sub(r"\1", _without_links_and_tags(re.sub("``+", "`", text)))
    return re.sub(r"\s+", " ", text).strip()


def _without_links_and_tags(text: str) -> str:
    kept, start = [], 0
    for span in [*SPAN.finditer(text), None]:
        piece = text[start : span.start() if span else len(text)]
        piece = _AUTOLINK.sub(" ", _ADDRESSED.sub(r"\1", piece))
        kept += [_TAG.sub("", _BREAK.sub(" ", piece)), span[0] if span else ""]
        start = span.end() if span else len(text)
    return "".join(kept)


def _without_invisible(text: str) -> str:
    """Remove control, directional and zero-width characters; joiners between letters that need them stay."""
    return "".join(
        char
        for place, char in enumerate(text)
        if char in {"\n", "\t"}
        or unicodedata.category(char) not in ("Cc", "Cf", "Cs")
        or (char in "\u200c\u200d" and text[place - 1 : place] > "\x7f" and text[place + 1 : place + 2] > "\x7f")
    )


def _shortened(text: str, length: int) -> str:
    """Cut `text` to at most `length` characters after a sentence, else after a word; never inside a code span."""
    if len(text) <= length:
        return text
    kept = ""
    for piece in sentences(text):
        if len(kept) + len(piece.rstrip()) > length:
            break
        kept += piece
    if kept.strip():
        return kept.strip()
    head = text[: length - 1]
    if head.count("`") % 2:
        head = head[: head.rindex("`")]
    at_a_word = re.sub(r"[A-Za-z0-9_./*-]+$", "", head)
    return (at_a_word.rstrip() or text[: length - 1]) + "…"


_QUOTED = re.compile(r"“[^“”\n]*”|\"[^\"\n]*\"|「[^」\n]*」|『[^』\n]*』|《[^》\n]*》|‘[^‘’\n]*’")
_NAME = re.compile(
    r"[A-Za-z0-9_]*(?:[_/.@#]|::|--)[A-Za-z0-9_./@#:-]*|\b\w*[a-z0-9][A-Z]\w*|\b[A-Z]{2,}\w*|\b\w*\d\w*", re.ASCII
)
_MIN_LETTERS = 12  # Chinese characters or English words from which a single text is long enough to check
_MAX_FOREIGN_SHARE = 0.15


def is_in_language(analysis: Analysis, language: Language) -> bool:
    """Return whether the prose is in `language`: as a whole and in each longer text.

    Code, paths, names and quotations are ignored; prose that consists only of names counts as either language.
    """
    letters = [_letters(text) for text in _texts(analysis)]
    whole = _Letters(*map(sum, zip(*letters, strict=True)))
    return _is_mostly(whole, language) and all(
        _is_mostly(each, language) for each in letters if sum(each) >= _MIN_LETTERS
    )


class _Letters(NamedTuple):
    """Counts of a text by script: Chinese characters, Latin words, and letters of other scripts."""

    han: int
    words: int
    other: int


def _letters(text: str) -> _Letters:
    bare = _NAME.sub(" ", _QUOTED.sub(_without_latin, SPAN.sub(" ", plain(text))))
    return _Letters(
        han=sum(map(_is_han, bare)),
        words=len(re.findall(r"[A-Za-z\u00c0-\u024f][A-Za-z\u00c0-\u024f'-]+", bare)),
        other=sum(char.isalpha() and char > "\u024f" and not _is_han(char) for char in bare),
    )


def _without_latin(quoted: re.Match[str]) -> str:
    """Drop a quotation in Latin letters, which is a title or a message; keep a Chinese one, which is prose."""
    return quoted[0] if any(map(_is_han, quoted[0])) else " "


def _is_mostly(letters: _Letters, language: Language) -> bool:
    if language == "zh":
        # A character is about half a word; words in other scripts are not loanwords.
        return letters.han > letters.words + 4 * letters.other or not sum(letters)
    return letters.han + letters.other <= _MAX_FOREIGN_SHARE * sum(letters)


def _is_han(char: str) -> bool:
    return "\u4e00" <= char <= "\u9fff" or "\u3400" <= char <= "\u4dbf" or "\U00020000" <= char <= "\U0003ffff"


def is_empty(analysis: Analysis) -> bool:
    """Return whether nothing of substance is left: a summary without a letter or digit."""
    return not re.search(r"[^\W_]", plain(analysis.summary))


def _texts(analysis: Analysis) -> list[str]:
    risks = [text for each in analysis.risks for text in (each.risk, each.mitigation)]
    return [analysis.summary, *analysis.scope, *(text for _, text in analysis.insight), *risks, *analysis.advice]


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
