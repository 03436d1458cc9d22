"""The commits of a day by whom they concern: each once, in the group of its headline."""

from datetime import date
from zoneinfo import ZoneInfo

import pytest

from analysis.consequences.audience import reach
from analysis.consequences.period import Group, group_lines, shown_lines
from analysis.locale import catalogue
from analysis.models import (
    Analysis,
    ChangeType,
    DayReport,
    Edit,
    Entry,
    Fact,
    FactKind,
    Importance,
    Links,
    Ranked,
    Repository,
)
from analysis.window import window
from tests.factories import commit, file, patch

WRITTEN = Analysis(by="model", summary="Pools are off for sparse models.")
DAY, TZ = date(2026, 2, 5), ZoneInfo("UTC")


def entry(
    number: int,
    *facts: Fact,
    title: str = "Change how it works",
    tier: Importance = Importance.MEDIUM,
    types: tuple[ChangeType, ...] = (ChangeType.OTHER,),
    path: str = "engine/core.py",
    links: Links | None = None,
    lines: int | None = None,
) -> Entry:
    return Entry(
        commit=commit(title, [file(path, additions=lines)], sha=f"{number:040x}"),
        facts=facts,
        ranked=Ranked(score=-2 if tier is Importance.LOW else 0, importance=tier, change_types=types),
        links=links or Links(),
    )


def fact(kind: FactKind, name: str = "take", path: str | None = "engine/core.py") -> Fact:
    return Fact(kind=kind, name=name, path=path, line=1)


def report(*entries: Entry, late: tuple[Entry, ...] = ()) -> DayReport:
    return DayReport(
        repository=Repository.parse("acme/engine"),
        date=DAY,
        timezone=TZ.key,
        language="en",
        window=window(DAY, TZ),
        entries=entries,
        late=late,
    )


def scored(made: Entry, score: float) -> Entry:
    return made.model_copy(update={"ranked": made.ranked.model_copy(update={"score": score})})


def group_of(made: Entry) -> Group | None:
    """The group of a commit that is alone on its day."""
    return next((each for each, rows in group_lines(report(made)).items() if rows), None)


FIX = (ChangeType.BUG_FIX,)


