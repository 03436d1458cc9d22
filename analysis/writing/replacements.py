"""What replaces something that a commit removes, where the commit, its changelog or a deprecation notice says so."""

import re
from collections.abc import Iterator

from analysis.diff import hunks
from analysis.models import Commit, Fact
from analysis.paths import Kind, kind

_MAX_SENTENCE = 400  # characters; what is longer is no sentence about a replacement
_AROUND = 100  # characters before a name in a patch, and half of those after it
_SENTENCE_END = re.compile(r"(?<=[.!?;。！？；])\s+|\n{1,}(?=\s*(?:[-*+]|\d+[.)]|$))")
_NEW_NAME = r"[`'\"]*(?P<new>(?:--)?[A-Za-z_][\w./-]{1,60}\w(?:=\w{1,20})?)(?:\(\))?[`'\"]*"
# The removed name stands for @; what takes its place is `new`.
_PATTERNS = tuple(
    pattern.replace("@", "{name}").replace("#", _NEW_NAME)
    for pattern in (
        r"@.{0,80}?\b(?:is|are|was|were|been|be|got|gets)\s+(?:now\s+)?replaced\s+(?:by|with)\s+(?:the\s+)?#",
        r"\breplac(?:e|es|ed|ing)\s+(?:the\s+)?[`'\"]*@.{0,40}?\s(?:with|by)\s+(?:the\s+)?#",
        r"\brenam(?:e|es|ed|ing)\s+(?:the\s+)?[`'\"]*@.{0,40}?\s(?:to|into)\s+#",
        r"@.{0,120}?\b(?:in favou?r of|superseded by)\s+(?:the\s+)?#",
        r"@.{0,160}?\b(?:use|set|pass|call|import)\s+(?:the\s+)?#.{0,40}?\binstead\b",
        r"\b(?:use|set|pass|call|import)\s+(?:the\s+)?#\s+(?:instead|in place)\s+of\s+(?:the\s+)?[`'\"]*@",
        r"@[^|]{0,80}?[.;:,]\s*(?:please\s+)?(?:use|set|pass|switch to)\s+(?:the\s+)?#",
        r"#\s+(?:replaces|supersedes)\s+(?:the\s+)?[`'\"]*@",
    )
)


def replacement(commit: Commit, fact: Fact) -> str:
    """Return the name that replaces what `fact` says is gone, as written; "" if nobody says so."""
    if not fact.removes or fact.new:
        return ""
    name = _bare_name(fact.name)
    if len(name) < 3:  # noqa: PLR2004 (so short a name is in any sentence)
        return ""
    patterns = [
        re.compile(each.replace("{name}", rf"(?<![\w-]){re.escape(name)}(?![\w-])"), re.IGNORECASE)
        for each in _PATTERNS
    ]
    for sentence in _sentences(commit, name):
        for pattern in patterns:
            match = pattern.search(sentence)
            if match and _is_a_name(match["new"], name):
                return match["new"]
    return ""


def _sentences(commit: Commit, name: str) -> Iterator[str]:
    """Yield the sentences with `name` of the commit's texts, of its changelog's new lines and of the notices that it removes."""
    for text in commit.texts:
        for sentence in _SENTENCE_END.split(text):
            line = " ".join(sentence.split())
            if name in line and len(line) <= _MAX_SENTENCE:
                yield line
    for file in commit.files:
        if not file.patch or name not in file.patch:
            continue
        sign = "+" if kind(file.path) is Kind.DOCS else "-"
        for hunk in hunks(file.patch):
            # A notice may be a string over several lines of code.
            changed = " ".join(line.text.strip(" \t\"'") for line in hunk if line.sign == sign)
            for match in re.finditer(re.escape(name), changed):
                yield changed[max(0, match.start() - _AROUND) : match.end() + 2 * _AROUND]


def _bare_name(name: str) -> str:
    """Return the last part of a name: the parameter, the method, the flag."""
    inside = re.search(r"\(([^()]*)\)$", name)
    return (inside[1] if inside else name).rpartition(".")[2].strip()


def _is_a_name(new: str, old: str) -> bool:
    """Return whether `new` reads like a name of code and not like an English word, and is not the old name."""
    looks_like_code = bool(re.search(r"[_.\d/-]|[a-z][A-Z]", new)) or new.isupper()
    return looks_like_code and new != old
