"""A workspace without the agent surface."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from loopback.slack import Fault, LoopbackSlack
from tests.servers.conversing import RACE, sample_talk
from tests.servers.talk import ADA, markdown, ratings


@pytest.mark.parametrize("refusal", ["unknown_method", "not_allowed"])
def test_without_the_surface_all_is_as_before(tmp_path: Path, refusal: str) -> None:
    """Answers come without buttons, nobody sees an error, and Slack is asked once."""
    with (
        ExitStack() as stack,
        LoopbackSlack(pace=False, agent=refusal != "unknown_method") as slack,
        sample_talk(stack, slack, tmp_path) as talk,
    ):
        if slack.agent:
            slack.faults.append(Fault("agents.sessions.setStatus", "error", error=refusal))
        direct = talk.direct(ADA)
        for _ in range(2):
            reply = talk.reply(ADA, f"does {RACE} take a lock?", channel=direct)
            assert markdown(reply)
            assert not ratings(reply)
        slack.open_home(ADA, tab="messages")
        talk.settle()
        assert [call.response["error"] for call in slack.asked("agents.sessions.setStatus")] == [refusal]
        assert slack.asked("assistant.threads.setSuggestedPrompts") == []
        assert slack.private(ADA, direct) == []
