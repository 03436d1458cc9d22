"""Raised minimum versions of the language, build tools and compile targets."""

import re
from collections.abc import Iterator

from analysis.diff import changed_lines
from analysis.facts.change import Change
from analysis.facts.requirements import version_parts
from analysis.models import Fact, FactKind, FileChange
from analysis.paths import Kind, kind

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


def minimum_versions(_change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield raised minimum versions of the language, build tools and compile targets."""
    if kind(file.path) in (Kind.DEPENDENCY, Kind.BUILD, Kind.SOURCE):
        before = {name: version for name, version, _ in _minimums_on(file, "-")}
        for name, version, line in _minimums_on(file, "+"):
            was = before.get(name)
            if was and version_parts(version) > version_parts(was):
                yield Fact(kind=FactKind.MINIMUM_RAISED, name=name, path=file.path, line=line, old=was, new=version)


def _minimums_on(file: FileChange, sign: str) -> Iterator[tuple[str, str, int]]:
    if not any(hint in (file.patch or "") for hint in _HINTS) or _NOT_INSTALLED.search(file.path.lower()):
        return
    for line in changed_lines(file, sign):
        if match := _MINIMUM.search(line.text):
            name, version = (each for each in match.groups() if each)
            yield name, version, line.number
