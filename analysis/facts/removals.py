"""Names removed from a file, each paired with its successor if it was renamed."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from analysis.diff import DiffLine, side_lines
from analysis.facts.change import Change, Side, old_path
from analysis.models import Fact, FactKind, FileChange

_MIN_SIMILARITY = 0.6  # minimum similarity of a removed and an added name in one hunk to count as a renaming
_NOT_SHOWN = -1  # the hunk of a line outside every hunk
_RENAMED = {
    FactKind.REMOVED_ENV: FactKind.RENAMED_ENV,
    FactKind.REMOVED_FLAG: FactKind.RENAMED_FLAG,
    FactKind.REMOVED_ROUTE: FactKind.RENAMED_ROUTE,
    FactKind.REMOVED_METRIC: FactKind.RENAMED_METRIC,
}


class Occurrence(NamedTuple):
    """A name on a line of one side of a patch."""

    name: str
    line: DiffLine
    hunk: int


def located(file: FileChange, side: Side, found: Iterable[tuple[str, int]]) -> Iterator[Occurrence]:
    """Yield the occurrence of each name of one side of a file, given with its line; lines that no patch shows stay."""
    shown = {line.number_on(side): (hunk, line) for hunk, line in side_lines(file, side)}
    for name, number in found:
        hunk, line = shown.get(number, (_NOT_SHOWN, DiffLine(" ", "", number, number)))
        yield Occurrence(name, line, hunk)


def removals(
    change: Change, file: FileChange, kind: FactKind, read: Callable[[FileChange, Side], Iterable[Occurrence]]
) -> Iterator[Fact]:
    """Yield a fact of this kind for each name that `read` finds only on the old side, or of a renaming if it has a successor.

    A name that an added line mentions is left out.
    """
    before = list(read(file, "-"))
    if change.removes_only_duplicates or not any(each.line.sign == "-" for each in before):
        return
    after = list(read(file, "+"))
    names_before, names_after = ({each.name for each in side} for side in (before, after))
    removed_names = [
        each for each in before if each.line.sign == "-" and each.name not in names_after and not change.adds(each.name)
    ]
    added_names = [each for each in after if each.line.sign == "+" and each.name not in names_before]
    for each in dict.fromkeys(removed_names):
        new = _successor(each, removed_names, added_names)
        yield Fact(
            kind=_RENAMED[kind] if new else kind,
            name=each.name,
            new=new.name if new else None,
            path=old_path(file),
            line=each.line.number,
        )


def _successor(
    name: Occurrence, removed_names: Sequence[Occurrence], added_names: Sequence[Occurrence]
) -> Occurrence | None:
    """Return the only similar name added in the same place, unless another removed name resembles it more."""
    alike = [each for each in added_names if each.hunk == name.hunk and _similarity(each, name) >= _MIN_SIMILARITY]
    if len(alike) != 1:
        return None
    rivals = [each for each in removed_names if each.hunk == name.hunk]
    closest = max(rivals, key=lambda each: _similarity(each, alike[0]))
    return alike[0] if closest.name == name.name else None


def _similarity(one: Occurrence, other: Occurrence) -> float:
    return SequenceMatcher(None, one.name.lower(), other.name.lower()).ratio()
