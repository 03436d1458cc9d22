"""A model that does not answer, as the bot's status tells it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from loopback.github import RecordedRepository
from loopback.slack import LoopbackSlack
from tests.bot.services.test_models import said
from tests.bot.slack.commands.test_subscriptions import home_of
from tests.conftest import recorded
from tests.servers.chat import ScriptedChat
from tests.servers.clock import SettableClock
from tests.servers.github import FaultyGitHub
from tests.servers.running import whole
from tests.servers.talk import ADA, Talk


def test_the_status_says_that_the_model_fails(tmp_path: Path) -> None:
    """The status and Home say when the model failed last and why, in the channel's language, until it answers; they do not ask it."""
    clock = SettableClock(datetime(2026, 2, 6, 9, tzinfo=UTC))
    with (
        LoopbackSlack() as slack,
        FaultyGitHub({"o/n": RecordedRepository([recorded(1)])}) as github,
        ScriptedChat(lambda _: " ") as chat,
        Talk(
            slack,
            github.url,
            tmp_path,
            now=clock,
            digest_model="scripted",
            openai_base_url=chat.url,
            openai_api_key="k",
        ) as talk,
    ):
        assert "failed" not in whole(talk.type(ADA, "status"))
        talk.type(ADA, "#1")
        clock.advance(timedelta(minutes=3))
        asked = len(chat.requests)
        failing = "⚠️ The model scripted failed 3 min ago: the reply was empty; using rules instead"
        assert failing in whole(talk.type(ADA, "status"))
        assert failing in home_of(talk, ADA)
        talk.type(ADA, "subscribe lang zh")
        assert "⚠️ 模型 scripted 在 3 分钟前失败：回复是空的；暂用规则分析" in whole(talk.type(ADA, "status"))
        assert len(chat.requests) == asked
        chat.say = lambda _: said("改动了 `part1`。")
        talk.type(ADA, "#1")
        assert len(chat.requests) > asked
        assert "未能作答" not in whole(talk.type(ADA, "status"))
