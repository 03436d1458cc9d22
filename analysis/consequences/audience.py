"""Whom a fact concerns, what it does to them, and how many of them meet it."""

import re
from collections import Counter
from collections.abc import Sequence

from analysis.facts.python.classes import BASE_CLASS, BASE_FILE
from analysis.facts.python.signatures import alternatives
from analysis.models import BREAKING, DEPENDENCIES, EXTRAS, OPERATIONAL, Fact, FactKind
from analysis.models.consequences import Effect, Whom
from analysis.paths import Kind, kind
from analysis.ranking.vocabulary import AREAS

RESULT = "(return)"  # ends the name of a fact about what a function returns
MOST, INTERFACE, HARDLY_ANY = 0, 1, 4  # how many people meet a fact, by rank
_FUNCTIONS = 4  # that lose or gain the same parameter, as those of an interface do

_BEHIND_THE_SCENES = frozenset(
    {
        FactKind.FILE_DELETED,
        FactKind.TEST_REMOVED,
        FactKind.CONCURRENCY,
        FactKind.MEMORY,
        FactKind.LAYOUT,
    }
)
_WIDE = frozenset({FactKind.REQUIRED_METHOD, FactKind.ADDED_PARAMETER, FactKind.REMOVED_BASE})  # which subclasses meet
_IMPORTED = frozenset({FactKind.REMOVED_NAME, FactKind.RENAMED_NAME, FactKind.MOVED_NAME})
_OF_SETTINGS = frozenset(
    {
        FactKind.DEFAULT_CHANGED,
        FactKind.SETTING_ON,
        FactKind.CONDITIONAL_DEFAULT,
        FactKind.DEPRECATED,
        FactKind.RETYPED,
        FactKind.VALUES_ADDED,
        FactKind.NEW_SETTING,
    }
)  # or of what code calls
# Lists of dependencies for tests, documents or tools of the project alone.
FOR_DEVELOPERS = re.compile(
    r"(^|[/_.-])(tests?|docs?|lint|dev|ci|bench\w*|examples?|tools?|rocm-test|nightly\w*)(?=[/_.-]|$)", re.IGNORECASE
)
_PRIVATE = re.compile(r"(?:^|\.)_(?!_\w+__(?:\W|$))|_fake$")  # what stands in for an operator while code is traced
# A private method of a class that plug-ins derive from, as its role says, and override for want of a hook.
_DERIVED = re.compile(
    r"[A-Za-z]\w*(?:Runner|Worker|Executor|Scheduler|Platform|Backend|Connector|Builder|Impl)\._[a-z]\w*\b(?!\.)"
)
_TEST_VARIABLE = re.compile(r"(?:^|_)(?:TESTS?|TESTING|CI|NIGHTLY)(?:_|$)")
_PLATFORM = re.compile(
    r"\b(?:Python|CUDA|ROCm|PyTorch|torch|compute capability|sm_?\d+|glibc|gcc|Ubuntu)\b.*\d", re.IGNORECASE
)
_SETTING = re.compile(
    r"[-/]|[a-z]\w*:\w|[A-Z][A-Z0-9]*_[A-Z0-9_]+$|\w*(?:Config|Args|Settings|Options|Params|Request)\.\w+$"
)


def whom(fact: Fact) -> Whom:
    """Return whom a fact concerns; internals where hardly anybody meets it."""
    is_call = fact.kind is FactKind.SECURITY and fact.path is not None  # rather than what the author says of it
    if is_call or fact.kind in _BEHIND_THE_SCENES or reach(fact) == HARDLY_ANY:
        return Whom.INTERNALS
    if fact.kind is FactKind.SUPPORT_DROPPED:
        return Whom.OPERATORS if _PLATFORM.search(fact.name) else Whom.USERS
    if fact.kind in OPERATIONAL or fact.kind in (FactKind.SECURITY, FactKind.REVERT):
        return Whom.USERS
    if fact.kind in DEPENDENCIES or fact.kind in EXTRAS:
        return Whom.OPERATORS
    if fact.kind in _OF_SETTINGS and is_setting(fact.name):
        return Whom.USERS
    return Whom.EXTENDERS


def effect(fact: Fact) -> Effect:
    """Return what a fact does to whom it concerns."""
    match fact.kind:
        case FactKind.SECURITY:
            return Effect.SECURITY
        case FactKind.DEPRECATED:
            return Effect.DEPRECATION
        case FactKind.VALUES_ADDED | FactKind.NEW_SETTING | FactKind.NEW_METHOD:
            return Effect.ADDITION
        case each if each in DEPENDENCIES or each in EXTRAS:
            return Effect.REQUIREMENT
        case _:
            return Effect.BREAK if fact.breaking else Effect.BEHAVIOUR


def is_setting(name: str) -> bool:
    """Return whether a name is one that users set: a flag, an environment variable, a field of a configuration."""
    return bool(_SETTING.match(name))


def reach(fact: Fact) -> int:
    """Return how many other people's code or deployments can meet a change, by rank: 0 for most of them, 4 for hardly any."""
    path = (fact.path or "").lower()
    if fact.kind in OPERATIONAL:
        return HARDLY_ANY if _TEST_VARIABLE.search(fact.name) else MOST
    if fact.kind in DEPENDENCIES or fact.kind in EXTRAS:
        gone = fact.kind in (FactKind.DEPENDENCY_REMOVED, FactKind.EXTRA_REMOVED)
        return HARDLY_ANY if FOR_DEVELOPERS.search(path) else 1 + (fact.kind in EXTRAS or gone)
    if path and kind(path) is not Kind.SOURCE:
        return HARDLY_ANY
    if _PRIVATE.search(fact.name.partition("(")[0]):
        is_method = fact.kind in BREAKING and _DERIVED.match(fact.name)
        return 3 if fact.overridden or is_method else HARDLY_ANY
    if fact.kind in _OF_SETTINGS and is_setting(fact.name):
        # Of None and False code asks whether it is on: both are no.
        return HARDLY_ANY if (fact.kind, fact.old, fact.new) == (FactKind.DEFAULT_CHANGED, "None", "False") else MOST
    return _reach_in_code(fact, path)


def is_interface(facts: Sequence[Fact]) -> bool:
    """Return whether facts are about a member or a parameter that several have, which others define, too."""
    most = max(Counter(re.split(r"[.(]", each.name)[-1] for each in facts).values())
    is_one = 1 < most == len(facts) or (most >= _FUNCTIONS and "(" in facts[0].name)
    return is_one and any(reach(each) < HARDLY_ANY for each in facts)


def _reach_in_code(fact: Fact, path: str) -> int:
    """Return how much other code can meet a change, by rank; an annotation is met by none, and models by hardly any."""
    is_base = BASE_FILE.search(path) or BASE_CLASS.match(fact.name)
    if fact.kind is FactKind.MOVED_MODULE:
        return MOST
    if "__post_init__" in fact.name:
        return HARDLY_ANY
    if fact.kind in _WIDE or is_base or AREAS["touches plug-in points"].search(path):
        return INTERFACE
    if fact.kind is FactKind.RETYPED and fact.name.endswith(RESULT):
        return HARDLY_ANY if alternatives(fact.old or "") & alternatives(fact.new or "") else 3
    if fact.kind is FactKind.RETYPED or AREAS["touches models"].search(path):
        return HARDLY_ANY
    return 2 if fact.kind in _IMPORTED and "." not in fact.name else 3
