"""The purpose of a commit in its author's words: from the pull request or the message, without template boilerplate."""

import re

from analysis.instructions import without_instructions_by_sentence
from analysis.models import Commit
from analysis.text import one_line

_MAX_LENGTH = 400  # characters; about three sentences

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
_PURPOSE_HEADING = re.compile(
    r"\b(purpose|summary|description|motivation|why|what|overview|problem|background|context|changes?|introduction)\b|目的|说明|描述|概述|背景",
    re.IGNORECASE,
)
_OTHER_HEADING = re.compile(
    r"\b(test|checklist|result|plan|docs?|documentation|notes?|todo|benchmarks?)\b|测试|结果", re.IGNORECASE
)
_FORM = re.compile(
    r"^\s*(?:fill in|please |purpose of this pr|_?no response_?|n/?a\b|essential elements)|PLEASE FILL IN",
    re.IGNORECASE,
)
_EMPHASIS = re.compile(r"(\*\*|__|~~)(?=\S)(.+?)(?<=\S)\1")
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])(?:\s+|(?<=[。！？]))")


def purpose(commit: Commit) -> str:
    """Return the author's description of the commit on one line, at most 400 characters; "" if there is none.

    The result is plain text, without images, link targets, HTML, checklists, trailers and code blocks.
    """
    for text in (commit.pull.body if commit.pull else "", commit.body):
        prose = _first_sentences(" ".join(without_instructions_by_sentence(_plain_prose(text)).split()))
        if prose and prose.casefold() != commit.subject.casefold():
            return prose
    return ""


def _plain_prose(text: str) -> str:
    text = _DETAILS.sub("", _COMMENT.sub("", text.replace("\r\n", "\n")))
    text = _RULE.sub("", text)
    text = _DEFINITION.sub("", _HTML.sub("", _FENCE.sub("", text)))
    text = _ADDRESS.sub("", _LINK.sub(r"\1", _IMAGE.sub("", text)))
    text = _TRAILER.sub("", text)
    return one_line(" ".join(_EMPHASIS.sub(r"\2", _best_section(text)).split()))


def _best_section(text: str) -> str:
    """Return the section whose heading announces the purpose, else the first that is not about tests."""
    sections: list[tuple[str, list[str]]] = [("", [])]
    for line in text.split("\n"):
        if heading := _HEADING.match(line):
            sections.append((heading["marked"] or heading["bold"], []))
        elif not _CHECKBOX.match(line) and not _FORM.search(line) and not line.lstrip().startswith("|"):
            sections[-1][1].append(_BULLET.sub("", line))
    filled = [(title, "\n".join(lines).strip()) for title, lines in sections if any(line.strip() for line in lines)]
    wanted = [body for title, body in filled if _PURPOSE_HEADING.search(title)]
    allowed = [body for title, body in filled if not _OTHER_HEADING.search(title)]
    return next(iter(wanted + allowed), "")


def _first_sentences(text: str) -> str:
    """Cut `text` to at most `_MAX_LENGTH` characters, at the end of a sentence if possible."""
    if len(text) <= _MAX_LENGTH:
        return text
    found = ""
    for sentence in _SENTENCE_END.split(text):
        if len(found) + len(sentence) > _MAX_LENGTH:
            break
        found = f"{found} {sentence}".strip()
    return found or text[: _MAX_LENGTH - 1].rstrip() + "…"
