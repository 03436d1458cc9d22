"""Plain text from a model's Markdown: split into sentences, without markup, cut to a length."""

import re
import unicodedata

from analysis.grounding.corpus import SPAN
from analysis.text import FILLERS

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


def repair_end(text: str) -> str:
    """Repair the end of a text from which sentences were removed."""
    bare = text.strip()
    if not re.search(r"[；;，,、]$", bare):
        return bare
    return bare[:-1].rstrip("；;，,、 ") + ("." if bare[-1] in ";," else "。")


_FENCE = re.compile(r"^[ \t]*(?:```+|~~~+)[^`\n]*$|^[ \t]*(?:={3,}|-{3,}|\*{3,}|_{3,})[ \t]*$", re.MULTILINE)
_LEADING = re.compile(r"^[ \t]*(?:(?:#{1,6}|[-*+•·▪>]|\d{1,2}[.)]|\[[ xX]\])(?:[ \t]+|$))+", re.MULTILINE)
_ADDRESSED = re.compile(r"!?\[([^\[\]\n]*)\](?:\([^)\n]*\)|\[\d*\])")  # `[Core][Bugfix]` are tags of a title
_AUTOLINK = re.compile(r"<(?:https?|ftp|mailto):[^<>\s]*>", re.IGNORECASE)
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_TAG = re.compile(
    r"<!--.*?-->|</?(?:a|b|big|blockquote|body|center|code|del|details|div|em|font|form|h[1-6]|head|hr|html|i|iframe|img|input|ins|kbd|li|"
    r"link|mark|meta|object|ol|p|pre|q|s|samp|script|small|span|strike|strong|style|sub|summary|sup|svg|table|tbody|td|th|thead|tr|tt|u|ul)"
    r"(?:\s[^<>]*)?/?>|<(?:video|audio|image|embed|source|button)\s[^<>]*>",
    re.IGNORECASE | re.DOTALL,
)
_BOLD = re.compile(r"(?<![\w/*])\*\*(?=[^\s*])([^*\n`]*(?:`[^`\n]*`[^*\n`]*)*)(?<=[^\s*])\*\*(?![/*])")


def plain_text(text: str) -> str:
    """Remove the markup of one text, except for code spans. Idempotent."""
    while True:
        once = _without_markup(text)
        if once == text:
            return text
        text = once


def _without_markup(text: str) -> str:
    text = _without_invisible(re.sub(r"\r\n?|[\u2028\u2029\x85\v\f]", "\n", text))
    text = _LEADING.sub("", _FENCE.sub("", text))
    text = _BOLD.sub(r"\1", _without_links_and_tags(re.sub("``+", "`", text)))
    return re.sub(r"\s+", " ", text).strip()


def _without_links_and_tags(text: str) -> str:
    pieces, start = [], 0
    for span in [*SPAN.finditer(text), None]:
        piece = text[start : span.start() if span else len(text)]
        piece = _AUTOLINK.sub(" ", _ADDRESSED.sub(r"\1", piece))
        pieces += [_TAG.sub("", _BREAK.sub(" ", piece)), span[0] if span else ""]
        start = span.end() if span else len(text)
    return "".join(pieces)


def _without_invisible(text: str) -> str:
    """Remove control, directional and zero-width characters and fillers; joiners between letters that need them stay."""
    return "".join(
        char
        for index, char in enumerate(text)
        if char in {"\n", "\t"}
        or not (char in FILLERS or unicodedata.category(char) in ("Cc", "Cf", "Cs"))
        or (char in "\u200c\u200d" and text[index - 1 : index] > "\x7f" and text[index + 1 : index + 2] > "\x7f")
    )


def cut_after_sentence(text: str, length: int) -> str:
    """Cut `text` to at most `length` characters after a sentence, else after a word; never inside a code span."""
    if len(text) <= length:
        return text
    whole_sentences = ""
    for piece in sentences(text):
        if len(whole_sentences) + len(piece.rstrip()) > length:
            break
        whole_sentences += piece
    if whole_sentences.strip():
        return whole_sentences.strip()
    head = text[: length - 1]
    if head.count("`") % 2:
        head = head[: head.rindex("`")]
    at_a_word = re.sub(r"[A-Za-z0-9_./*-]+$", "", head)
    return (at_a_word.rstrip() or text[: length - 1]) + "…"
