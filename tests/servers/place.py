"""A bot in channels of a test's own, and the faults that it meets there."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from loopback.github import RecordedRepository
from loopback.slack import Fault, LoopbackSlack, Message
from tests.conftest import recorded
from tests.servers.clock import SettableClock
from tests.servers.github import FaultyGitHub
from tests.servers.running import stored
from tests.servers.talk import ADA, LIN, Talk

BOT, OTHER = "U0BOT", "C0OTHER"
COMMIT, DAY, EMPTY_DAY = "0101010", "2026-02-05", "2020-01-01"


class Place(NamedTuple):
    """A channel of a test's own, in which two people talk with the bot."""

    talk: Talk
    channel: str

    @property
    def slack(self) -> LoopbackSlack:
        return self.talk.slack

    def another(self) -> "Place":
        return self._replace(channel=opened(self.slack))

    def fail(self, match: str, kind: Any = "error", **how: Any) -> None:
        """The next request that matches fails, if it is about this channel."""
        self.slack.faults.append(Fault(match, kind, where=partial(about, self.channel), **how))

    def asked(self, match: str) -> list[Mapping[str, Any]]:
        """The arguments of the calls about this channel."""
        return [call.params for call in self.slack.asked(match) if about(self.channel, call.params)]

    def deliver(self, day: str) -> None:
        """Has the digest of a day posted."""
        shown = self.talk.type(ADA, day, self.channel)
        self.slack.press(ADA, self.channel, shown.ts, "post_to_channel")

    def posted(self) -> list[Message]:
        """What the bot said to everybody here, in order."""
        return [each for each in self.slack.workspace.visible(self.channel) if each.by_bot]

    def files(self) -> list[str]:
        """The files here, as text."""
        files = [self.slack.workspace.files[name] for message in self.posted() for name in message.files]
        return [(file.content or b"").decode() for file in files]

    def wait_for(self, done: Callable[[], Any]) -> None:
        """Waits for something, and until the bot has sent all that it wanted to say."""
        self.slack.wait_for(lambda: done() and not self.unsent(), 30)
        self.talk.settle()

    def unsent(self, *states: str) -> list[str]:
        """The keys of the messages that are on their way, or in one of these states."""
        wanted = states or ("ready", "sending", "streaming", "held")
        rows = stored(self.talk.folder, "select key, state from outbox")
        return [key for key, state in rows if state in wanted]


def about(channel: str, params: Mapping[str, Any]) -> bool:
    return channel in (params.get("channel"), params.get("channel_id"))


def opened(slack: LoopbackSlack) -> str:
    """A new channel."""
    return slack.workspace.add_channel(f"room-{len(slack.workspace.channels)}", members={"U0BOT", ADA, LIN})


@contextmanager
def talking(slack: LoopbackSlack, folder: Path, **settings: Any) -> Iterator[Talk]:
    """A bot for many tests; its repository has one day with two commits."""
    days = RecordedRepository([recorded(1), recorded(2)])
    with slack, FaultyGitHub({"o/n": days}) as github, Talk(slack, github.url, folder, **settings) as talk:
        yield talk


def checked(talk: Talk) -> Iterator[Place]:
    """A new channel. In the end every fault must have come to pass, and the bot must have done nothing wrong by itself."""
    slack = talk.slack
    slack.refusals.clear()
    slack.breaches.clear()
    yield Place(talk, opened(slack))
    left = [*slack.faults]
    slack.faults.clear()
    assert left == []
    assert [(call.method, call.response) for call in slack.refusals] == []
    assert slack.breaches == []


@contextmanager
def faultless(slack: LoopbackSlack) -> Iterator[LoopbackSlack]:
    """Run a Slack; at the end nothing was refused and no limit broken."""
    with slack:
        yield slack
        refused = [(call.method, call.params, call.response) for call in slack.refusals]
        assert not refused, refused
        assert slack.breaches == []


@contextmanager
def two_channels(clock: SettableClock) -> Iterator[LoopbackSlack]:
    """Run a Slack in which the bot and Ada share a second channel; at the end nothing was refused and no limit broken."""
    with faultless(LoopbackSlack(now=clock.timestamp, pace=False)) as server:
        server.workspace.add_channel("other", OTHER, members={BOT, ADA})
        yield server
