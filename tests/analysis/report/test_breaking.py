"""Breaking changes: the same few rows at the top of every surface, and nothing where nothing breaks."""

import io
import json
import re
from collections.abc import Sequence
from datetime import date
from zoneinfo import ZoneInfo

import pytest
from rich.console import Console

from analysis.impact.net_facts import net_facts
from analysis.models import (
    Analysis,
    DayReport,
    Entry,
    Fact,
    FactKind,
    FileChange,
    Importance,
    Language,
    Links,
    Ranked,
    Repository,
)
from analysis.report.as_json import json_lines
from analysis.report.breaking import breaks, breaks_of
from analysis.report.markdown import reports_markdown
from analysis.report.terminal import print_report
from analysis.window import window
from bot.services.schedule import Selection, selected
from bot.slack.messages.digest import digest_messages
from tests.factories import commit, file, patch
from tests.slack_checks import assert_takes, read

DAY = date(2026, 2, 5)
TZ = ZoneInfo("Asia/Shanghai")
ENVS = file("engine/envs.py", additions=0, deletions=1)  # as the store gives it, without its patch
HOSTILE = "<!channel> `x` | [a](https://evil.example) \x1b[31m" + "y" * 3_000


def fact(kind: FactKind = FactKind.REMOVED_ENV, name: str = "ENGINE_OLD", path: str = "engine/envs.py") -> Fact:
    return Fact(kind=kind, name=name, path=path, line=7)


def entry(
    number: int,
    *facts: Fact,
    tier: Importance = Importance.MEDIUM,
    files: Sequence[FileChange] = (ENVS,),
    links: Links | None = None,
) -> Entry:
    return Entry(
        commit=commit(f"Change {number}", files, sha=f"{number:040x}"),
        facts=facts,
        ranked=Ranked(score=0, importance=tier),
        links=links or Links(),
        analysis=Analysis(by="rules", summary="It does."),
    )


def report(*entries: Entry, language: Language = "en") -> DayReport:
    return DayReport(
        repository=Repository.parse("acme/engine"),
        date=DAY,
        timezone=TZ.key,
        language=language,
        window=window(DAY, TZ),
        entries=entries,
        net_facts=net_facts(entries, lambda _: {}),
    )


def rows(day: DayReport, language: Language = "en") -> list[str]:
    """What breaks, as text without its links."""
    return ["".join(part.gap + part.text for part in each.parts(language, 3)) for each in breaks(day)]


def place(day: DayReport) -> str:
    """The first address in the first row."""
    return next(part.url for part in breaks(day)[0].parts("en", 3) if part.url)


def shown(day: DayReport) -> str:
    """The terminal's report, without colours."""
    text = io.StringIO()
    print_report(Console(file=text, width=120), day)
    return text.getvalue()


PLAIN = report(entry(1), entry(2, fact(FactKind.DEFAULT_CHANGED)))
MANY = report(*(entry(number, fact(name=f"ENGINE_{number}")) for number in range(1, 10)))


def test_what_breaks_is_told_first_kind_by_kind() -> None:
    """Rows are one a commit and kind, variables before names, high commits before others."""
    low = entry(1, fact(FactKind.REMOVED_NAME, "take"), fact(), fact(name="ENGINE_OTHER"), tier=Importance.LOW)
    high = entry(2, fact(name="ENGINE_HIGH"), fact(FactKind.CONCURRENCY, "lock"), tier=Importance.HIGH)
    assert rows(report(low, high)) == [
        "Removes environment variable `ENGINE_HIGH` engine/envs.py:7",
        "Removes environment variables `ENGINE_OLD` engine/envs.py:7, `ENGINE_OTHER` :7",
        "Removes `take` from engine/envs.py:7",
    ]


