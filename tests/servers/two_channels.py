"""A workspace with a second channel, on a clock of its own."""

from collections.abc import Iterator
from contextlib import contextmanager

from loopback.slack import LoopbackSlack
from tests.servers.clock import SettableClock
from tests.servers.talk import ADA

BOT, OTHER = "U0BOT", "C0OTHER"


@contextmanager
def two_channels(clock: SettableClock) -> Iterator[LoopbackSlack]:
    """Run a Slack in which the bot and Ada share a second channel; at the end nothing was refused and no limit broken."""
    with LoopbackSlack(now=clock.timestamp, pace=False) as server:
        server.workspace.add_channel("other", OTHER, members={BOT, ADA})
        yield server
        assert [(call.method, call.response) for call in server.refusals] == []
        assert server.breaches == []
