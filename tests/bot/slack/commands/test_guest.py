"""The bot as a guest: how it greets a channel, serves a person alone, tells admins what there is, and leaves with what is gone."""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from bot.store import Subscriptions, open_engine
from loopback.github import RecordedRepository
from loopback.slack import Fault, LoopbackSlack, Message
from tests.conftest import recorded
from tests.servers.clock import SettableClock
from tests.servers.github import FaultyGitHub
from tests.servers.killed import Moment, killable
from tests.servers.place import faultless
from tests.servers.running import bot_database, buttons, whole
from tests.servers.talk import ADA, DIGEST, LIN, Talk

_numbers = count(1)
SECRET = "o/secret"
FLAG = '@@ -1,3 +1,2 @@\n def add(parser):\n-    parser.add_argument("--{}", type=int)\n     return parser'


def flag_removed(name: str) -> list[dict[str, Any]]:
    file = {"filename": "engine/args.py", "status": "modified", "additions": 0, "deletions": 1, "changes": 1}
    return [recorded(1, files=[{**file, "patch": FLAG.format(name)}])]


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    """A bot that has read a day of a public repository, and of a private one that one channel may see, Ada being an admin."""
    found = {"o/n": RecordedRepository(flag_removed("public")), SECRET: RecordedRepository(flag_removed("hidden"))}
    clock = SettableClock(datetime(2026, 2, 6, 10, tzinfo=UTC))
    settings = {"digest_private": f"{SECRET}=C0OPS", "digest_repos": f"{SECRET},o/n"}
    settings["digest_subscribe"] = "at 07:30 quiet on min medium"
    with faultless(LoopbackSlack(pace=False, now=clock.timestamp)) as slack, FaultyGitHub(found) as github:
        slack.workspace.admins.add(ADA)
        slack.workspace.add_channel("ops", "C0OPS", private=True, members=[ADA])
        with Talk(slack, github.url, tmp_path_factory.mktemp("bot"), now=clock, **settings) as running:
            running.type(ADA, "o/n 2026-02-05")
            yield running
            running.settle()


def room(talk: Talk, *, private: bool = False) -> str:
    """A new channel without the bot."""
    number = next(_numbers)
    return talk.slack.workspace.add_channel(f"guest-{number}", f"C0GUEST{number}", private=private, members=[ADA, LIN])


def welcomes(talk: Talk, channel: str) -> list[Message]:
    """What the bot said in a channel by itself."""
    return [each for each in talk.slack.channel(channel) if each.by_bot and each.subtype is None]


def subscriptions(talk: Talk, channel: str) -> list[str]:
    engine = open_engine(bot_database(talk.folder))
    found = [str(each.terms.repository) for each in Subscriptions(engine).of(channel)]
    engine.dispose()
    return found


# The welcome


def test_a_channel_is_greeted_once(talk: Talk) -> None:
    """Whoever invites the bot reads in three lines what it does, with a headline; neither a repeated event nor another invitation greets again.

    *Not now* takes the buttons away, for members only, and *Subscribe* opens the form for this channel.
    """
    slack, channel = talk.slack, room(talk)
    slack.invite(ADA, channel)
    [greeting] = slack.wait_for(lambda: welcomes(talk, channel))
    assert "I read each day's commits of o/n" in whole(greeting)
    assert "For example, 2026-02-05 (Thu): " in whole(greeting)
    assert "Removes flag" in whole(greeting)
    assert "--public" in whole(greeting)
    assert "hidden" not in whole(greeting)
    assert "secret" not in whole(greeting)
    assert buttons(greeting) == ["open_subscribe", "not_now"]
    slack.press(ADA, channel, greeting.ts, "open_subscribe")
    form = slack.wait_for(lambda: slack.modal(ADA))
    fields = {each["block_id"]: each["element"] for each in form.body["blocks"]}
    assert fields["channel"]["initial_conversation"] == channel
    assert (fields["at"]["initial_time"], fields["least"]["initial_option"]["value"]) == ("07:30", "medium")
    slack.close(ADA, form.id)
    outsider = slack.workspace.add_user("eve", team="T0OTHER")
    talk.finish(slack.press(outsider, channel, greeting.ts, "not_now"))
    assert buttons(greeting) != []
    talk.finish(slack.press(LIN, channel, greeting.ts, "not_now"))
    assert buttons(greeting) == []
    assert "I read each day's commits" in whole(greeting)
    [joined] = [each for each in slack.delivery.sent if (event := each.payload.get("event", {})).get("channel") == channel and event["type"] == "member_joined_channel"]  # fmt: skip
    slack.delivery.send(joined.again("timeout"))
    slack.remove(ADA, channel)
    slack.invite(LIN, channel)
    talk.settle()
    assert len(welcomes(talk, channel)) == 1


