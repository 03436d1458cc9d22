"""The highlights of a day: each commit once, in the group of what it means for the reader."""

from datetime import date
from zoneinfo import ZoneInfo

import pytest

from analysis.models import ChangeType, DayReport, Entry, Fact, FactKind, Importance, Links, Ranked, Repository
from analysis.report.highlights import Theme, highlights, reach, shown_highlights
from analysis.window import window
from tests.factories import commit, file, patch

DAY, TZ = date(2026, 2, 5), ZoneInfo("UTC")


def entry(
    number: int,
    *facts: Fact,
    title: str = "Change it",
    tier: Importance = Importance.MEDIUM,
    types: tuple[ChangeType, ...] = (ChangeType.OTHER,),
    path: str = "engine/core.py",
    links: Links | None = None,
) -> Entry:
    return Entry(
        commit=commit(title, [file(path)], sha=f"{number:040x}"),
        facts=facts,
        ranked=Ranked(score=0, importance=tier, change_types=types),
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


def group(made: Entry) -> Theme | None:
    """The group of a commit that is alone on its day."""
    return next((theme for theme, rows in highlights(report(made)).items() if rows), None)


FIX = (ChangeType.BUG_FIX,)


@pytest.mark.parametrize(
    ("made", "theme"),
    [
        (entry(1, fact(FactKind.REMOVED_NAME), fact(FactKind.DEFAULT_CHANGED)), Theme.BREAKING),
        (entry(1, fact(FactKind.DEFAULT_CHANGED), tier=Importance.HIGH), Theme.BEHAVIOUR),
        (entry(1, fact(FactKind.DEFAULT_CHANGED, path="tests/core.py")), None),
        (entry(1, fact(FactKind.DEPRECATED, "--graph")), Theme.BEHAVIOUR),
        (entry(1, fact(FactKind.MINIMUM_RAISED, path="pyproject.toml")), Theme.BEHAVIOUR),
        (entry(1, fact(FactKind.DEPENDENCY_MOVED, path="requirements/common.txt")), Theme.BEHAVIOUR),
        (entry(1, fact(FactKind.DEPENDENCY_MOVED, path="requirements/test.txt")), None),
        (entry(1, fact(FactKind.SECURITY, path=None)), Theme.BEHAVIOUR),
        (entry(1, title="Use flash by default"), Theme.BEHAVIOUR),
        (entry(1, title="Remove the deprecated metric"), Theme.BREAKING),
        (entry(1, title="Drop vLLM 0.13 support"), Theme.BREAKING),
        (entry(1, title="Fix confusing OutOfMemoryError at start", types=FIX), None),
        (entry(1, tier=Importance.HIGH), Theme.IMPORTANT),
        (entry(1, title="Fix a deadlock at exit", types=FIX, tier=Importance.LOW), Theme.FIXES),
        (entry(1, title="Fix a deadlock in tests", types=FIX), None),
        (entry(1, title="Fix a deadlock", types=FIX, path="tests/test_a.py"), None),
        (entry(1, title="Fix a leak", types=FIX, path="src/pool/tests.rs"), None),
        (entry(1, title="Fix a leak", types=FIX, path="src/test-leak.c"), None),
        (entry(1, title="Fix the colour", types=FIX), None),
        (entry(1, title="Fix a crash", types=FIX, links=Links(reverted_by="f" * 40)), None),
        (entry(1, title="Fix a crash", types=FIX, path="Dockerfile"), None),
        (entry(1, tier=Importance.HIGH, links=Links(reverted_by="f" * 40)), None),
        (entry(1, title="Add support for Heron"), Theme.NEW),
        (entry(1, title="Add support for Heron", tier=Importance.LOW), None),
        (entry(1, title="Add a state to hold the pool", types=(ChangeType.FEATURE, ChangeType.REFACTOR)), None),
        (entry(1, title="Add Heron to the evaluation", types=(ChangeType.TESTS,)), None),
        (entry(1, title="Add Heron", types=(ChangeType.TESTS, ChangeType.FEATURE)), Theme.NEW),
        (entry(1), None),
    ],
)
def test_a_commit_is_in_the_group_of_its_consequence(made: Entry, theme: Theme | None) -> None:
    """What breaks comes before what behaves differently, facts before titles, and most commits have no line at all."""
    assert group(made) == theme


@pytest.mark.parametrize(
    ("met", "place"),
    [
        (fact(FactKind.REMOVED_FLAG, "--x", "engine/models/heron.py"), 0),
        (fact(FactKind.REQUIRED_METHOD, "Base.run"), 1),
        (fact(FactKind.REMOVED_METHOD, "Worker.run", "engine/worker_base.py"), 1),
        (fact(FactKind.REMOVED_NAME), 2),
        (fact(FactKind.REMOVED_METHOD, "Worker.run"), 3),
        (fact(FactKind.REMOVED_NAME, "helper", "engine/models/heron.py"), 4),
        (fact(FactKind.REMOVED_NAME, "_helper"), 4),
        (fact(FactKind.REMOVED_PARAMETER, "Worker._split(size)"), 4),
        (fact(FactKind.REMOVED_PARAMETER, "Worker.__init__(_size)"), 3),
        (fact(FactKind.REMOVED_ENV, "ENGINE_TEST_WHEEL"), 4),
        (fact(FactKind.REMOVED_ENV, "ENGINE_LATEST_WHEEL"), 0),
    ],
)
def test_reach_is_who_can_meet_a_change(met: Fact, place: int) -> None:
    """Settings first, then what plug-ins subclass, public modules, members, and last what only tests or one model's file meet."""
    assert reach(met) == place


def test_the_worst_of_a_group_comes_first() -> None:
    """Breaking changes stand by reach, fixes by what went wrong."""
    model = entry(1, fact(FactKind.REMOVED_NAME, "x", "engine/models/a.py"), tier=Importance.HIGH)
    env, name = entry(2, fact(FactKind.REMOVED_ENV, "ENGINE_X")), entry(3, fact(FactKind.REMOVED_NAME))
    hang, crash = (entry(n, title=f"Fix a {what}", types=FIX) for n, what in ((4, "hang"), (5, "crash")))
    found = highlights(report(model, name, env, hang, crash))
    assert [each.entry for each in found[Theme.BREAKING]] == [env, name, model]
    assert [each.entry for each in found[Theme.FIXES]] == [crash, hang]


def test_every_commit_has_one_line_at_most() -> None:
    """Late commits have theirs, and those that are told apart have none."""
    made = [entry(n, fact(FactKind.REMOVED_NAME), title="Fix a crash", types=FIX) for n in range(3)]
    day = report(*made[:2], late=(made[2],))
    found = highlights(day, apart={made[0].commit.sha})
    assert [each.entry for rows in found.values() for each in rows] == made[1:]


def test_a_dependency_has_its_line_beside_what_the_commit_breaks() -> None:
    """What deployments install or must replace is told under behaviour, too; a default stays with its breaking change."""
    kinds = (FactKind.REMOVED_NAME, FactKind.DEFAULT_CHANGED, FactKind.DEPRECATED)
    limit = fact(FactKind.DEPENDENCY_MOVED, "heron", "requirements/common.txt")
    made = entry(1, *map(fact, kinds), limit)
    found = highlights(report(made))
    assert [[each.kind for each in row.facts] for row in found[Theme.BREAKING]] == [[FactKind.REMOVED_NAME]]
    assert [[each.kind for each in row.facts] for row in found[Theme.BEHAVIOUR]] == [[kinds[2], limit.kind]]


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
    found = highlights(report(other, commit_merged, merge(9, 2, 3, title=title, facts=facts)))
    assert sorted(int(each.entry.commit.sha, 16) for rows in found.values() for each in rows) == sorted([2, told])


def test_a_revert_that_the_day_takes_back_has_no_line() -> None:
    """A commit that lands again what the day reverts, whatever day it had first landed on, is no news, nor is the revert."""
    titles = ('Revert "[Core] Add support for Heron pools (#5)" (#6)', "[Reland] Add support for Heron pools (#7)")
    revert, again = (entry(n, title=title, tier=Importance.HIGH) for n, title in enumerate(titles, 1))
    assert not any(highlights(report(revert, again)).values())
    assert highlights(report(again))[Theme.IMPORTANT]


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
    assert [each.entry for each in highlights(report(fix, claimed))[Theme.FIXES]] == ([fix] if is_told else [])


def test_what_the_day_reverts_and_lands_again_has_one_line() -> None:
    """The last of the three stands, since it is new."""
    title = "Add support for Heron pools"
    first = entry(1, title=title, tier=Importance.HIGH, links=Links(reverted_by=f"{2:040x}"))
    revert = entry(2, title=f'Revert "{title}"', tier=Importance.HIGH, links=Links(reverts=f"{1:040x}"))
    again = entry(3, title=f"Reapply {title}", tier=Importance.HIGH)
    found = highlights(report(first, revert, again))
    assert [each.entry for rows in found.values() for each in rows] == [again]


def test_what_the_day_takes_back_has_no_line() -> None:
    """Facts that do not stand at the end of the day put no commit into a group."""
    made = entry(1, fact(FactKind.REMOVED_NAME))
    day = report(made).model_copy(update={"net_facts": {made.commit.sha: ()}})
    assert not any(highlights(day).values())


def test_a_high_commit_is_never_left_out() -> None:
    """Of many commits of a group the first are shown and the others counted, but each of high importance has its line."""
    many = [entry(n, fact(FactKind.REMOVED_NAME, f"name{n}")) for n in range(9)]
    high = entry(9, fact(FactKind.REMOVED_NAME, "x", "engine/models/a.py"), tier=Importance.HIGH)
    [shown] = shown_highlights(report(*many, high))
    assert (len(shown.rows), shown.rows[-1].entry, shown.left) == (7, high, 3)
