"""A commit in one line: what it changes for other people's code and deployments, from its facts or its title."""

import re
from collections.abc import Iterator, Mapping, Sequence

from analysis.facts.change import Change
from analysis.facts.dependencies import ANY_VERSION
from analysis.facts.requirements import is_installed_from
from analysis.locale import Catalogue, catalogue
from analysis.locale.punctuation import join_items
from analysis.models import DEPENDENCIES, Commit, Entry, Fact, FactKind, Importance, Language
from analysis.text import mentions, one_line, shorten
from analysis.writing.by_rules import code, how_to_keep, list_names
from analysis.writing.fact_sentences import FACT_SENTENCES
from analysis.writing.reasons import consequences
from analysis.writing.replacements import replacement
from analysis.writing.titles import added_feature, concerned_parts, plain_title

_LINE = 140  # characters, beyond which no further clause is begun
_MAX_NAMES = 2
_SHORT_NAMES = 40  # characters of two names that stand side by side
_MAX_PARTS = 2
_NAME = 80  # characters of a name or a path
_TITLE = 140
_FEATURE = 60
_REMOVED_PARAMETERS = frozenset({FactKind.REMOVED_PARAMETER})
_NEW_PARAMETERS = frozenset({FactKind.REQUIRED_PARAMETER})
_PARAMETERS = _REMOVED_PARAMETERS | _NEW_PARAMETERS
_SIGNATURES = frozenset(
    {*(kind for kind in FactKind if "PARAMETER" in kind.name), FactKind.REQUIRED_METHOD, FactKind.MEMBER_KIND}
)
_FOR_ALL = re.compile(r"(?:requirements/)?(?:pyproject|setup|requirements|common|base|core|main|package|Cargo|go)\.\w+")
_PARAMETER = re.compile(r"(?P<function>[^()]+)\((?P<parameter>[^()]+)\)")


def headline(entry: Entry, facts: Sequence[Fact], language: Language) -> str:
    """Return what a commit changes on one line with `code` spans: its facts in the given order, or else its title."""
    say = catalogue(language)
    if not facts:
        return _title_line(entry, say)
    if all(fact.kind is FactKind.SECURITY for fact in facts):
        return say("Security: {title}", title=_title(entry.commit))
    line, left = "", list(facts)
    for clause, covered in _clauses(entry.commit, facts, say):
        longer = say("; ").join([line, clause[0].lower() + clause[1:]]) if line else clause
        if line and len(longer) > _LINE:
            break
        line, left = longer, [each for each in left if each not in covered]
    return say("{change}, and {changes}", change=line, changes=_rest(left, say)) if left else line


def _rest(facts: Sequence[Fact], say: Catalogue) -> str:
    """Return how many further changes there are, of which sort if all are of one, and in how many files."""
    sorts, count = {_sort(fact.kind) for fact in facts}, len(facts)
    match sorts.pop() if len(sorts) == 1 else "other":  # a list of figures beside names is hard to read
        case "removal":
            changes = say.plural("{count} more removal", "{count} more removals", count)
        case "renaming":
            changes = say.plural("{count} more renamed or moved name", "{count} more renamed or moved names", count)
        case "signature":
            changes = say.plural("{count} more changed signature", "{count} more changed signatures", count)
        case _:
            changes = say.plural("{count} more change", "{count} more changes", count)
    files = len({fact.path for fact in facts if fact.path})
    if files < 2:  # noqa: PLR2004 (one file says nothing)
        return changes
    return say("{changes} in {files}", changes=changes, files=say.plural("{count} file", "{count} files", files))


def _sort(kind: FactKind) -> str:
    if kind in _SIGNATURES:
        return "signature"
    if kind.name.startswith("REMOVED_") or kind in (FactKind.SUPPORT_DROPPED, FactKind.UNCALLED_METHOD):
        return "removal"
    return "renaming" if kind.name.startswith(("RENAMED_", "MOVED_")) else "other"


def title_line(commit: Commit, say: Catalogue) -> str:
    """Return a commit's title without tags and number, and in parentheses whom its tags concern."""
    return _with_parts(plain_title(commit), commit, say)


