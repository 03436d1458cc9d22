"""The consequence that a commit's title tells, where its facts tell none or less: a removal, a default, a fix, a feature."""

import re
from collections.abc import Sequence

from analysis.models import ChangeType, Commit, Entry, Importance
from analysis.models.consequences import Consequence, Effect, Whom
from analysis.models.impacts import Certainty
from analysis.paths import Kind, kind
from analysis.ranking.vocabulary import AREAS
from analysis.writing.titles import added_feature, plain_title

_BY_PRODUCTS = frozenset({ChangeType.DOCS, ChangeType.TESTS, ChangeType.CI_BUILD})
_REMOVES = re.compile(r"(?:remov|drop|delet|disabl|retir|replac|switch|renam)\w*\b", re.IGNORECASE)
# What an author calls breaking, and what changes by default.
_SAYS_BREAKING = re.compile(
    r"\b(?:remov(?:e|es|ed|al)|drop(?:s|ped)?|delete[sd]?)\b(?: (?!(?:for|of|from|in|on)\b)\S+){0,3} deprecat|"
    r"\bbreaking\b|\bdrop(?:s|ped|ping)?\b.{0,40}\bsupport\b",
    re.IGNORECASE,
)
_SAYS_DEFAULT = re.compile(
    r"\b(?:by default|as (?:the )?default|(?:change|set|make|new|update|enable|disable|default)\w*\b.{0,60}\bdefaults?\b)",
    re.IGNORECASE,
)
_SAYS_BEHAVIOUR = re.compile(
    r"(?:disabl|enforc|requir|reject|forbid|disallow|forc|always|never|stop|default|limit|raise an? error)\w*\b|"
    r"enabl\w+\b.*\bonly\b",
    re.IGNORECASE,
)
_OF_USERS = r"env(?:ironment)?[ -]?var\w*|flags?|CLI|command[- ]line(?: \w+)?"
_SAYS_SETTINGS = re.compile(
    rf"\b(?:chang|mov|renam|replac|convert|migrat)\w*\b.{{0,40}}\b(?:{_OF_USERS})\b", re.IGNORECASE
)
_NAMES_SETTING = re.compile(rf"(?<![\w-])--?[A-Za-z]|\b(?:{_OF_USERS})\b|\b[A-Z]+_[A-Z_]+\b")
_DEPRECATES = re.compile(r"deprecat\w+\b", re.IGNORECASE)
_SAYINGS = (
    (_SAYS_BREAKING.search, Effect.BREAK, 2),
    (_SAYS_DEFAULT.search, Effect.BEHAVIOUR, 1),
    (_SAYS_SETTINGS.search, Effect.BEHAVIOUR, 2),
    (_DEPRECATES.match, Effect.DEPRECATION, 2),
    (_SAYS_BEHAVIOUR.match, Effect.BEHAVIOUR, 3),
)
# What makes a fix worth picking, the worst first.
_FIXES = tuple(
    re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    for words in (
        r"security|vulnerab\w+|cve-\d+-\d+|injection|unsafe|denial of service",
        (
            r"crash\w*|segfault\w*|seg fault|illegal memory|illegal instruction|core dump\w*|panics?|\w+Error|aborts?|broken|"
            r"fail(?:s|ed|ing|ure)? to (?:start|load|launch|run|initiali[sz]e)|cannot (?:be )?(?:start|load|launch|run)\w*"
        ),
        r"hang(?:s|ing)?|deadlocks?|stuck|freez\w+|infinite (?:loop|wait)|livelock|never (?:returns|finishes)",
        (
            r"wrong|incorrect\w*|corrupt\w*|garbage|gibberish|nans?|stale|overflow\w*|accuracy|race(?: condition)?|duplicate\w*|"
            r"mismatch\w*|silently|lost|missing (?:results?|outputs?|tokens?)|single result"
        ),
        r"leak\w*|ooms?|out[- ]of[- ]memory",
    )
)
# What is wrong in tests, documents or messages alone breaks nobody's run.
_HARMLESS = re.compile(
    r"\b(?:unused|comments?|tests?|ci|flak\w+|typos?|lint|docs?|confusing|misleading|(?:error|warning|log|help)s? (?:messages?|texts?|outputs?))\b",
    re.IGNORECASE,
)
ANY_FIX = len(_FIXES)  # the place of a fix that does not say what went wrong
NAMED_FIX = ANY_FIX + 2  # that of one whose title says nothing of what it does
_DOES = re.compile(
    r"(?:fix|prevent|avoid|correct|handl|ensur|respect|restor|resolv|mak|us|set|sets|skip|allow|keep|do|don't|never|always|only|"
    r"wait|check|rais|return|add|remov|disabl|enabl|limit|chang|updat|support|work(?:s|ed)? ?around|re\w+)(?:e|s|es|ed|ing)?\b|\w+ly\b",
    re.IGNORECASE,
)
_MENDS = re.compile(r"\b(?:fix\w*|missing|back)\b", re.IGNORECASE)  # what is added again, or should have been there
_MERGE = re.compile(r"Merge (?:branch|remote|pull request)\b")
_SAYING = 3  # words of a title that says something; fewer name a part of the project
_CHANGED_CODE = re.compile(r"[+-](?!\s*(?:#|//))")  # a changed line that is no comment
# What a title says that a commit adds or removes, and what a changed line then holds.
_CLAIMS = tuple(
    (re.compile(rf"(?:add|introduc|creat|remov|delet|drop)\w* (?:\S+ ){{0,4}}?(?:{words})\b", re.IGNORECASE), evidence)
    for words, evidence in (
        (
            r"env(?:ironment)?[ -]?var(?:iable)?s?",
            re.compile(r"[\"'$]{?[A-Z]\w*_\w|environ|getenv|\benvs?\b|\bexport "),
        ),
        (r"(?:cli |command[ -]line )?flags?", re.compile(r"--\w|flag|bool|True|False", re.IGNORECASE)),
        (r"endpoints?", re.compile(r"[\"'`]/|rout|endpoint", re.IGNORECASE)),
    )
)


