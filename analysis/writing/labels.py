"""Labels of the values that a report shows: English for the catalogue, badges for any language."""

from datetime import date

from analysis.locale import Catalogue, Language, catalogue, mark
from analysis.models import BreakageRisk, ChangeType, Entry, Importance, Released, ReleaseState, Remark, Severity

BADGE = {Importance.HIGH: "🔴", Importance.MEDIUM: "🟡", Importance.LOW: "🟢"}
CHANGE_TYPES = {
    ChangeType.FEATURE: mark("Feature"),
    ChangeType.BUG_FIX: mark("Bug fix"),
    ChangeType.PERFORMANCE: mark("Performance"),
    ChangeType.REFACTOR: mark("Refactor"),
    ChangeType.ARCHITECTURE: mark("Architecture"),
    ChangeType.SECURITY: mark("Security"),
    ChangeType.MODEL_SUPPORT: mark("Model support"),
    ChangeType.DOCS: mark("Docs"),
    ChangeType.TESTS: mark("Tests"),
    ChangeType.CI_BUILD: mark("CI/build"),
    ChangeType.CONFIG: mark("Config"),
    ChangeType.DEPENDENCY: mark("Dependency"),
    ChangeType.REVERT: mark("Revert"),
    ChangeType.OTHER: mark("Other"),
}
IMPORTANCE = {Importance.HIGH: mark("High"), Importance.MEDIUM: mark("Medium"), Importance.LOW: mark("Low")}
LIKELY_TO_BREAK = mark("likely to break downstream code")  # those downstream, by the second score
WEEKDAYS = (mark("Mon"), mark("Tue"), mark("Wed"), mark("Thu"), mark("Fri"), mark("Sat"), mark("Sun"))
SEVERITY = {Severity.HIGH: mark("high"), Severity.MEDIUM: mark("medium"), Severity.LOW: mark("low")}
REMARKS = {
    Remark.NOT_OVER: mark("The day was not over yet; later commits are missing"),
    Remark.REWRITTEN: mark("The branch was force-pushed; earlier reports may contain commits that are no longer on it"),
    Remark.LATE_UNKNOWN: mark("GitHub could not be checked for late commits"),
}
INSIGHT = {  # a field of `Insight` -> its label, translated in the context "insight"
    "architecture": mark("Architecture", "insight"),
    "performance": mark("Performance", "insight"),
    "security": mark("Security", "insight"),
    "compatibility": mark("Compatibility", "insight"),
    "maintenance": mark("Maintenance", "insight"),
    "dependencies": mark("Dependencies", "insight"),
}


def breakage_label(entry: Entry, say: Catalogue) -> str:
    """Return a label for a commit that by its score and a fact breaks somebody downstream; empty for any other."""
    breakage = entry.ranked.breakage
    likely = breakage is not None and breakage.risk is BreakageRisk.LIKELY
    return say(LIKELY_TO_BREAK) if likely and any(each.breaking for each in entry.facts) else ""


def release_label(released: Released, say: Catalogue, *, whole: bool = True) -> str:
    """Return a label of the release that has a commit first, or if `whole` that none has it; empty where that is unknown."""
    if released.tag:
        return say("in {release}", release=released.tag)
    return say("not released yet") if whole and released.state is ReleaseState.UNRELEASED else ""


def dated(day: date, language: Language) -> str:
    """Return a day with its weekday: `2026-02-05 (Thu)`."""
    return f"{day} ({weekday(day, language)})"


def weekday(day: date, language: Language) -> str:
    """Return the abbreviated weekday of a day."""
    return catalogue(language)(WEEKDAYS[day.weekday()])
