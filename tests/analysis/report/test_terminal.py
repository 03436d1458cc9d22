"""A report on a terminal: foreign text is shown as it is, and lines are wrapped where a reader would break them."""

import re
from datetime import date
from io import StringIO
from zoneinfo import ZoneInfo

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from analysis.models import Analysis, DayReport, Entry, Importance, Language, Ranked, Repository
from analysis.report.terminal import Line, print_line, print_report, wrapped
from analysis.window import window
from tests.factories import commit


def day(*entries: Entry, language: Language = "en") -> DayReport:
    """A day with some commits."""
    the_day = date(2026, 2, 5)
    return DayReport(
        repository=Repository.parse("acme/engine"),
        date=the_day,
        timezone="UTC",
        language=language,
        window=window(the_day, ZoneInfo("UTC")),
        entries=entries,
    )


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


@pytest.mark.parametrize("tier", list(Importance))
@pytest.mark.parametrize(
    "title",
    [
        "a | b `c|d` e\\\\| f",
        "[x](https://evil.example) <br> *bold* &amp; &#27;[31m",
        "- # 1. ![x](y) | <!channel> www.a.b ```",
    ],
)
def test_a_title_is_shown_as_it_is(title: str, tier: Importance) -> None:
    """Bars, brackets, tags and entities in a title are no markup, in a heading or in a column; the link is the commit's."""
    written = StringIO()
    report = day(Entry(commit=commit(title), ranked=Ranked(score=0, importance=tier)))
    print_report(Console(file=written, width=120, force_terminal=True, legacy_windows=False), report)
    plain = re.sub(r"\x1b\]8;[^\x1b]*\x1b\\|\x1b\[[\d;]*m", "", written.getvalue())
    assert title.replace("`", "") in plain.replace("`", "")
    targets = set(re.findall(r"\x1b\]8;[^;]*;([^\x1b]+)\x1b", written.getvalue()))
    assert targets == {commit(title).url}


@pytest.mark.parametrize(("language", "told"), [("en", "2 commits analysed by rules"), ("zh", "2 个提交由规则分析")])
def test_the_coverage_is_a_sentence(language: Language, told: str) -> None:
    """How many commits were analysed, and by what, is said once, without an equation."""
    entries = [
        Entry(
            commit=commit(f"Change {number}", (), sha=f"{number:040x}"),
            ranked=Ranked(score=0, importance=Importance.LOW),
            analysis=Analysis(by="rules", summary="It does."),
        )
        for number in (1, 2)
    ]
    written = StringIO()
    print_report(Console(file=written, width=120), day(*entries, language=language))
    assert told in written.getvalue().splitlines()
    assert "=" not in written.getvalue()


@pytest.mark.parametrize("width", [40, 60, 80])
def test_no_row_is_wider_than_the_terminal(width: int) -> None:
    """A path that fits a terminal's width is shown whole within it, moved to the left of its text where it needs to be."""
    written = StringIO()
    path = f"{'long/' * (width // 5 - 2)}a.py"
    for lead in ("", "  • ", "       ", "你们的代码  "):
        for body in (path, f"移动模块 {path}、一二", f"moved to {path} now"):
            print_line(Console(file=written, width=width), Line(Text(body), Text(lead)))
    told = written.getvalue().splitlines()
    assert max(map(cell_len, told)) <= width
    assert sum(path in row for row in told) == 12
