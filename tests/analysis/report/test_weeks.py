"""A week: its commits once, what they change in sum, what is missing of it, and its chart."""

import struct
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from analysis.consequences.period import Group, group_lines
from analysis.locale import catalogue
from analysis.models import Chosen, DayReport, Entry, Fact, FactKind, Importance, Links, Ranked, Repository
from analysis.models.release_scores import Corrections, ReleaseScore, TierCount
from analysis.models.weeks import WeekReport
from analysis.report import week_lines
from analysis.report.chart import chart_text, week_chart
from analysis.report.week_report import week_report
from analysis.window import window
from tests.factories import commit, file

MONDAY, REPOSITORY = date(2026, 2, 2), Repository.parse("acme/engine")
AFTER = MONDAY + timedelta(days=7)
ENGLISH = catalogue("en")


def entry(number: int, title: str = "Change it", *facts: Fact, path: str = "engine/core.py", **links: object) -> Entry:
    at = datetime(2026, 2, 2, tzinfo=UTC) + timedelta(hours=number)
    made = commit(title, [file(path)], sha=f"{number:040x}", at=at)
    return Entry(commit=made, facts=facts, ranked=Ranked(score=0, importance=Importance.MEDIUM), links=Links(**links))


def day(place: int, *entries: Entry, late: tuple[Entry, ...] = ()) -> DayReport:
    at = MONDAY + timedelta(days=place)
    return DayReport(
        repository=REPOSITORY,
        date=at,
        timezone="UTC",
        language="en",
        window=window(at, ZoneInfo("UTC")),
        entries=entries,
        late=late,
    )


def week(
    *days: DayReport,
    today: date = AFTER,
    net: dict[str, tuple[Fact, ...]] | None = None,
    corrections: Corrections | None = None,
) -> WeekReport:
    return week_report(
        REPOSITORY,
        MONDAY,
        days,
        timezone="UTC",
        language="en",
        today=today,
        net_facts=net or {},
        corrections=corrections or Corrections(),
    )


def test_a_commit_counts_once() -> None:
    """One that a later day lists as late counts on the day that had it first, and the days add up to the week."""
    again = entry(1)
    found = week(day(0, again), day(1, entry(30), late=(again, entry(2))), *map(day, range(2, 7)))
    assert [stats.total if stats else None for _, stats in found.daily()] == [1, 2, 0, 0, 0, 0, 0]
    assert found.stats.total == 3
    assert [each.commit.sha for each in found.entries] == [f"{number:040x}" for number in (30, 2, 1)]


def test_what_the_week_takes_back_is_no_line() -> None:
    """The facts that stand after the week decide, not those of its days; what is only announced has a list of its own."""
    removed = Fact(kind=FactKind.REMOVED_FLAG, name="--old", path="engine/cli.py", line=1)
    goes = Fact(kind=FactKind.DEPRECATED, name="--slow", path="engine/cli.py", line=1, new="--fast", until="v2")
    gone, announced = entry(1, "Tidy the options", removed), entry(2, "Speed up", goes)
    found = week(day(0, gone, announced), net={gone.commit.sha: ()})
    assert not any(group_lines(found).values())
    assert [each.entry for each in found.announced] == [announced]
    line = week_lines.announced_line(found.announced[0], ENGLISH)
    assert all(word in line for word in ("--slow", "--fast", "v2"))
    stands = week(day(0, gone))
    assert [each.entry for each in group_lines(stands)[Group.USERS]] == [gone]


def test_reverts_tell_what_landed_again() -> None:
    """By a commit with the same title, or by the revert of the revert, which is none of its own."""
    first, second = entry(1, "Add the fast path (#1)"), entry(2, 'Revert "Add the fast path" (#2)', reverts="a" * 40)
    again = entry(3, "[Reland] Add the fast path (#3)")
    other = entry(4, 'Revert "Use the wide cache (#9)" (#4)', reverts="b" * 40)
    undone = entry(5, 'Revert "Revert "Use the wide cache (#9)"" (#5)', reverts=other.commit.sha)
    alone = entry(6, 'Revert "Drop the old loader of weights" (#6)')
    found = week(day(0, *(undone, alone, other, again, second, first)))
    landed = {each.commit.pr: each.landed_again and each.landed_again.pr for each in found.reverts}
    assert landed == {2: 3, 4: 5, 6: None}
    assert week_lines.revert_line(found.reverts[0], ENGLISH) == "Add the fast path; landed again in #3"


