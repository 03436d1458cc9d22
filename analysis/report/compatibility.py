"""The sentences that every format of a compatibility report shares, its badge, and its breaks as annotations of GitHub."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from analysis.citations import to_upstream_place
from analysis.impact.sentences import explanation
from analysis.locale import catalogue, mark, translated
from analysis.locale.punctuation import join_items
from analysis.models import Citation, Commit, Language
from analysis.models.compatibility import CompatibilityReport, Version, VersionBreak
from analysis.models.impacts import Cause, DownstreamImpacts, Impact, UpstreamPlace
from analysis.models.upgrades import Pin
from analysis.report.impacts import ImpactCause, comparison, downstream_name, impact_causes, omissions
from analysis.sources.release_tags import tag_of_version

_EARLY = {
    True: mark("{name} is not there yet, so this fails"),
    False: mark("{name} does not fit this code yet"),
}
_GONE = (Cause.REMOVED, Cause.MOVED, Cause.RENAMED)
_MAX_NAMES = 5
_MAX_PINS = 2  # besides the one that binds most
_COLOURS = {True: "brightgreen", False: "yellow", None: "lightgrey"}  # without a break, with some, unknown


def title(report: CompatibilityReport) -> str:
    """Return the heading of the report."""
    return f"{report.repository} · {downstream_name(report.downstream)}"


def versions(found: Sequence[Version]) -> str:
    """Return a range of versions in words that every language has."""
    return " – ".join(dict.fromkeys((found[0].name, found[-1].name))) if found else "unknown"


def summary(report: CompatibilityReport) -> str:
    """Return the range, and how many places fail there too."""
    say = catalogue(report.language)
    if not report.versions:
        return say("❔ Unknown: no release tags of {repository} are known", repository=report.repository)
    named = versions(report.range)
    if not report.failing:
        return say("✅ No proven break with {versions}", versions=named)
    places = say.plural("{count} place fails", "{count} places fail", len(_lines(report.failing)))
    return say("⚠️ The fewest proven breaks are with {versions}: {places}", versions=named, places=places)


def remarks(report: CompatibilityReport) -> Iterator[str]:
    """Yield what was looked at, and what the pin says of it."""
    say = catalogue(report.language)
    yield comparison(report.downstream, report.language)
    if report.versions:
        looked_at = [f"{each.name} ({len(each.lines)})" for each in report.versions]
        yield say("Places that fail with each version: {versions}", versions=join_items(looked_at, say))
    if report.older and not report.first:
        yield say.plural(
            "{count} older release was not looked at", "{count} older releases were not looked at", report.older
        )
    yield from pin_sentences(report)


def pin_sentences(report: CompatibilityReport) -> Iterator[str]:
    """Yield what the tree pins, in the place that binds most first, each with whether that is within the range."""
    if report.pinned is None:
        yield catalogue(report.language)("It pins no version that upstream has")
        return
    named = {each.name: each for each in report.versions if each.is_release}
    yield _pin_sentence(report, report.pinned.pin, report.pinned_version)
    for pin in (*report.pinned.others, *report.pinned.missing)[:_MAX_PINS]:
        yield _pin_sentence(report, pin, named.get(tag_of_version(pin.ref, named) or ""))


def _pin_sentence(report: CompatibilityReport, pin: Pin, version: Version | None) -> str:
    say, values = catalogue(report.language), {"ref": pin.ref, "place": pin.place}
    if version is None:
        return say("It pins {ref} in {place}", **values)
    if version in report.within:
        return say("It pins {ref} in {place}, which is within the range", **values)
    places = say.plural("{count} place fails", "{count} places fail", len(version.lines))
    return say("It pins {ref} in {place}, which is not within the range: {places}", places=places, **values)


def blind_spots(report: CompatibilityReport) -> Iterator[str]:
    """Yield what cannot be seen."""
    say = catalogue(report.language)
    yield say("Not compared: behaviour, values, settings, and the code of tests, examples and documentation")
    if report.unseen:
        names = [f"{each.name} ({each.path}:{each.line})" for each in report.unseen[:_MAX_NAMES]]
        yield say.plural(
            "{count} name is in none of these versions, and may come from elsewhere: {names}",
            "{count} names are in none of these versions, and may come from elsewhere: {names}",
            len(report.unseen),
            names=join_items(names, say),
        )
    if report.unknown:
        yield say.plural(
            "{count} use could not be followed to a definition",
            "{count} uses could not be followed to a definition",
            report.unknown,
        )
    if report.guarded:
        yield say.plural(
            "{count} use is guarded against its absence",
            "{count} uses are guarded against their absence",
            report.guarded,
        )
    yield from omissions(report.downstream, report.language)


class ToldCause(NamedTuple):
    """The breaks of one cause, why they fail, and the upstream line with its code before and after the commit, if there is one."""

    cause: ImpactCause
    sentences: Sequence[str]
    upstream: Citation | None
    upstream_code: UpstreamPlace


def causes(
    report: CompatibilityReport, breaks: Sequence[VersionBreak], commit: Commit | None, places: int
) -> Iterator[ToldCause]:
    """Yield the breaks of a commit, or of a version, by their causes; of each some places are to be shown.

    Of a commit that adds what is needed, upstream's line is that of the commit itself.
    """
    for early in (False, True):
        found = tuple(each.impact for each in breaks if each.early is early)
        for cause in impact_causes(DownstreamImpacts(downstream=report.downstream, impacts=found), places):
            place = cause.first.upstream
            if early:
                place = place.model_copy(update={"before": place.after, "after": place.before})
            told = dict.fromkeys(
                sentence(VersionBreak(impact=each, early=early), report.language) for each in cause.impacts
            )
            cited = upstream_place(commit, cause.first, early=early) if commit else None
            yield ToldCause(cause, list(told), cited, place)


def sentence(each: VersionBreak, language: Language) -> str:
    """Return why a line fails; names are `code` spans."""
    if not each.early:
        return str(translated(explanation(each.impact), language))
    return catalogue(language)(_EARLY[each.impact.cause in _GONE], name=f"`{each.impact.name}`")


def upstream_place(commit: Commit, impact: Impact, *, early: bool) -> Citation:
    """Cite the upstream line of a break: that of the commit's parent, or if the commit ends an `early` one, of the commit."""
    if early and commit.parents:
        commit = commit.model_copy(update={"sha": commit.parents[0], "parents": (commit.sha,)})
    return to_upstream_place(commit, impact)


def badge(report: CompatibilityReport) -> dict[str, Any]:
    """Return the badge as shields.io's endpoint takes it (https://shields.io/badges/endpoint-badge)."""
    colour = _COLOURS[not report.failing if report.versions else None]
    message = versions(report.range)
    return {"schemaVersion": 1, "label": report.repository.name, "message": message, "color": colour}


def annotations(report: CompatibilityReport) -> Iterator[str]:
    """Yield each line that fails with the newest release as a command of GitHub's workflows."""
    newest = report.newest
    if newest is None:
        return
    for each in newest.breaks:
        place, text = each.impact.downstream, sentence(each, report.language)
        message = _escaped(f"{newest.name}: {text}")
        yield f"::error file={_escaped(place.path, ':,')},line={place.line}::{message}"


def _escaped(text: str, more: str = "") -> str:
    """Escape a text for a workflow command, as GitHub's toolkit does (actions/toolkit, command.ts)."""
    return "".join(f"%{ord(each):02X}" if each in f"%\r\n{more}" else each for each in text)


def _lines(breaks: Sequence[VersionBreak]) -> frozenset[tuple[str, int]]:
    return frozenset(each.line for each in breaks)
