"""Hunks that begin within a string of several lines, or right behind one."""

from collections.abc import Sequence

import pytest

from analysis.diff import DiffLine
from analysis.facts.strings import open_quote
from analysis.models import FactKind
from tests.analysis.facts.told import breaking, module, names


def begun(*texts: str) -> str:
    """The quotes that unchanged lines from the 40th on begin within."""
    return open_quote([DiffLine(" ", text, at, at) for at, text in enumerate(texts, 40)])


@pytest.mark.parametrize(
    "lines",
    [
        [' """', " ", "-def take():", "-    return 1"],
        [' """', " ", " ", "-@cache", "-def take():", '-    """Takes one."""', "-    return 1"],
        ['     """', "     assert pool", " ", "-def take():", "-    return 1"],
        ["     of the pool that is asked.", '     """', "     return pool", " ", "-def take():", "-    return 1"],
        ["     the pool, as a task.", '     """', "-def take():", '-    """', "-    Takes one.", '-    """'],
        [" a text in single quotes", " '''", "-def take():", "-    return 1"],
        ['     """', "     x = 1", " ", '-TEXT = """', "-take what you can", '-"""', "-def take():", "-    return 1"],
    ],
)
def test_what_goes_behind_a_docstring_is_missed(lines: Sequence[str]) -> None:
    """A hunk that begins with the end of a docstring shows code after it, whose removal is a fact."""
    assert "take" in names(FactKind.REMOVED_NAME, module(lines, "x = 1"))


@pytest.mark.parametrize(
    "lines",
    [
        ["     An example of what callers write:", " ", "-def take():", "-    return 1", "     and what they get"],
        ["     Example:", "     ```python", "-def take():", "-    return 1", "     ```"],
        [" >>> pool = Pool()", " >>> pool.take()", "-def take():", "-    return 1"],
        [' """A pool.', " ", "-def take():", "-    return 1", ' """', " import os"],
        ["     as written here", " ", "-def take():", '     """', "     return pool"],
        [' SAMPLE = """', "-def take():", "-    return 1", ' """', " run(SAMPLE)"],
    ],
)
def test_code_in_a_docstring_is_not_missed(lines: Sequence[str]) -> None:
    """A sample of code within a docstring or another string defines nothing, wherever the hunk begins."""
    assert breaking(module(lines, "x = 1")) == []


def test_each_side_of_a_hunk_is_read_by_itself() -> None:
    """Where a docstring ends on one side only, that does not decide for the other."""
    lines = ["-    Takes one of the pool.", '-    """', "+    return pool", " ", "-def take():", "-    return 1"]
    assert names(FactKind.REMOVED_NAME, module(lines, "x = 1")) == ["take"]


@pytest.mark.parametrize(
    ("texts", "quote"),
    [
        (["x = 1", "y = 2"], ""),
        (["    def f(self):", '        """', "        Takes one from the pool.", '        """'], ""),
        (["    size: int = 1", '    """', "    How many there are.", '    """'], ""),
        (["    # the pool of all", '    """', "    How many there are.", '    """'], ""),
        (["    raise ValueError(", '        "a pool is \\', '         too small for this")'], ""),
        (["    args=self.", "    args,"], ""),
        (["    How many there are.", '    """', "    size: int = 1", '    """', "    How many fit.", '    """'], '"""'),
        (["    how many there are", "    ''', x)"], "'''"),
        (["    Args:", "        pool: the pool"], '"""'),
    ],
)
def test_a_string_that_began_above_is_told_by_what_follows(texts: Sequence[str], quote: str) -> None:
    """Prose where code should be, and code where prose should be, tell whether the first quotes close or open."""
    assert begun(*texts) == quote


def test_a_file_begins_outside_of_strings() -> None:
    """The first line of a file is within nothing, whatever it looks like."""
    assert open_quote([DiffLine(" ", "Only words in here.", 1, 1)]) == ""
