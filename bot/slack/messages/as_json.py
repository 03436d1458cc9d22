"""JSON output of the digest's Slack messages."""

import json
from collections.abc import Sequence

from analysis.models import DayReport
from bot.slack.messages.digest import digest_messages


def report_slack(reports: Sequence[DayReport]) -> str:
    """Return a JSON list of messages {text, blocks, thread}; one with `thread` belongs to the thread of the last one without."""
    messages = [
        {"text": message.text, "blocks": message.blocks, "thread": message.thread}
        for report in reports
        for message in digest_messages(report)
    ]
    return json.dumps(messages, ensure_ascii=False, indent=2)
