"""Names removed from a file, each paired with its successor if it was renamed."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from analysis.diff import DiffLine, side_lines
from analysis.facts.change import SIDES, Change, Side, old_path
from analysis.models import Fact, FactKind, FileChange

_MIN_SIMILARITY = 0.6  # minimum similarity of a removed and an added name in one hunk to count as a renaming
_NOT_SHOWN = -1  # the hunk of a line outside every hunk
_RENAMED = {
    FactKind.REMOVED_ENV: FactKind.RENAMED_ENV,
    FactKind.REMOVED_FLAG: FactKind.RENAMED_FLAG,
    FactKind.REMOVED_KEY: FactKind.RENAMED_KEY,
    FactKind.REMOVED_ROUTE: FactKind.RENAMED_ROUTE,
    FactKind.REMOVED_FIELD: FactKind.RENAMED_FIELD,
    FactKind.REMOVED_NAME: FactKind.RENAMED_NAME,
}


class Occurrence(NamedTuple):
    """A name on a line of one side of a patch; `owner` is the class or other scope that it belongs to.

    Two names may be forms of the same thing only if their `value`, the definition without the name, is equal.
    """

    name: str
    line: DiffLine
    hunk: int
    owner: str = ""
    value: str = ""

    @property
    def qualified_name(self) -> str:
        return f"{self.owner}.{self.name}" if self.owner else self.name


def located(file: FileChange, side: Side, found: Iterable[tuple[str, int]]) -> Iterator[Occurrence]:
    """Yield the occurrence of each name of one side of a file, given with its line; lines that no patch shows stay."""
    shown = {line.number_on(side): (hunk, line) for hunk, line in side_lines(file, side)}
    for name, number in found:
        hunk, line = shown.get(number, (_NOT_SHOWN, DiffLine(" ", "", number, number)))
        yield Occurrence(name, line, hunk)


def removed_between_sides(
    change: Change, file: FileChange, kind: FactKind, read: Callable[[FileChange, Side], Iterable[Occurrence]]
) -> Iterator[Fact]:
    """Return the `removals` between the names that `read` finds on the two sides of a file."""
    before, after = (list(read(file, side)) for side in SIDES)
    return removals(change, file, kind, before, after)


def removals(
    change: Change,
    file: FileChange,
    kind: FactKind,
    before: Sequence[Occurrence],
    after: Sequence[Occurrence],
    still_exists: Callable[[str], bool] | None = None,
) -> Iterator[Fact]:
    """Yield a fact of this kind of removal for each name only on the old side, or of a renaming if it has a successor.

    A name that `still_exists` accepts is left out, by default one that an added line mentions.
    """
    if change.removes_only_duplicates or not any(each.line.sign == "-" for each in before):
        return
    still_exists = still_exists or change.adds
    names_after = {each.qualified_name for each in after}
    names_before = {each.qualified_name for each in before}
    removed_names = [
        each
        for each in before
        if each.line.sign == "-" and each.qualified_name not in names_after and not still_exists(each.name)
    ]
    added_names = [each for each in after if each.line.sign == "+" and each.qualified_name not in names_before]
    for each in dict.fromkeys(removed_names):
        new = _successor(each, removed_names, added_names)
        yield Fact(
            kind=_RENAMED[kind] if new else kind,
            name=each.qualified_name,
            new=new.qualified_name if new else None,
            path=old_path(file),
            line=each.line.number,
        )


def _successor(
    name: Occurrence, removed_names: Sequence[Occurrence], added_names: Sequence[Occurrence]
) -> Occurrence | None:
    """Return the only similar name added in the same place, unless another removed name resembles it more."""
    alike = [each for each in added_names if _is_same_place(each, name) and _similarity(each, name) >= _MIN_SIMILARITY]
    if len(alike) != 1:
        return None
    rivals = [each for each in removed_names if _is_same_place(each, name)]
    closest = max(rivals, key=lambda each: _similarity(each, alike[0]))
    return alike[0] if closest.qualified_name == name.qualified_name else None


def _is_same_place(one: Occurrence, other: Occurrence) -> bool:
    return (one.hunk, one.owner, one.value) == (other.hunk, other.owner, other.value)


def _similarity(one: Occurrence, other: Occurrence) -> float:
    return SequenceMatcher(None, one.name.lower(), other.name.lower()).ratio()
