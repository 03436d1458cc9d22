"""Messages in the form in which the outbox stores them."""

import re
from base64 import b64encode
from collections.abc import Sequence
from typing import Any

import structlog

from analysis.models import DayReport
from analysis.models.impacts import CommitImpacts, ImpactReport
from analysis.models.upgrades import UpgradeReport
from analysis.models.weeks import WeekReport
from analysis.report.markdown import report_markdown
from bot.models.deliveries import Delivery
from bot.models.downstream import UNASKED, DownstreamCheck
from bot.slack.messages.blocks import Message
from bot.slack.messages.impacts import raised
from bot.slack.messages.week import chart_comment
from bot.slack.web import Web
from bot.slack.web_errors import Refused, SlackFailure
from bot.store import Draft

_NAME = 40  # characters of a version in a file's name
_ALT = 1_000  # characters of alternative text

log = structlog.get_logger(__name__)


def drafts(
    prefix: str, channel: str, messages: Sequence[Message], about: str, thread_ts: str | None = None
) -> list[Draft]:
    """Convert messages to drafts: the first in the given channel or thread, the others in its thread if they are so marked."""
    found: list[Draft] = []
    for place, message in enumerate(messages):
        key = f"{prefix}{place:03}"
        if message.thread and thread_ts is None:
            found.append(Draft(key, channel, message.content, root=found[0].key))
        else:
            found.append(Draft(key, channel, message.content, thread_ts=thread_ts, about=about))
    return found


def report_file(report: DayReport, check: DownstreamCheck = UNASKED) -> dict[str, Any]:
    """Return the full report as a file {filename, title, data}, with every place of the channel's code that breaks."""
    data = report_markdown(report)
    if check.commits:
        data = f"{data.rstrip()}\n\n---\n\n{report_markdown(_impact_report(report, check), every_place=True)}"
    return _file(f"{report.repository.name}-{report.date}.md", data)


def upgrade_file(report: UpgradeReport) -> dict[str, Any]:
    """Return the changes between two versions as a file {filename, title, data}."""
    ends = "-".join(re.sub(r"[^\w.+-]", "-", each.name)[:_NAME] for each in (report.start, report.end))
    return _file(f"{report.repository.name}-{ends}.md", report_markdown(report))


def _file(name: str, data: str) -> dict[str, Any]:
    return {"filename": name, "title": name, "data": data}


def week_drafts(
    report: WeekReport, check: DownstreamCheck, message: Sequence[Draft], prefix: str, thread_ts: str | None = None
) -> list[Draft]:
    """Return a week's chart and its file, for the thread of its message, or the one where that is.

    The chart counts what breaks the channel's code as the message does. If the chart cannot be drawn, the week has its file alone.
    """
    name = f"{report.repository.name}-{report.first}-{report.last}"
    contents = [_file(f"{name}.md", report_markdown(report))]
    try:
        contents.insert(0, _chart(raised(report, check), f"{name}.png"))
    except Exception:
        log.exception("the chart could not be drawn")
    root = None if thread_ts else message[0].key
    return [
        Draft(f"{prefix}{place:03}", message[0].channel, each, thread_ts=thread_ts, root=root)
        for place, each in enumerate(contents, len(message))
    ]


def _chart(report: WeekReport, name: str) -> dict[str, Any]:
    """Return a week's chart as a file, with its numbers in words and its legend."""
    from analysis.report.chart import chart_text, week_chart  # heavy

    data = b64encode(week_chart(report)).decode()
    alt = chart_text(report)[:_ALT]
    return _file(name, data) | {"base64": True, "alt": alt, "comment": chart_comment(report)}


def _impact_report(report: DayReport, check: DownstreamCheck) -> ImpactReport:
    entries = (*report.entries, *report.late)
    return ImpactReport(
        repository=report.repository,
        period=str(report.date),
        timezone=report.timezone,
        language=report.language,
        downstreams=check.compared,
        compared=len(entries),
        commits=tuple(
            CommitImpacts(entry=each, found=found) for each in entries if (found := check.of(each.commit.sha))
        ),
        failed=check.failed,
    )


def show_only_to(web: Web, channel: str, user: str, message: Message) -> None:
    """Show a person an ephemeral message in a channel, or in their direct messages if the bot may not post there."""
    try:
        web.post_ephemeral(channel, user, message.content, None)
    except Refused:
        web.post_ephemeral(web.directory.direct(user), user, message.content, None)


def show_requester(web: Web, delivery: Delivery, message: Message) -> None:
    """Show a message to the person who requested a delivery alone, or log why that failed."""
    try:
        show_only_to(web, delivery.channel, delivery.asked_by, message)
    except SlackFailure as exc:
        log.warning("not told", user=delivery.asked_by, why=str(exc))
