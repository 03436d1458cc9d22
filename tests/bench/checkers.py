"""Two type checkers as independent judges of impacts: what they say of a plug-in at the end of a fortnight and did not at its start.

They read Python files alone, never the tree's own configuration, and execute nothing.
"""

import ast
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from subprocess import run
from tarfile import open as open_tar
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests.bench.figures import Row
from tests.bench.fortnights import Matched, fortnights
from tests.bench.plugins import Plugins
from tests.servers.bare import BareRepository

_TY_MESSAGE = re.compile(r"(.+?):(\d+):(\d+): \w+\[([\w-]+)\]")
# Beneath a base that does not resolve everything is of any type, and nothing is said.
_TORCH = {
    "__init__.pyi": "from typing import Any\nfrom . import nn as nn\n\ndef __getattr__(name: str) -> Any: ...\n",
    "nn/__init__.pyi": "from typing import Any\n\nclass Module:\n    def __getattr__(self, name: str) -> Any: ...\n\n"
    "def __getattr__(name: str) -> Any: ...\n",
}

_Message = tuple[str, int, int, str]  # path, line, column and rule: the plug-in's files stay the same
_Place = tuple[str, int]  # a path, and the first line of a statement
_Check = Callable[[Path, Sequence[Path]], set[_Message]]


def disagreements(served: Plugins, months: Sequence[Matched]) -> Iterator[Row]:
    """Compare the lines with impacts of each plug-in's fortnights with those that a checker calls broken since."""
    for tool, check in _CHECKERS.items():
        if not _program(tool).exists():
            yield Row(f"lines broken according to {tool}", "not installed")
            continue
        for name in served.downstream:
            theirs, ours = set[tuple[int, _Place]](), set[tuple[int, _Place]]()
            for number, each in enumerate(_fortnights(served, months, name)):
                for found, places in zip((theirs, ours), _broken(served, name, each, check), strict=True):
                    found |= {(number, place) for place in places}
            told = f"{len(theirs - ours)} only {tool}, {len(ours - theirs)} only impacts"
            yield Row(f"statements of {name} broken according to {tool} and impacts", str(len(theirs & ours)), told)


class _Ends(NamedTuple):
    """The commits before a fortnight, of the plug-in and upstream, upstream's last one, and the lines with impacts."""

    plugin: str
    before: str
    last: str
    broken: set[_Place]


def _fortnights(served: Plugins, months: Sequence[Matched], name: str) -> Iterator[_Ends]:
    for month, matched in zip(served.months, months, strict=True):
        for first, end in fortnights(month):
            broken = {
                (impact.downstream.path, impact.downstream.line)
                for commit in matched.commits
                if first <= commit.committed_at.date() < end
                for impact in commit.impacts.get(name, ())
            }
            plugin = served.head_at(name, first)
            before, last = (served.head_at(served.upstream, day) for day in (first, end))
            if plugin and before and last:
                yield _Ends(plugin, before, last, broken)


def _broken(served: Plugins, name: str, ends: _Ends, check: _Check) -> tuple[set[_Place], set[_Place]]:
    """Return the statements of a plug-in about which a checker says more at the second end, and those with impacts."""
    with TemporaryDirectory() as folder:
        root = Path(folder)
        for path, text in _TORCH.items():
            (root / "stubs" / "torch" / path).parent.mkdir(parents=True, exist_ok=True)
            (root / "stubs" / "torch" / path).write_text(text)
        _extract(served.bare[name], ends.plugin, root / "plugin")
        found = []
        for sha in (ends.before, ends.last):
            _extract(served.bare[served.upstream], sha, root / sha)
            found.append(check(root / "plugin", (root / sha, root / "stubs")))
        said = {(path, line) for path, line, _, _ in found[1] - found[0]}
        return _statements(root / "plugin", said), _statements(root / "plugin", ends.broken)


def _statements(root: Path, places: set[_Place]) -> set[_Place]:
    """Return the first lines of the innermost statements that have some lines of Python files."""
    firsts: dict[_Place, int] = {}
    for path in {path for path, _ in places if path.endswith(".py")}:
        for node in ast.walk(ast.parse((root / path).read_bytes())):  # the inner ones after those around them
            if isinstance(node, ast.stmt):
                firsts |= {(path, line): node.lineno for line in range(node.lineno, (node.end_lineno or 0) + 1)}
    return {(path, firsts.get((path, line), line)) for path, line in places if path.endswith(".py")}


def _extract(bare: BareRepository, sha: str, folder: Path) -> None:
    """Write the Python files of a commit to a folder."""
    how = ["git", "-C", str(bare.folder), "archive", "--format=tar", sha, "--", ":(glob)**/*.py"]
    with open_tar(fileobj=BytesIO(run(how, check=True, capture_output=True).stdout)) as tar:
        tar.extractall(folder, [each for each in tar if each.isfile() or each.isdir()], filter="data")


def _ty(folder: Path, search: Sequence[Path]) -> set[_Message]:
    paths = [option for each in search for option in ("--extra-search-path", str(each))]
    said = _said("ty", ["check", "--output-format", "concise", *paths, "."], folder, {"TY_MAX_PARALLELISM": "1"})
    return {(each[1], int(each[2]), int(each[3]), each[4]) for each in map(_TY_MESSAGE.match, said.split("\n")) if each}


def _pyrefly(folder: Path, search: Sequence[Path]) -> set[_Message]:
    paths = [option for each in (folder, *search) for option in ("--search-path", str(each))]
    how = [
        "check",
        "--preset",
        "default",
        "-j",
        "1",
        "--skip-interpreter-query",
        "--output-format",
        "json",
        *paths,
        ".",
    ]
    errors = json.loads(_said("pyrefly", how, folder, {}))["errors"]
    relative = (each["path"].removeprefix(f"{folder}/") for each in errors)
    return {(path, each["line"], each["column"], each["name"]) for path, each in zip(relative, errors, strict=True)}


def _said(tool: str, arguments: Sequence[str], folder: Path, settings: Mapping[str, str]) -> str:
    done = run(
        [_program(tool), *arguments], cwd=folder, env=dict(settings), capture_output=True, text=True, check=False
    )
    return done.stdout


def _program(tool: str) -> Path:
    return Path(sys.executable).with_name(tool)


_CHECKERS: Mapping[str, _Check] = {"ty": _ty, "pyrefly": _pyrefly}