@pytest.mark.parametrize(
    ("made", "group"),
    [
        (entry(1, fact(FactKind.REMOVED_NAME), fact(FactKind.DEFAULT_CHANGED)), Group.EXTENDERS),
        (entry(1, fact(FactKind.REMOVED_NAME), fact(FactKind.DEFAULT_CHANGED, "--graph")), Group.USERS),
        (entry(1, fact(FactKind.REMOVED_NAME), fact(FactKind.DEPENDENCY_ADDED, path="setup.py")), Group.OPERATORS),
        (entry(1, fact(FactKind.REMOVED_NAME, "_take")), Group.IMPORTANT),
        (entry(1, fact(FactKind.REMOVED_NAME, "_take"), tier=Importance.HIGH), Group.IMPORTANT),
        (entry(1, fact(FactKind.DEFAULT_CHANGED, path="tests/core.py")), Group.IMPORTANT),
        (entry(1, fact(FactKind.DEPRECATED, "--graph")), Group.USERS),
        (entry(1, fact(FactKind.MINIMUM_RAISED, path="pyproject.toml")), Group.OPERATORS),
        (entry(1, fact(FactKind.DEPENDENCY_MOVED, path="requirements/common.txt")), Group.OPERATORS),
        (entry(1, fact(FactKind.DEPENDENCY_MOVED, path="requirements/test.txt")), Group.IMPORTANT),
        (entry(1, fact(FactKind.SUPPORT_DROPPED, "Python 3.9")), Group.OPERATORS),
        (entry(1, fact(FactKind.SUPPORT_DROPPED, "heron")), Group.USERS),
        (entry(1, fact(FactKind.SECURITY, path=None)), Group.USERS),
        (entry(1, fact(FactKind.SECURITY, "torch.load")), Group.IMPORTANT),
        (entry(1, title="Use flash by default"), Group.USERS),
        (entry(1, title="Remove the deprecated metric"), Group.EXTENDERS),
        (entry(1, title="Remove the deprecated --pool flag"), Group.USERS),
        (entry(1, title="Deprecate ENGINE_POOL"), Group.USERS),
        (entry(1, title="Drop vLLM 0.13 support"), Group.EXTENDERS),
        (entry(1, title="Deprecate the pool"), Group.EXTENDERS),
        (entry(1, title="Fix confusing OutOfMemoryError at start", types=FIX), None),
        (entry(1, tier=Importance.HIGH), Group.IMPORTANT),
        (entry(1, title="Merge branch 'main' into topic", tier=Importance.HIGH), None),
        (entry(1, title="Allow pools to grow", types=FIX), Group.NEW),
        (entry(1, title="Add the missing pool", types=FIX), Group.FIXES),
        (entry(1, title="Remove an unused variable", types=FIX, tier=Importance.LOW), None),
        (entry(1, title="Enable pools only for CUDA"), Group.USERS),
        (entry(1, title="Fix a deadlock at exit", types=FIX, tier=Importance.LOW), Group.FIXES),
        (entry(1, title="Fix a deadlock in tests", types=FIX), None),
        (entry(1, title="Fix a deadlock", types=FIX, path="tests/test_a.py"), None),
        (entry(1, title="[Bug] Refactor the budget of drafts", types=FIX, tier=Importance.LOW), Group.FIXES),
        (entry(1, title="Fix the colour", types=FIX, tier=Importance.LOW), Group.FIXES),
        (entry(1, title="fix(pool): Disable turns", types=FIX), Group.FIXES),
        (entry(1, title="(bugfix): Mend what is breaking pools", types=FIX), Group.FIXES),
        (entry(1, title="Update heron for the evaluation", path="requirements/test.in"), None),
        (entry(1, title="Remove the size check of pools"), Group.USERS),
        (entry(1, title="Increase max pool size"), Group.USERS),
        (entry(1, title="Disable the pool for sparse models"), Group.USERS),
        (entry(1, title="Disable the pool for sparse models", tier=Importance.LOW), None),
        (entry(1, title="Disable it", tier=Importance.LOW).model_copy(update={"analysis": WRITTEN}), Group.USERS),
        (scored(entry(1, title="Disable the pool for sparse models", tier=Importance.LOW), -1), Group.USERS),
        (entry(1, fact(FactKind.NEW_SETTING, "--pool"), title="Skip the pool", types=FIX), Group.NEW),
        (entry(1, title="Fix a crash", types=FIX, links=Links(reverted_by="f" * 40)), None),
        (entry(1, title="Fix a crash", types=FIX, path="Dockerfile"), Group.IMPORTANT),
        (entry(1, tier=Importance.HIGH, links=Links(reverted_by="f" * 40)), None),
        (entry(1, title="Add support for Heron"), Group.NEW),
        (entry(1, title="Add support for Heron", tier=Importance.LOW), None),
        (entry(1, title="Add Heron to the evaluation", types=(ChangeType.TESTS,)), Group.IMPORTANT),
        (entry(1), Group.IMPORTANT),
        (entry(1, tier=Importance.LOW), None),
        (entry(1, path="docs/usage.md"), None),
    ],
)
def test_a_commit_is_in_the_group_of_its_consequence(made: Entry, group: Group | None) -> None:
    """What breaks comes before what behaves differently, facts before titles, and what is of low importance has no line by its title alone."""
    assert group_of(made) == group


