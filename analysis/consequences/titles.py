"""The consequence that a commit's title tells, where its facts tell none or less: a removal, a default, a fix, a feature."""

import re

from analysis.consequences.audience import FOR_DEVELOPERS, effect
from analysis.models import ChangeType, Commit, Concern, Entry, Importance
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
    r"\bbreaking(?:[- ](?:changes?|api|backwards?)\b|(?=\W*:))|\bdrop(?:s|ped|ping)?\b.{0,40}\bsupport\b",
    re.IGNORECASE,
)
_SAYS_DEFAULT = re.compile(
    r"\b(?:by default|as (?:the )?default|(?:change|set|make|new|update|enable|disable|default)\w*\b.{0,60}\bdefaults?\b)",
    re.IGNORECASE,
)
_SAYS_BEHAVIOUR = re.compile(
    r"(?:disabl|enforc|requir|reject|refus|forbid|disallow|forc|stop|default|limit|fail(?! to\b)|raise an? error)\w*\b|"
    r"enabl\w+\b.*\bonly\b|"
    r"(?:add|remov|relax|skip|drop|loosen)\w* (?:\S+ ){0,3}?(?:check(?:ing)?|validation|restriction|guard|limit|constraint)s?\b|"
    r"(?:increas|rais|lower|reduc|chang)\w* .{0,40}\b(?:limits?|maximum|max|timeouts?|thresholds?)\b",
    re.IGNORECASE,
)
_OF_USERS = r"env(?:ironment)?[ -]?var\w*|flags?|CLI|command[- ]line(?: \w+)?"
_NAMES_SETTING = re.compile(rf"(?<![\w-])--?[A-Za-z]|\b(?:{_OF_USERS})\b|\b[A-Z]+_[A-Z_]+\b")
_DEPRECATES = re.compile(r"deprecat\w+\b", re.IGNORECASE)
_SAYINGS = (
    (_SAYS_BREAKING.search, Effect.BREAK, 2),
    (_SAYS_DEFAULT.search, Effect.BEHAVIOUR, 1),
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
            r"mismatch\w*|silently|lost|missing (?:results?|outputs?|tokens?)|single result|leak\w*|ooms?|out[- ]of[- ]memory"
        ),
    )
)
# What is wrong in tests, documents or messages alone breaks nobody's run.
_HARMLESS = re.compile(
    r"\b(?:unused|comments?|type hints?|annotations?|tests?|test_\w+|ci|flak\w+|typos?|docs?|confusing|misleading|"
    r"(?:error|warning|log|help)s? (?:messages?|texts?|outputs?)|"
    r"lint\w*|ruff|yapf|isort|flake8|pylint|mypy|pre-?commit|codeowners|fmt|formatting)\b",
    re.IGNORECASE,
)
# What nobody needs takes nothing from anybody.
_TIDIES = re.compile(
    r"(?:remov|drop|delet|clean|prun)\w* (?:\S+ ){0,2}(?:redundan\w+|unused|duplicat\w+|dead|unnecessary|unneeded|superfluous)\b",
    re.IGNORECASE,
)
ANY_FIX = len(_FIXES)  # the place of a fix that does not say what went wrong
EXPLAINS_NOTHING = re.compile(
    r"(?:to )?(?:tid(?:y|ie)|clean|document|refactor|rework|simplif|restructur|reorgani[sz]|polish|miscellaneous|minor|small|various|bump(?!.* and )|pin(?:ned)?\b|apply #|(?:mov|renam)(?:e|es|ed|ing) |extract)\w*\b",
    re.IGNORECASE,
)
_FASTER = re.compile(
    r"(?:avoid|reduc|eliminat|skip)\w*\b.*\b(?:extra|unnecessary|redundant|overhead|cop(?:y|ies)|allocations?|syncs?|latency)\b|"
    r"optimi[sz]|speed\b",
    re.IGNORECASE,
)
_FIXES_BY_TYPE = re.compile(r"\W*(?:\[[^\]]*\]\s*)*fix\b[^:]{0,40}:", re.IGNORECASE)  # `fix(shm): add barriers`
_MENDS = re.compile(r"\b(?:bug\w*|fix\w*|missing|back)\b", re.IGNORECASE)  # also what should have been there
_MERGE = re.compile(r"Merge (?:branch|remote|pull request)\b")
_NOTABLE = -2  # log-odds of a score; what has less is told by its facts alone, or if it mends something
_REMOVED_NAME = re.compile(
    r"(?i:remove|drop|delete)[sd]? (?:the )?(?:deprecated )?`?(?P<name>\w+_\w+|[A-Z]\w*[a-z][A-Z]\w+)\b"
)
_SAYING, _TURNED_OFF = 3, 2  # words of a title that says something; the place of a fix that turns something off


