"""Digests of channels that name a downstream repository: what breaks its code comes first, there and nowhere else."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from analysis.models import Importance, Repository
from loopback.slack import LoopbackSlack, Message
from tests.bot.slack.delivery.test_watched import subscribe
from tests.servers.clock import SettableClock
from tests.servers.github import Fault, FaultyGitHub
from tests.servers.place import OTHER, two_channels
from tests.servers.plugin import plugin, upstream
from tests.servers.running import bot_running, buttons, posted, press, whole
from tests.servers.talk import ADA

DIGEST, HIGH, NONE, GONE = "C0DIGEST", "C0HIGH", "C0NONE", "C0GONE"
UPSTREAM, PLUG = Repository.parse("o/n"), Repository.parse("o/plug")


def morning() -> SettableClock:
    return SettableClock(datetime(2026, 2, 6, 9, 30, tzinfo=UTC), speed=60)


@pytest.fixture
def clock() -> SettableClock:
    return morning()


@pytest.fixture
def slack(clock: SettableClock) -> Iterator[LoopbackSlack]:
    with two_channels(clock) as server:
        yield server


def served() -> FaultyGitHub:
    return FaultyGitHub({"o/n": upstream(), "o/plug": plugin(), "o/none": plugin({"a.py": "print(1)\n"})})


@pytest.fixture
def github() -> Iterator[FaultyGitHub]:
    with served() as server:
        yield server


# What each channel of one bot has subscribed to.
SUBSCRIBED: Mapping[str, Mapping[str, Any]] = {
    DIGEST: {"downstream": (PLUG,)},
    OTHER: {},
    HIGH: {"language": "zh", "least": Importance.HIGH, "paths": ("csrc/",), "downstream": (PLUG,)},
    NONE: {"downstream": (Repository.parse("o/none"),)},
    GONE: {"downstream": (Repository.parse("o/gone"),)},
}


@pytest.fixture(scope="module")
def delivered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LoopbackSlack, FaultyGitHub]]:
    """A Slack in whose channels the digests of one bot are whole and linked."""
    clock, folder = morning(), tmp_path_factory.mktemp("bot")
    for channel, terms in SUBSCRIBED.items():
        subscribe(folder, channel, **terms)
    with two_channels(clock) as slack, served() as github:
        for channel in (HIGH, NONE, GONE):
            slack.workspace.add_channel(channel.lower(), channel, members={"U0BOT", ADA})
        with bot_running(slack, github.url, folder, now=clock, digest_mirrors=folder / "mirrors"):
            for channel in SUBSCRIBED:
                digest(slack, channel)
            slack.wait_for(lambda: links(posted(slack, DIGEST)[0]))
        yield slack, github


def links(root: Message) -> list[str]:
    """The links to messages in Slack."""
    return re.findall(r"/archives/[^']*", str(root.blocks))


def reports(slack: LoopbackSlack, thread: list[Message]) -> list[str]:
    return [(slack.workspace.files[name].content or b"").decode() for each in thread for name in each.files]


def digest(slack: LoopbackSlack, channel: str = DIGEST) -> list[Message]:
    """A channel's first digest with its thread, once it is whole and linked."""
    [root] = slack.wait_for(lambda: posted(slack, channel)[:1])
    slack.wait_for(lambda: any(each.files for each in slack.thread(channel, root.ts)))
    return slack.thread(channel, root.ts)


def section(message: Message, heading: str) -> str:
    """The text from a heading on."""
    shown = whole(message).removeprefix(message.text).replace("\u2024", ".")
    return re.sub(r"\s*\n\s*", " ", shown.partition(heading)[2]).strip()