@pytest.mark.parametrize(
    ("met", "place"),
    [
        (fact(FactKind.REMOVED_FLAG, "--x", "engine/models/heron.py"), 0),
        (fact(FactKind.REQUIRED_METHOD, "Base.run"), 1),
        (fact(FactKind.MOVED_MODULE, "engine/core.py"), 0),
        (fact(FactKind.REMOVED_METHOD, "Worker.run", "engine/worker_base.py"), 1),
        (fact(FactKind.REMOVED_METHOD, "BasePool.run"), 1),
        (fact(FactKind.REMOVED_METHOD, "Baseline.run"), 3),
        (fact(FactKind.REMOVED_NAME), 2),
        (fact(FactKind.REMOVED_METHOD, "Worker.run"), 3),
        (fact(FactKind.REMOVED_NAME, "helper", "engine/models/heron.py"), 4),
        (fact(FactKind.REMOVED_NAME, "_helper"), 4),
        (fact(FactKind.REMOVED_PARAMETER, "Worker._split(size)"), 4),
        (fact(FactKind.REMOVED_PARAMETER, "Worker._split(size)").model_copy(update={"overridden": True}), 3),
        (fact(FactKind.REMOVED_PARAMETER, "Worker.__init__(_size)"), 3),
        (fact(FactKind.REMOVED_ENV, "ENGINE_TEST_WHEEL"), 4),
        (fact(FactKind.REMOVED_ENV, "ENGINE_LATEST_WHEEL"), 0),
    ],
)
def test_reach_is_who_can_meet_a_change(met: Fact, place: int) -> None:
    """Settings first, then what plug-ins subclass, public modules, members, and last what only tests or one model's file meet."""
    assert reach(met) == place


def test_the_worst_of_a_group_comes_first() -> None:
    """What more people meet stands before importance, and fixes by what went wrong."""
    member = entry(1, fact(FactKind.REMOVED_METHOD, "Pool.take"), tier=Importance.HIGH)
    base, name = entry(2, fact(FactKind.REQUIRED_METHOD, "Base.run")), entry(3, fact(FactKind.REMOVED_NAME))
    hang, crash = (entry(n, title=f"Fix a {what}", types=FIX) for n, what in ((4, "hang"), (5, "crash")))
    found = group_lines(report(member, name, base, hang, crash))
    assert [each.entry for each in found[Group.EXTENDERS]] == [base, name, member]
    assert [each.entry for each in found[Group.FIXES]] == [crash, hang]


def test_every_commit_has_one_line_at_most() -> None:
    """Late commits have theirs, and those that are told apart have none."""
    made = [entry(n, fact(FactKind.REMOVED_NAME), title="Fix a crash", types=FIX) for n in range(3)]
    day = report(*made[:2], late=(made[2],))
    found = group_lines(day, apart={made[0].commit.sha})
    assert [each.entry for rows in found.values() for each in rows] == made[1:]


def merge(number: int, *parents: int, title: str, facts: tuple[Fact, ...] = ()) -> Entry:
    made = entry(number, *facts, title=title)
    shas = tuple(f"{each:040x}" for each in parents)
    return made.model_copy(update={"commit": made.commit.model_copy(update={"parents": shas})})


@pytest.mark.parametrize(
    ("title", "facts", "told"),
    [
        ("Deprecate the pool (#7)", (fact(FactKind.DEPRECATED),), 9),
        ("Merge branch 'topic'", (fact(FactKind.DEPRECATED),), 3),
        ("Deprecate the pool (#7)", (), 3),
    ],
)
def test_a_merge_and_its_commits_are_told_once(title: str, facts: tuple[Fact, ...], told: int) -> None:
    """By the merge, unless it speaks of branches or has no facts of its own; what was on the branch before stays."""
    other, commit_merged = entry(2, fact(FactKind.DEPRECATED, "other")), entry(3, fact(FactKind.DEPRECATED))
    found = group_lines(report(other, commit_merged, merge(9, 2, 3, title=title, facts=facts)))
    assert sorted(int(each.entry.commit.sha, 16) for rows in found.values() for each in rows) == sorted([2, told])


def test_a_revert_that_the_day_takes_back_has_no_line() -> None:
    """A commit that lands again what the day reverts, whatever day it had first landed on, is no news, nor is the revert."""
    titles = ('Revert "[Core] Add support for Heron pools (#5)" (#6)', "[Reland] Add support for Heron pools (#7)")
    revert, again = (entry(n, title=title, tier=Importance.HIGH) for n, title in enumerate(titles, 1))
    assert not any(group_lines(report(revert, again)).values())
    assert group_lines(report(again))[Group.NEW]