def removed_name(commit: Commit) -> str:
    """Return the name that a title says is removed; "" if it says no such thing."""
    match = _REMOVED_NAME.match(plain_title(commit))
    return match["name"] if match else ""


def is_contradicted(entry: Entry) -> bool:
    """Return whether a title says that a name is removed of which the commit's source, read as a whole, shows nothing."""
    return bool(removed_name(entry.commit) and _patches(entry.commit)) and not any(_changes_of_name(entry.commit))


def _patches(commit: Commit) -> list[str]:
    """Return the patches of a commit's source; none if one of them is unknown or cut."""
    patches = [file.patch or "" for file in commit.files if kind(file.path) not in (Kind.TEST, Kind.DOCS)]
    return patches if all(patches) and not commit.is_cut else []


def title_consequence(entry: Entry, what: str) -> Consequence | None:
    """Return what a commit's title says that happens, told as `what`; None where it says nothing to anybody else."""
    if not (found := _told(entry)):
        return None
    whom, effect_of, reach = found
    return Consequence(what=what, whom=whom, effect=effect_of, reach=reach, certainty=Certainty.LIKELY)


def says_more(entry: Entry) -> bool:
    """Return whether a title tells a change as a whole: what it removes, replaces or makes the default."""
    title = plain_title(entry.commit)
    return bool(_REMOVES.match(title) or _SAYS_DEFAULT.search(title))


def is_written(entry: Entry) -> bool:
    """Return whether a model wrote about a commit."""
    return entry.analysis is not None and entry.analysis.by == "model"


def concern_of(entry: Entry) -> Concern | None:
    """Return whom a commit concerns, as a model says; None where none says so."""
    return entry.analysis.concerns if entry.analysis else None


def new_model(entry: Entry) -> str:
    """Return the model that a commit adds, as its title calls it; "" if it adds none, or the title tells more."""
    is_added = any(
        file.status == "added" and AREAS["touches models"].search(file.path.lower()) for file in entry.commit.files
    )
    name = re.sub(r" models?$", "", added_feature(entry.commit) or plain_title(entry.commit), flags=re.IGNORECASE)
    is_name = len(name.split()) < _SAYING and any(each.isupper() or each.isdigit() for each in name)
    return name if is_added and is_name and ChangeType.MODEL_SUPPORT in entry.ranked.change_types else ""


