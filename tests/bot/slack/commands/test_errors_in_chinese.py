"""What goes wrong is said in the language of the channel, whatever is configured, on every surface."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from loopback.github import RecordedRepository
from loopback.slack import LoopbackSlack
from tests.conftest import recorded
from tests.servers.clock import SettableClock
from tests.servers.github import Fault, FaultyGitHub
from tests.servers.place import faultless
from tests.servers.running import whole
from tests.servers.talk import ADA, DIGEST, Talk

REPOSITORIES = ("o/n", "o/down")


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    """An English bot with a Chinese channel."""
    days = RecordedRepository([recorded(1), recorded(2)])
    clock = SettableClock(datetime(2026, 2, 6, 8, tzinfo=UTC))
    with faultless(LoopbackSlack(pace=False)) as slack, FaultyGitHub(dict.fromkeys(REPOSITORIES, days)) as github:
        github.faults.append(Fault("/repos/o/down", status=418, times=1000))
        with Talk(slack, github.url, tmp_path_factory.mktemp("bot"), now=clock) as running:
            running.type(ADA, "subscribe lang zh")
            yield running


WRONG = [
    ("deadbeef", "⚠️ o/n 中没有提交 deadbeef，或有多个提交以它开头"),
    ("o/n@absent subscribe", "⚠️ GitHub 上没有 o/n@absent 这个分支"),
    ("o/down #1", "返回状态码 418，请稍后再试"),
    ("2036-02-05", "2036-02-05 还没到"),
    ("subscribe at 25:00", "⚠️ 时间“25:00”无效，请用 HH:MM"),
]


@pytest.mark.parametrize(("text", "said"), WRONG)
def test_a_command_is_refused_in_chinese(talk: Talk, text: str, said: str) -> None:
    """What a command names in vain is said in Chinese to whoever gave it."""
    assert said in whole(talk.type(ADA, text))


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("watch", "x", "太短，无法关注"),
        ("channel", "C0QUIET", "我不在这个频道里"),
    ],
)
def test_a_form_is_refused_in_chinese(talk: Talk, field: str, value: str, said: str) -> None:
    """The form of a Chinese channel is Chinese, and so is what is wrong with what is filled in."""
    shown = talk.type(ADA, "subscriptions")
    talk.slack.press(ADA, DIGEST, shown.ts, "edit_subscription")
    view = talk.slack.wait_for(lambda: talk.slack.modal(ADA))
    assert view.body["title"]["text"] == "修改订阅"
    filled: dict[str, Any] = {"channel": DIGEST, "repository": "o/n", "at": "09:00", "timezone": "UTC"}
    filled |= {"language": "zh", "least": "low"} | {field: value}
    errors = talk.slack.submit(ADA, view.id, {name: {name: each} for name, each in filled.items()}).errors
    assert errors
    assert said in errors[field]
