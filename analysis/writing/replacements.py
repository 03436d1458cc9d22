"""The replacement of what a commit removes, where the commit, its changelog or a deprecation notice says so."""

import re
from collections.abc import Iterator

from analysis.diff import hunks
from analysis.models import Commit, Fact
from analysis.paths import Kind, kind

_MAX_SENTENCE = 400  # characters; what is longer is no sentence about a replacement
_AROUND = 100  # characters before a name in a patch, and half of those after it
_SENTENCE_END = re.compile(r"(?<=[.!?;。！？；])\s+|\n{1,}(?=\s*(?:[-*+]|\d+[.)]|$))")
_SAID = re.compile(r"\"([^\"]+)\"|'([^']+)'|#\s*(.+)")
_CODE = re.compile(r"[=(){}\[\]]|^(?:def|class|return|if|elif|else|for|while|import|from|raise|with|@)\b")
_OLD_NAME = "\0"  # stands for the removed name, in patterns and in sentences
_NEW_NAME = r"[`'\"]*(?P<new>(?:--)?[A-Za-z_\0][\w./\0-]{1,60}[\w\0](?:=\w{1,20})?)(?:\(\))?[`'\"]*"
# The removed name is @; what takes its place is #; a bar separates what does not belong together.
_PATTERNS = tuple(
    re.compile(pattern.replace("@", _OLD_NAME).replace("#", _NEW_NAME), re.IGNORECASE)
    for pattern in (
        r"@[^|]{0,80}?\b(?:is|are|was|were|been|be|got|gets)\s+(?:now\s+)?replaced\s+(?:by|with)\s+(?:the\s+)?#",
        r"\breplac(?:e|es|ed|ing)\s+(?:the\s+)?[`'\"]*@[^|]{0,40}?\s(?:with|by)\s+(?:the\s+)?#",
        r"\brenam(?:e|es|ed|ing)\s+(?:the\s+)?[`'\"]*@[^|]{0,40}?\s(?:to|into)\s+#",
        r"@[^|]{0,120}?\b(?:in favou?r of|superseded by)\s+(?:the\s+)?#",
        r"@[^|]{0,160}?\b(?:use|set|pass|call|import)\s+(?:the\s+)?#[^|]{0,40}?\binstead\b",
        r"\b(?:use|set|pass|call|import)\s+(?:the\s+)?#\s+(?:instead|in place)\s+of\s+(?:the\s+)?[`'\"]*@",
        r"@[^|]{0,80}?[.;:,]\s*(?:please\s+)?(?:use|set|pass|switch to)\s+(?:the\s+)?#",
        r"#\s+(?:replaces|supersedes)\s+(?:the\s+)?[`'\"]*@",
    )
)


def replacement(commit: Commit, fact: Fact) -> str:
    """Return the replacement of what `fact` says is removed, as written; "" if none is named."""
    if not fact.removes or fact.new:
        return ""
    name = _bare_name(fact.name)
    if len(name) < 3:  # noqa: PLR2004 (so short a name is in any sentence)
        return ""
    whole = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
    for sentence in _sentences(commit, name):
        marked = whole.sub(_OLD_NAME, sentence.replace(_OLD_NAME, " "))
        for match in filter(None, (pattern.search(marked) for pattern in _PATTERNS)):
            new = match["new"].replace(_OLD_NAME, name)
            if _is_a_name(new, name):
                return new
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
        documented = kind(file.path) is Kind.DOCS
        for hunk in hunks(file.patch):
            # A notice may be a string over several lines of code.
            lines = (line.text.strip() for line in hunk if line.sign == ("+" if documented else "-"))
            changed = " ".join(lines if documented else map(_prose, lines))
            for match in re.finditer(re.escape(name), changed):
                yield changed[max(0, match.start() - _AROUND) : match.end() + 2 * _AROUND]


def _prose(line: str) -> str:
    """Return the prose in a line of code: its strings and its comment, with a bar in place of the rest."""
    said = [match[1] or match[2] or match[3] for match in _SAID.finditer(line)]
    if not said:
        return "|" if _CODE.search(line) else line
    return " ".join(each for each in said if " " in each) or "|"


def _bare_name(name: str) -> str:
    """Return the last part of a name: the parameter, the method, the flag."""
    inside = re.search(r"\(([^()]*)\)$", name)
    return (inside[1] if inside else name).rpartition(".")[2].strip()


def _is_a_name(new: str, old: str) -> bool:
    """Return whether `new` reads like a name of code and not like an English word, and is not the old name."""
    looks_like_code = bool(re.search(r"[_.\d/-]|[a-z][A-Z]", new)) or new.isupper()
    return looks_like_code and new != old