def test_a_greeting_fits_its_channel(talk: Talk) -> None:
    """A private repository is the example only where it may be seen; a channel that has digests is offered none, in its own language."""
    slack = talk.slack
    slack.workspace.channels["C0OPS"].members.add("U0BOT")
    talk.type(ADA, f"{SECRET} 2026-02-05", "C0OPS")
    assert "Subscribed" in whole(talk.type(ADA, f"subscribe {SECRET} lang zh", "C0OPS"))
    slack.workspace.channels["C0OPS"].members.discard("U0BOT")
    slack.invite(ADA, "C0OPS")
    [greeting] = slack.wait_for(lambda: [each for each in welcomes(talk, "C0OPS") if "👋" in whole(each)])
    assert "我每天阅读 o/secret, o/n 的提交" in whole(greeting)
    assert "--hidden" in whole(greeting)
    assert buttons(greeting) == []


def test_a_greeting_that_slack_refuses_harms_nobody(talk: Talk) -> None:
    """Where the bot may not post it says nothing, now or later; one whose answer is lost is there once."""
    slack, refusing, losing = talk.slack, room(talk), room(talk)
    for channel, kind in ((refusing, "error"), (losing, "accept_and_drop")):
        where = {"where": lambda params, channel=channel: params.get("channel") == channel}
        slack.faults.append(Fault("chat.postMessage", kind, error="restricted_action", **where))  # type: ignore[arg-type]
        slack.invite(ADA, channel)
    slack.wait_for(lambda: welcomes(talk, losing) and not slack.faults)
    talk.settle()
    slack.remove(ADA, refusing)
    slack.invite(ADA, refusing)
    talk.settle()
    assert (len(welcomes(talk, refusing)), len(welcomes(talk, losing))) == (0, 1)
    assert "Subscribed" in whole(talk.type(ADA, "subscribe", refusing))


def test_a_channel_is_greeted_though_the_bot_is_killed(tmp_path: Path) -> None:
    """Killed between the invitation and the greeting it greets after its next start, once."""
    with killable(tmp_path, flag_removed("public")) as bot:
        bot.start_listening()
        bot.slack.workspace.add_channel("new", "C0NEW", members=[ADA])
        bot.slack.faults.append(Fault("chat.postMessage", "stall", seconds=1, acted=False))
        bot.slack.invite(ADA, "C0NEW")
        bot.kill_at(
            Moment("invited", lambda: bool(bot.rows("SELECT 1 FROM inbox WHERE key >= 'join:' AND key < 'join;'")))
        )
        bot.start()
        bot.wait_for(lambda: len(bot.threads("C0NEW")) > 1)
        bot.wait_for(lambda: not bot.rows("SELECT 1 FROM inbox WHERE done_at IS NULL"))
        bot.stop()
        _joined, *said = bot.threads("C0NEW")
        assert [[each.key for each in thread] for thread in said] == [["welcome:C0NEW:000"]]


# One person alone


def test_a_person_subscribes_alone_in_their_own_zone_and_language(talk: Talk) -> None:
    """In direct messages a digest comes at the person's own time; what only a channel may see is unknown there, and others see nothing of it."""
    slack = talk.slack
    mei = slack.workspace.add_user("mei")
    slack.workspace.zones[mei], slack.workspace.locales[mei] = "Asia/Kolkata", "zh-CN"
    place = talk.direct(mei)
    shown = whole(talk.reply(mei, "subscribe at mon 10:00", channel=place))
    assert "周一 10:00 Asia/Kolkata · zh" in shown
    assert "2026-02-09 (周一) 10:00 Asia/Kolkata" in shown
    assert "没有仓库 o/secret" in whole(talk.reply(mei, f"subscribe {SECRET}", channel=place))
    listed = talk.reply(mei, "订阅列表", channel=place)
    slack.press(mei, place, listed.ts, "edit_subscription")
    form = slack.wait_for(lambda: slack.modal(mei))
    assert "channel" not in {each["block_id"] for each in form.body["blocks"]}
    talk.finish(slack.submit(mei, form.id, {"days": {"days": "mon, thu"}, "quiet": {"quiet": "off"}}))
    assert "周一, 周四 10:00" in whole(talk.reply(mei, "订阅列表", channel=place))
    for user, sees in ((mei, True), (ADA, False)):
        talk.finish(slack.open_home(user))
        assert ("Asia/Kolkata" in str(slack.wait_for(lambda user=user: slack.home(user)).body)) is sees  # type: ignore[misc]
    slack.deactivate(mei)
    slack.wait_for(lambda: not subscriptions(talk, place))
    talk.finish(slack.open_home(ADA))
    assert "ended: the person has left" in str(slack.wait_for(lambda: slack.home(ADA)).body)


