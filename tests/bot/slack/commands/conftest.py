"""Fixtures that several tests of commands share."""

from collections.abc import Iterator

import pytest

from loopback.slack import LoopbackSlack


@pytest.fixture
def slack() -> Iterator[LoopbackSlack]:
    """A Slack that keeps no pace, and must have refused nothing by the end."""
    with LoopbackSlack(pace=False) as server:
        yield server
        assert [(call.method, call.response) for call in server.refusals] == []
        assert server.breaches == []
