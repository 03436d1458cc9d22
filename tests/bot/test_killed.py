"""The bot is killed (SIGKILL) at random moments and started again: nothing is lost, nothing is said or paid for twice."""

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random
from time import time

import pytest

from bot.slack.outbox import Outbox
from bot.slack.web import Web
from bot.slack.web_errors import Unanswered
from bot.store import Draft, Mailbox, open_engine
from loopback.slack import Fault, LoopbackSlack, Message
from tests.bot.cli.test_upgrade_command import Releases
from tests.bot.slack.delivery.test_weekly import key
from tests.conftest import recorded
from tests.servers.github import Fault as GitHubFault
from tests.servers.killed import AT_ONCE, CHANNELS, Killable, Moment, killable, more
from tests.servers.postgresql_server import own_postgresql
from tests.servers.running import whole
from tests.servers.talk import markdown
from tests.servers.two_days import TENTH, Trial, delivered

SEED = int(os.environ.get("KILLED_SEED", "1"))  # others kill at other moments
UNTOUCHED = ("tokenizer", "scheduler", "sampler", "cache", "loader", "launcher", "metrics")
ANSWER = [
    "It returns another number now",
    *(
        f"It does not touch the {each}, nor anything that has to do with it, as far as it tells us"
        for each in UNTOUCHED
    ),
]
SAID = "".join(f"{sentence}{' [pkg/part1.py:2]' * (not place)}. " for place, sentence in enumerate(ANSWER))


def test_two_days_reach_two_channels_once_and_in_order_however_often_the_bot_is_killed(tmp_path: Path) -> None:
    """Each message comes once and in order, the older day first, and no stored analysis is paid for again."""
    found = delivered(tmp_path, Trial(SEED, 10))
    assert len(found.deaths) == 10
    assert found.posted == found.wanted
    assert all(len(thread) > 5 for threads in found.wanted.values() for thread in threads)
    assert found.flows == {"SUCCESS": found.flows.total()}
    assert found.calls.total() == found.commits + found.in_flight.total()
    assert all(found.calls[part] == 1 + found.in_flight[part] for part in found.calls)
    assert all(len(death.in_flight) <= AT_ONCE for death in found.deaths)
    assert found.wrong == []


@pytest.mark.own_database
def test_a_day_is_delivered_once_by_processes_that_are_killed_and_paused(tmp_path: Path) -> None:
    """Three processes on PostgreSQL go on for each other, also while its server is restarted as if it had crashed."""
    commands = ("run", "worker", "run")
    with own_postgresql() as server:
        restart = partial(server.restart, "immediate")
        url = server.new_database("bot")
        found = delivered(tmp_path, Trial(SEED, 4, 1, url, commands, restart, restarts=1, pauses=1, timing=TENTH))
    assert found.posted == found.wanted
    assert found.flows == {"SUCCESS": found.flows.total()}
    assert found.paid_again == 0
    assert found.wrong == []


@pytest.fixture
def bot(tmp_path: Path) -> Iterator[Killable]:
    with killable(tmp_path, [recorded(1, sha="01ab" * 10)], SAID) as started:
        yield started
        # A stream that was ended by the life before is ended again, to be sure.
        refusals = [(call.method, call.response["error"]) for call in started.slack.refusals]
        assert set(refusals) <= {("chat.stopStream", "message_not_in_streaming_state")}
        assert started.slack.breaches == []
        assert "Traceback" not in started.log_text


