"""A week from its days: every commit once, by what the seven days change in sum."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date, timedelta

from analysis.consequences.repeats import title_words
from analysis.facts.links import reverted_title
from analysis.models import Chosen, Commit, DayReport, Entry, Fact, FactKind, Language, Repository
from analysis.models.release_scores import Corrections, ReleaseScore
from analysis.models.weeks import Announcement, Area, Revert, WeekDay, WeekReport
from analysis.paths import Kind, kind

_MAX_AREAS = 6
_WIDE = 0.4  # share of the commits above which the folders inside a folder tell more than the folder
_NO_CORRECTIONS = Corrections()


def week_report(
    repository: Repository,
    first: date,
    days: Sequence[DayReport],
    *,
    timezone: str,
    language: Language,
    today: date,
    net_facts: Mapping[str, tuple[Fact, ...]],
    length: int = 7,
    corrections: Corrections = _NO_CORRECTIONS,
    score: ReleaseScore | None = None,
) -> WeekReport:
    """Return the week, or the `length` days, from `first` on: those that are stored, each with the commits that a channel selected.

    `net_facts` may also be of commits that are not selected.
    """
    listed, entries = _listed([first + timedelta(days=place) for place in range(length)], days, today)
    newest_first = tuple(sorted(entries.values(), key=lambda each: each.commit.committed_at, reverse=True))
    oldest_first = [each.commit for each in newest_first[::-1]]
    return WeekReport(
        repository=repository,
        timezone=timezone,
        language=language,
        entries=newest_first,
        failed=tuple(failure for each in days for failure in each.failed),
        net_facts={sha: facts for sha, facts in net_facts.items() if sha in entries},
        chosen=_chosen(days),
        days=listed,
        reverts=tuple(_reverts(oldest_first, {sha: each.links.all_reverted for sha, each in entries.items()})),
        announced=tuple(_announced(newest_first, net_facts)),
        areas=_areas(newest_first),
        corrections=corrections,
        score=score,
    )


def _listed(
    dates: Sequence[date], days: Sequence[DayReport], today: date
) -> tuple[tuple[WeekDay, ...], dict[str, Entry]]:
    """Return the days of these dates, each with the commits that no earlier one has, and all commits by SHA."""
    by_date = {each.date: each for each in days}
    entries: dict[str, Entry] = {}
    listed: list[WeekDay] = []
    for day in dates:
        report = by_date.get(day)
        new = [each for each in (*report.entries, *report.late) if each.commit.sha not in entries] if report else []
        entries.update((each.commit.sha, each) for each in new)
        shas = tuple(each.commit.sha for each in new) if report else None
        listed.append(WeekDay(date=day, commits=shas, over=day < today))
    return tuple(listed), entries


def _chosen(days: Sequence[DayReport]) -> Chosen | None:
    found = [each.chosen for each in days if each.chosen]
    if not found:
        return None
    return Chosen(
        description=found[-1].description,
        unselected=sum(each.unselected for each in found),
        unselected_late=sum(each.unselected_late for each in found),
    )


def _reverts(oldest_first: Sequence[Commit], reverted: Mapping[str, Collection[str]]) -> Iterator[Revert]:
    """Yield the reverts of a week, oldest first; `reverted` maps a revert's SHA to the commits that it takes back.

    One that takes a revert back lands its commit again, and is no revert of its own, as a commit with the same title does.
    """
    reverts = {each.sha: title for each in oldest_first if (title := reverted_title(each))}
    again = {sha: each for each in oldest_first for sha in reverted.get(each.sha, ()) if sha in reverts}
    for place, commit in enumerate(oldest_first):
        if commit.sha in reverts and not set(reverts).intersection(reverted.get(commit.sha, ())):
            title = reverts[commit.sha]
            same = (each for each in oldest_first[place + 1 :] if title_words(each.subject) == title_words(title))
            landed_again = again.get(commit.sha) or next((each for each in same if each.sha not in reverts), None)
            yield Revert(commit=commit, title=title, landed_again=landed_again)


def _announced(entries: Sequence[Entry], net_facts: Mapping[str, Sequence[Fact]]) -> Iterator[Announcement]:
    for entry in entries:
        net = net_facts.get(entry.commit.sha, entry.facts)
        if facts := tuple(each for each in net if each.kind is FactKind.DEPRECATED and not _is_aside(each)):
            yield Announcement(entry=entry, facts=facts)


def _is_aside(fact: Fact) -> bool:
    """Return whether a deprecation is one of tests, documentation or the like."""
    return bool(fact.path) and kind(fact.path or "") is not Kind.SOURCE


def _areas(entries: Sequence[Entry]) -> tuple[Area, ...]:
    """Return the folders that most commits touch; in place of one that many touch, the folders inside it."""
    touched = [{path for path in each.commit.paths if "/" in path} for each in entries]
    top = Counter(folder for paths in touched for folder in {path.partition("/")[0] for path in paths})
    inside = {path.partition("/")[0] for paths in touched for path in paths if path.count("/") > 1}
    wide = {folder for folder in inside if top[folder] > _WIDE * len(entries)}
    found = Counter(folder for paths in touched for folder in {_area(path, wide) for path in paths})
    ordered = sorted(found.items(), key=lambda each: (-each[1], each[0]))
    return tuple(Area(path=path, commits=count) for path, count in ordered[:_MAX_AREAS])


def _area(path: str, wide: Collection[str]) -> str:
    first, _, rest = path.partition("/")
    if first not in wide:
        return first
    return f"{first}/{rest.partition('/')[0]}" if "/" in rest else f"{first}/*"