def test_a_week_says_which_days_it_lacks() -> None:
    """Days before the first stored one, holes, and days that are not over, each plainly."""
    since_thursday = week(*map(day, range(3, 7)))
    assert list(week_lines.notes(since_thursday)) == ["Only since 2026-02-05 (Thu): the days before are not stored"]
    with_holes = week(*map(day, (0, 1, 4, 5, 6)))
    assert list(week_lines.notes(with_holes)) == ["Not stored: 2026-02-04 (Wed), 2026-02-05 (Thu)"]
    running = week(day(0), day(1), today=MONDAY + timedelta(days=2))
    assert list(week_lines.notes(running)) == ["The week is not over: up to 2026-02-03 (Tue)"]
    assert list(week_lines.notes(week(*map(day, range(7))))) == []


def test_a_week_without_commits_is_a_sentence() -> None:
    """Which tells an empty week from one that is not stored, or has only begun."""
    assert week_lines.nothing(week(*map(day, range(7)))) == "No commits on these days"
    assert week_lines.nothing(week()).startswith("None of these days is stored")
    assert week_lines.nothing(week(today=MONDAY)) == "No day of this week is over yet"
    unselected = day(0).model_copy(update={"chosen": Chosen(description="Only 🔴 high", unselected=2)})
    assert week_lines.nothing(week(unselected)) == "2 commits on these days, none in this channel's selection"


def test_folders_tell_where_most_happens() -> None:
    """The folders inside one that nearly every commit touches, otherwise the topmost; files of the root are in none."""
    paths = ("engine/core/a.py", "engine/core/b.py", "engine/api/c.py", "engine/d.py", "tests/e.py", "README.md")
    found = week(day(0, *(entry(number, path=path) for number, path in enumerate(paths, 1))))
    assert {each.path: each.commits for each in found.areas} == {
        "engine/core": 2,
        "engine/api": 1,
        "engine/*": 1,
        "tests": 1,
    }
    assert week_lines.areas_line(found).startswith("Most touched: 1 engine/core (2) · 2 engine/*")


def test_corrections_are_counted() -> None:
    """What people ranked otherwise is a line; nothing is said of a week in which nobody did."""
    assert week_lines.rank_lines(week(day(0, entry(1)))) == []
    [line] = week_lines.rank_lines(week(day(0, entry(1)), corrections=Corrections(commits=3, raised=2, lowered=1)))
    assert line == "🎯 People corrected 3 commits: 2 ranked higher, 1 ranked lower"
    tiers = dict.fromkeys(Importance, TierCount(commits=3, named=1))
    at = datetime(2026, 2, 1, tzinfo=UTC)
    score = ReleaseScore(repository=REPOSITORY, release="v1.2.0", published_at=at, commits=9, named=3, tiers=tiers)
    [line] = week_lines.rank_lines(week(day(0)).model_copy(update={"score": score}))
    assert line.startswith("🎯 ")
    assert "v1.2.0" in line


def test_the_chart_is_a_picture_and_its_words() -> None:
    """A PNG that is the same each time; its numbers are in the alternative text, also of a day that is not stored; an empty week has one."""
    found = week(*(day(place, *(entry(10 * place + number) for number in range(1, 4))) for place in range(1, 7)))
    picture = week_chart(found)
    assert picture == week_chart(found)
    assert picture.startswith(b"\x89PNG")
    assert struct.unpack(">II", picture[16:24]) == (960, 840)
    assert "02-02 not stored; 02-03 3 (high 0, medium 3, low 0)" in chart_text(found)
    assert "Commits by folder: engine 18" in chart_text(found)
    zh = found.model_copy(update={"language": "zh"})
    assert "02-02 未存储" in chart_text(zh)
    assert week_chart(zh) == picture
    assert week_chart(week()).startswith(b"\x89PNG")