def test_what_was_asked_is_answered_once_however_often_the_bot_is_killed(bot: Killable) -> None:
    """Each question's thread ends with one whole answer, each command's with one reply."""
    random, slack = Random(SEED), bot.slack
    asked: list[tuple[str, str, bool]] = []

    def ask(*, command: bool = False) -> None:
        channel = CHANNELS[len(asked) % 2]
        text = "2026-02-05" if command else "what does 01ab01ab01 change?"
        asked.append((channel, slack.say("U0ADA", channel, f"<@U0BOT> {text}"), command))

    def die(name: str, method: str, fault: str = "", *, command: bool = False) -> None:
        """Asks and is killed soon after Slack was called so, and perhaps did not answer."""
        slack.faults.extend([Fault(f"{method}$", "accept_and_drop")] if fault else [])
        comes = more(lambda: len([call for call in slack.asked(method) if call.fault or not fault]), 1)
        bot.start_listening()
        ask(command=command)
        bot.kill_at(Moment(name, comes, random.uniform(0, 0.15)))

    bot.start_listening()
    ask()
    ask(command=True)
    bot.kill_at(Moment("heard", after=random.uniform(0, 0.15)))
    ask()  # while nobody listens
    bot.live_until(Moment("thinking", more(lambda: bot.chat.questions, 1), random.uniform(0, 0.4)))
    die("beginning", "chat.startStream", "dropped")
    die("growing", "chat.appendStream")
    die("ending", "chat.stopStream", "dropped")
    die("replying", "chat.postMessage", "dropped", command=True)
    die("telling anew", "chat.update", "dropped")
    slack.faults.append(Fault("chat.startStream$", "accept_and_drop"))
    bot.start()
    ask()
    bot.wait_for(lambda: _all_done(bot, len(asked)))
    bot.stop()

    for channel, ts, command in asked:
        replies = slack.thread(channel, ts)[1:]
        assert len(replies) == 1
        assert not replies[0].streaming
        assert ("2026-02-05" in replies[0].text) if command else (_sentences(replies[0]) == ANSWER)
    assert bot.flows_ended() == {"SUCCESS": len(asked)}
    assert len(bot.chat.asked) <= 1 + sum(len(death.in_flight) for death in bot.deaths)


def test_an_answer_that_was_interrupted_takes_no_other_message_for_its_own(tmp_path: Path) -> None:
    """Of what was begun in a thread when the bot was killed, each is found again as what it is."""
    with LoopbackSlack() as slack:
        root = slack.say("U0ADA", "C0DIGEST", "does it?")
        mail = Mailbox(open_engine(f"sqlite:///{tmp_path / 'bot.db'}"))
        outbox = Outbox(mail, Web(slack.bot_token, slack.url), lambda: datetime.now(UTC), lambda _: None)
        mail.freeze([Draft(key, "C0DIGEST", {"text": "Posted."}, thread_ts=root) for key in ("post", "answer")])
        slack.faults += [Fault(f"chat.{method}$", "accept_and_drop") for method in ("postMessage", "startStream")]
        with pytest.raises(Unanswered):
            outbox.send("post")
        with pytest.raises(Unanswered):
            outbox.stream("answer", "U0ADA", ["Growing"])
        outbox.stream("answer", "U0ADA", ["Grown."])
        outbox.send("post")
        assert [each.text for each in slack.thread("C0DIGEST", root)[1:]] == ["Posted.", "Grown."]


@pytest.mark.parametrize("thread", [False, True])
def test_a_message_is_found_again_however_much_was_said_since(tmp_path: Path, thread: bool) -> None:
    """A bot that was away for a day in which people talked knows what it had posted before."""
    with LoopbackSlack() as slack:
        root = slack.say("U0ADA", "C0DIGEST", "hello") if thread else None
        mail = Mailbox(open_engine(f"sqlite:///{tmp_path / 'bot.db'}"))
        outbox = Outbox(mail, Web(slack.bot_token, slack.url), lambda: datetime.now(UTC), lambda _: None)
        mail.freeze([Draft("post", "C0DIGEST", {"text": "Posted."}, thread_ts=root)])
        slack.faults.append(Fault("chat.postMessage$", "accept_and_drop"))
        with pytest.raises(Unanswered):
            outbox.send("post")
        slack.workspace.now = lambda: time() + timedelta(hours=1).total_seconds()
        for number in range(600):
            slack.say("U0ADA", "C0DIGEST", f"Thing {number}", root)
        posted = [each for each in slack.workspace.visible("C0DIGEST") if each.by_bot]
        assert outbox.send("post") == posted[0].ts
        assert len([each for each in slack.workspace.visible("C0DIGEST") if each.by_bot]) == 1


def _all_done(bot: Killable, requests: int) -> bool:
    done = bot.rows("SELECT count(*) FROM inbox WHERE done_at IS NOT NULL")
    return done == [(requests,)] and bot.flows_ended().keys() <= {"SUCCESS", "ERROR"}


