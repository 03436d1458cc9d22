"""What several versions of upstream break of a plug-in, and the range beside the best of them."""

from datetime import UTC, datetime
from functools import partial

import pytest

from analysis.impact.versions import (
    UpstreamVersion,
    VersionComparison,
    commit_breaks,
    judged_surface,
    widest_range,
)
from analysis.models.compatibility import Version, VersionBreak
from analysis.models.impacts import Cause, Certainty, DownstreamPlace, Impact, ImpactKind, UpstreamPlace
from tests.analysis.facts.trees import RecordedTree, commit_between, trees
from tests.analysis.impact.repositories import surface

CODE = "engine/core.py"
ROOTS = {"engine": ""}

OLD = "class Worker:\n    def step(self, tokens): ...\n"
LOAD = "def load(path): ...\n"
LOAD_MODE = "def load(path, mode): ...\n"
ABSTRACT = "class Worker:\n    @abstractmethod\n    def run(self): ...\n"
USES_LOAD = "from engine.core import load\n\nload('x')\n"
GUARDED = """try:
    from engine.core import load
except ImportError:
    from engine.core import read as load
load('x')
"""
CHOSEN = """if version < '2':
    from engine.core import fetch
else:
    from engine.core import load as fetch

def run():
    return fetch('x')
"""


def version(number: int, *lines: int) -> Version:
    gone = partial(Impact, kind=ImpactKind.IMPORT, certainty=Certainty.PROVEN, cause=Cause.REMOVED, name="engine.load")
    places = (DownstreamPlace(path="plugin.py", line=line, code="") for line in lines)
    breaks = [VersionBreak(impact=gone(upstream=UpstreamPlace(path=CODE), downstream=each)) for each in places]
    return Version(name=f"v{number}", sha=f"{number}" * 40, date=datetime(2026, 1, number, tzinfo=UTC), breaks=breaks)


def told(downstream: str, *versions: str, path: str = "plugin/worker.py") -> list[list[str]]:
    """What each version breaks: the cause and the line; those that are early in brackets."""
    upstream = [UpstreamVersion(RecordedTree({"engine/__init__.py": "", CODE: each}), ROOTS) for each in versions]
    found = VersionComparison(upstream, judged_surface(surface({path: downstream}))).fit()
    words = [
        [(f"({text})" if each.early else text) for each in breaks if (text := f"{each.impact.cause}:{each.line[1]}")]
        for breaks in found.breaks
    ]
    return [sorted(each) for each in words]


@pytest.mark.parametrize(
    ("downstream", "versions", "expected"),
    [
        (USES_LOAD, ["", LOAD, LOAD, ""], [["(removed:1)"], [], [], ["removed:1"]]),
        (USES_LOAD, [LOAD, LOAD_MODE], [[], ["parameter required:3"]]),
        (USES_LOAD, ["", "", ""], [[], [], []]),  # perhaps from elsewhere
        (GUARDED, ["", LOAD], [[], []]),
        (CHOSEN, ["def fetch(path): ...\n", LOAD], [[], []]),
        ("class Mine(Worker): ...\n", [OLD, ABSTRACT], [[], []]),  # not the upstream one
        ("from engine.core import Worker\nclass Mine(Worker): ...\n", [ABSTRACT, OLD], [["(made abstract:2)"], []]),
        (
            "from engine.core import Worker\nclass Mine(Worker):\n    def step(self, tokens): ...\n",
            [
                "class Worker: ...\n",
                OLD,
                "class Worker:\n    def step(self, tokens, cache): ...\n",
                "class Worker: ...\n",
            ],
            [[], [], ["parameter required:3"], []],  # nothing calls an override where upstream has no such method
        ),
        (  # the only caller is replaced as well
            "from engine.core import Worker\nclass Mine(Worker):\n    def step(self): ...\n    def run(self): ...\n",
            [
                f"class Worker:\n    def step(self{more}): ...\n    def run(self): self.step()\n"
                for more in ("", ", cache")
            ],
            [[], []],
        ),
    ],
)
def test_a_version_breaks_what_another_is_right_for(
    downstream: str, versions: list[str], expected: list[list[str]]
) -> None:
    """Names, calls, overrides and abstract methods are compared at each version; guarded uses and unknown names break nothing."""
    assert told(downstream, *versions) == expected


def test_tests_and_examples_are_not_compared() -> None:
    """Code that users do not run decides nothing."""
    assert told(USES_LOAD, LOAD, "", path="tests/test_worker.py") == [[], []]


def test_names_that_no_version_has_are_listed() -> None:
    """They are told with their place, once."""
    upstream = [UpstreamVersion(RecordedTree({"engine/__init__.py": "", CODE: each}), ROOTS) for each in (OLD, LOAD)]
    found = VersionComparison(
        upstream, judged_surface(surface("from engine.core import gone\n\ngone()\ngone()\n"))
    ).fit()
    assert [(each.name, each.line) for each in found.unseen] == [("engine.core.gone", 1)]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([[1], [], [], [2]], (1, 2)),
        ([[], []], (0, 1)),
        ([[1, 9], [9], [9], [2, 9]], (1, 2)),  # what fails everywhere bounds nothing
        ([[1], [2]], (1, 1)),  # the newest
        ([[], [1], []], (2, 2)),
    ],
)
def test_the_range_lies_beside_the_version_with_the_fewest_breaks(
    lines: list[list[int]], expected: tuple[int, int]
) -> None:
    """Its neighbours belong to it as long as they break no other line."""
    assert widest_range([version(number, *each) for number, each in enumerate(lines, 1)]) == expected


@pytest.mark.parametrize(("before", "after", "early"), [(LOAD, OLD, False), (OLD, LOAD, True)])
def test_a_commit_brings_or_ends_a_break(before: str, after: str, *, early: bool) -> None:
    """The commit that takes a name away breaks a later version, the one that adds it is missing in an earlier one."""
    old, new = ({"engine/__init__.py": "", CODE: each} for each in (before, after))
    used = judged_surface(surface(USES_LOAD))
    versions = [UpstreamVersion(each, ROOTS) for each in trees(old, new)]
    [wanted] = filter(None, VersionComparison(versions, used).fit().breaks)
    found = commit_breaks(commit_between(old, new), trees(old, new), wanted, used, ROOTS)
    assert [(each.impact.name, each.early) for each in found] == [("engine.core.load", early)]
    other = {**old, "engine/other.py": "SIZE = 1\n"}
    assert not commit_breaks(commit_between(old, other), trees(old, other), wanted, used, ROOTS)