def test_a_change_and_its_revert_break_nothing() -> None:
    """What came and went on one day is not there to break anything; a revert of something older is."""
    change = entry(1, fact(), links=Links(reverted_by=f"{2:040x}"))
    restored = file(ENVS.path, additions=1, deletions=0)
    revert = entry(2, fact(name="ENGINE_NEW"), files=[restored], links=Links(reverts=f"{1:040x}"))
    assert breaks(report(change, revert)) == []
    assert len(breaks(report(revert))) == 1


def test_what_the_day_takes_back_is_shown_with_its_commit_alone() -> None:
    """No surface's head has what another commit of the day restores; the commit's own facts and the JSON keep it."""
    broken, kept = entry(1, fact(), fact(name="ENGINE_GONE")), entry(2, fact(name="ENGINE_KEPT"))
    day = report(broken, kept).model_copy(update={"net_facts": {broken.commit.sha: broken.facts[1:]}})
    assert rows(day) == [
        "Removes environment variable `ENGINE_GONE` engine/envs.py:7",
        "Removes environment variable `ENGINE_KEPT` engine/envs.py:7",
    ]
    written = json.loads("".join(json_lines(day)))
    assert [(each["sha"], each["kind"], each["names"], each["place"]) for each in written["breaking"]] == [
        (broken.commit.sha, "removed environment variable", ["ENGINE_GONE"], "engine/envs.py:7"),
        (kept.commit.sha, "removed environment variable", ["ENGINE_KEPT"], "engine/envs.py:7"),
    ]
    assert [each["breaking"] for each in written["commits"]] == [True, True]
    assert [each["name"] for each in written["net_facts"][broken.commit.sha]] == ["ENGINE_GONE"]
    assert [each["name"] for each in written["commits"][0]["facts"]] == ["ENGINE_OLD", "ENGINE_GONE"]
    assert breaks_of(broken)[0].facts == broken.facts


@pytest.mark.parametrize(
    ("kind", "side"),
    [(FactKind.REMOVED_FLAG, "L7"), (FactKind.REQUIRED_PARAMETER, "R7"), (FactKind.RENAMED_NAME, "L7")],
)
def test_a_row_leads_to_its_line(kind: FactKind, side: str) -> None:
    """What is gone is on the left side of GitHub's diff and what has come on the right, though the patch is not here; with a patch its line decides."""
    url = place(report(entry(1, fact(kind))))
    assert re.fullmatch(rf"https://github.com/acme/engine/commit/{1:040x}#diff-[0-9a-f]{{64}}{side}", url)
    moved = file("engine/envs.py", patch("+    ENGINE_OLD = 1", old=7, new=7))
    assert place(report(entry(1, fact(kind), files=[moved]))).endswith("R7")


def test_each_name_has_its_place() -> None:
    """A path is written once for names of one file that follow each other, and what does not fit is counted; the sentence goes on behind it."""
    other = file("engine/args.py")
    found = [
        fact(),
        fact(name="ENGINE_B"),
        fact(name="ENGINE_C", path="engine/args.py"),
        fact(name="D"),
        fact(name="E"),
    ]
    day = report(entry(1, *found, files=[ENVS, other]))
    assert rows(day) == [
        "Removes environment variables `ENGINE_OLD` engine/envs.py:7, `ENGINE_B` :7, `ENGINE_C` engine/args.py:7 and 2 more"
    ]
    assert len({part.url for part in breaks(day)[0].parts("en", 3) if part.url}) == 2
    dropped = report(entry(1, fact(FactKind.SUPPORT_DROPPED, "Python 3.9")))
    assert rows(dropped, "zh") == ["移除对 `Python 3.9` engine/envs.py:7 的支持"]


