"""JSON output of Slack messages."""

import json
from collections.abc import Iterable, Sequence

from analysis.models import DayReport
from analysis.models.weeks import WeekReport
from bot.slack.messages.blocks import Message
from bot.slack.messages.digest import digest_messages
from bot.slack.messages.week import week_message


def report_slack(reports: Sequence[DayReport]) -> str:
    """Return a JSON list of messages {text, blocks, thread}; one with `thread` belongs to the thread of the last one without."""
    return _dump(message for report in reports for message in digest_messages(report))


def weeks_slack(reports: Sequence[WeekReport]) -> str:
    """Return the messages of weeks as `report_slack` does; they have no chart, but its figures."""
    return _dump(message for report in reports for message in week_message(report, charted=False))


def _dump(messages: Iterable[Message]) -> str:
    shown = [{"text": message.text, "blocks": message.blocks, "thread": message.thread} for message in messages]
    return json.dumps(shown, ensure_ascii=False, indent=2)
