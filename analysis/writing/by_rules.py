"""Analysis of a commit without a model: from its facts, its files and its author's description alone."""

from collections.abc import Sequence
from itertools import zip_longest

from analysis.locale import Catalogue, catalogue, mark
from analysis.locale.punctuation import as_sentence, join_clauses, join_items, join_sentences
from analysis.models import (
    BREAKING,
    OPERATIONAL,
    Analysis,
    Commit,
    Fact,
    FactKind,
    FileChange,
    Importance,
    Language,
    Ranked,
    Risk,
    Severity,
    by_kind,
)
from analysis.paths import area
from analysis.text import one_line, shorten
from analysis.writing.fact_sentences import FACT_SENTENCES
from analysis.writing.purpose import purpose

# Incremented whenever a rule or a phrase changes, so that stored analyses are made anew.
VERSION = "13"

_MAX_NAMES = 5
_MAX_ADVISED = 12  # names of an instruction
_NAME_LENGTH = 200  # characters of a name, which may be as long as a line
_MAX_AREAS_IN_SUMMARY = 2
_MAX_AREAS = 6
_MAX_FILES = 4
_MAY_HURT = frozenset(
    {FactKind.DEFAULT_CHANGED, FactKind.CONCURRENCY, FactKind.MEMORY, FactKind.SECURITY, FactKind.REVERT}
)


def analyse_by_rules(commit: Commit, facts: Sequence[Fact], ranked: Ranked, language: Language) -> Analysis:
    """Analyse a commit that was read, in the depth of its tier: in full, in brief, or in two sentences."""
    say = catalogue(language)
    sentences = _fact_sentences(facts, say)
    if ranked.importance is Importance.LOW:
        return Analysis(by="rules", summary=_summary(commit, sentences, say))
    full = ranked.importance is Importance.HIGH
    return Analysis(
        by="rules",
        summary=_summary(commit, sentences, say),
        scope=_scope(commit, say),
        risks=_risks(facts, say) if full else (),
        advice=_advice(facts, say),
    )


def code(text: str) -> str:
    """Format `text` as a code span, whatever it contains."""
    return "`" + one_line(text).replace("`", "'") + "`"


def _summary(commit: Commit, fact_sentences: Sequence[str], say: Catalogue) -> str:
    why = purpose(commit)
    author = [say("The author writes: {text}", text=why.rstrip(".。"))] if why else []
    parts = (*fact_sentences, *author, _size_sentence(commit, say))
    return join_sentences((as_sentence(part, say) for part in parts), say)


def _size_sentence(commit: Commit, say: Catalogue) -> str:
    if not commit.files and not commit.size:
        return say("This commit changes no file")
    changed = "> " * commit.is_cut + say.plural("{count} file", "{count} files", len(commit.files))
    size = ("?", "?") if commit.is_cut and not commit.size else (commit.additions, commit.deletions)
    clauses = [say("{files} changed (+{additions} −{deletions})", files=changed, additions=size[0], deletions=size[1])]
    areas = [code(files[0].path if len(files) == 1 else name) for name, files in _files_by_area(commit)]
    if areas:
        where = mark("mostly in {areas}") if len(areas) > _MAX_AREAS_IN_SUMMARY else mark("in {areas}")
        clauses.append(say(where, areas=join_items(areas[:_MAX_AREAS_IN_SUMMARY], say)))
    if commit.is_merge:
        clauses.append(say("a merge, compared with its first parent"))
    return join_clauses(clauses, say)


def _fact_sentences(facts: Sequence[Fact], say: Catalogue) -> list[str]:
    """Return one sentence per kind of fact, in the order of `FactKind`, each with the place of its first fact."""
    sentences = []
    for fact_kind, (first, *others) in by_kind(facts):
        names_its_place = first.place in ("", first.name, first.old)
        place = "" if names_its_place else f" ({code(first.place)})"
        names = list_names([first, *others], say)
        sentences.append(FACT_SENTENCES[fact_kind].named(names, 1 + len(others), say) + place)
    return sentences


def list_names(facts: Sequence[Fact], say: Catalogue, limit: int = _MAX_NAMES) -> str:
    """Return the first `limit` names in code spans, with old and new values, and the number of the remaining ones."""
    shown = facts[:limit]
    names = [
        _name_change(fact) if after and after.removed_from == fact.removed_from else _full_name(fact, say)
        for fact, after in zip_longest(shown, shown[1:])
    ]
    rest = len(facts) - limit
    return f"{join_items(names, say)} {say('and {count} more', count=rest)}" if rest > 0 else join_items(names, say)


def _full_name(fact: Fact, say: Catalogue) -> str:
    """Return the name with the file it left, since another file may still define it."""
    name = _name_change(fact)
    return say("{name} from {file}", name=name, file=code(fact.removed_from)) if fact.removed_from else name


