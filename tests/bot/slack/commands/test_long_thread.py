"""Threads of more messages than Slack gives at once."""

from bot.slack.web import Web
from loopback.slack import LoopbackSlack


def test_a_long_thread_is_read_to_its_end() -> None:
    """What was said last in a thread of 450 is there, and nothing twice."""
    with LoopbackSlack(pace=False) as slack:
        root = slack.say("U0ADA", "C0DIGEST", "let us talk")
        said = [slack.say("U0ADA", "C0DIGEST", f"word {number}", root) for number in range(450)]
        found = [each["ts"] for each in Web(slack.bot_token, slack.url).thread("C0DIGEST", root)]
    assert found == [root, *said]
