"""The change types of a commit, derived from its tags, words, files and facts. Any type may occur in any tier."""

import re
from collections.abc import Sequence
from functools import lru_cache

from analysis.instructions import without_instructions
from analysis.models import ChangeType, Commit, Fact, FactKind
from analysis.paths import Kind, kind
from analysis.ranking.signals import split_title

_TAG_WORDS = {
    ChangeType.BUG_FIX: r"bugs?|bug ?-?fix(es)?|hot ?fix|fix(es)?|critical",
    ChangeType.FEATURE: r"feat(ure)?s?",
    ChangeType.PERFORMANCE: r"perf(ormance)?|optimi[sz]ation",
    ChangeType.REFACTOR: r"\w*\s*refactor(ing)?|deprecation|chores?|code ?quality|clean[ -]?up|style",
    ChangeType.SECURITY: r"security|cve",
    ChangeType.MODEL_SUPPORT: r"(new )?models?",
    ChangeType.DOCS: r"docs?|documentation",
    ChangeType.TESTS: r"tests?|testing",
    ChangeType.CI_BUILD: r"ci|ci/?build|build|release|docker",
    ChangeType.DEPENDENCY: r"deps|dependenc(y|ies)|build\(deps\)",
    ChangeType.CONFIG: r"config(uration)?|env",
    ChangeType.REVERT: r"revert",
}
_TITLE_WORDS = {
    ChangeType.BUG_FIX: r"fix(e[sd]|ing)?|bug|bug-?fix(es)?|hot-?fix(es)?|prevent(s|ed)?|avoid(s|ed)?|correct(s|ed)?|workaround|crash\w*|hang|deadlock|leaks?|race condition",
    ChangeType.FEATURE: r"support(s|ing)?|introduce[sd]?|implement(s|ed)?|enable[sd]?|add(s|ed)?(?!.*\b(tests?|docs?|logs?|logging|ci|comments?|examples?)\b)",
    ChangeType.PERFORMANCE: r"speed[ -]?ups?|faster|optimi[sz]e[sd]?|optimi[sz](ing|ation)|reduce[sd]? .*(overhead|latency|memory|time)|zero-copy|throughput",
    ChangeType.REFACTOR: r"refactor\w*|clean(s|ed|ing)?[ -]?up|simplif\w+|renam(e[sd]?|ing)|move[sd]?|consolidate[sd]?|unif(y|ies|ied)|tid(y|ies)|dead code|unused|migrate[sd]?|remov(e[sd]?|ing|al)|drop(s|ped)?|delet(e[sd]?|ing|ion)|deprecat(e[sd]?|ing|ion)|extract(s|ed)?|replac(e[sd]?|ing)",
    ChangeType.SECURITY: r"security|vulnerab\w+|cve-\d+-\d+|ghsa\S*|path traversal|ssrf|sanitiz\w+",
    ChangeType.MODEL_SUPPORT: r"(support|add|new)\b.*\bmodels?|model support",
    ChangeType.DOCS: r"docs?|documentation|readme|docstrings?|typos?|document(s|ed|ing)?",
    ChangeType.TESTS: r"tests?|unit ?tests?|coverage",
    ChangeType.CI_BUILD: r"ci|nightly|workflow|buildkite|dockerfiles?|docker|wheels?|pre-commit|pipeline",
    ChangeType.CONFIG: r"default(s)?|config(uration)?|env(ironment)? var(iable)?s?|flags?|options?",
    ChangeType.DEPENDENCY: r"bump(s|ed)?|upgrade[sd]?|dependenc(y|ies)|requirements|pin(s|ned)?",
    ChangeType.REVERT: r"revert(s|ed|ing)?",
}
_TYPE_OF_FILES = {
    Kind.DOCS: ChangeType.DOCS,
    Kind.TEST: ChangeType.TESTS,
    Kind.CI: ChangeType.CI_BUILD,
    Kind.BUILD: ChangeType.CI_BUILD,
    Kind.DEPENDENCY: ChangeType.DEPENDENCY,
}
_TYPE_OF_FACTS = {
    FactKind.REVERT: ChangeType.REVERT,
    FactKind.SECURITY: ChangeType.SECURITY,
    FactKind.DEPENDENCY_MOVED: ChangeType.DEPENDENCY,
    FactKind.DEPENDENCY_ADDED: ChangeType.DEPENDENCY,
    FactKind.DEPENDENCY_REMOVED: ChangeType.DEPENDENCY,
    FactKind.DEFAULT_CHANGED: ChangeType.CONFIG,
    FactKind.REMOVED_ENV: ChangeType.CONFIG,
    FactKind.REMOVED_FLAG: ChangeType.CONFIG,
}
_ARCHITECTURE_FILES = 40  # source files; a change this wide is architectural, whatever its title says
_MOVED_FILES = 5  # source files added, removed or renamed
_MAX_TYPES = 4


