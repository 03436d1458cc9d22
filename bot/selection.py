"""A channel's own selection of a day: the tiers and the paths that it asked for, out of the one report that all share."""

from collections.abc import Sequence

from pathspec import GitIgnoreSpec

from analysis.models import Chosen, DayReport, Entry, Frozen, Importance

_RANK = {Importance.HIGH: 2, Importance.MEDIUM: 1, Importance.LOW: 0}


class Selection(Frozen):
    """At least this tier, and only commits that touch one of the paths, written as in a .gitignore; no paths mean all."""

    least: Importance = Importance.LOW
    paths: tuple[str, ...] = ()

    @property
    def is_everything(self) -> bool:
        return self.least is Importance.LOW and not self.paths


def selected(report: DayReport, selection: Selection, told: str) -> DayReport:
    """The report with only what is selected, which `told` says in its language. A commit that could not be read stays: its paths are not known."""
    if selection.is_everything:
        return report
    wanted = _Wanted(selection)
    entries, late = (tuple(filter(wanted, each)) for each in (report.entries, report.late))
    kept = {entry.commit.sha for entry in entries + late}
    return report.model_copy(
        update={
            "entries": entries,
            "late": late,
            "chosen": Chosen(
                told=told,
                unselected=len(report.entries) - len(entries),
                unselected_late=len(report.late) - len(late),
            ),
            **{
                name: tuple(each for each in getattr(report, name) if each.sha in kept)
                for name in ("failed", "shortened", "replaced")
            },
        }
    )


class _Wanted:
    """Whether a commit is selected."""

    def __init__(self, selection: Selection) -> None:
        self._least = _RANK[selection.least]
        self._paths: GitIgnoreSpec | None = GitIgnoreSpec.from_lines(selection.paths) if selection.paths else None

    def __call__(self, entry: Entry) -> bool:
        if not entry.commit.read:
            return True
        return _RANK[entry.ranked.importance] >= self._least and self._touches(_all_paths(entry))

    def _touches(self, paths: Sequence[str]) -> bool:
        return self._paths is None or any(map(self._paths.match_file, paths))


def _all_paths(entry: Entry) -> list[str]:
    return [path for file in entry.commit.files for path in (file.path, file.previous_path) if path]