def claims(commit: Commit) -> Sequence[re.Pattern[str]]:
    """Return what a changed line of a commit has to hold if its title is right: a variable, a flag, an endpoint."""
    return [evidence for claim, evidence in _CLAIMS if claim.match(plain_title(commit))]


def is_contradicted(entry: Entry) -> bool:
    """Return whether a title says that the commit adds or removes something of which its source, read as a whole, shows nothing."""
    claimed = claims(entry.commit)
    patches = [file.patch or "" for file in entry.commit.files if kind(file.path) not in (Kind.TEST, Kind.DOCS)]
    if not claimed or not all(patches) or not patches or entry.commit.is_cut:
        return False
    changed = [line for patch in patches for line in patch.split("\n") if _CHANGED_CODE.match(line)]
    return not any(evidence.search(line) for evidence in claimed for line in changed)


def title_consequence(entry: Entry, what: str) -> Consequence | None:
    """Return what a commit's title says that happens, told as `what`; None where it says nothing to anybody else."""
    found = _told(entry)
    if found is None:
        return None
    whom, effect, reach = found
    return Consequence(what=what, whom=whom, effect=effect, reach=reach, certainty=Certainty.LIKELY)


def says_more(entry: Entry) -> bool:
    """Return whether a title tells a change as a whole: what it removes, replaces or makes the default."""
    title = plain_title(entry.commit)
    return bool(_REMOVES.match(title) or _SAYS_DEFAULT.search(title))


def is_important_feature(entry: Entry) -> bool:
    """Return whether a title adds something that matters more than what it changes for a few who extend the project."""
    return entry.ranked.importance is Importance.HIGH and _is_feature(entry)


def _told(entry: Entry) -> tuple[Whom, Effect, int] | None:
    """Return whom a title concerns, with what, and how many of them."""
    title, importance = plain_title(entry.commit), entry.ranked.importance
    if is_contradicted(entry) or _MERGE.match(title):
        return None
    shipped, notable = _has_files(entry, Kind.SOURCE, Kind.DEPENDENCY, Kind.BUILD), importance is not Importance.LOW
    if notable and shipped:
        for is_said, effect, reach in _SAYINGS:
            if is_said(title):
                return _whom(entry) if effect is not Effect.BEHAVIOUR else Whom.USERS, effect, reach
    is_fix = ChangeType.BUG_FIX in entry.ranked.change_types and _has_files(entry, Kind.SOURCE)
    if is_fix and not _HARMLESS.search(title):
        others = ANY_FIX + (importance is Importance.LOW) if _DOES.match(title) else NAMED_FIX
        severity = next((place for place, words in enumerate(_FIXES) if words.search(title)), others)
        if severity >= ANY_FIX and added_feature(entry.commit) and not _MENDS.search(title):
            return Whom.USERS, Effect.ADDITION, 3
        return Whom.USERS, Effect.FIX if severity else Effect.SECURITY, severity
    if notable and shipped and _is_feature(entry) and not _HARMLESS.search(title):
        return Whom.USERS, Effect.ADDITION, 3
    says = len(title.split()) >= _SAYING and shipped and notable and not _HARMLESS.search(title)
    tells_itself = importance is Importance.HIGH or says
    return (Whom.INTERNALS, Effect.OTHER, 3) if tells_itself else None


def _whom(entry: Entry) -> Whom:
    if _NAMES_SETTING.search(plain_title(entry.commit)):
        return Whom.USERS
    set_or_called = (AREAS["touches configuration"], AREAS["touches an interface"])
    paths = [file.path.lower() for file in entry.commit.files]
    return Whom.USERS if any(area.search(path) for area in set_or_called for path in paths) else Whom.EXTENDERS


def _is_feature(entry: Entry) -> bool:
    """Return whether a title adds something for users: not what only refactors, documents, tests or builds."""
    types = set(entry.ranked.change_types)
    by_product = types & _BY_PRODUCTS and ChangeType.FEATURE not in types
    return bool(added_feature(entry.commit)) and ChangeType.REFACTOR not in types and not by_product


def _has_files(entry: Entry, *kinds: Kind) -> bool:
    """Return whether the commit changes files of these kinds, or may do so because its files are unknown."""
    files = entry.commit.files
    return not files or any(kind(file.path) in kinds for file in files)
