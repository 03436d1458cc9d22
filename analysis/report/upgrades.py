"""The headings and sentences that every format of an upgrade shares."""

import re
from collections.abc import Iterator

from analysis.consequences import first_line
from analysis.locale import Catalogue, catalogue, mark, translated
from analysis.locale.punctuation import join_items
from analysis.models import SHORT_SHA, Language
from analysis.models.consequences import Effect
from analysis.models.upgrades import Pinned, ReleaseNotes, UpgradeGroup, UpgradeReport, UpgradeRow
from analysis.report.impacts import comparison, impact_causes, omissions

HEADINGS = {
    UpgradeGroup.BREAKS_YOU: mark("💥 Breaks your code ({count})"),
    UpgradeGroup.BREAKING: mark("🧨 Breaking changes ({count})"),
    UpgradeGroup.BEHAVIOUR: mark("🎚️ Changed defaults and dependencies ({count})"),
    UpgradeGroup.SECURITY: mark("🔒 Security ({count})"),
    UpgradeGroup.ADDITIONS: mark("✨ New ({count})"),
}
_NAMED = mark("📝 Others named in the release notes ({count})")
_FIXES = mark("🩹 Fixes and other changes ({count})")
_REASONS = (Effect.BREAK, Effect.BEHAVIOUR, Effect.REQUIREMENT)
_MAX_OTHERS = 4  # pins that are named


def title(report: UpgradeReport) -> str:
    """Return the heading of the report."""
    if report.release:
        return f"{report.repository} {report.release.tag} · {report.release.date.date()}"
    return f"{report.repository} · {_short(report.start.name)}..{_short(report.end.name)}"


def file_name(tag: str) -> str:
    """Return the name of a release's file without its suffix."""
    return re.sub(r"[^\w.+-]", "-", tag)


def highlights_heading(release: ReleaseNotes, say: Catalogue) -> str:
    """Return the heading of a release's highlights."""
    return say(_NAMED if release.notes else _FIXES, count=len(release.highlights))


def summary(report: UpgradeReport) -> str:
    """Return how many commits there are, and how many break the downstream code."""
    say = catalogue(report.language)
    commits = say.plural("{count} commit", "{count} commits", report.commits)
    if not report.commits:
        return say(
            "✅ Nothing new between {start} and {end}", start=_short(report.start.name), end=_short(report.end.name)
        )
    breaking = len(report.group(UpgradeGroup.BREAKS_YOU))
    if report.release and report.pinned:
        return f"{_since_pin(breaking, _short(report.pinned.pin.ref), say)} · {commits}"
    if breaking:
        return say("💥 Breaks your code: {breaking} of {commits}", breaking=f"{breaking:,}", commits=commits)
    if report.downstreams:
        return say("✅ No proven break of your code: {commits} compared", commits=commits)
    return commits


def _since_pin(breaking: int, pin: str, say: Catalogue) -> str:
    if not breaking:
        return say("✅ No proven break of your code since {pin}", pin=pin)
    return say.plural(
        "💥 {count} commit since {pin} breaks your code",
        "💥 {count} commits since {pin} break your code",
        breaking,
        pin=pin,
    )


def remarks(report: UpgradeReport) -> Iterator[str]:
    """Yield where the range begins and why, and what of it is not shown."""
    say = catalogue(report.language)
    if report.release and report.release.is_first:
        yield say("The first release: everything since the first commit")
    elif report.release:
        yield say("Compared with {start}, the release before", start=report.start.name)
    if report.pinned:
        yield from _pin_remarks(report.pinned, say)
    if report.merge_base:
        base = report.merge_base[:SHORT_SHA]
        yield say(
            "{start} is on its own branch; the range starts at {base}, where it branched off",
            start=_short(report.start.name),
            base=base,
        )
    if report.picked:
        yield say.plural(
            "{count} commit is already in {start}",
            "{count} commits are already in {start}",
            report.picked,
            start=_short(report.start.name),
        )
    if report.reverted:
        yield say.plural(
            "{count} commit is reverted within the range, or reverts one",
            "{count} commits are reverted within the range, or revert one",
            report.reverted,
        )
    others = report.ungrouped - len(report.release.highlights if report.release else ())
    if others > 0:
        yield say.plural(
            "{count} other commit: fixes, tests, documentation and the like",
            "{count} other commits: fixes, tests, documentation and the like",
            others,
        )
    for downstream in report.downstreams:
        yield comparison(downstream, report.language)


