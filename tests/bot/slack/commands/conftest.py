"""Fixtures that several tests of commands share."""

from collections.abc import Iterator

import pytest

from loopback.slack import LoopbackSlack
from tests.servers.place import faultless


@pytest.fixture
def slack() -> Iterator[LoopbackSlack]:
    """A Slack that keeps no pace, and must have refused nothing by the end."""
    with faultless(LoopbackSlack(pace=False)) as server:
        yield server
