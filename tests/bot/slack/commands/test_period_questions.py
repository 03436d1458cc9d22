"""Questions by mention and direct message that name no commit: they are about the commits of days, or of a repository."""

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime

import pytest

from loopback.slack import LoopbackSlack
from tests.servers.clock import SettableClock
from tests.servers.conversing import COMMITS, sample_talk
from tests.servers.running import whole
from tests.servers.talk import ADA, BOT, DIGEST, HURRY, Talk, links, markdown

FRIDAY = datetime(2026, 2, 13, 1, tzinfo=UTC)  # a week after the sample's day
FLAG, RACE, CHANGED, REVERT = "(#388)", "(#409)", "(#402)", "(#421)"  # ends of titles


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    """A bot that has read the sample's day, a week later."""
    with ExitStack() as stack:
        slack = stack.enter_context(LoopbackSlack(pace=False))
        talk = stack.enter_context(
            sample_talk(
                stack, slack, tmp_path_factory.mktemp("bot"), now=SettableClock(FRIDAY, HURRY), digest_timezone="UTC"
            )
        )
        talk.type(ADA, "2026-02-05")
        yield talk
        talk.settle()
        assert [(call.method, call.response) for call in slack.refusals] == []


def sha_of(title: str) -> str:
    found: list[str] = [sha for sha, each in COMMITS.items() if each["message"].split("\n")[0].endswith(title)]
    return found[0]


@pytest.mark.parametrize(
    ("direct", "question", "title", "scope"),
    [
        (False, "which commits touched the scheduler last week?", RACE, "from 2026-02-02 to 2026-02-08"),
        (True, "anything for the scheduler since 2026-02-05", RACE, "from 2026-02-05 to 2026-02-13"),
        (False, "which commits touched the scheduler in the last ten days", RACE, "from 2026-02-03 to 2026-02-13"),
        (False, "which commits touched the scheduler", RACE, "In the history of"),
        (True, "what removed --legacy-tokenizer?", FLAG, "In the history of"),
        (False, "when did `KVCacheManager` change?", CHANGED, "In the history of"),
        (True, "what was reverted?", REVERT, "In the history of"),
        (False, "--legacy-tokenizer 是哪个提交移除的？", FLAG, "的历史中"),
    ],
)
def test_a_question_that_names_no_commit_is_about_days(
    talk: Talk, direct: bool, question: str, title: str | None, scope: str
) -> None:
    """The days that it names, or all that is stored if it asks when or by what something changed; with links."""
    channel = talk.direct(ADA) if direct else DIGEST
    reply = talk.reply(ADA, question if direct else f"{BOT} {question}", channel=channel)
    assert scope in whole(reply)
    cited = {address.rpartition("/commit/")[2] for _, address in links(markdown(reply)) if "/commit/" in address}
    assert (sha_of(title) in cited) if title else not cited


def test_a_follow_up_in_the_thread_is_about_the_same_days(talk: Talk) -> None:
    """Days that were named before in a thread hold for what follows."""
    asked = talk.say(ADA, f"{BOT} which commits touched the scheduler last week?")
    talk.settle()
    follow_up = whole(talk.reply(ADA, f"{BOT} and is anything about ROCm there?", asked))
    assert "from 2026-02-02 to 2026-02-08" in follow_up


def test_in_a_digests_thread_other_days_may_be_named(talk: Talk) -> None:
    """A question in the thread of a day that names a week is about the week."""
    root = talk.open("2026-02-05")
    reply = talk.reply(ADA, f"{BOT} which commits touched the scheduler last week?", root)
    assert "from 2026-02-02 to 2026-02-08" in whole(reply)
