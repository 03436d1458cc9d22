"""Selection from a day's shared report for one channel, by its tier, paths and watched terms."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from types import MappingProxyType

from analysis.impact.watch import touches
from analysis.models import Chosen, DayReport, Entry, Frozen, Importance, Touch
from analysis.paths import path_patterns
from bot.store import Store

_RANK = {Importance.HIGH: 2, Importance.MEDIUM: 1, Importance.LOW: 0}


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
        touches = paths is None or any(map(paths.match_file, _all_paths(entry)))
        return touches and _RANK[entry.ranked.importance] >= least

    return is_selected


def _all_paths(entry: Entry) -> list[str]:
    return [path for file in entry.commit.files for path in (file.path, file.previous_path) if path]