@pytest.mark.parametrize(("put_back", "is_told"), [("+    crash()", False), ("+    # nothing of it", True)])
def test_a_title_alone_takes_no_line_away(put_back: str, is_told: bool) -> None:
    """A fix that a commit of the same day says it reverts stays a highlight unless that one's diff puts its lines back."""
    fix = entry(1, title="Fix a crash", types=FIX, links=Links(reverted_by=f"{2:040x}"))
    claimed = entry(2, title='Revert "Fix a crash"', tier=Importance.LOW, links=Links(reverts=f"{1:040x}"))
    changed = [file("engine/core.py", patch(" def take():", line)) for line in ("-    crash()", put_back)]
    fix, claimed = (
        each.model_copy(update={"commit": each.commit.model_copy(update={"files": (made,)})})
        for each, made in zip((fix, claimed), changed, strict=True)
    )
    assert [each.entry for each in group_lines(report(fix, claimed))[Group.FIXES]] == ([fix] if is_told else [])


def test_what_the_day_reverts_and_lands_again_has_one_line() -> None:
    """The last of the three stands, since it is new."""
    title = "Add support for Heron pools"
    first = entry(1, title=title, tier=Importance.HIGH, links=Links(reverted_by=f"{2:040x}"))
    revert = entry(2, title=f'Revert "{title}"', tier=Importance.HIGH, links=Links(reverts=f"{1:040x}"))
    again = entry(3, title=f"Reapply {title}", tier=Importance.HIGH)
    found = group_lines(report(first, revert, again))
    assert [each.entry for rows in found.values() for each in rows] == [again]


def test_what_the_day_takes_back_has_no_line() -> None:
    """Facts that do not stand at the end of the day put no commit into a group."""
    made = entry(1, fact(FactKind.REMOVED_NAME))
    day = report(made).model_copy(update={"net_facts": {made.commit.sha: ()}})
    assert not any(group_lines(day).values())


@pytest.mark.parametrize(
    ("title", "shown"), [("crash", 15), ("crash of all pools", 15), ("crash" + " of a crash" * 6, 6)]
)
def test_a_head_has_as_many_lines_as_are_read_in_45_seconds(title: str, shown: int) -> None:
    """Fifteen at most, and fewer of long titles; the heading tells how many of the group they are."""
    [group] = shown_lines(report(*(entry(n, title=f"Fix the {n}. {title}", types=FIX) for n in range(40))))
    assert (len(group.lines), group.left) == (shown, 40 - shown)
    assert group.heading(catalogue("en")) == f"🩹 Fixes ({shown}/40)"


def test_a_head_shows_what_matters_most() -> None:
    """Of whatever group: what breaks others first, then what changes more source, and what comes with tests."""
    made = {n: entry(n, title=f"Add part {n}", lines=10 * n) for n in range(20)}
    made[0] = entry(0, fact(FactKind.REMOVED_FLAG, "--pool"))
    made[1] = entry(1, title="Fix wrong results", types=FIX, lines=90)
    shown = {
        group.group: [int(each.entry.commit.sha, 16) for each in group.lines]
        for group in shown_lines(report(*made.values()))
    }
    assert shown == {Group.USERS: [0], Group.FIXES: [1], Group.NEW: list(range(7, 20))}


def test_a_head_prefers_what_others_meet() -> None:
    """A new default, what never ends, any fix, what tests prove among alike, and last what is faster, or of a part's next version."""
    titles = ("Fix a hang", "Fix the colour", "Fix the tone", "[Pool V2] Fix the tone")
    made = [entry(n, title=title, types=FIX) for n, title in enumerate(titles, 2)]
    default = entry(1, fact(FactKind.DEFAULT_CHANGED, "--graph"))
    tested = made[2].commit.model_copy(update={"files": (*made[2].commit.files, file("tests/test_core.py"))})
    made[2] = made[2].model_copy(update={"commit": tested})
    found = [line for lines in group_lines(report(default, *made)).values() for line in lines]
    by_worth = sorted(found, key=lambda line: -line.worth)
    assert [int(line.entry.commit.sha, 16) for line in by_worth] == [1, 2, 4, 3, 5]


