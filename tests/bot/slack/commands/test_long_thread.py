"""Threads of more messages than Slack gives at once."""

from datetime import UTC, datetime, timedelta

from bot.slack.web import Web
from loopback.slack import LoopbackSlack
from tests.servers.clock import SettableClock


def test_a_long_thread_is_read_to_its_end() -> None:
    """What was said last in a thread of 450 is there, and nothing twice."""
    with LoopbackSlack(pace=False) as slack:
        root = slack.say("U0ADA", "C0DIGEST", "let us talk")
        said = [slack.say("U0ADA", "C0DIGEST", f"word {number}", root) for number in range(450)]
        found = [each["ts"] for each in Web(slack.bot_token, slack.url).thread("C0DIGEST", root)]
    assert found == [root, *said]


def test_of_a_thread_without_end_its_beginning_and_its_last_day_are_read() -> None:
    """Of 1,100 messages and three two days later, which are more than are looked through, the last is there before an instant."""
    clock = SettableClock(datetime(2026, 2, 3, 9, tzinfo=UTC))
    with LoopbackSlack(pace=False, now=clock.timestamp) as slack:
        root = slack.say("U0ADA", "C0DIGEST", "let us talk")
        early = [slack.say("U0ADA", "C0DIGEST", f"word {number}", root) for number in range(1_100)]
        clock.advance(timedelta(days=2))
        late = [slack.say("U0ADA", "C0DIGEST", f"last {number}", root) for number in range(3)]
        found = [each["ts"] for each in Web(slack.bot_token, slack.url).thread("C0DIGEST", root, late[-1])]
    assert found == [root, *early[:999], *late]
