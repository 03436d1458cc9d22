"""The purpose of a commit in its author's words: the pull request's text or the message, without the template's boilerplate."""

import re

from analysis.models import Commit
from analysis.text import one_line

_LONGEST = 400  # characters; about three sentences

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FENCE = re.compile(r"^(`{3,}|~{3,}).*?^\1.*?$", re.DOTALL | re.MULTILINE)
_DETAILS = re.compile(r"<details\b.*?(?:</details>|\Z)", re.DOTALL | re.IGNORECASE)
_RULE = re.compile(r"^\s*([-*_])(?:\s*\1){2,}\s*$", re.MULTILINE)
_HTML = re.compile(r"</?[A-Za-z][^<>]*>")
_IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)|!\[[^\]]*\]\[[^\]]*\]")
_LINK = re.compile(r"\[([^\]]+)\]\((?:[^()]|\([^()]*\))*\)")
_DEFINITION = re.compile(r"^\s{0,3}\[[^\]]+\]:.*$", re.MULTILINE)
_ADDRESS = re.compile(r"<?\b(?:https?://|www\.)\S+")
_TRAILER = re.compile(
    r"^\s*(?:[A-Z][a-z]+(?:-[A-Za-z]+)+|Cc|Closes|Fixes|Resolves|cherry picked from commit.*|This reverts commit.*)\s*:?\s.*$",
    re.MULTILINE,
)
_HEADING = re.compile(r"^\s{0,3}(?:#{1,6}\s+(?P<marked>.+?)\s*#*|\*\*(?P<bold>[^*]+)\*\*\s*:?)\s*$")
_CHECKBOX = re.compile(r"^\s*[-*]\s*\[[ xX]\]")
_BULLET = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+|^\s*>\s?")
_WANTED = re.compile(
    r"\b(purpose|summary|description|motivation|why|what|overview|problem|background|context|changes?|introduction)\b|目的|说明|描述|概述|背景",
    re.IGNORECASE,
)
_UNWANTED = re.compile(
    r"\b(test|checklist|result|plan|docs?|documentation|notes?|todo|benchmarks?)\b|测试|结果", re.IGNORECASE
)
_FORM = re.compile(
    r"^\s*(?:fill in|please |purpose of this pr|_?no response_?|n/?a\b|essential elements)|PLEASE FILL IN",
    re.IGNORECASE,
)
_EMPHASIS = re.compile(r"(\*\*|__|~~)(?=\S)(.+?)(?<=\S)\1")
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])(?:\s+|(?<=[。！？]))")


def purpose(commit: Commit) -> str:
    """The author's own account of the commit on one line, at most about 400 characters; empty when there is none.

    Plain text: images, links' targets, HTML, checklists, trailers and code blocks are gone.
    """
    for text in (commit.pull.body if commit.pull else "", commit.body):
        told = _told(text)
        if told and told.casefold() != commit.subject.casefold():
            return told
    return ""


def _told(text: str) -> str:
    text = _DETAILS.sub("", _COMMENT.sub("", text.replace("\r\n", "\n")))
    text = _RULE.sub("", text)
    text = _DEFINITION.sub("", _HTML.sub("", _FENCE.sub("", text)))
    text = _ADDRESS.sub("", _LINK.sub(r"\1", _IMAGE.sub("", text)))
    text = _TRAILER.sub("", text)
    return _cut(one_line(" ".join(_EMPHASIS.sub(r"\2", _best_section(text)).split())))


def _best_section(text: str) -> str:
    """The section whose heading promises the purpose, or else the first that is not about tests."""
    sections: list[tuple[str, list[str]]] = [("", [])]
    for line in text.split("\n"):
        heading = _HEADING.match(line)
        if heading:
            sections.append((heading["marked"] or heading["bold"], []))
        elif not _CHECKBOX.match(line) and not _FORM.search(line) and not line.lstrip().startswith("|"):
            sections[-1][1].append(_BULLET.sub("", line))
    filled = [(title, "\n".join(lines).strip()) for title, lines in sections if any(line.strip() for line in lines)]
    wanted = [body for title, body in filled if _WANTED.search(title)]
    allowed = [body for title, body in filled if not _UNWANTED.search(title)]
    return next(iter(wanted + allowed), "")


def _cut(text: str) -> str:
    """`text` at most `_LONGEST` long, ended where a sentence ends if one does in time."""
    if len(text) <= _LONGEST:
        return text
    kept = ""
    for sentence in _SENTENCE_END.split(text):
        if len(kept) + len(sentence) > _LONGEST:
            break
        kept = f"{kept} {sentence}".strip()
    return kept or text[: _LONGEST - 1].rstrip() + "…"