def test_a_line_tells_what_else_its_commit_breaks_where_there_is_room() -> None:
    """Up to four things a commit, other commits first, and no more words than a head may have."""
    kinds = (FactKind.REMOVED_NAME, FactKind.REMOVED_METHOD, FactKind.REMOVED_ATTRIBUTE, FactKind.REMOVED_BASE)
    facts = [
        fact(kind, name) for kind, name in zip(kinds, ("take", "Pool.give", "Pool.size", "Pool(Base)"), strict=True)
    ]
    [group] = shown_lines(report(entry(1, *facts)))
    assert len(group.lines[0].consequences) == 4
    assert group.lines[0].text.split(" · ") == [each.what for each in group.lines[0].consequences]
    further = [fact(FactKind.REMOVED_METHOD, "Pool.give"), fact(FactKind.REMOVED_ATTRIBUTE, "Queue.size")]
    [[told]] = [each.lines for each in shown_lines(report(entry(1, facts[3], *further, title="Tidy up")))]
    assert [each.facts[0].name for each in told.consequences] == ["Pool(Base)", "Pool.give", "Queue.size"]
    many = [entry(number, *facts, title="Drop the heron part" + " of it" * 7) for number in range(1, 40)]
    [full] = shown_lines(report(*many))
    assert min(each.told for each in full.lines) == 1
    assert sum(len(each.text.split()) for each in full.lines) < 172


def test_a_head_tells_what_else_a_model_says_where_there_is_room_and_nothing_that_concerns_nobody() -> None:
    """Its second line follows its headline, before what facts prove, but after other commits' headlines."""
    facts = fact(FactKind.REMOVED_FLAG, "--pool"), fact(FactKind.REMOVED_METHOD, "Pool.give")
    analysis = Analysis(by="model", headline="`--pool` is gone", also="Who sets it has to stop", summary="It changes.")
    told = entry(1, *facts).model_copy(update={"analysis": analysis})
    inner = analysis.model_copy(update={"headline": "Pools are tidied", "concerns": "nobody"})
    [group] = shown_lines(report(told, entry(2).model_copy(update={"analysis": inner})))
    assert [each.text for each in group.lines] == [
        "`--pool` is gone · Who sets it has to stop · Removes method `Pool.give`"
    ]
    others = [entry(n, title="Drop the heron part" + " of it" * 7, types=FIX) for n in range(3, 40)]
    silent = told.model_copy(update={"analysis": analysis.model_copy(update={"also": ""})})
    full, without = (
        [line.headline for each in shown_lines(report(first, *others)) for line in each.lines]
        for first in (told, silent)
    )
    assert full == without


def test_a_head_shows_what_a_model_puts_first() -> None:
    """Among commits that matter alike by rules the order of the day's edit decides which have a line; a worse break stands."""
    alike = [scored(entry(number, fact(FactKind.REMOVED_METHOD, f"Pool.a_{number}")), 5) for number in range(2, 32)]
    worst = entry(1, fact(FactKind.REMOVED_FLAG, "--pool"))
    order = tuple(each.commit.sha for each in (*reversed(alike), worst))
    day = report(worst, *alike).model_copy(update={"edit": Edit(commits=order, order=order)})
    shown = {line.entry.commit.sha for group in shown_lines(day) for line in group.lines}
    assert shown == {worst.commit.sha, *order[: len(shown) - 1]}


def test_a_line_tells_the_title_behind_what_many_meet_and_repeats_no_name() -> None:
    """A head of one day: a parameter that many lose before an attribute, whom it concerns once, a new setting, a fix."""
    few, many = fact(FactKind.REMOVED_ATTRIBUTE, "Pool.size"), [f"{name}.__init__(size)" for name in "ABCDE"]
    lost = (few, *(fact(FactKind.REMOVED_PARAMETER, name) for name in many))
    new = (fact(FactKind.REMOVED_NAME), fact(FactKind.NEW_SETTING, "PoolConfig.fair"))
    queues = entry(2, *new, title="Queues wait in turns")
    fix = entry(3, title="[Bugfix] Disable turns on CPU", types=FIX)
    day = report(entry(1, *lost, title="[Model Runner V2] Share all pools"), queues, fix)
    assert [line.text for group in shown_lines(day) for line in group.lines] == [
        "`A()`, `B()`, `C()`, `D()` and `E()` no longer take `size` (Model Runner V2) · Share all pools",
        "Removes `take` from `engine.core` · Queues wait in turns (`PoolConfig.fair`)",
        "Disable turns on CPU",
    ]
