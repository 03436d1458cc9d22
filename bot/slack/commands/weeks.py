"""The command `week`: seven days of a repository, privately with a button to post them, or in a thread with their chart."""

import structlog

from bot.models.clock import Clock
from bot.models.deliveries import Outcome, seconds_until
from bot.models.subjects import WeekRef, value_of
from bot.slack.commands.conversation import Conversation
from bot.slack.commands.days import ReadingProgress, show_each
from bot.slack.commands.posting import PostCommand
from bot.slack.delivery.channel_report import ChannelReports
from bot.slack.delivery.drafts import week_drafts
from bot.slack.messages.notices import named, unread
from bot.slack.messages.week import week_message
from bot.slack.outbox.outbox import Outbox
from bot.slack.parsing.command_types import Week
from bot.slack.web_errors import Refused
from bot.store import Draft

log = structlog.get_logger(__name__)


class WeekCommand:
    """Shows weeks."""

    def __init__(self, reports: ChannelReports, post: PostCommand, outbox: Outbox, now: Clock) -> None:
        self._reports = reports
        self._post = post
        self._outbox = outbox
        self._now = now

    def show(self, conversation: Conversation, command: Week) -> Outcome:
        """Show a week of one repository, or of all that the channel knows."""
        view = conversation.view
        return show_each(
            conversation,
            command.repository,
            lambda repository: WeekRef(repository, command.first, view.tz.key, view.language),
            lambda ref: self._show_week(conversation, ref),
        )

    def _show_week(self, conversation: Conversation, ref: WeekRef) -> float | None:
        """Show a repository's week. Return the seconds until the rest can be read, if some commits could not; else None."""
        request, reply = conversation.request, conversation.reply
        progress = ReadingProgress(reply, named(ref), ref.language, self._now)
        reader = conversation.view.reader
        read = self._reports.read_week(reader, ref, progress)
        if read.failure and not read.days:
            raise read.failure
        report, check = self._reports.checked_week(reader, request.channel, ref, read)
        again = seconds_until(read.resumes_at, self._now())
        shareable = self._post.is_offered(conversation)
        posted = self._post.note(conversation, ref) if shareable else ""
        trouble = unread(ref, read.failure.translated(ref.language)) if read.failure else ""
        note = "\n".join(filter(None, (trouble, posted)))
        stage = f"week-{ref.repository.key}{'-partial' if again else ''}"
        messages = week_message(report, check=check, shareable=shareable, note=note, charted=not reply.private)
        conversation.show(messages, about=value_of(ref), stage=stage)
        if not reply.private and report.entries and not again:
            prefix = f"reply:{request.run}:{stage}:{request.channel}:"
            shown = [Draft(f"{prefix}{place:03}", request.channel, {}) for place in range(len(messages))]
            self._send(week_drafts(report, check, shown, prefix, reply.root or None))
        return again

    def _send(self, files: list[Draft]) -> None:
        """Send the chart and the file; the message stands without what Slack refuses."""
        self._outbox.freeze(files)
        for each in files:
            try:
                self._outbox.send(each.key)
            except Refused as exc:
                log.warning("refused", key=each.key, why=str(exc))
