"""Analysis of a commit without a model: from its facts, its files and its author's description alone."""

from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest

from analysis.facts.removed_tests import tests_added
from analysis.language import Words, words
from analysis.models import (
    BREAKING,
    Analysis,
    ChangeType,
    Commit,
    Fact,
    FactKind,
    FileChange,
    Importance,
    Insight,
    Language,
    Ranked,
    Risk,
    Severity,
)
from analysis.paths import Kind, area, kind
from analysis.text import one_line, shorten
from analysis.writing.purpose import purpose

# Incremented whenever a rule or a phrase changes, so that stored analyses are made anew.
VERSION = "4"

_NAMES_SHOWN = 5
_NAME = 200  # characters of a name, which may be as long as a line
_AREAS_NAMED = 2
_AREAS_SHOWN = 6
_FILES_SHOWN = 4
_MIN_LINES_FOR_TESTS = 100  # changed source lines from which missing tests are mentioned


def analyse_by_rules(commit: Commit, facts: Sequence[Fact], ranked: Ranked, language: Language) -> Analysis:
    """Analyse a commit that was read, in the depth of its tier: in full, in brief, or in two sentences."""
    say = words(language)
    told = _fact_sentences(facts, say)
    if ranked.importance is Importance.LOW:
        return Analysis(by="rules", summary=_summary(commit, told, say))
    full = ranked.importance is Importance.HIGH
    return Analysis(
        by="rules",
        summary=_summary(commit, told, say),
        scope=_scope(commit, say),
        insight=_insight(commit, facts, ranked, say) if full else Insight(),
        risks=_risks(commit, facts, say) if full else (),
        advice=_advice(commit, facts, say),
    )


def code(text: str) -> str:
    """Format `text` as a code span, whatever it contains."""
    return "`" + one_line(text).replace("`", "'") + "`"


def _summary(commit: Commit, told: Sequence[str], say: Words) -> str:
    parts = list(told)
    why = purpose(commit)
    if why:
        parts.append(say.label("purpose", text=why.rstrip(".。")))
    parts.append(_size(commit, say))
    return say.gap.join(part.rstrip("。.") + say.stop for part in parts)


def _size(commit: Commit, say: Words) -> str:
    if not commit.files and not commit.additions + commit.deletions:
        return say.label("no_files")
    text = say.label(
        "size", files=say.quantity("file", len(commit.files)), additions=commit.additions, deletions=commit.deletions
    )
    areas = [code(files[0].path if len(files) == 1 else name) for name, files in _areas(commit)]
    if areas:
        text += say.clause + say.label(
            "mostly_in" if len(areas) > _AREAS_NAMED else "in", areas=say.comma.join(areas[:_AREAS_NAMED])
        )
    if commit.is_merge:
        text += say.clause + say.label("merged")
    return text


def _fact_sentences(facts: Sequence[Fact], say: Words) -> list[str]:
    """Return one sentence per kind of fact, in the order of `FactKind`, each with the place of its first fact."""
    sentences = []
    for each in FactKind:
        alike = [fact for fact in facts if fact.kind is each]
        if alike:
            first = alike[0]
            told_already = first.place in (first.name, first.old)
            place = f" ({code(first.place)})" if first.place and not told_already else ""
            sentences.append(say.facts[each].says.format(names=named(alike, say)) + place)
    return sentences


def named(facts: Sequence[Fact], say: Words, most: int = _NAMES_SHOWN) -> str:
    """Return the first `most` names in code spans, with old and new values, and the number of the remaining ones."""
    shown = facts[:most]
    told = say.comma.join(
        _name(fact) if after and after.gone_from == fact.gone_from else _name_with_file(fact, say)
        for fact, after in zip_longest(shown, shown[1:])
    )
    more = len(facts) - most
    return f"{told} {say.label('more', count=more)}" if more > 0 else told


def _name_with_file(fact: Fact, say: Words) -> str:
    """Return the name with the file it left, since another file may still define it."""
    return say.label("from", name=_name(fact), file=code(fact.gone_from)) if fact.gone_from else _name(fact)


def _name(fact: Fact) -> str:
    """Return a fact's name, with the old and new value where it changed."""
    name, old, new = (code(shorten(each or "", _NAME)) for each in (fact.name, fact.old, fact.new))
    if fact.old and fact.new:
        return f"{name} {old} → {new}"
    return f"{name} → {new}" if fact.new else name


def _areas(commit: Commit) -> list[tuple[str, list[FileChange]]]:
    """Return the areas that the commit touches with their files, the most changed first."""
    grouped: dict[str, list[FileChange]] = {}
    for file in commit.files:
        grouped.setdefault(area(file.path), []).append(file)
    return sorted(grouped.items(), key=lambda item: -sum(file.additions + file.deletions for file in item[1]))


def _scope(commit: Commit, say: Words) -> tuple[str, ...]:
    rows = []
    areas = _areas(commit)
    for name, files in areas[:_AREAS_SHOWN]:
        files.sort(key=lambda file: -(file.additions + file.deletions))
        if len(files) == 1:
            rows.append(f"{code(files[0].path)} (+{files[0].additions} −{files[0].deletions})")
            continue
        shown = say.comma.join(code(file.path.removeprefix(name + "/")) for file in files[:_FILES_SHOWN])
        more = (
            say.comma + say.label("more_files", files=say.quantity("more file", len(files) - _FILES_SHOWN))
            if len(files) > _FILES_SHOWN
            else ""
        )
        total = say.label(
            "files_in",
            area=code(name),
            files=say.quantity("file", len(files)),
            additions=sum(file.additions for file in files),
            deletions=sum(file.deletions for file in files),
        )
        rows.append(f"{total}{say.labels['colon']}{shown}{more}")
    rest = sum(len(files) for _, files in areas[_AREAS_SHOWN:])
    if rest:
        rows.append(say.label("more_files", files=say.quantity("more file", rest)))
    unlisted = commit.additions + commit.deletions - sum(file.additions + file.deletions for file in commit.files)
    if unlisted > 0:
        rows.append(say.label("unlisted", lines=say.quantity("changed line", unlisted)))
    return tuple(rows)