def _name_change(fact: Fact) -> str:
    """Return a fact's name, with the old and new value where it changed."""
    name, old, new = (code(shorten(each or "", _NAME_LENGTH)) for each in (fact.name, fact.old, fact.new))
    if fact.kind in (FactKind.DEPENDENCY_ADDED, FactKind.EXTRA_ADDED, FactKind.NEW_SETTING):
        return f"{name} ({new})" if fact.new else name
    if fact.kind is FactKind.VALUES_DROPPED and not fact.new:
        return f"{name} (−{old})"
    if fact.old and fact.new:
        return f"{name} {old} → {new}"
    return f"{name} → {new}" if fact.new else name


def _files_by_area(commit: Commit) -> list[tuple[str, list[FileChange]]]:
    """Return the areas that the commit touches with their files, the most changed first."""
    grouped: dict[str, list[FileChange]] = {}
    for file in commit.files:
        grouped.setdefault(area(file.path), []).append(file)
    return sorted(grouped.items(), key=lambda item: -sum(file.size for file in item[1]))


def _scope(commit: Commit, say: Catalogue) -> tuple[str, ...]:
    rows = []
    areas = _files_by_area(commit)
    for name, files in areas[:_MAX_AREAS]:
        files.sort(key=lambda file: -file.size)
        if len(files) == 1:
            rows.append(f"{code(files[0].path)} (+{files[0].additions} −{files[0].deletions})")
            continue
        shown = [code(file.path.removeprefix(name + "/")) for file in files[:_MAX_FILES]]
        if len(files) > _MAX_FILES:
            shown.append(_more_files(len(files) - _MAX_FILES, say))
        total = say(
            "{area} ({files}, +{additions} −{deletions})",
            area=code(name),
            files=say.plural("{count} file", "{count} files", len(files)),
            additions=sum(file.additions for file in files),
            deletions=sum(file.deletions for file in files),
        )
        rows.append(total + say(": ") + join_items(shown, say))
    if rest := sum(len(files) for _, files in areas[_MAX_AREAS:]):
        rows.append(_more_files(rest, say))
    unlisted = commit.size - sum(file.size for file in commit.files)
    if unlisted > 0:
        lines = say.plural("{count} changed line", "{count} changed lines", unlisted)
        rows.append(say("GitHub does not list the files of the other {lines}", lines=lines))
    return tuple(rows)


def _more_files(count: int, say: Catalogue) -> str:
    return say("and {files}", files=say.plural("{count} more file", "{count} more files", count))


def _risks(facts: Sequence[Fact], say: Catalogue) -> tuple[Risk, ...]:
    risks = []
    for fact_kind, alike in by_kind(facts):
        sentences = FACT_SENTENCES[fact_kind]
        if sentences.risk:
            risk = list_names(alike, say) + say(": ") + say(sentences.risk)
            risks.append(Risk(risk=risk, severity=_severity(fact_kind), mitigation=advice_for(alike, say)))
    return tuple(risks)


def _severity(kind: FactKind) -> Severity:
    """Return how much a change of this kind hurts whom it concerns."""
    if kind in OPERATIONAL or kind is FactKind.MINIMUM_RAISED:
        return Severity.HIGH
    return Severity.MEDIUM if kind in BREAKING or kind in _MAY_HURT else Severity.LOW


def _advice(facts: Sequence[Fact], say: Catalogue) -> tuple[str, ...]:
    return tuple(advice_for(alike, say) for fact_kind, alike in by_kind(facts) if FACT_SENTENCES[fact_kind].advice)


def advice_for(alike: Sequence[Fact], say: Catalogue) -> str:
    """Return the advice for facts of one kind as a sentence."""
    how = how_to_keep(alike, say) if alike[0].kind in (FactKind.DEFAULT_CHANGED, FactKind.SETTING_ON) else ""
    names = _list_of([_name_change(fact) for fact in alike], say)
    return say(FACT_SENTENCES[alike[0].kind].advice, names=names, how=how)


def how_to_keep(changed: Sequence[Fact], say: Catalogue) -> str:
    """Return how to restore old defaults: what to set, what to pass, and what to turn off."""
    ways: dict[str, list[str]] = {}
    for fact in changed:
        way, value = _old_setting(fact.name, fact.old or ("False" if fact.kind is FactKind.SETTING_ON else "None"))
        ways.setdefault(way, []).append(code(shorten(value, _NAME_LENGTH)))
    return say(" and ").join(say(way, values=_list_of(values, say)) for way, values in ways.items())


def _old_setting(name: str, old: str) -> tuple[str, str]:
    """Return (sentence, setting) that restores a default; a variable is set to its value without quotes."""
    bare = old.strip("\"'")
    if name.endswith(")"):
        return mark("call {values}"), f"{name[:-1].replace('.__init__', '')}={old})"
    if not name.startswith("-"):
        return mark("set {values}"), f"{name}={(bare if name.isupper() else '') or old}"
    if old.lower() in ("none", "false"):
        return mark("check the new default of {values}") if old == "None" else mark("turn {values} off"), name
    return mark("pass {values}"), name if old.lower() == "true" else f"{name} {bare or old}"


def _list_of(names: Sequence[str], say: Catalogue) -> str:
    """Return the distinct names of an instruction, or how many they are if nobody would read them here."""
    once = list(dict.fromkeys(names))
    return join_items(once, say) if len(once) <= _MAX_ADVISED else say("these {count} names", count=len(once))
