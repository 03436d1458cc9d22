"""The head of a digest: with its button it accounts for every commit, and its counts are those of its thread."""

from datetime import date
from zoneinfo import ZoneInfo

import pytest

from analysis.consequences.period import shown_lines
from analysis.models import (
    Analysis,
    DayReport,
    Edit,
    Entry,
    Fact,
    FactKind,
    Importance,
    Language,
    Ranked,
    Reason,
    Repository,
    Touch,
)
from analysis.models.impacts import (
    Cause,
    Certainty,
    Downstream,
    DownstreamImpacts,
    DownstreamPlace,
    Impact,
    ImpactKind,
    UpstreamPlace,
)
from analysis.window import window
from bot.models.downstream import UNASKED, DownstreamCheck
from bot.services.downstream import answer_from_impacts
from bot.slack.messages.blocks import Action, actions, button, option_value, with_menu
from bot.slack.messages.commit import commit_messages, rank_message
from bot.slack.messages.digest import day_head, digest_messages, others, rest_messages
from bot.slack.messages.impacts import raised
from tests.factories import commit, file
from tests.slack_checks import assert_takes, read, strings

DAY, TZ = date(2026, 2, 5), ZoneInfo("UTC")
WEB = "https://github.com/acme/engine/"
REPOSITORY = Repository.parse("acme/engine")


def entry(number: int, tier: Importance = Importance.MEDIUM, *facts: Fact, title: str = "") -> Entry:
    ranked = Ranked(score=1.5, importance=tier, reasons=(Reason(signal="tag: core", points=1.25, evidence="Core"),))
    made = commit(title or f"Change {number} (#{number})", [file("engine/core.py", additions=9)], sha=f"{number:040x}")
    return Entry(commit=made, facts=facts, ranked=ranked, analysis=Analysis(by="rules", summary="It does."))


def report(*entries: Entry, language: Language = "en") -> DayReport:
    return DayReport(
        repository=REPOSITORY,
        date=DAY,
        timezone=TZ.key,
        language=language,
        window=window(DAY, TZ),
        entries=entries,
    )


def removed(name: str) -> Fact:
    return Fact(kind=FactKind.REMOVED_ENV, name=name, path="engine/core.py", line=3)


def breaking(*entries: Entry) -> DownstreamCheck:
    """A check of a plug-in that each of the commits breaks."""
    plug = Downstream(name="acme/plug", packages=("engine",), files=3, python_files=3, uses=9, mentions=1)
    impact = Impact(
        kind=ImpactKind.IMPORT,
        certainty=Certainty.PROVEN,
        cause=Cause.REMOVED,
        name="engine.core.load",
        upstream=UpstreamPlace(path="engine/core.py"),
        downstream=DownstreamPlace(path="plug/worker.py", line=1, code="from engine.core import load"),
    )
    found = {each.commit.sha: (DownstreamImpacts(downstream=plug, impacts=(impact,)),) for each in entries}
    return DownstreamCheck(compared=(plug,), commits=found)


MANY = [entry(n, Importance.MEDIUM, removed(f"ENGINE_{n}")) for n in range(1, 10)]
PLAIN = [entry(n, Importance.LOW) for n in range(10, 15)]


@pytest.mark.parametrize("broken", [0, 2, 12])
def test_the_button_lists_what_the_head_does_not(broken: int) -> None:
    """Each commit has its line in the head or is in the button's list, and the button's number is the list's."""
    day = report(*MANY, *PLAIN)
    check = breaking(*day.entries[:broken]) if broken else UNASKED
    head = day_head(raised(day, check), check)
    rest = others(day, head)
    listed = {each.commit.sha for each in rest.entries}
    assert head.shown | listed == {each.commit.sha for each in day.entries}
    assert not head.shown & listed
    messages = digest_messages(day, check=check)
    assert_takes([*messages, *rest_messages(day, check)], WEB)
    assert f"{len(listed)} others" in list(strings(messages[0].blocks))
    assert read(rest_messages(day, check)).count("Change ") == len(listed)


def test_the_counts_are_those_of_the_thread() -> None:
    """What breaks the channel's code is high in the statistics line as in the thread, and this is said."""
    day = report(*MANY[:3], *PLAIN)
    root, *thread = digest_messages(day, check=breaking(*PLAIN[:2]))
    assert "🔴 High 2 | 🟡 Medium 3 | 🟢 Low 3" in root.text
    assert sum(each.text.startswith("🔴") for each in thread) == 2
    assert "🔴 includes commits that break your code" in " ".join(strings(root.blocks))
    assert read([root]).count("ENGINE_") == 3


@pytest.mark.parametrize(
    ("language", "worst"), [("en", "Removes environment variable ENGINE_1 · "), ("zh", "移除环境变量 ENGINE_1 · ")]
)
def test_the_notification_begins_with_the_worst_line(language: Language, worst: str) -> None:
    """What is seen first on a locked phone is what is worst, and not a count."""
    root = digest_messages(report(*PLAIN, MANY[0], language=language))[0]
    assert root.text.startswith(worst)


