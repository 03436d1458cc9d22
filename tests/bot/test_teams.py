"""Teams with channels, mornings, languages and selections of their own, over repositories that they share."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, time
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from analysis.models import Repository
from bot.store import Subscriptions, Terms, open_engine
from loopback.github import RecordedRepository
from loopback.slack import LoopbackSlack
from tests.conftest import recorded
from tests.servers.chat import ScriptedChat
from tests.servers.clock import SettableClock
from tests.servers.github import FaultyGitHub
from tests.servers.running import posted, whole
from tests.servers.talk import ADA, Talk

BERLIN, TOKYO, DENVER = "C0BERLIN", "C0TOKYO", "C0DENVER"
N, M = Repository(owner="o", name="n"), Repository(owner="o", name="m")


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def analysis(request: dict[str, Any]) -> str:
    """A model's analysis in the language that it was asked for."""
    chinese = re.search(r"[\u4e00-\u9fff]", request["messages"][0]["content"])
    insight = dict.fromkeys(
        ("architecture", "performance", "security", "compatibility", "maintenance", "dependencies"), ""
    )
    summary = "修改了 `work` 的返回值。" if chinese else "Changes what `work` returns."
    return json.dumps(
        {"summary": summary, "scope": [], "insight": insight, "risks": [], "advice": [], "move": "keep"}
        | {"move_reason": ""},
        ensure_ascii=False,
    )


def commit(number: int, at: str, title: str, path: str = "pkg/part.py") -> dict[str, Any]:
    made = recorded(number, date=f"{at}:00Z", message=f"{title} (#{number})")
    [file] = made["files"]
    return made | {"files": [file | {"filename": path}]}


# Of o/n on the fifth of February: Berlin's day has a, b and c, Tokyo's a and b, Denver's b, c and d.
COMMITS_N = [
    commit(1, "2026-02-04T23:30", "[Security] Fix a path traversal in uploads, a"),
    commit(2, "2026-02-05T12:00", "[Doc] Say how to install, b", "docs/install.md"),
    commit(3, "2026-02-05T20:00", "[Core] Change the scheduler, c"),
    commit(4, "2026-02-06T03:00", "[Core] Change the cache, d"),
]
COMMITS_M = [
    commit(5, "2026-02-05T12:00", "[Kernel] Change a kernel, e", "csrc/e.cu"),
    commit(6, "2026-02-05T13:00", "[Core] Change a module, f"),
]


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock(utc("2026-02-06 00:20"), speed=60)


@pytest.fixture
def slack(clock: SettableClock) -> Iterator[LoopbackSlack]:
    with LoopbackSlack(now=clock.timestamp, pace=False) as server:
        for channel in (BERLIN, TOKYO, DENVER):
            server.workspace.add_channel(channel.lower(), channel, members=[ADA, "U0BOT"])
        yield server
        assert [(call.method, call.response) for call in server.refusals] == []
        assert server.breaches == []


@pytest.fixture
def github() -> Iterator[FaultyGitHub]:
    with FaultyGitHub({"o/n": RecordedRepository(COMMITS_N), "o/m": RecordedRepository(COMMITS_M)}) as server:
        yield server


def said_to(slack: LoopbackSlack, channel: str) -> str:
    return "\n".join(whole(each) for each in slack.workspace.visible(channel) if each.by_bot and not each.only_for)


def titles(text: str) -> str:
    """The letters of the commits that are told of."""
    return "".join(sorted(set(re.findall(r", ([a-f])\b", text))))


def digests(slack: LoopbackSlack, channel: str) -> int:
    """How many are there with their files, which come last."""
    return sum(len(each.files) for each in slack.workspace.visible(channel))


def listings(github: FaultyGitHub) -> Counter[tuple[str, str]]:
    """How often each repository's list was asked for from an instant on."""
    asked = [(path, query.get("since")) for path, query, _ in github.requests if path.endswith("/commits")]
    return Counter((path, since) for path, since in asked if since)


