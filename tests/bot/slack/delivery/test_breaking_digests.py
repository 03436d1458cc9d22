"""Digests of channels that name a downstream repository: what breaks its code comes first, there and nowhere else."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, time
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from analysis.models import Importance, Language, Repository
from bot.store import Subscriptions, Terms, open_engine
from loopback.slack import LoopbackSlack, Message
from tests.servers.clock import SettableClock
from tests.servers.github import Fault, FaultyGitHub
from tests.servers.place import OTHER, two_channels
from tests.servers.plugin import plugin, upstream
from tests.servers.running import bot_database, bot_running, buttons, posted, press, whole
from tests.servers.talk import ADA

DIGEST = "C0DIGEST"
UPSTREAM, PLUG = Repository.parse("o/n"), Repository.parse("o/plug")


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock(datetime(2026, 2, 6, 9, 30, tzinfo=UTC), speed=10)


@pytest.fixture
def slack(clock: SettableClock) -> Iterator[LoopbackSlack]:
    with two_channels(clock) as server:
        yield server


@pytest.fixture
def github() -> Iterator[FaultyGitHub]:
    with FaultyGitHub({"o/n": upstream(), "o/plug": plugin(), "o/none": plugin({"a.py": "print(1)\n"})}) as server:
        yield server


def subscribe(folder: Path, channel: str, language: Language = "en", **selected: Any) -> None:
    """A subscription that an earlier run left: o/n at nine, in UTC."""
    engine = open_engine(bot_database(folder))
    terms = Terms(channel, UPSTREAM, time(9), ZoneInfo("UTC"), language, **selected)
    Subscriptions(engine).keep(terms, datetime(2026, 2, 5, 10, tzinfo=UTC))
    engine.dispose()


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
    slack: LoopbackSlack, github: FaultyGitHub, clock: SettableClock, tmp_path: Path
) -> None:
    """The digest starts with the lines that break, worst first, and its notification with the worst; their commits are high
    there, in the counts too, with both places and linked from the first section; another channel reads nothing of it.
    """
    subscribe(tmp_path, DIGEST, downstream=(PLUG,))
    subscribe(tmp_path, OTHER)
    with bot_running(slack, github.url, tmp_path, now=clock, digest_mirrors=tmp_path / "mirrors"):
        root, stop, start, *rest = digest(slack)
        other = digest(slack, OTHER)
        links = slack.wait_for(lambda: re.findall(r"/archives/[^']*", str(posted(slack, DIGEST)[0].blocks)))
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
    assert [each.ts.replace(".", "") in link for each, link in zip((stop, start), links, strict=True)] == [True, True]
    assert "too_high" not in buttons(start)  # their verdicts would be on the tier that all channels share
    assert "plug/run.py:10" in section(start, "💥 Breaks your code")
    assert "start(model, eager=True)" in whole(start)
    assert "def start(model, eager=False):" in whole(start)
    assert "start(model)" in section(start, "instead")
    assert f"/o/plug/blob/{github.repositories['o/plug'].branches['main']}/plug/run.py#L10" in str(start.blocks)
    assert "Compared with o/plug" in "".join(map(whole, rest))
    files = [(file.content or b"").decode() for file in slack.workspace.files.values()]
    assert sorted("plug/run.py:10" in each for each in files) == [False, True]
    assert "plug/" not in "".join(map(whole, other))
    assert "breaks your code" not in "".join(map(whole, other))


def test_what_breaks_the_code_passes_the_selection(
    slack: LoopbackSlack, github: FaultyGitHub, clock: SettableClock, tmp_path: Path
) -> None:
    """A channel that wants only high commits of other paths gets what breaks its code."""
    subscribe(tmp_path, DIGEST, "zh", least=Importance.HIGH, paths=("csrc/",), downstream=(PLUG,))
    with bot_running(slack, github.url, tmp_path, now=clock, digest_mirrors=tmp_path / "mirrors"):
        root, *thread = digest(slack)
    assert "💥 破坏你们的代码" in whole(root)
    assert "本日 3 个提交，选出 2 个" in whole(root)
    assert "Say more" not in "".join(map(whole, thread))


@pytest.mark.parametrize("downstream", ["o/none", "o/gone"])
def test_what_breaks_nothing_or_cannot_be_read_is_said(
    slack: LoopbackSlack, github: FaultyGitHub, clock: SettableClock, tmp_path: Path, downstream: str
) -> None:
    """A digest that breaks nothing says what it was checked against, and one whose downstream repository vanished says so."""
    subscribe(tmp_path, DIGEST, downstream=(Repository.parse(downstream),))
    with bot_running(slack, github.url, tmp_path, now=clock, digest_mirrors=tmp_path / "mirrors"):
        root, *thread = digest(slack)
    coverage = "".join(map(whole, thread))
    if downstream == "o/none":
        assert "✅ No proven break of your code (compared with o/none, 1 file" in whole(root)
        assert "o/none" in coverage
    else:
        told = "⚠️ o/gone could not be checked: GitHub has no repository o/gone, or this bot has no access to it"
        assert told in whole(root)
        assert told in coverage


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