@pytest.mark.parametrize(
    ("language", "row"),
    [
        ("en", "Moves `take` engine/envs.py:7 → engine/args.py:3"),
        ("zh", "移动 `take` engine/envs.py:7 → engine/args.py:3"),
    ],
)
def test_a_move_leads_to_both_places(language: Language, row: str) -> None:
    """The line that a name left, and the one that it came to, in either language."""
    moved = fact(FactKind.MOVED_NAME, "take").model_copy(update={"old": "engine/envs.py:7", "new": "engine/args.py:3"})
    day = report(entry(1, moved, files=[ENVS, file("engine/args.py")]))
    assert rows(day, language) == [row]
    assert [part.url[-2:] for part in breaks(day)[0].parts(language, 3) if part.url] == ["L7", "R3"]


def test_a_commits_own_section_has_every_name() -> None:
    """What the row at the top leaves out is told with the commit, on every surface that has a section for it."""
    day = report(entry(1, *(fact(name=f"ENGINE_{number}") for number in range(8)), tier=Importance.HIGH))
    messages = digest_messages(day)
    assert "ENGINE_4 and 3 more" in read(messages[:1])
    for section in (read(messages[1:]), shown(day).split("🔴")[-1], reports_markdown([day]).split("<a id=")[-1]):
        assert [number for number in range(8) if f"ENGINE_{number}" not in section] == []


@pytest.mark.parametrize(
    ("language", "heading", "row"),
    [
        ("en", "🎛️ For users (9)", "Removes environment variable ENGINE_1"),
        ("zh", "🎛️ 影响使用者 (9)", "移除环境变量 ENGINE_1"),
    ],
)
def test_every_surface_tells_it(language: Language, heading: str, row: str) -> None:
    """A line a commit and their number, before the commits, in the report's language."""
    day = MANY.model_copy(update={"language": language})
    root = read(digest_messages(day)[:1])
    markdown = reports_markdown([day]).partition("<a id=")[0].replace("`", "")
    for text in (root, shown(day), markdown):
        assert text.index(heading) < text.index(row)
        assert text[text.index(heading) :].count(row[:-1]) >= 9


def test_the_markdown_leads_to_the_commits_and_keeps_its_layout() -> None:
    """Between the table and the statistics, with lines that lead to the commit's section."""
    text = reports_markdown([MANY])
    assert re.search(
        r"\| Change 9 \|\n\n\*\*🎛️ For users \(9\)\*\*\n\n- Removes .*\n\n### 📊 Statistics\n>", text, re.DOTALL
    )
    assert "`ENGINE_1` ([0000000](#0000000))\n" in text


@pytest.mark.parametrize("language", ["zh", "en"])
def test_nothing_is_said_where_nothing_breaks(language: Language) -> None:
    """A day without breaking facts has no heading for them anywhere."""
    day = PLAIN.model_copy(update={"language": language})
    assert "💥" not in read(digest_messages(day)) + shown(day) + reports_markdown([day])
    written = json.loads("".join(json_lines(day)))
    assert written["breaking"] == []
    assert not any(each["breaking"] for each in written["commits"])


def test_a_channel_is_told_of_its_own_only() -> None:
    """What a channel left out of its digest does not break it either."""
    other = file("docs/x.md", additions=1)
    day = report(entry(1, fact()), entry(2, fact(name="ENGINE_ELSEWHERE"), files=[other]))
    root = read(digest_messages(selected(day, Selection(paths=("engine/",)), "engine/"))[:1])
    assert "ENGINE_OLD" in root
    assert "ENGINE_ELSEWHERE" not in root


def test_hostile_names_are_within_every_limit() -> None:
    """Names as long as a line, and full of what Slack would obey, are shortened, shown and harmless."""
    kinds = [kind for kind in FactKind if Fact(kind=kind, name="x").breaking]
    day = report(
        *(
            entry(number, *(fact(kind, f"{place}{HOSTILE}") for place in range(9)), tier=Importance.HIGH)
            for number, kind in enumerate(kinds, 1)
        )
    )
    messages = digest_messages(day)
    assert_takes(messages, "https://github.com/acme/engine/")
    assert "🎛️" in read(messages[:1])
    assert "\x1b" not in shown(day) + reports_markdown([day])