def test_each_team_gets_what_it_asked_for_when_it_asked_for_it(
    slack: LoopbackSlack, github: FaultyGitHub, clock: SettableClock, tmp_path: Path
) -> None:
    """Three channels in three zones get their own days of two repositories in their languages; each commit is analysed once
    per language, and each day of a zone is listed once.
    """
    with (
        ScriptedChat(analysis) as chat,
        Talk(
            slack,
            github.url,
            tmp_path,
            now=clock,
            digest_repos="o/n,o/m",
            digest_model="scripted",
            openai_base_url=chat.url,
            openai_api_key="key",
        ) as talk,
    ):
        clock.set(utc("2026-02-05 22:00"))
        for channel, text in (
            (BERLIN, "subscribe o/n at 08:00 tz Europe/Berlin"),
            (TOKYO, "subscribe o/n at 09:30 tz Asia/Tokyo lang zh min medium"),
            (DENVER, "subscribe o/n at 07:00 tz America/Denver"),
            (DENVER, "subscribe o/m at 07:00 tz America/Denver paths csrc/"),
        ):
            told = whole(talk.type(ADA, text, channel))
            assert "Subscribed" in told
        clock.set(utc("2026-02-06 00:20"))
        assert not any(digests(slack, each) for each in (BERLIN, TOKYO, DENVER))
        clock.set(utc("2026-02-06 00:30"))
        slack.wait_for(lambda: digests(slack, TOKYO))
        assert not posted(slack, BERLIN) + posted(slack, DENVER)
        clock.set(utc("2026-02-06 07:00"))
        slack.wait_for(lambda: digests(slack, BERLIN))
        assert not posted(slack, DENVER)
        clock.set(utc("2026-02-06 14:00"))
        slack.wait_for(lambda: digests(slack, DENVER) == 2)
        talk.settle()
    roots = {channel: posted(slack, channel) for channel in (BERLIN, TOKYO, DENVER)}
    assert {channel: len(each) for channel, each in roots.items()} == {BERLIN: 1, TOKYO: 1, DENVER: 2}
    assert all("2026-02-05" in root.text for each in roots.values() for root in each)
    assert titles(said_to(slack, BERLIN)) == "abc"
    assert titles(said_to(slack, TOKYO)) == "a"
    assert "本日" in said_to(slack, TOKYO)
    assert "本日" not in said_to(slack, BERLIN) + said_to(slack, DENVER)
    by_repository = {("o/n" if "o/n" in root.text else "o/m"): slack.thread(DENVER, root.ts) for root in roots[DENVER]}
    assert titles("\n".join(map(whole, by_repository["o/n"]))) == "bcd"
    assert titles("\n".join(map(whole, by_repository["o/m"]))) == "e"
    assert set(listings(github).values()) == {1}
    assert sum(listings(github).values()) == 4
    asked = Counter(
        (found[1], bool(re.search(r"[\u4e00-\u9fff]", request["messages"][0]["content"])))
        for request in chat.requests
        if (found := re.search(r", ([a-f]) \(#", request["messages"][-1]["content"]))
    )
    assert len(chat.requests) == sum(asked.values())
    assert asked == Counter({**{(letter, False): 1 for letter in "abcdef"}, **{(letter, True): 1 for letter in "ab"}})


@pytest.fixture
def subscriptions(tmp_path: Path) -> Iterator[Subscriptions]:
    engine = open_engine(f"sqlite:///{tmp_path / 'walked.db'}")
    yield Subscriptions(engine)
    engine.dispose()


def test_who_subscribes_anew_is_somebody_else(subscriptions: Subscriptions) -> None:
    """A subscription that ended leaves its number to nobody: what was started for it would count as done for the next."""
    terms = Terms(BERLIN, N, time(9), ZoneInfo("UTC"), "en")
    first = subscriptions.keep(terms, utc("2026-02-05 10:00"))
    subscriptions.end(first.id, utc("2026-02-05 10:00"))
    assert subscriptions.keep(terms, utc("2026-02-05 10:00")).id != first.id