def _told(entry: Entry) -> tuple[Whom, Effect, int] | None:
    """Return whom a title concerns, with what, and how many of them."""
    title, importance = plain_title(entry.commit), entry.ranked.importance
    if is_contradicted(entry) or _MERGE.match(title):
        return None
    notable = importance is not Importance.LOW or entry.ranked.score > _NOTABLE
    harmless, shipped = _HARMLESS.search(title), is_shipped(entry)
    tells = notable and shipped and not harmless
    is_read = tells or (shipped and not harmless and is_written(entry))
    is_tested_alone = _has_files(entry, Kind.TEST) and not _has_files(entry, Kind.SOURCE)  # beside how it is built
    is_fix = ChangeType.BUG_FIX in entry.ranked.change_types
    mends = is_fix and _MENDS.search(title)
    is_said = is_read and not is_tested_alone and not _TIDIES.match(title)
    if is_said and (said := _said(entry, title)) and not (mends and said[1] is Effect.BEHAVIOUR):
        return (Whom.USERS, Effect.FIX, _TURNED_OFF) if is_fix and title.startswith("Disabl") else said
    if is_fix and _has_files(entry, Kind.SOURCE) and not harmless and not _is_only_faster(entry, title):
        return _fix(entry, title)
    if tells and (_is_feature(entry) or new_model(entry)):
        return Whom.USERS, Effect.ADDITION, 3
    tells = tells or (importance is Importance.MEDIUM and not harmless and _has_files(entry, Kind.DATA))
    tells_itself = importance is Importance.HIGH or (tells and len(title.split()) >= _SAYING)
    return (Whom.INTERNALS, Effect.OTHER, 3) if tells_itself else None


def _said(entry: Entry, title: str) -> tuple[Whom, Effect, int] | None:
    """Return what a title says of what goes, is deprecated or behaves otherwise."""
    lost, gained = _changes_of_name(entry.commit) if removed_name(entry.commit) else (0, 0)
    if lost > gained:
        return Whom.EXTENDERS, Effect.BREAK, 3
    for is_said, what, reach in _SAYINGS:
        if is_said(title):
            is_set = what is Effect.BEHAVIOUR or _NAMES_SETTING.search(title)
            return Whom.USERS if is_set else Whom.EXTENDERS, what, reach
    return None


def _fix(entry: Entry, title: str) -> tuple[Whom, Effect, int]:
    """Return what a fix mends, the worst first; an addition if only its tags call it a fix."""
    severity = next((place for place, words in enumerate(_FIXES) if words.search(title)), ANY_FIX)
    adds = added_feature(entry.commit) or any(effect(fact) is Effect.ADDITION for fact in entry.facts)
    is_mended = _MENDS.search(title) or _FIXES_BY_TYPE.match(entry.commit.title)
    if severity >= ANY_FIX and adds and not is_mended:
        return Whom.USERS, Effect.ADDITION, 3
    return Whom.USERS, Effect.FIX if severity else Effect.SECURITY, severity


def _is_only_faster(entry: Entry, title: str) -> bool:
    """Return whether a title tells of speed alone, and of nothing that went wrong."""
    faster = ChangeType.PERFORMANCE in entry.ranked.change_types or _FASTER.match(title)
    return bool(faster) and not any(words.search(title) for words in (*_FIXES, _MENDS))


def _changes_of_name(commit: Commit) -> tuple[int, int]:
    """Return how many removed and how many added lines of the source have the name that a title says is removed."""
    word = rf"(?!\s*(?:#|//)).*\b{re.escape(removed_name(commit))}\b"  # not in a comment
    lost, gained = (
        sum(len(re.findall(f"^{sign}{word}", patch, re.MULTILINE)) for patch in _patches(commit))
        for sign in ("-", r"\+")
    )
    return lost, gained


def _is_feature(entry: Entry) -> bool:
    """Return whether a title adds something for users: not what only refactors, documents, tests or builds."""
    types = set(entry.ranked.change_types)
    by_product = types & _BY_PRODUCTS and ChangeType.FEATURE not in types
    return bool(added_feature(entry.commit)) and ChangeType.REFACTOR not in types and not by_product


def is_shipped(entry: Entry) -> bool:
    """Return whether a commit changes what users run or install, or may do so because its files are unknown."""
    installed = [each for each in entry.commit.files if kind(each.path) in (Kind.DEPENDENCY, Kind.BUILD)]
    return _has_files(entry, Kind.SOURCE) or not all(FOR_DEVELOPERS.search(each.path) for each in installed)


def _has_files(entry: Entry, *kinds: Kind) -> bool:
    """Return whether the commit changes files of these kinds, or may do so because its files are unknown."""
    files = entry.commit.files
    return not files or any(kind(file.path) in kinds for file in files)
