"""Titles as sentences of a digest: without tags and pull request number, and whom they concern."""

import re

from analysis.instructions import without_instructions
from analysis.models import Commit
from analysis.ranking.signals import split_title
from analysis.text import one_line

# What ends a title and says nothing: its number, also if it is cut, what it closes, a remark of how often it was tried.
END = re.compile(r"(?:\s*(?:\(#\d{1,9}(?:\)|…|\.\.\.)|\[[a-z]+\]|\b(?i:fixes|closes|resolves):? #\d{1,9}))+\s*$")
_ESCAPES = re.compile(r"\\(?=[{}\[\]\"'`_*#])")  # of a shell or of Markdown
_TAG = re.compile(r"\[([^\]]{1,40})\]|^\s*([A-Za-z][\w/ -]{0,24})(?:\(([^)]{1,40})\))?!?\s*:")
_NAME_IN_CODE = re.compile(r"[_.()/]\w|\w[A-Z]|^[-.]")  # in a word
_PART = re.compile(r"\d+\s*/\s*[\dNn]+|v?\d+[a-z]?", re.IGNORECASE)
_LABEL = re.compile(r"^(?:\([\w -]{1,24}\)|(?:fix|bug|feat)\w*\[[^\]]{1,40}\])\s*:\s*", re.IGNORECASE)  # `(bugfix): …`
NEXT_VERSION = re.compile(r"\w ?V\d+$", re.IGNORECASE)  # of a part of the project, as a tag names it: `Model Runner V2`
# Tags that say what kind of change it is rather than which part of the project it is in.
_KIND = re.compile(
    r"bugs?|(bug|hot)?-?\s*fix(es)?|add(s|ed|ing)?|feat(ure)?s?|perf(ormance)?|refactor(ing)?|chore|misc|minor|docs?|tests?|ci|build|ci/build|core|model|"
    r"frontend|revert|cleanup|clean up|style|rfc|wip|new|be|main|master|enhancement|improvement|security|deprecat\w*|"
    r"easy|models?|hardware|usage|ux|cleanups|refactor|kernels?|critical|trivial",
    re.IGNORECASE,
)
_VERBAL = re.compile(r"(?:please\s+)?(?:enabl|implement|allow|add\w* back\b)", re.IGNORECASE)  # not of adding alone
_SUPPORT = re.compile(r"((?!(?:fix|remov|drop|refactor|updat|improv|disabl)\w* ).*\S)\s+support", re.IGNORECASE)
_ADDING = re.compile(
    r"^(?:please\s+)?(?:(?:initial|new model|first|basic|experimental|full)\s+)*"
    r"(?:add(?:s|ed|ing)?|support(?:s|ed|ing)?|enabl(?:e|es|ed|ing)|implement(?:s|ed|ing)?|introduc(?:e|es|ed|ing)|"
    r"integrat(?:e|es|ed|ing)|allow(?:s|ed|ing)?|initial|new)\b[\s:]*"
    r"(?:(?:initial|basic|new|model)\s+)*(?:(?:support\s+)?(?:for|of)\s+|support\s+to\s+)?(?:the\s+|an?\s+)?",
    re.IGNORECASE,
)


def plain_title(commit: Commit) -> str:
    """Return the title without its tags, instructions and the pull request's number; the short SHA if no words are left."""
    title = " ".join(_ESCAPES.sub("", END.sub("", one_line(without_instructions(commit.subject)))).split())
    words = _LABEL.sub("", split_title(title)[1]).lstrip(":-–— ")
    return (_capitalized(words) if words else title) or commit.short_sha


def number_of(commit: Commit) -> str:
    """Return what a commit is called beside its title: the number of its pull request, or else its short SHA."""
    return f"#{commit.pr}" if commit.pr else commit.short_sha


def concerned_parts(commit: Commit) -> tuple[str, ...]:
    """Return the parts of the project that the title's tags name: `[Bugfix][Model Runner V2]` gives `Model Runner V2`."""
    title = one_line(without_instructions(commit.subject))  # unseen characters hide no instruction
    tags = title[: len(title) - len(split_title(title)[1])]
    found = [part for match in _TAG.finditer(tags) for part in match.groups() if part]
    return tuple(
        dict.fromkeys(
            name for each in found if (name := each.strip()) and not _KIND.fullmatch(name) and not _PART.fullmatch(name)
        )
    )


def added_feature(commit: Commit) -> str:
    """Return what a title says that the commit adds: `Add support for M-RoPE` gives `M-RoPE`; "" if it says no such thing."""
    title = plain_title(commit)
    match = _ADDING.match(title)
    if not match and (named := _SUPPORT.fullmatch(title)):
        return named[1]
    if not match or _VERBAL.match(title):
        return title if match else ""
    rest = re.sub(r"\s+(?:model\s+)?support$", "", title[match.end() :].strip())
    return _capitalized(rest)


def names_code(title: str) -> bool:
    """Return whether a word of a title is written as names in code are."""
    return any(_NAME_IN_CODE.search(word) for word in title.split())


def _capitalized(words: str) -> str:
    """Begin with a capital letter, unless the first word is a name in code."""
    first = words.split(maxsplit=1)[0] if words else ""
    return words if _NAME_IN_CODE.search(first) else words[:1].upper() + words[1:]