def feature_line(commit: Commit, say: Catalogue) -> str:
    """Return what a commit adds by its title, and in parentheses whom its tags concern; the short SHA if it says nothing."""
    return _with_parts(shorten(added_feature(commit), _FEATURE), commit, say) or commit.short_sha


def _with_parts(words: str, commit: Commit, say: Catalogue) -> str:
    parts = [part for part in concerned_parts(commit) if part.casefold() not in words.casefold()][:_MAX_PARTS]
    return f"{words} ({join_items(parts, say)})" if words and parts else words


def _title_line(entry: Entry, say: Catalogue) -> str:
    line = shorten(title_line(entry.commit, say), _TITLE)
    follows = _consequence(entry, say) if entry.ranked.importance is Importance.HIGH else ""
    return say("{change}; {consequence}", change=line, consequence=follows) if follows else line


def _title(commit: Commit) -> str:
    return shorten(plain_title(commit), _TITLE)


def _consequence(entry: Entry, say: Catalogue) -> str:
    """Return what follows from a commit that only its title tells: a model's advice, or what its facts entail."""
    if entry.analysis and entry.analysis.by == "model" and entry.analysis.advice:
        return shorten(one_line(entry.analysis.advice[0]), _TITLE)
    return next(iter(consequences(entry, say.language, facts_only=True)), "")


def _clauses(commit: Commit, facts: Sequence[Fact], say: Catalogue) -> Iterator[tuple[str, Sequence[Fact]]]:
    """Yield the changes, each with the facts that it covers fully or as "and 2 more"."""
    groups: dict[object, list[Fact]] = {}
    changes = _parameter_changes(facts)
    for fact in facts:
        match = _PARAMETER.fullmatch(fact.name) if fact.kind in _PARAMETERS else None
        key = changes[match["function"]] if match else (fact.kind, _module(fact) or _lone_file(commit, fact))
        groups.setdefault(key, []).append(fact)
    for alike in groups.values():
        if alike[0].kind in _PARAMETERS:
            yield _signature(alike, say), alike
        else:
            yield _clause(commit, alike, say), alike


def _parameter_changes(facts: Sequence[Fact]) -> Mapping[str, frozenset[tuple[FactKind, str]]]:
    """Return function -> how its parameters change, to tell together of functions that change alike."""
    found: dict[str, set[tuple[FactKind, str]]] = {}
    for fact in facts:
        if fact.kind in _PARAMETERS and (match := _PARAMETER.fullmatch(fact.name)):
            found.setdefault(match["function"], set()).add((fact.kind, match["parameter"]))
    return {function: frozenset(changes) for function, changes in found.items()}


def _clause(commit: Commit, alike: Sequence[Fact], say: Catalogue) -> str:
    first, names = alike[0], _names([fact.name for fact in alike], say)
    match first.kind:
        case FactKind.DEFAULT_CHANGED:
            new = code(shorten(first.new or "None", _NAME))
            clause = say("{name} now defaults to {new}", name=code(shorten(first.name, _NAME)), new=new)
            return say("{change}; to keep the old behaviour, {how}", change=clause, how=how_to_keep([first], say)) + (
                f" {say('and {count} more', count=len(alike) - 1)}" if len(alike) > 1 else ""
            )
        case FactKind.DEPRECATED:
            return _deprecation(alike, names, say)
        case FactKind.MOVED_NAME:
            return say("Moves {names} to {new}", names=names, new=_dotted(first.new))
        case FactKind.MOVED_MODULE:
            return say("Moves {old} to {new}", old=_dotted(first.name), new=_dotted(first.new)) + (
                f" {say('and {count} more', count=len(alike) - 1)}" if len(alike) > 1 else ""
            )
        case FactKind.REMOVED_NAME if _is_deleted(commit, first):
            clause = say("Removes the module {module} with {names}", names=names, module=_module(first))
        case FactKind.REMOVED_NAME:
            clause = say("Removes {names} from {module}", names=names, module=_module(first))
        case FactKind.DEPENDENCY_MOVED if first.old == ANY_VERSION and len(alike) == 1:
            clause = say("Now requires {names}", names=_names([f"{first.name}{first.new}"], say))
        case FactKind.REMOVED_FLAG | FactKind.REMOVED_ROUTE:
            clause = say(FACT_SENTENCES[first.kind].change, names=names)
        case _:
            shown = [fact.model_copy(update={"name": shorten(fact.name, _NAME)}) for fact in alike]
            clause = say(FACT_SENTENCES[first.kind].change, names=list_names(shown, say, _MAX_NAMES))
            if file := _lone_file(commit, first):
                clause = say("{change} in {file}", change=clause, file=code(file))
    instead = replacement(commit, first)
    return say("{change}; use {new} instead", change=clause, new=code(instead)) if instead else clause


