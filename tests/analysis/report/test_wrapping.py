"""Lines for a terminal are wrapped where a reader would break them."""

from io import StringIO

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from analysis.report.terminal import Line, print_line, wrapped


def rows(text: str, width: int) -> list[str]:
    return [row.plain for row in wrapped(Text(text), width)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("one two three four", ["one two", "three four"]),
        ("at pkg/engine/core.py:120 now", ["at", "pkg/engine/core.py:120", "now"]),
        ("原在pkg/core.py:12。", ["原在", "pkg/core.py:12。"]),
        ("移除（a/b.py:7）的参数", ["移除", "（a/b.py:7）", "的参数"]),
        ("一二三四五，六", ["一二三四", "五，六"]),
        ("  x = 1\n\n    y", ["  x = 1", "", "    y"]),
        ("", [""]),
    ],
)
def test_rows_end_between_words(text: str, told: list[str]) -> None:
    """A row ends at a space or beside a Chinese character, never inside a path with its line, and begins with no full stop."""
    assert rows(text, 10) == told


def test_rows_fit_the_width() -> None:
    """A wide character takes two columns, and a row takes no more than it may."""
    told = rows("移除环境变量" * 20, 15)
    assert {cell_len(row) for row in told[:-1]} == {14}
    assert "".join(told) == "移除环境变量" * 20


def test_rows_stand_below_their_text() -> None:
    """What stands before a line stands before its first row alone; the others are indented alike."""
    written = StringIO()
    print_line(Console(file=written, width=12), Line(Text("one two three\n\nfour"), Text("  • ")))
    assert written.getvalue() == "  • one two\n    three\n\n    four\n"
