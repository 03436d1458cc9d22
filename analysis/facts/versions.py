"""Changed, added and removed dependencies, and raised minimum versions."""

import re
from collections.abc import Iterator

from analysis.diff import changed_lines
from analysis.facts.change import Change
from analysis.models import Fact, FactKind, FileChange
from analysis.paths import Kind, kind
from analysis.text import mentions

_PINNED = re.compile(
    r"""^\s*["']?(?P<name>[A-Za-z][\w.-]*)(?:\[[\w,. -]+\])?\s*(?P<spec>(?:[<>=~!^]=?=?\s*v?\d[\w.*+!-]*)(?:\s*,\s*[<>=~!]=?\s*[\w.*+!-]+)*)"""
)
_KEYED = re.compile(
    r"""^\s*["']?(?P<name>[A-Za-z@][\w./@-]*)["']?\s*[=:]\s*["'{](?:\s*version\s*=\s*")?(?P<spec>[\^~<>=v]*\d[\w.*+-]*)"""
)
_NO_DEPENDENCY = ("version", "python", "requires-python", "target-version", "line-length", "rust-version", "edition")
_HINTS = ("requires", "_STANDARD", "minimum_required", "MIN_", "MINIMUM_", "rust-version", "\n+go ", '"node"')
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


def dependencies(change: Change, file: FileChange) -> Iterator[Fact]:
    if kind(file.path) is not Kind.DEPENDENCY:
        return
    before, after = _pins(file, "-"), _pins(file, "+")
    added = "\n".join(line.text for line in changed_lines(file, "+"))
    for name in {**before, **after}:
        old, new = before.get(name), after.get(name)
        if old and new and old[0] != new[0]:
            fact_kind = FactKind.DEPENDENCY_MOVED
        elif old and not new and not mentions(added, name) and not _is_moved(change, file, name):
            fact_kind = FactKind.DEPENDENCY_REMOVED
        elif new and not old:
            fact_kind = FactKind.DEPENDENCY_ADDED
        else:
            continue
        _, line = new or old or ("", None)
        was, now = old[0] if old else None, new[0] if new else None
        yield Fact(kind=fact_kind, name=name, path=file.path, line=line, old=was, new=now)


def _is_moved(change: Change, file: FileChange, name: str) -> bool:
    """Return whether another requirements file of the commit adds the package."""
    others = (each for each in change.commit.files if each is not file and kind(each.path) is Kind.DEPENDENCY)
    return any(name in _pins(each, "+") for each in others)


def minimum_versions(_change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield raised minimum versions of the language, build tools and compile targets."""
    if kind(file.path) in (Kind.DEPENDENCY, Kind.BUILD, Kind.SOURCE):
        before = {name: version for name, version, _ in _minimums_on(file, "-")}
        for name, version, line in _minimums_on(file, "+"):
            was = before.get(name)
            if was and _version_parts(version) > _version_parts(was):
                yield Fact(kind=FactKind.MINIMUM_RAISED, name=name, path=file.path, line=line, old=was, new=version)


def _minimums_on(file: FileChange, sign: str) -> Iterator[tuple[str, str, int]]:
    if not any(hint in (file.patch or "") for hint in _HINTS) or _NOT_INSTALLED.search(file.path.lower()):
        return
    for line in changed_lines(file, sign):
        if match := _MINIMUM.search(line.text):
            name, version = (each for each in match.groups() if each)
            yield name, version, line.number


def _version_parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _pins(file: FileChange, sign: str) -> dict[str, tuple[str, int]]:
    """Map each package to (version specifier, line) on the lines with one sign."""
    pattern = _KEYED if file.path.endswith((".toml", ".json")) else _PINNED
    found = {}
    for line in changed_lines(file, sign):
        match = _PINNED.match(line.text) or pattern.match(line.text)
        if match and match["name"].lower() not in _NO_DEPENDENCY:
            found[match["name"]] = (re.sub(r"\s+", "", match["spec"]), line.number)
    return found