def warnings(report: UpgradeReport) -> Iterator[str]:
    """Yield what could not be read or compared."""
    say = catalogue(report.language)
    for name, reason in report.unchecked:
        yield say("{name} could not be checked: {reason}", name=name, reason=translated(reason, report.language))
    for downstream in report.downstreams:
        yield from omissions(downstream, report.language)
    for failure in report.failed:
        yield f"{say('Failed')} {failure.sha[:SHORT_SHA]}{say(': ')}{failure.translated(report.language)}"


def proposal(report: UpgradeReport) -> str:
    """Return which release to pin; "" if there is none to propose."""
    say, found = catalogue(report.language), report.proposal
    if found is None:
        return ""
    if not found.places:
        return say("📌 Pin {version}: the newest release without a proven break of your code", version=found.name)
    return say.plural(
        "📌 Pin {version}: {count} place of your code fails, the fewest of the releases since {start}",
        "📌 Pin {version}: {count} places of your code fail, the fewest of the releases since {start}",
        found.places,
        version=found.name,
        start=_short(report.start.name),
    )


def consequence_line(row: UpgradeRow, language: Language) -> str:
    """Return why a commit breaks your code, and of any other its headline, with what facts prove if that is its title."""
    return " · ".join(_lines(row, language))


def line_beside_title(row: UpgradeRow, language: Language) -> str:
    """Return of the line of `consequence_line` what the commit's title does not say."""
    return " · ".join(each for each in _lines(row, language) if not _says(row.entry.commit.title, each))


def _lines(row: UpgradeRow, language: Language) -> list[str]:
    say = catalogue(language)
    if row.found:
        causes = (cause.sentence(language) for each in row.found for cause in impact_causes(each))
        return [say("; ").join(dict.fromkeys(causes))]
    first, told = first_line(row.entry, row.consequences, say), row.consequences
    proven = next((each.what for each in told if each.facts and each.effect in _REASONS), "")
    is_proven = told and told[0].facts and told[0].what == first
    return [first, proven] if proven and not is_proven else [first]


def _says(title: str, line: str) -> bool:
    words, said = (re.findall(r"\w+", each.casefold()) for each in (line, title))
    return {*words} <= {*said} or "".join(said).startswith("".join(words))


def _pin_remarks(pinned: Pinned, say: Catalogue) -> Iterator[str]:
    pin, ref = pinned.pin, _short(pinned.pin.ref)
    if pinned.places > 1:
        yield say.plural(
            "{ref} is pinned in {place} and {count} more place",
            "{ref} is pinned in {place} and {count} more places",
            pinned.places - 1,
            ref=ref,
            place=pin.place,
        )
    elif pin.exact:
        yield say("{ref} is pinned in {place}", ref=ref, place=pin.place)
    else:
        yield say("{ref} is the oldest version that {place} allows", ref=ref, place=pin.place)
    if pinned.others:
        named = [f"{_short(each.ref)} ({each.place})" for each in pinned.others[:_MAX_OTHERS]]
        yield say(
            "Other pins disagree: {others}. {ref} was used; to use another, give it as FROM",
            others=join_items(named, say),
            ref=ref,
        )
    for each in pinned.missing:
        yield say("{place} pins {ref}, which upstream does not have", place=each.place, ref=_short(each.ref))


def _short(name: str) -> str:
    """Return a SHA abbreviated, and any other name as it is."""
    is_sha = len(name) == 40 and set(name) <= set("0123456789abcdef")  # noqa: PLR2004 (of a whole SHA)
    return name[:SHORT_SHA] if is_sha else name
