"""Changed, added and removed dependencies, and raised minimum versions of them, of the language and of build tools."""

import re
from collections.abc import Iterator, Sequence
from posixpath import dirname, join
from typing import NamedTuple

from analysis.diff import changed_lines, headed_hunks, side_lines
from analysis.facts.change import Change, Side, old_path
from analysis.facts.requirements import Requirement, is_installed_from, requirements, version_parts
from analysis.models import Fact, FactKind, FileChange, Proof
from analysis.paths import Kind, kind
from analysis.text import mentions

ANY_VERSION = "*"
_LOWER = re.compile(r"(?:>=|~=|(?<![<>=!~])>(?!=))v?(\d+(?:\.\d+)*)")
_INCLUDE = re.compile(r"\s*(?:-r|--requirement)[ =]\s*([\w./-]+)")


class _Lists(NamedTuple):
    """The requirements on the changed lines of a file's two sides, and the text of the lines that stay."""

    before: Sequence[Requirement]
    after: Sequence[Requirement]
    unchanged: str


def dependencies(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield packages whose versions, lower bounds or upper caps change, and those that come and go.

    A lower bound that rises in what every user installs is a raised minimum version.
    """
    if not is_installed_from(file, change.read_after):
        return
    lists = _lists(change, file)
    proof = Proof.FILES if change.read_after(file.path) is not None else Proof.PATCH
    for old, new in _pairs(lists):
        if (found := _kind(change, lists, old, new)) and (shown := new or old):
            yield Fact(
                kind=found,
                name=shown.name,
                path=file.path,
                line=shown.line,
                old=_shown(old, new),
                new=_shown(new, old),
                proof=proof,
            )


def _kind(change: Change, lists: _Lists, old: Requirement | None, new: Requirement | None) -> FactKind | None:
    if old and new:
        if old.allowed == new.allowed:
            return None
        if new.extra and old.extra:
            return FactKind.EXTRA_MOVED
        return FactKind.MINIMUM_RAISED if _raises_minimum(old, new) else FactKind.DEPENDENCY_MOVED
    if new:
        had = mentions(lists.unchanged, new.name) or _is_required(change, new, "-")
        return None if had else FactKind.EXTRA_ADDED if new.extra else FactKind.DEPENDENCY_ADDED
    if old is None or mentions(lists.unchanged, old.name) or _is_required(change, old, "+"):
        return None
    return FactKind.EXTRA_REMOVED if old.extra else FactKind.DEPENDENCY_REMOVED


def _raises_minimum(old: Requirement, new: Requirement) -> bool:
    """Return whether the lower bound of a range rises; a pin to one version is a limit on both sides."""
    bounds = [_LOWER.findall(each.spec) for each in (old, new)]
    if new.optional or not all(bounds) or "==" in new.spec:
        return False
    was, now = (max(map(version_parts, some)) for some in bounds)
    return now > was


def _pairs(lists: _Lists) -> Iterator[tuple[Requirement | None, Requirement | None]]:
    """Pair the requirements of a package before and after, those with the same marker first; repeated ones are left out."""
    before, after = list(lists.before), list(lists.after)
    paired: list[tuple[Requirement | None, Requirement | None]] = []
    for exact in (True, False):
        for new in list(after):
            old = next(
                (each for each in before if each.key == new.key and (not exact or each.marker == new.marker)), None
            )
            if old:
                paired.append((old, new))
                before.remove(old)
                after.remove(new)
    known = {each.key for pair in paired for each in pair if each}
    yield from paired
    yield from ((None, each) for each in after if each.key not in known)
    yield from ((each, None) for each in before if each.key not in known)


def _lists(change: Change, file: FileChange) -> _Lists:
    sides: tuple[Side, Side] = ("-", "+")
    known = [{line.number_on(side): line.text for _, line in side_lines(file, side)} for side in sides]
    changed = [frozenset(line.number for _, line in side_lines(file, side) if line.sign == side) for side in sides]
    whole = [change.read_before(old_path(file)), change.read_after(file.path)]
    for index, text in enumerate(whole):
        if text is not None:
            known[index] = {**dict(enumerate(text.split("\n"), 1)), **known[index]}
        else:  # git names the list that a hunk begins in
            for hunk in (each for each in headed_hunks(file.patch) if each.heading and each.lines):
                known[index].setdefault(hunk.lines[0].number_on(sides[index]) - 1, hunk.heading)
    paths = old_path(file), file.path
    before, after = (
        list(requirements(path, lines, numbers)) for path, lines, numbers in zip(paths, known, changed, strict=True)
    )
    unchanged = [text for number, text in known[1].items() if number not in changed[1]]
    return _Lists(before, after, "\n".join([*unchanged, *_included(change, file, unchanged)]))


def _included(change: Change, file: FileChange, lines: Sequence[str]) -> Iterator[str]:
    """Yield the texts of the requirements files that a file includes by `-r`; one level, which is what projects use."""
    for line in lines:
        if (match := _INCLUDE.match(line)) and (text := change.read_after(join(dirname(file.path), match[1]))):
            yield text


def _is_required(change: Change, package: Requirement, side: Side) -> bool:
    """Return whether what users install from names a package on one side, in a whole file or the lines changed there.

    Extras alone do not require what everybody installed.
    """
    for file in change.commit.files:
        if is_installed_from(file, change.read_after):
            whole = change.read_before(old_path(file)) if side == "-" else change.read_after(file.path)
            text = whole or "\n".join(line.text for line in changed_lines(file, side))
            lines = dict(enumerate(text.split("\n"), 1))
            found = requirements(file.path, lines, frozenset(lines), any_list=True)
            named = [each.extra for each in found if each.key == package.key]
            in_extras_alone = bool(named) and all(named) and not package.extra
            if mentions(text.lower(), package.name.lower()) and not in_extras_alone:
                return True
    return False


def _shown(one: Requirement | None, other: Requirement | None) -> str | None:
    """Return a specifier as shown: `*` for any version, if the other side has a limit."""
    return (one.spec or (ANY_VERSION if other else None)) if one else None


_NOT_INSTALLED = re.compile(
    r"(^|/)(examples?|samples?|demos?|tests?|benchmarks?|docs?)/"
)  # folders whose requirements users do not install
_MINIMUM = re.compile(
    r"""(?x)
      ^\s*(?P<name>requires-python|python_requires|rust-version)\s*=\s*["']?\s*(?:<=?\s*[\d.]+\s*,\s*)?(?:[>~^=]=?\s*)?(?P<a>\d+(?:\.\d+)*)
    | ^\s*set\(\s*(?P<standard>CMAKE_(?:CXX|CUDA|HIP|C)_STANDARD)\s+(?P<s>\d+)
    | ^\s*(?P<cmake>cmake_minimum_required)\s*\(\s*VERSION\s+(?P<b>\d+(?:\.\d+)*)
    | ^(?P<go>go)\s+(?P<c>\d+(?:\.\d+)*)\s*$
    | ^\s*["'](?P<node>node)["']\s*:\s*["']>=\s*(?P<d>\d+(?:\.\d+)*)
    | ^\s*(?:set\(\s*)?(?P<named>(?:\w+_)?(?:MIN|MINIMUM)_(?:\w+_)?VERSION|(?:\w+_)?(?:MIN|MINIMUM)_(?:CUDA|TORCH|ROCM|PYTHON)\w*)
      \s*(?::\s*\w+\s*)?[=\s]\s*["'(]?(?P<e>\d+(?:\.\d+)*)
    """
)


def minimum_versions(_change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield raised minimum versions of the language, build tools and compile targets."""
    if kind(file.path) in (Kind.DEPENDENCY, Kind.BUILD, Kind.SOURCE):
        before = {name: version for name, version, _ in _minimums_on(file, "-")}
        for name, version, line in _minimums_on(file, "+"):
            was = before.get(name)
            if was and version_parts(version) > version_parts(was):
                yield Fact(kind=FactKind.MINIMUM_RAISED, name=name, path=file.path, line=line, old=was, new=version)


def _minimums_on(file: FileChange, sign: str) -> Iterator[tuple[str, str, int]]:
    if _NOT_INSTALLED.search(file.path.lower()):
        return
    for line in changed_lines(file, sign):
        if match := _MINIMUM.search(line.text):
            name, version = (each for each in match.groups() if each)
            yield name, version, line.number