def _compiled(table: dict[ChangeType, str]) -> dict[ChangeType, re.Pattern[str]]:
    return {key: re.compile(rf"(?<![\w/-])(?:{text})(?![\w-])") for key, text in table.items()}


_TAG_PATTERNS = _compiled(_TAG_WORDS)
_WORD_PATTERNS = _compiled(_TITLE_WORDS)


def change_types(commit: Commit, found: Sequence[Fact] = ()) -> tuple[ChangeType, ...]:
    """Return the commit's change types, the most specific first, at most four; `other` alone if none applies.

    Tags outweigh words, and words outweigh files: a title tagged [Bugfix] is a bug fix whatever it touches.
    """
    title = without_instructions(commit.subject).lower()  # faster than case-insensitive patterns
    tag, rest = split_title(title)
    kinds: dict[ChangeType, None] = {}
    if any(fact.kind is FactKind.REVERT for fact in found) or re.match(r"\s*revert\b", title):
        kinds[ChangeType.REVERT] = None
    kinds.update(dict.fromkeys(_types_of_tag(tag)))
    kinds.update(dict.fromkeys(of_files := _types_of_files(commit)))
    if of_files and set(of_files) <= {ChangeType.DOCS, ChangeType.TESTS}:
        kinds.pop(ChangeType.SECURITY, None)  # only said
    only_files = bool(kinds) and set(kinds) <= {ChangeType.DOCS, ChangeType.TESTS, ChangeType.CI_BUILD}
    if only_files and ChangeType.DOCS not in kinds and _WORD_PATTERNS[ChangeType.BUG_FIX].search(rest):
        kinds[ChangeType.BUG_FIX] = None
    elif ChangeType.REVERT not in kinds and not only_files:
        # In the title of a source change, words about documentation, tests or CI describe a by-product.
        by_products = (
            {ChangeType.DOCS, ChangeType.TESTS, ChangeType.CI_BUILD}
            if any(kind(path) is Kind.SOURCE for path in commit.paths)
            else set()
        )
        worded = [key for key, pattern in _WORD_PATTERNS.items() if key not in by_products and pattern.search(rest)]
        kinds.update(dict.fromkeys(worded))
    kinds.update({_TYPE_OF_FACTS[fact.kind]: None for fact in found if fact.kind in _TYPE_OF_FACTS})
    if _is_architectural(commit):
        kinds[ChangeType.ARCHITECTURE] = None
    return tuple(kinds)[:_MAX_TYPES] or (ChangeType.OTHER,)


@lru_cache(maxsize=4096)
def _types_of_tag(tag: str) -> tuple[ChangeType, ...]:
    return tuple(key for key, pattern in _TAG_PATTERNS.items() if pattern.search(tag))


def _types_of_files(commit: Commit) -> list[ChangeType]:
    kinds = {kind(file.path) for file in commit.files} - {Kind.GENERATED, Kind.VENDORED}
    if not kinds or not kinds <= set(_TYPE_OF_FILES):
        return []
    return sorted({_TYPE_OF_FILES[each] for each in kinds})


def _is_architectural(commit: Commit) -> bool:
    sources = [file for file in commit.files if kind(file.path) is Kind.SOURCE]
    moved = [file.status for file in sources if file.status in ("added", "removed", "renamed")]
    return len(sources) >= _ARCHITECTURE_FILES or (len(moved) >= _MOVED_FILES and set(moved) != {"added"})