def test_what_breaks_the_code_comes_first_in_its_channel_alone(
    delivered: tuple[LoopbackSlack, FaultyGitHub],
) -> None:
    """The digest starts with the lines that break, worst first, and its notification with the worst; their commits are high
    there, in the counts too, with both places and linked from the first section; another channel reads nothing of it.
    """
    slack, github = delivered
    (root, stop, start, *rest), other = digest(slack), digest(slack, OTHER)
    notified = root.text.replace("\u2024", ".")
    assert notified.startswith(
        "💥 Breaks your code: plug/run.py:1 · engine.core.stop is gone, so this import fails · o/n"
    )
    told = section(root, "💥 Breaks your code")
    assert told.startswith("(o/plug) plug/run.py:1 · engine.core.stop is gone, so this import fails")
    assert told.index("#4") < told.index("plug/run.py:10") < told.index("#3")
    assert "🔴 High 2 | 🟡 Medium 0" in whole(root)
    assert "🔴 High 0 | 🟡 Medium 2" in whole(other[0])
    assert [each.text[0] for each in (stop, start)] == ["🔴", "🔴"]
    assert [each.ts.replace(".", "") in link for each, link in zip((stop, start), links(root), strict=True)] == [
        True,
        True,
    ]
    assert "too_high" not in buttons(start)  # their verdicts would be on the tier that all channels share
    assert "plug/run.py:10" in section(start, "💥 Breaks your code")
    assert "start(model, eager=True)" in whole(start)
    assert "def start(model, eager=False):" in whole(start)
    assert f"/o/plug/blob/{github.repositories['o/plug'].branches['main']}/plug/run.py#L10" in str(start.blocks)
    assert "Compared with o/plug" in "".join(map(whole, rest))
    assert ["plug/run.py:10" in each for thread in (rest, other) for each in reports(slack, thread)] == [True, False]
    assert "plug/" not in "".join(map(whole, other))
    assert "breaks your code" not in "".join(map(whole, other))


def test_what_breaks_the_code_passes_the_selection(
    delivered: tuple[LoopbackSlack, FaultyGitHub],
) -> None:
    """A channel that wants only high commits of other paths gets what breaks its code."""
    root, *thread = digest(delivered[0], HIGH)
    assert "💥 破坏你们的代码" in whole(root)
    assert "本日 3 个提交，选出 2 个" in whole(root)
    assert "Say more" not in "".join(map(whole, thread))


def test_what_breaks_nothing_or_cannot_be_read_is_said(delivered: tuple[LoopbackSlack, FaultyGitHub]) -> None:
    """A digest that breaks nothing says what it was checked against, and one whose downstream repository vanished says so."""
    root, *thread = digest(delivered[0], NONE)
    assert "✅ No proven break of your code (compared with o/none, 1 file" in whole(root)
    assert "o/none" in "".join(map(whole, thread))
    root, *thread = digest(delivered[0], GONE)
    told = "⚠️ o/gone could not be checked: GitHub has no repository o/gone, or this bot has no access to it"
    assert told in whole(root)
    assert told in "".join(map(whole, thread))


def test_without_a_mirror_the_digest_arrives(
    slack: LoopbackSlack, github: FaultyGitHub, clock: SettableClock, tmp_path: Path
) -> None:
    """Where git cannot clone, the day comes from the API, and says that the code could not be checked."""
    subscribe(tmp_path, DIGEST, downstream=(PLUG,))
    github.faults = [Fault(r"\.git/", 500, times=99)]
    with bot_running(slack, github.url, tmp_path, now=clock, digest_mirrors=tmp_path / "mirrors"):
        root, *_ = digest(slack)
    assert "Commits: 3" in whole(root)
    assert "⚠️ o/plug could not be checked: " in whole(root)


def test_a_private_plug_in_is_known_in_its_channel_only(
    slack: LoopbackSlack, github: FaultyGitHub, clock: SettableClock, tmp_path: Path
) -> None:
    """A channel that DIGEST_PRIVATE does not list reads of a private plug-in what it would of one that does not exist, though its
    subscription names it; nothing that is pressed or posted elsewhere shows its code.
    """
    subscribe(tmp_path, DIGEST, downstream=(PLUG,))
    subscribe(tmp_path, OTHER, downstream=(PLUG, Repository.parse("o/gone")))
    private = f"o/plug={DIGEST}"
    with bot_running(
        slack, github.url, tmp_path, now=clock, digest_mirrors=tmp_path / "mirrors", digest_private=private
    ):
        root, *thread = digest(slack)
        other = digest(slack, OTHER)
        press(slack, ADA, DIGEST, root.ts, "full_report")
        dm = slack.workspace.dm(ADA)
        slack.wait_for(lambda: any(each.files for each in slack.channel(dm)))
        slack.command(ADA, OTHER, "#3")
        slack.command(ADA, OTHER, "subscriptions")
        slack.wait_for(lambda: len(slack.private(ADA, OTHER)) > 1)
        [sent] = [file for each in slack.channel(dm) for file in each.files]
    assert "eager=True" in "".join(map(whole, thread))
    told = "".join(map(whole, other))
    for name in ("o/plug", "o/gone"):
        assert f"{name} could not be checked: GitHub has no repository {name}, or this bot has no access to it" in told
    shown = told + "".join(map(whole, slack.private(ADA, OTHER)))
    assert "plug/run.py" not in shown
    assert "eager=True" not in shown
    assert "plug/run.py" not in str(sent)
    assert "full_report" in buttons(root)
