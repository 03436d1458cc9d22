"""Impacts as reports show them: those of one cause together, with a few places of each, and what was compared.

Also the sentences about suspects, of which impacts are one reason.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from analysis.impact.sentences import explanation
from analysis.locale import Catalogue, catalogue, mark, translated
from analysis.locale.punctuation import join_clauses, join_items
from analysis.models import SHORT_SHA, Language
from analysis.models.impacts import Certainty, Downstream, DownstreamImpacts, Impact, ImpactReport, UpstreamPlace
from analysis.models.suspects import Suspect, SuspectReport

MAX_PLACES = 3  # shown of one cause
_MAX_NAMES = 5  # of files or folders


class ImpactCause(NamedTuple):
    """The impacts of one upstream name that have the same downstream lines, of which `places` are shown."""

    impacts: tuple[Impact, ...]
    places: int = MAX_PLACES

    @property
    def first(self) -> Impact:
        return self.impacts[0]

    @property
    def lines(self) -> tuple[Impact, ...]:
        """The impacts that stand for the lines, of several of one line the one with advice."""
        unique: dict[object, Impact] = {}
        for each in self.impacts:
            place = (each.downstream.path, each.downstream.line)
            unique[place] = each if each.advice else unique.get(place, each)
        return tuple(unique.values())

    @property
    def shown(self) -> tuple[Impact, ...]:
        return self.lines[: self.places]

    def sentences(self, language: Language) -> list[str]:
        """Return why the lines break, with `code` spans, and what of that is only likely."""
        say = catalogue(language)
        causes: dict[object, list[Impact]] = {}
        for each in self.impacts:
            causes.setdefault((each.cause, each.certainty, each.subjects, each.new), []).append(each)
        found = []
        for impacts in causes.values():
            text = str(translated(explanation(*impacts), language))
            proven = impacts[0].certainty is Certainty.PROVEN
            found.append(text if proven else say("{sentence} (likely)", sentence=text))
        return found

    def sentence(self, language: Language) -> str:
        """Return the sentences on one line."""
        return catalogue(language)("; ").join(self.sentences(language))

    def left(self, language: Language) -> str:
        """Return how many lines are not shown; "" if all are."""
        count = len(self.lines) - self.places
        places = catalogue(language).plural("and {count} more place", "and {count} more places", count)
        return places if count > 0 else ""


def impact_causes(found: DownstreamImpacts, places: int = MAX_PLACES) -> list[ImpactCause]:
    """Return the causes of what a commit breaks of a downstream tree, what is proven first, each to be shown with `places`.

    What became of a name is one cause, whatever the lines do with it.
    """
    causes: dict[object, list[Impact]] = {}
    for each in found.impacts:
        key = each.certainty, each.cause, each.name, each.subjects, each.new
        causes.setdefault(key, []).append(each)
    groups: dict[object, list[Impact]] = {}
    for impacts in causes.values():
        groups.setdefault((impacts[0].name, _lines(impacts)), []).extend(impacts)
    return [ImpactCause(tuple(group), places) for group in groups.values()]


def more_places(found: Iterable[Impact], shown: Iterable[Impact]) -> int:
    """Return how many downstream lines of some impacts are not among those shown."""
    return len(_lines(found) - _lines(shown))


def _lines(impacts: Iterable[Impact]) -> frozenset[tuple[str, int]]:
    return frozenset((each.downstream.path, each.downstream.line) for each in impacts)


def signed(place: UpstreamPlace) -> list[tuple[str, str]]:
    """Return the upstream code with the signs of a diff: before and after, or what is the same in both."""
    if place.before and place.before == place.after:
        return [(" ", place.before)]
    return [(sign, code) for sign, code in (("-", place.before), ("+", place.after)) if code]


def impact_summary(report: ImpactReport) -> str:
    """Return how many of the commits break something, or that there was nothing to compare."""
    say = catalogue(report.language)
    commits = say.plural("{count} commit", "{count} commits", report.compared)
    if report.commits:
        return say("💥 Breaks your code: {breaking} of {commits}", breaking=f"{len(report.commits):,}", commits=commits)
    if not report.compared:
        return say("No commits were compared")
    if not any(each.uses for each in report.downstreams):
        return say("Nothing to compare")
    told = say("✅ No proven break of your code: {commits} compared", commits=commits)
    return join_clauses([told, *touching_modules(len(report.touching), say)], say)


def touching_modules(count: int, say: Catalogue) -> list[str]:
    """Return that so many commits change modules that the code imports, which proves nothing; nothing if none does."""
    text = say.plural(
        "{count} commit changes modules that it imports", "{count} commits change modules that it imports", count
    )
    return [text] if count else []


def downstream_name(downstream: Downstream) -> str:
    """Return the name of a downstream tree, with its commit if it has one."""
    return f"{downstream.name} ({downstream.sha[:SHORT_SHA]})" if downstream.sha else downstream.name


def comparison(downstream: Downstream, language: Language) -> str:
    """Return what was compared of a downstream tree."""
    say = catalogue(language)
    values = {
        "downstream": downstream_name(downstream),
        "packages": join_items(downstream.packages, say),
        "files": say.plural("{count} file", "{count} files", downstream.files),
    }
    if not downstream.packages:
        return say("Upstream has no Python package, so nothing in {downstream} could be compared", **values)
    if downstream.uses:
        uses = say.plural("{count} use", "{count} uses", downstream.uses)
        return say("Compared with {downstream}: {files}, {uses} of {packages}", uses=uses, **values)
    return say("No code in {downstream} uses {packages} ({files})", **values)


def missing(report: ImpactReport) -> Iterator[str]:
    """Yield each commit and day that could not be compared, with the reason."""
    say = catalogue(report.language)
    for failure in report.failed:
        yield f"{say('Failed')} {failure.sha[:SHORT_SHA]}{say(': ')}{failure.translated(report.language)}"
    for day in report.unlisted:
        yield f"{say('Failed')} {day.date}{say(': ')}{translated(day.reason, report.language)}"


def omissions(downstream: Downstream, language: Language) -> Iterator[str]:
    """Yield what of a downstream tree was not compared."""
    say = catalogue(language)
    packages = join_items(downstream.packages, say)
    left_out = (
        (mark("Python files that do not parse were not compared: {names}"), downstream.unparsed),
        (mark("Copies of {packages} were not compared: {names}"), downstream.copies),
        (mark("Nested repositories were not read: {names}"), downstream.submodules),
    )
    yield from (say(text, names=_names(names, say), packages=packages) for text, names in left_out if names)
    if downstream.unread:
        yield say.plural(
            "{count} file was not read: binary, too large or not readable",
            "{count} files were not read: binary, too large, too many or not readable",
            downstream.unread,
        )


def _names(names: Sequence[str], say: Catalogue) -> str:
    shown, left = join_items(names[:_MAX_NAMES], say), len(names) - _MAX_NAMES
    return f"{shown} {say('and {count} more', count=left)}" if left > 0 else shown


def suspects_heading(report: SuspectReport) -> str:
    """Return which commits were searched: of the repository, the local days, their number."""
    say, zone = catalogue(report.language), ZoneInfo(report.timezone)
    last = report.until - timedelta(microseconds=1)  # of the day that ends at midnight
    days = f"{report.since.astimezone(zone):%Y-%m-%d} – {last.astimezone(zone):%Y-%m-%d}"
    commits = say.plural("{count} commit", "{count} commits", report.searched)
    return f"{report.repository} · {days} · {commits}"


def suspects_summary(report: SuspectReport) -> str:
    """Return what was found, or that nothing was and why."""
    say = catalogue(report.language)
    if report.elsewhere:
        return say(
            "No suspects: no frame or message of this traceback belongs to {repository}.", repository=report.repository
        )
    if not report.suspects:
        return say("No suspects: no stored commit of these days changes anything that is mentioned here.")
    return say("Most likely first:")


def suspicion_reasons(suspect: Suspect, language: Language) -> list[str]:
    """Return why a commit is suspected, without its changed lines: what it breaks, then what it shares with the failure."""
    say = catalogue(language)
    found = [cause.sentence(language) for each in suspect.impacts for cause in impact_causes(each)[:1]]
    if suspect.files:
        found.append(say("changes {files}, which the traceback mentions", files=", ".join(suspect.files[:3])))
    if not suspect.lines:
        found.append(say("mentions {words}", words=", ".join(suspect.words)))
    return found