def _sentences(message: Message) -> list[str]:
    """An answer as it is read, without its links."""
    text = re.sub(r"\[[^\]]*\]\([^)]*\)", "", markdown(message))
    return [each.strip() for each in text.split(".") if each.strip()]


def test_an_alert_is_told_once_however_often_the_bot_is_killed(tmp_path: Path) -> None:
    """A merge is told once, after a kill between its being found and told, and one after Slack took the message."""
    pull = {"number": 1, "title": "Change part 1", "html_url": "https://github.example/o/n/pull/1", "state": "open"}
    with killable(tmp_path, [recorded(1)]) as bot:
        bot.github.faults.append(GitHubFault("/pulls/1$", 200, body=pull))  # it is merged once the bot looks again
        bot.start_listening()
        bot.slack.command("U0ADA", CHANNELS[0], "tell me when #1 is merged")
        found = partial(bot.rows, "SELECT 1 FROM alerts WHERE message IS NOT NULL")
        bot.kill_at(Moment("found", found))
        bot.slack.faults.append(Fault("chat.postMessage$", "accept_and_drop"))
        bot.live_until(Moment("told", more(lambda: sum(call.fault is not None for call in bot.slack.calls), 1)))
        bot.start()
        bot.wait_for(lambda: bot.flows_ended() == {"SUCCESS": 2})
        bot.stop()
        assert bot.rows("SELECT 1 FROM alerts WHERE ended_at IS NOT NULL")
        assert [death.came for death in bot.deaths] == [True, True]
        direct = bot.slack.workspace.dm("U0ADA")
        assert [each.text for each in bot.slack.channel(direct)] == ["🔀 Change part 1 (#1) (o/n) is merged as 0101010"]


def _has_file(bot: Killable, channel: str) -> bool:
    """Return whether a file has been shared in a thread of a channel."""
    return any(each.key.endswith(".md") for thread in bot.threads(channel) for each in thread)


def test_a_release_is_told_once_however_often_the_bot_is_killed(tmp_path: Path) -> None:
    """Its digest comes once in each channel, in its language, after kills when its tag is met, while it is read, and when
    Slack took the first message.
    """
    with ExitStack() as ending:
        pair = Releases(tmp_path / "served", ending)
        upstream = {"GITHUB_API_URL": pair.server.url, "DIGEST_REPOS": "o/engine"}
        settings = {**upstream, "DIGEST_MIRRORS": str(tmp_path / "mirrors")}
        bot = ending.enter_context(killable(tmp_path, [recorded(1)], settings=settings))
        bot.start_listening()
        for channel, language in zip(CHANNELS, ("en", "zh"), strict=True):
            bot.slack.command("U0ADA", channel, f"subscribe releases on lang {language}")
        bot.wait_for(lambda: len(bot.rows("SELECT 1 FROM subscriptions WHERE releases = 'on'")) == len(CHANNELS))
        bot.stop()
        looked = partial(bot.rows, "SELECT 1 FROM seen_releases WHERE tag = 'v1.1'")
        bot.live_until(Moment("looked", looked, most=90))
        pair.upstream.git("update-ref", "refs/tags/v1.2", "refs/heads/main")
        bot.live_until(Moment("met", partial(bot.rows, "SELECT 1 FROM seen_releases WHERE tag = 'v1.2'"), most=90))
        drafted = partial(bot.rows, "SELECT 1 FROM outbox WHERE key >= 'release:' AND key < 'release;'")
        bot.live_until(Moment("drafted", drafted, most=90))
        bot.slack.faults.append(Fault("chat.postMessage$", "accept_and_drop"))
        fell = more(lambda: sum(call.fault is not None for call in bot.slack.calls), 1)
        bot.live_until(Moment("told", fell, most=90))
        bot.start()
        for channel in CHANNELS:
            bot.wait_for(partial(_has_file, bot, channel))
        bot.stop()
        told = [
            [each for each in bot.slack.channel(channel) if key(each).startswith("release:")] for channel in CHANNELS
        ]
    [[english], [chinese]] = told
    assert "the release before" in whole(english)
    assert "与上一个版本" in whole(chinese)
    assert all(death.came for death in bot.deaths)