def test_the_notification_prefers_a_break_to_a_requirement() -> None:
    """A requirement of a low commit is no reason to look while plug-ins break."""
    low = entry(1, Importance.LOW, Fact(kind=FactKind.DEPENDENCY_ADDED, name="heron", path="setup.py", new=">=1.2"))
    high = entry(2, Importance.HIGH, Fact(kind=FactKind.REMOVED_NAME, name="take", path="engine/core.py"))
    assert digest_messages(report(low, high))[0].text.startswith("Removes take from ")


def test_a_commit_of_rules_is_told_once() -> None:
    """Without a model a message has each fact once with its consequence, the SHA once, and no sentence about lines."""
    made = entry(
        1, Importance.HIGH, removed("ENGINE_OLD"), title="Clean up (#1)\n\nNobody sets it, and it never worked."
    )
    [message] = commit_messages(REPOSITORY, made, "en", TZ, public=True)
    text = " ".join(strings(message.blocks))
    assert text.count("ENGINE_OLD") == 1
    assert len([each for each in strings(message.blocks) if made.commit.short_sha in each and "/" not in each]) == 1
    assert (
        "ENGINE_OLD engine/core.py:3 – where it is still set, the setting is silently ignored, or startup fails"
        in read([message])
    )
    assert "The author writes: Nobody sets it, and it never worked." in read([message])
    assert "🧪 No tests changed" in text
    assert "Scope" not in text
    assert "lines" not in text


def test_a_commit_that_only_takes_tests_away_is_not_said_to_change_none() -> None:
    """Where a test file lost lines, "no test changed" would be false."""
    made = entry(1, Importance.HIGH, removed("ENGINE_OLD"))
    taken = commit("Clean up (#1)", [file("engine/core.py", deletions=2), file("tests/test_core.py", deletions=9)])
    [message] = commit_messages(REPOSITORY, made.model_copy(update={"commit": taken}), "en", TZ, public=True)
    assert "No test" not in " ".join(strings(message.blocks))


def test_what_is_watched_is_marked_in_the_head() -> None:
    """The line of a commit that touches a watched term names the term."""
    touch = Touch(term="engine/core.py", path="engine/core.py", url=f"{WEB}commit/{1:040x}")
    made = entry(1, Importance.HIGH).model_copy(update={"watched": (touch,)})
    assert "#1 · 👁 engine/core.py" in read(digest_messages(report(made))[:1])


def test_why_a_commit_has_its_rank_is_told_on_demand() -> None:
    """The signals stand with their points in the reply to the menu, and nowhere else."""
    made = entry(1, Importance.HIGH)
    message = rank_message(made, "en")
    assert_takes([message], WEB)
    assert "+1.25 tagged “Core”" in read([message])
    assert "Score +1.50" in " ".join(strings(message.blocks))
    assert "tagged" not in read(digest_messages(report(made)))


def test_a_menu_whose_values_are_too_long_becomes_buttons() -> None:
    """Slack takes 150 characters in an option's value: a longer one stands in a button, which takes 2,000."""
    ask = button("Ask", Action.ASK, "x")
    short, long = "v" * (150 - len(option_value(Action.WHY, ""))), "v" * 150
    menu = with_menu([ask], [("Why", Action.WHY, short)])["elements"][1]
    assert (menu["type"], menu["options"][0]["value"]) == ("overflow", f"why|{short}")
    assert with_menu([ask], [("Why", Action.WHY, long)]) == actions(ask, button("Why", Action.WHY, long))
    assert with_menu([ask], []) == actions(ask)


def test_a_models_sentence_is_the_notification_while_what_it_says_stands() -> None:
    """It repeats no line of the head, gives way to what breaks the channel's code, and goes with its headlines."""
    first, second = entry(1, Importance.HIGH, removed("OLD_WAY")), entry(2, Importance.HIGH, removed("OLD_MODE"))
    plain = report(first, second)
    [line] = [line for group in shown_lines(plain) for line in group.lines if line.entry is first]
    edit = Edit(
        commits=(),
        order=(second.commit.sha,),
        lead="Readers meet `OLD_WAY`",
        headlines={first.commit.sha: line.headline},
    )
    edited = plain.model_copy(update={"edit": edit})
    head = day_head(edited, UNASKED)
    told = "".join(strings(list(head.blocks)))
    assert head.worst == "Readers meet OLD_WAY"
    assert "Readers" not in told
    assert told.index("For users") < told.index("OLD_MODE") < told.index("OLD_WAY")
    assert "Readers" not in day_head(edited, breaking(second)).worst
    assert day_head(edited, breaking(first)).worst != "Readers meet OLD_WAY"
    changed = edit.model_copy(update={"headlines": {first.commit.sha: "Another headline"}})
    assert "Readers" not in day_head(plain.model_copy(update={"edit": changed}), UNASKED).worst


def test_what_broke_when_it_landed_follows_how_the_code_is_now() -> None:
    """Of a plug-in that has adapted since, the denial comes first, and then where it broke at that time."""
    check = breaking(MANY[0])
    [plug], [found] = check.compared, check.commits.values()
    then = plug.model_copy(update={"name": "acme/plug@0123456"})
    earlier = {MANY[0].commit.sha: tuple(each.model_copy(update={"downstream": then}) for each in found)}
    told = [*answer_from_impacts(check._replace(compared=(plug, then), commits=earlier), [MANY[0]], "en")]
    assert told[0].text.startswith("Nothing is proven to break: 3 files")
    assert told[1].text == "At that time, acme/plug@0123456 broke in 1 place:"