def _is_deleted(commit: Commit, fact: Fact) -> bool:
    """Return whether the commit deletes the file that a fact is in."""
    return any(file.path == fact.path and file.status == "removed" for file in commit.files)


def _deprecation(alike: Sequence[Fact], names: str, say: Catalogue) -> str:
    """Return what is deprecated, with the version that removes it and what replaces it if all have these in common."""
    clause = say(FACT_SENTENCES[FactKind.DEPRECATED].change, names=names)
    untils, replacements = {fact.until for fact in alike}, {fact.new for fact in alike}
    if len(untils) == 1 and (until := untils.pop()):
        clause = say("{change}, to be removed in {version}", change=clause, version=until)
    if len(replacements) == 1 and (new := replacements.pop()):
        clause = say("{change}; use {new} instead", change=clause, new=code(new))
    return clause


def _signature(alike: Sequence[Fact], say: Catalogue) -> str:
    """Return how the parameters of functions change that change alike."""
    found = [(match, fact.kind) for fact in alike if (match := _PARAMETER.fullmatch(fact.name))]
    gone = list(dict.fromkeys(match["parameter"] for match, kind in found if kind in _REMOVED_PARAMETERS))
    needed = list(dict.fromkeys(match["parameter"] for match, kind in found if kind in _NEW_PARAMETERS))
    called = list(dict.fromkeys(f"{match['function'].removesuffix('.__init__')}()" for match, _ in found))
    function, count = _names(called, say), len(called)
    if gone and needed:
        new, old = _names(needed, say), _names(gone, say)
        return say.plural(
            "{function} takes {new} instead of {old}",
            "{function} take {new} instead of {old}",
            count,
            function=function,
            new=new,
            old=old,
        )
    names = _names(gone or needed, say)
    if gone:
        return say.plural(
            "{function} no longer takes {names}",
            "{function} no longer take {names}",
            count,
            function=function,
            names=names,
        )
    return say.plural(
        "{function} now requires {names}", "{function} now require {names}", count, function=function, names=names
    )


def _names(names: Sequence[str], say: Catalogue) -> str:
    """Return the first name, the second if both are short, and the number of the others."""
    count = _MAX_NAMES if sum(map(len, names[:_MAX_NAMES])) <= _SHORT_NAMES else 1
    shown = join_items([code(shorten(name, _NAME)) for name in names[:count]], say)
    left = len(names) - count
    return f"{shown} {say('and {count} more', count=left)}" if left > 0 else shown


def _module(fact: Fact) -> str:
    """Return the module that a name was in, or "" where that does not matter."""
    return _dotted(fact.path) if fact.kind in (FactKind.REMOVED_NAME, FactKind.MOVED_NAME) else ""


def _lone_file(commit: Commit, fact: Fact) -> str:
    """Return the requirements file whose dependency alone changes; "" if others do, or all users install what it lists."""
    if fact.kind not in DEPENDENCIES or not fact.path or _FOR_ALL.fullmatch(fact.path):
        return ""
    change = Change(commit)
    others = [each for each in commit.files if each.path != fact.path and is_installed_from(change, each)]
    alone = not any(each.patch is None or mentions(each.patch.lower(), fact.name.lower()) for each in others)
    return fact.path if alone else ""


def _dotted(place: str | None) -> str:
    """Return a Python file, with a line or without, as the module that is imported; another file as its path."""
    path = re.sub(r":\d+$", "", place or "")
    if path.endswith(".py"):
        path = path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return code(path if len(path) <= _NAME else f"…{path[-_NAME:]}")
