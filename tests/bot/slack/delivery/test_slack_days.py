"""Days in Slack as they really are: the busiest of a month, several repositories at once."""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from loopback.github import RecordedRepository
from loopback.slack import LoopbackSlack, Message
from tests.conftest import recorded
from tests.servers.clock import SettableClock, noon_clock
from tests.servers.github import Fault, FaultyGitHub
from tests.servers.place import faultless
from tests.servers.running import buttons, whole
from tests.servers.talk import Talk

ADA, DIGEST = "U0ADA", "C0DIGEST"
VLLM, SHANGHAI = "vllm-project/vllm", ZoneInfo("Asia/Shanghai")


@pytest.fixture
def clock() -> SettableClock:
    return noon_clock()


@pytest.fixture
def slack(clock: SettableClock) -> Iterator[LoopbackSlack]:
    with faultless(LoopbackSlack(now=clock.timestamp)) as server:
        yield server


def titles(messages: list[Message]) -> Counter[str]:
    """How often each commit's title stands in messages: SHA -> times."""
    found = Counter[str]()
    for message in messages:
        for block in message.blocks:
            for part in block.get("elements", ()) if block["type"] == "rich_text" else ():
                for row in part["elements"] if part["type"] == "rich_text_list" else [part]:
                    # A title with code in it is several links that follow each other; a bare SHA is no title, nor is a place.
                    links = [
                        piece for piece in row["elements"] if piece["type"] == "link" and "#diff" not in piece["url"]
                    ]
                    linked = {piece["url"]: "" for piece in links}
                    for piece in links:
                        linked[piece["url"]] += piece["text"]
                    for url, text in linked.items():
                        sha = url.rpartition("/commit/")[2]
                        found[sha] += int("/commit/" in url and not re.fullmatch(r"([0-9a-f]{7})+", text))
    return +found


def delivered(talk: Talk, text: str) -> list[Message]:
    """Has a day posted to the channel and gives its root and thread when they are whole."""
    slack = talk.slack
    slack.command(ADA, DIGEST, text)
    reply = slack.wait_for(lambda: [m for m in slack.private(ADA, DIGEST) if "post_to_channel" in buttons(m)], 60)[0]
    slack.press(ADA, DIGEST, reply.ts, "post_to_channel")
    root = slack.wait_for(lambda: slack.channel(DIGEST), 60)[0]
    slack.wait_for(lambda: slack.thread(DIGEST, root.ts)[-1].files, 90)
    return slack.thread(DIGEST, root.ts)


def test_a_busy_real_day_is_posted_whole(
    slack: LoopbackSlack, clock: SettableClock, vllm_commits: list[dict[str, Any]], tmp_path: Path
) -> None:
    """Of the busiest day of January every title stands in the thread once, and the statistics are those of the day."""
    of_day: dict[date, list[str]] = {}
    for each in vllm_commits:
        day = datetime.fromisoformat(each["committer"]["date"]).astimezone(SHANGHAI).date()
        of_day.setdefault(day, []).append(each["sha"])
    busiest = max((day for day in of_day if (day.year, day.month) == (2026, 1)), key=lambda day: len(of_day[day]))
    with (
        FaultyGitHub({VLLM: RecordedRepository(vllm_commits)}) as github,
        Talk(
            slack,
            github.url,
            tmp_path,
            now=clock,
            digest_repos=VLLM,
            digest_language="zh",
            digest_timezone="Asia/Shanghai",
        ) as talk,
    ):
        root, *thread = delivered(talk, str(busiest))
    assert titles(thread) == dict.fromkeys(of_day[busiest], 1)
    assert f"{busiest} (" in root.text
    assert f"本日共 {len(of_day[busiest])} 个提交" in root.text
    assert len(thread) < 25


def test_each_repository_has_its_digest(slack: LoopbackSlack, clock: SettableClock, tmp_path: Path) -> None:
    """Where several repositories are configured each one's digest stays, and one that cannot be read is a line among them."""
    repositories = {name: RecordedRepository([recorded(1), recorded(2)]) for name in ("o/one", "o/two", "o/three")}
    with (
        FaultyGitHub(repositories) as github,
        Talk(slack, github.url, tmp_path, now=clock, digest_repos="o/one,o/two,o/three") as talk,
    ):
        github.faults = [Fault("o/two/commits$", 404, times=3, body={"message": "Not Found"})]
        slack.command(ADA, DIGEST, "2026-02-05")
        slack.wait_for(lambda: len(slack.private(ADA, DIGEST)) == 3)
        one, two, three = slack.private(ADA, DIGEST)
        assert ["post_to_channel" in buttons(each) for each in (one, two, three)] == [True, False, True]
        assert ("o/one · 2026-02-05" in one.text, "o/three · 2026-02-05" in three.text) == (True, True)
        assert two.text.startswith("⚠️ o/two · 2026-02-05")
        talk.settle()
        ts = slack.say(ADA, DIGEST, "<@U0BOT> 2026-02-05")
        assert [each.text.split(" · ")[0] for each in talk.replies(ts)] == ["o/one", "⚠️ o/two", "o/three"]
        github.faults = []
        slack.command(ADA, DIGEST, "2026-02-04..2026-02-05")
        listed = slack.wait_for(lambda: slack.private(ADA, DIGEST)[3:])[0]
        assert [whole(listed).count(name) for name in repositories] == [2, 2, 2]


def test_a_search_stays_among_what_is_configured(slack: LoopbackSlack, clock: SettableClock, tmp_path: Path) -> None:
    """What an operator once read into the store, and then took out of the configuration, no search shows any more."""
    hidden = recorded(2, message="[Core] Add the unannounced accelerator (#2)", pull=None)
    repositories = {"o/n": RecordedRepository([recorded(1)]), "o/hidden": RecordedRepository([hidden])}
    with FaultyGitHub(repositories) as github:
        with Talk(slack, github.url, tmp_path, now=clock, digest_repos="o/n,o/hidden") as talk:
            assert "accelerator" in whole(talk.type(ADA, "o/hidden 2026-02-05")) + whole(talk.type(ADA, "search acc"))
        body = {"id": 1, "name": "hidden", "full_name": "o/hidden", "private": True, "owner": {"login": "o"}}
        github.faults = [Fault("^/repos/o/hidden$", 200, times=99, body=body)]
        with Talk(slack, github.url, tmp_path, now=clock, digest_repos="o/n") as talk:
            seen = len(slack.private(ADA, DIGEST))
            for text in ("search acc", "o/hidden search acc", "o/hidden 0202020", "0202020", "#2"):
                talk.type(ADA, text)
            assert not [each for each in slack.private(ADA, DIGEST)[seen:] if "accelerator (" in whole(each)]
