"""Names that a file had and has no more, each paired with the one that came in its place, if one did."""

from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from analysis.facts.change import Change, old_path
from analysis.models import Fact, FactKind, FileChange

_ALIKE = 0.6  # names at least this similar, one gone and one come in the same hunk, are a renaming


class Named(NamedTuple):
    """A name as one side of a patch has it; `within` is the class or the like whose it is, and `sign` its line's.

    Two are one name's two forms only if they have the same `value`: what is said of the thing besides its name.
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


def lost(
    change: Change,
    file: FileChange,
    before: Sequence[Named],
    after: Sequence[Named],
    removed: FactKind,
    renamed: FactKind,
    lives_on: Callable[[str], bool] | None = None,
) -> Iterator[Fact]:
    """A fact for each name that only the old side has, unless it lives on: by default, if the commit mentions it again anywhere."""
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
    """The one alike name that came in the same place, unless another that went is more like it."""
    alike = [each for each in come if _beside(each, name) and _likeness(each, name) >= _ALIKE]
    if len(alike) != 1:
        return None
    rivals = [each for each in gone if _beside(each, name)]
    return alike[0] if max(rivals, key=lambda each: _likeness(each, alike[0])).whole == name.whole else None


def _beside(one: Named, other: Named) -> bool:
    return (one.hunk, one.within, one.value) == (other.hunk, other.within, other.value)


def _likeness(one: Named, other: Named) -> float:
    return SequenceMatcher(None, one.name.lower(), other.name.lower()).ratio()