def _insight(commit: Commit, facts: Sequence[Fact], ranked: Ranked, say: Words) -> Insight:
    sources = [file for file in commit.files if kind(file.path) is Kind.SOURCE]
    moved = Counter(file.status for file in sources)
    structure = moved["added"] + moved["removed"] + moved["renamed"]

    def told(*kinds: FactKind) -> str:
        sentences = _fact_sentences([fact for fact in facts if fact.kind in kinds], say)
        return say.gap.join(sentence + say.stop for sentence in sentences)

    return Insight(
        architecture=say.label("structure", added=moved["added"], removed=moved["removed"], renamed=moved["renamed"])
        if structure
        else "",
        performance=_performance(sources, ranked, say),
        security=told(FactKind.SECURITY),
        compatibility=told(*BREAKING, FactKind.RETYPED, FactKind.DEFAULT_CHANGED),
        maintenance=_maintenance(commit, sources, say),
        dependencies=told(FactKind.DEPENDENCY_MOVED, FactKind.DEPENDENCY_ADDED, FactKind.DEPENDENCY_REMOVED),
    )


def _performance(sources: Sequence[FileChange], ranked: Ranked, say: Words) -> str:
    if ChangeType.PERFORMANCE not in ranked.change_types:
        return ""
    kernels = [
        file.path for file in sources if file.path.endswith((".cu", ".cuh", ".hip", ".metal")) or "kernel" in file.path
    ]
    if kernels:
        return say.label("perf_kernels", paths=say.comma.join(code(path) for path in kernels[:_FILES_SHOWN]))
    return say.label("perf_named")


def _maintenance(commit: Commit, sources: Sequence[FileChange], say: Words) -> str:
    added = tests_added(commit)
    fewer = [file.path for file in commit.files if kind(file.path) is Kind.TEST and file.deletions]
    if added or fewer:
        told = say.comma.join(code(path) for path in (added or fewer)[:_FILES_SHOWN])
        return say.label("with_tests" if added else "fewer_tests", paths=told)
    lines = _changed(sources)
    return say.label("without_tests", lines=say.quantity("source line", lines)) if lines else ""


def _risks(commit: Commit, facts: Sequence[Fact], say: Words) -> tuple[Risk, ...]:
    risks = []
    for each in FactKind:
        alike = [fact for fact in facts if fact.kind is each]
        told = say.facts[each]
        if alike and told.risk:
            names = named(alike, say)
            risks.append(
                Risk(
                    risk=f"{names}{say.labels['colon']}{told.risk}",
                    severity=told.severity,
                    mitigation=_advice_for(alike, say),
                )
            )
    if _lacks_tests(commit):
        risks.append(
            Risk(risk=say.label("untested_risk"), severity=Severity.LOW, mitigation=say.label("untested_advice"))
        )
    return tuple(risks)


def _advice(commit: Commit, facts: Sequence[Fact], say: Words) -> tuple[str, ...]:
    rows = []
    for each in FactKind:
        alike = [fact for fact in facts if fact.kind is each]
        if alike and say.facts[each].advice:
            rows.append(_advice_for(alike, say))
    if not rows and _lacks_tests(commit):
        rows.append(say.label("untested_advice"))
    return tuple(rows) or (say.label("no_action"),)


def _advice_for(alike: Sequence[Fact], say: Words) -> str:
    """Return the advice for facts of one kind as a sentence."""
    how = _how_to_keep(alike, say) if alike[0].kind is FactKind.DEFAULT_CHANGED else ""
    return say.facts[alike[0].kind].advice.format(names=_list_of([_name(fact) for fact in alike], say), how=how)


def _how_to_keep(changed: Sequence[Fact], say: Words) -> str:
    """Return how to restore the old defaults: what to set, what to pass, and what to turn off."""
    ways: dict[str, list[str]] = {}
    for fact in changed:
        way, value = _old_setting(fact.name, fact.old or "None")
        ways.setdefault(way, []).append(code(shorten(value, _NAME)))
    return say.labels["keep_and"].join(say.label(way, values=_list_of(values, say)) for way, values in ways.items())


def _old_setting(name: str, old: str) -> tuple[str, str]:
    """Return (phrase key, setting) that restores a default; a variable is set to its value without quotes."""
    bare = old.strip("\"'")
    if not name.startswith("-"):
        return "keep_set", f"{name}={(bare if name.isupper() else '') or old}"
    if old.lower() in ("none", "false"):
        return ("keep_check" if old == "None" else "keep_off"), name
    return "keep_pass", name if old.lower() == "true" else f"{name} {bare or old}"


def _list_of(names: Sequence[str], say: Words) -> str:
    """Return the distinct names, the first few of them, and the number of the rest."""
    once = list(dict.fromkeys(names))
    more = len(once) - _NAMES_SHOWN
    told = say.comma.join(once[:_NAMES_SHOWN])
    return f"{told} {say.label('more', count=more)}" if more > 0 else told


def _lacks_tests(commit: Commit) -> bool:
    sources = [file for file in commit.files if kind(file.path) is Kind.SOURCE]
    return _changed(sources) >= _MIN_LINES_FOR_TESTS and not tests_added(commit)


def _changed(files: Sequence[FileChange]) -> int:
    return sum(file.additions + file.deletions for file in files)
