"""Names removed from a file, each paired with its successor if it was renamed."""

from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from analysis.facts.change import Change, old_path
from analysis.models import Fact, FactKind, FileChange

_MIN_SIMILARITY = 0.6  # minimum similarity of a removed and an added name in one hunk to count as a renaming


class Named(NamedTuple):
    """A name on one side of a patch; `within` is the class or other scope that owns it, `sign` the sign of its line.

    Two names may be forms of the same thing only if their `value`, the definition without the name, is equal.
    """

    name: str
    sign: str
    line: int
    hunk: int
    within: str = ""
    value: str = ""

    @property
    def whole(self) -> str:
        return f"{self.within}.{self.name}" if self.within else self.name


def removals(
    change: Change,
    file: FileChange,
    before: Sequence[Named],
    after: Sequence[Named],
    removed: FactKind,
    renamed: FactKind,
    lives_on: Callable[[str], bool] | None = None,
) -> Iterator[Fact]:
    """Yield a fact for each name only on the old side, unless `lives_on` accepts it.

    By default a name lives on if an added line mentions it.
    """
    if change.loses_nothing or not any(each.sign == "-" for each in before):
        return
    lives_on = lives_on or change.adds
    kept = {each.whole for each in after}
    known = {each.whole for each in before}
    gone = [each for each in before if each.sign == "-" and each.whole not in kept and not lives_on(each.name)]
    come = [each for each in after if each.sign == "+" and each.whole not in known]
    for each in dict.fromkeys(gone):
        new = _successor(each, gone, come)
        yield Fact(
            kind=renamed if new else removed,
            name=each.whole,
            new=new.whole if new else None,
            path=old_path(file),
            line=each.line,
        )


def _successor(name: Named, gone: Sequence[Named], come: Sequence[Named]) -> Named | None:
    """Return the only similar name added in the same place, unless another removed name resembles it more."""
    alike = [each for each in come if _same_place(each, name) and _similarity(each, name) >= _MIN_SIMILARITY]
    if len(alike) != 1:
        return None
    rivals = [each for each in gone if _same_place(each, name)]
    return alike[0] if max(rivals, key=lambda each: _similarity(each, alike[0])).whole == name.whole else None


def _same_place(one: Named, other: Named) -> bool:
    return (one.hunk, one.within, one.value) == (other.hunk, other.within, other.value)


def _similarity(one: Named, other: Named) -> float:
    return SequenceMatcher(None, one.name.lower(), other.name.lower()).ratio()