def test_a_person_subscribes_though_slack_does_not_know_their_zone(talk: Talk) -> None:
    """While users.info fails, or tells a zone that nobody knows, the bot's own zone and language stand in."""
    slack = talk.slack
    for user, fault in ((slack.workspace.add_user("ann"), True), (slack.workspace.add_user("bo"), False)):
        place = talk.direct(user)
        if fault:
            slack.faults.append(Fault("users.info", "error", error="fatal_error", where=lambda params: bool(params.get("include_locale"))))  # fmt: skip
        else:
            slack.workspace.locales[user] = "fr-FR"
        assert "daily 07:30" in whole(talk.reply(user, "subscribe", channel=place))
    assert [*slack.faults] == []


# Admins, and what is gone


def test_admins_alone_list_all_subscriptions(talk: Talk) -> None:
    """An admin reads privately what public channels get and those that they are in, wherever they ask; others are told why not."""
    slack, public, closed = talk.slack, room(talk), room(talk, private=True)
    for channel in (public, closed):
        slack.workspace.channels[channel].members.add("U0BOT")
        talk.type(LIN, f"subscribe paths {channel.lower()}/", channel)
    slack.workspace.channels[closed].members.discard(ADA)
    assert "only admins of the workspace" in whole(talk.type(LIN, "subscriptions all", public))
    seen = len(slack.channel(DIGEST))
    ts = talk.say(ADA, "<@U0BOT> subscriptions all")
    assert talk.replies(ts) == []
    told = whole(slack.private(ADA, DIGEST)[-1])
    assert len(slack.channel(DIGEST)) == seen + 1
    assert f"{public.lower()}/" in told
    assert f"{closed.lower()}/" not in told
    assert "secret" not in told
    assert f"{closed.lower()}/" not in whole(talk.type(ADA, "订阅列表 全部", public))


GONE = (
    ("archive", True, "ended: the channel was archived"),
    ("delete_channel", False, "ended: the channel was deleted"),
    ("remove", False, "ended: the bot was removed from the channel"),
    ("remove", True, "ended: the bot was removed from the channel"),
)


@pytest.mark.parametrize(("how", "private", "told"), GONE)
def test_subscriptions_end_with_their_channel(talk: Talk, how: str, private: bool, told: str) -> None:
    """What was subscribed in a channel that is gone ends, once; whoever subscribed it reads so at home, and nobody else but admins."""
    slack, channel = talk.slack, room(talk, private=private)
    slack.workspace.channels[channel].members.add("U0BOT")
    talk.type(LIN, f"subscribe paths {channel.lower()}/", channel)
    getattr(slack, how)(*(() if how == "delete_channel" else (ADA,)), channel)
    slack.wait_for(lambda: not subscriptions(talk, channel))
    for user, sees in ((LIN, True), (slack.workspace.add_user("kim"), False)):
        talk.finish(slack.open_home(user))
        assert (told in str(slack.wait_for(lambda user=user: slack.home(user)).body)) is sees  # type: ignore[misc]


def test_subscriptions_follow_a_channel_to_its_new_id(talk: Talk) -> None:
    """A channel that Slack gives another id keeps its subscriptions; one that is only renamed keeps its id."""
    slack, channel = talk.slack, room(talk)
    slack.workspace.channels[channel].members.add("U0BOT")
    talk.type(LIN, "subscribe", channel)
    slack.change_id(channel, f"{channel}NEW")
    slack.wait_for(lambda: subscriptions(talk, f"{channel}NEW") == ["o/n"])
    assert subscriptions(talk, channel) == []
