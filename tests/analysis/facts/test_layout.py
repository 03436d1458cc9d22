"""Changes of nothing but layout, and changes that only look like it."""

from collections.abc import Sequence

import pytest

from analysis.facts import facts
from analysis.models import FactKind, FileChange, Importance
from analysis.ranking import rank
from tests.analysis.facts.told import changed, names
from tests.analysis.facts.trees import commit_between, trees
from tests.factories import commit, file, new_file

CORE = "engine/core.py"


@pytest.mark.parametrize(
    ("path", "lines"),
    [
        (CORE, [" x = 1", "-y = take(one,two)", "+y = take(one, two)"]),
        (CORE, ["-y = take(one, two)", "+y = take(", "+    one,", "+    two,", "+)"]),
        (CORE, ["-name = 'pool'", '+name = "pool"']),
        (CORE, ['-text = "one " "two"', "+text = (", '+    "one "', '+    "two"', "+)"]),
        (CORE, ["-total = one + \\", "-    two", "+total = one + two"]),
        (CORE, ["-# the pools", "+# all pools, full ones too", " x = 1"]),
        (CORE, ["-x = take(1)  # one", "+x = take(1)  # noqa: S1"]),
        (CORE, [" x = 1", "-", "-", "+", " y = 2"]),
        (CORE, ["-import sys", " import abc", "+import sys", "-from a import d, c", "+from a import c", "+from a import d"]),
        (CORE, [" def take():", '-    """Takes one and', '-    gives two."""', '+    """Takes one and gives two."""']),
        ("csrc/pool.cu", ["-int take(int a,int b) { return a; }", "+int take(int a, int b) {", "+  return a;", "+}"]),
        ("csrc/pool.cu", ['-#include "b.h"', ' #include "a.h"', '+#include "b.h"  // for b']),
        ("deploy/values.yaml", ["-size: 1   ", "+size: 1", "+# how many"]),
    ],
)  # fmt: skip
def test_a_file_that_means_the_same_is_layout(path: str, lines: Sequence[str]) -> None:
    """Wrapping, blanks, quotes, remarks, rewrapped docstrings and the order of imports."""
    assert names(FactKind.LAYOUT, changed(path, *lines)) == [path]


@pytest.mark.parametrize(
    ("path", "lines"),
    [
        (CORE, [" if full:", "     stop()", "-    drain()", "+drain()"]),
        (CORE, ["-first()", " second()", "+first()"]),
        (CORE, ["-y = take(one, two)", "+y = take(two, one)"]),
        (CORE, ["-y = (one + two) * one", "+y = one + two * one"]),
        (CORE, ["-    one=1, two=2)", "+    one=2, two=1)"]),
        (CORE, ['-    "#one", two)', '+    "#two", one)']),
        (CORE, [" if x:", "     y = 1", "-elif one // two == 2:", "+elif one // 2 == two:", "     y = 2"]),
        (CORE, ['-text = "one two"', '+text = "one  two"']),
        (CORE, [' text = """', "-  one", "+    one", ' """']),
        (CORE, [" import os", " first()", "-import sys", " second()", "+import sys"]),
        (CORE, [" def a():", "-    import sys", "     pass", " def b():", "+    import sys", "     pass"]),
        (CORE, ["-import sys", " x = 1"]),
        ("csrc/pool.cu", ["-x = a - b;", "+x = b - a;"]),
        ("csrc/pool.cu", ["-x = a * b;", "+// x = a * b;"]),
        ("deploy/values.yaml", [" pool:", "-  size: 1", "+size: 1"]),
        ("deploy/values.yaml", ["-size: 1", "-rest: 1", "+rest: 1", "+size: 1"]),
    ],
)
def test_what_changes_a_meaning_is_not_layout(path: str, lines: Sequence[str]) -> None:
    """Depth, order, text, what an import runs before, and lines of files that are read line by line."""
    assert names(FactKind.LAYOUT, changed(path, *lines)) == []


TIDY = changed(CORE, "-y = take(one,two)", "+y = take(one, two)")


@pytest.mark.parametrize(
    "other",
    [
        changed("engine/other.py", "-x = 1", "+x = 2"),
        new_file("engine/other.py", "# nothing"),
        file("engine/other.py", None, additions=1, deletions=1),
        file("engine/other.py", "no patch at all"),
        file("engine/other.py", None, status="renamed", was="engine/old.py"),
    ],
)
def test_one_file_that_changes_is_enough(other: FileChange) -> None:
    """A commit is layout only if every file is, and every patch is here."""
    assert names(FactKind.LAYOUT, TIDY, other) == []


def test_documentation_may_change_besides() -> None:
    """What a document says is its own matter; alone it is no layout."""
    note = changed("docs/pool.md", "-One.", "+Two.")
    assert names(FactKind.LAYOUT, note, TIDY, changed("engine/b.py", "-x=1", "+x = 1")) == [f"{CORE} (+1)"]
    assert names(FactKind.LAYOUT, note) == []


DOCUMENTED = '''class Config:
    """Settings.

    {docs}
    and more of them.
    """

    size: int = {size}
    """{field}"""
'''


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"docs": "The defaults,"}, [CORE]),
        ({"field": "How many there are."}, [CORE]),
        ({"size": "2"}, []),
        ({"docs": "The defaults,", "size": "2"}, []),
    ],
)
def test_what_a_docstring_says_is_layout(changes: dict[str, str], found: list[str]) -> None:
    """A correction within a docstring, or of a field's, changes no code, as the whole file shows."""
    values = {"docs": "The defults,", "size": "1", "field": "How mny."}
    old, new = ({CORE: DOCUMENTED.format(**each)} for each in (values, {**values, **changes}))
    told = facts(commit_between(old, new), trees(old, new))
    assert [each.name for each in told if each.kind is FactKind.LAYOUT] == found


def test_layout_is_low_whatever_its_title_and_size() -> None:
    """A rewrapped engine stays low, and the reason is shown; without its patch it is judged as before."""
    lines = [each for number in range(400) for each in (f"-y{number} = take(one,two)", f"+y{number} = take(one, two)")]
    wide = changed("engine/core/scheduler.py", *lines)
    made = commit("[Core] Support a new scheduler by default", [wide])
    ranked = rank(made, facts(made))
    assert ranked.importance is Importance.LOW
    assert "only layout" in {reason.signal for reason in ranked.reasons}
    bare = commit(made.message, [wide.model_copy(update={"patch": None})])
    assert rank(bare, facts(bare)).importance is not Importance.LOW
