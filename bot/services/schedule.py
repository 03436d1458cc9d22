"""Schedule and selection of a subscription: when its digests are due, and which commits of a day's shared report they show.

The digest of a day is due at the subscription's time on the day after; a weekly one, of the seven days before, on its weekday.
Where a subscription has weekdays, the digest on one of them covers the days since the one before.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from types import MappingProxyType
from typing import get_args
from zoneinfo import ZoneInfo

from analysis.models import Chosen, DayReport, Entry, Frozen, Importance, ReleaseTag, Touch
from analysis.paths import path_patterns
from analysis.watch import touches
from bot.store import Store, Subscription, Terms, Weekday

_WEEK = 7
_DAY = timedelta(days=1)
WEEKDAYS: tuple[Weekday, ...] = get_args(Weekday)
_MOST = 3  # maximum number of missed days to catch up on
_RANK = {Importance.HIGH: 2, Importance.MEDIUM: 1, Importance.LOW: 0}


def due(subscription: Subscription, now: datetime) -> list[date]:
    """Return the days with which the digests that are due now end, oldest first; with weekdays only the latest is due."""
    terms = subscription.terms
    today = now.astimezone(terms.tz).date()
    if now < fires(today, terms.time, terms.tz):
        today -= _DAY
    latest = _scheduled(terms, today) - _DAY
    found = []
    for back in range(1 if terms.days else _MOST):
        day = latest - timedelta(days=back)
        if subscription.started_to and day <= subscription.started_to:
            break
        if fires(day + _DAY, terms.time, terms.tz) <= subscription.created_at:
            break
        found.append(day)
    return found[::-1]


def first_covered(subscription: Subscription, last: date) -> date:
    """Return the first day of the digest that ends with `last`: the one after the digest before, at most a week ago."""
    if not subscription.terms.days:
        return last
    before = subscription.started_to or _scheduled(subscription.terms, last) - _DAY
    return max(before + _DAY, last - timedelta(days=_WEEK - 1))


def _scheduled(terms: Terms, day: date) -> date:
    """Return the last day on which a digest comes, up to `day`."""
    while terms.days and WEEKDAYS[day.weekday()] not in terms.days:
        day -= _DAY
    return day


def due_week(subscription: Subscription, now: datetime) -> date | None:
    """Return the day of the weekly digest that is due now; of several that were missed it is the last. None if none is due."""
    terms = subscription.terms
    if terms.weekly is None:
        return None
    today = now.astimezone(terms.tz).date()
    day = today - timedelta(days=(today.weekday() - WEEKDAYS.index(terms.weekly)) % _WEEK)
    if now < fires(day, terms.time, terms.tz):
        day -= timedelta(days=_WEEK)
    return day if subscription.weekly_to is None or day > subscription.weekly_to else None


def next_week(subscription: Subscription, now: datetime) -> datetime | None:
    """Return the instant (UTC) at which the next weekly digest is due; None without one."""
    terms = subscription.terms
    if terms.weekly is None:
        return None
    today = now.astimezone(terms.tz).date()
    day = today + timedelta(days=(WEEKDAYS.index(terms.weekly) - today.weekday()) % _WEEK)
    if fires(day, terms.time, terms.tz) <= now or (subscription.weekly_to and day <= subscription.weekly_to):
        day += timedelta(days=_WEEK)
    return fires(day, terms.time, terms.tz)


def due_releases(
    subscription: Subscription, tags: Sequence[ReleaseTag], met: Mapping[str, datetime | None]
) -> list[tuple[str, str]]:
    """Return the releases that are due, the lowest first, each with the one since which it is told.

    That is the highest one that the subscription had before, or "" for the release before it. `tags` are in the order of
    versions, and `met` says since when each is known.
    """
    terms, since, had = subscription.terms, subscription.releases_since, subscription.released_to
    if not terms.releases or since is None:
        return []
    places, found = {each.name: place for place, each in enumerate(tags)}, []
    for tag in tags:
        seen_at = met.get(tag.name)
        if seen_at and seen_at > since and (terms.releases == "rc" or not tag.is_candidate):
            is_higher = places.get(had, -1) < places[tag.name]
            found.append((tag.name, had if is_higher and had in places else ""))
            had = tag.name if is_higher else had
    return found


def fires(day: date, at: time, tz: ZoneInfo) -> datetime:
    """Return the instant (UTC) of a local time: the first if a clock change repeats it, a later one if it skips it."""
    return datetime.combine(day, at, tz).astimezone(UTC)


def next_digest(subscription: Subscription, now: datetime) -> datetime:
    """Return the instant (UTC) at which the next digest is due; never for a day whose digest was already started."""
    terms = subscription.terms
    today = now.astimezone(terms.tz).date()
    if subscription.started_to:
        today = max(today, subscription.started_to + timedelta(days=2))
    while _scheduled(terms, today) != today or fires(today, terms.time, terms.tz) <= now:
        today += _DAY
    return fires(today, terms.time, terms.tz)


class Selection(Frozen):
    """A filter: the minimum tier, and the paths that a commit must touch in .gitignore syntax; no paths means all.

    A commit that touches a watched term is always selected and ranked high.
    """

    least: Importance = Importance.LOW
    paths: tuple[str, ...] = ()
    watch: tuple[str, ...] = ()


def touched(report: DayReport, watch: Sequence[str], store: Store) -> dict[str, tuple[Touch, ...]]:
    """Return SHA -> the places where a commit of the report touches a watched term."""
    listed = store.day(report.repository, report.date, report.timezone) if watch else None
    if listed is None:
        return {}
    read = [each.commit for each in store.commits(listed.commit_ids + listed.late_ids, patches=True)]
    return {commit.sha: found for commit in read if (found := touches(commit, watch))}


def selected(
    report: DayReport,
    selection: Selection,
    description: str,
    touched: Mapping[str, tuple[Touch, ...]] = MappingProxyType({}),
    breaking: Iterable[str] = (),
) -> DayReport:
    """Return the report with only the selected commits, those that touch a watched term raised to high.

    `description` names the selection in the report's language. The commits that are `breaking` are always selected.

    Commits that could not be read stay, since their paths are unknown.
    """
    if selection == Selection():
        return report
    is_selected = _filter(selection, touched.keys() | set(breaking))
    entries, late = (
        tuple(_raise_to_high(entry, touched.get(entry.commit.sha, ())) for entry in each if is_selected(entry))
        for each in (report.entries, report.late)
    )
    shas = {entry.commit.sha for entry in entries + late}
    return report.model_copy(
        update={
            "entries": entries,
            "late": late,
            "chosen": Chosen(
                description=description,
                unselected=len(report.entries) - len(entries),
                unselected_late=len(report.late) - len(late),
            ),
            **{
                name: tuple(each for each in getattr(report, name) if each.sha in shas)
                for name in ("failed", "shortened", "replaced")
            },
        }
    )


def _raise_to_high(entry: Entry, places: tuple[Touch, ...]) -> Entry:
    if not places:
        return entry
    ranked = entry.ranked.model_copy(update={"importance": Importance.HIGH})
    return entry.model_copy(update={"ranked": ranked, "watched": places})


def _filter(selection: Selection, always: Container[str]) -> Callable[[Entry], bool]:
    """Return the predicate for selected commits; those that were not read, and those in `always`, are."""
    least, paths = _RANK[selection.least], path_patterns(selection.paths) if selection.paths else None

    def is_selected(entry: Entry) -> bool:
        if not entry.commit.read or entry.commit.sha in always:
            return True
        every = (path for file in entry.commit.files for path in (file.path, file.previous_path) if path)
        touches = paths is None or any(map(paths.match_file, every))
        return touches and _RANK[entry.ranked.importance] >= least

    return is_selected
