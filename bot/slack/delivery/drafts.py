"""The messages of a delivery in the form in which the outbox stores them: its day or commit is read, and frozen as drafts."""

import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import structlog

from analysis.errors import DigestError, OutsideFailure, RateLimited
from analysis.locale import catalogue
from analysis.models import DayReport
from analysis.models.impacts import CommitImpacts, ImpactReport
from analysis.models.upgrades import UpgradeReport
from analysis.models.weeks import WeekReport
from analysis.report.markdown import report_markdown
from bot.models.clock import Clock
from bot.models.deliveries import SOON, Delivery, Outcome, seconds_until
from bot.models.downstream import UNASKED, DownstreamCheck
from bot.models.reference import Reference
from bot.models.subjects import (
    CommitRef,
    DayRef,
    ReleaseRef,
    Subject,
    WeekRef,
    days_told,
    kind_of,
    parse_value,
    subject_of,
    value_of,
)
from bot.services.breaks import BreakLives
from bot.services.downstream import DownstreamChecks
from bot.services.reader import Channels, ChannelView, Reader
from bot.slack.delivery.channel_report import ChannelReports, Postings
from bot.slack.messages.blocks import Message
from bot.slack.messages.commit import commit_messages
from bot.slack.messages.digest import digest_messages
from bot.slack.messages.head import is_quiet, with_line
from bot.slack.messages.impacts import raised
from bot.slack.messages.notices import line, link_message, unread, waiting
from bot.slack.messages.subscriptions import quiet_line
from bot.slack.messages.upgrades import upgrade_messages
from bot.slack.messages.week import chart_comment, week_message
from bot.slack.web import Web
from bot.slack.web_errors import Refused, SlackFailure, Unanswered
from bot.store import Draft, Mailbox

_NAME = 40  # characters of a version in a file's name
_ALT = 1_000  # characters of alternative text

_Digest = tuple[DayReport | WeekReport, DownstreamCheck, list[Message], list[dict[str, Any]]]

log = structlog.get_logger(__name__)


@dataclass(eq=False)
class Drafter:
    """Reads what is to be delivered, and drafts its messages."""

    _channels: Channels
    _reports: ChannelReports
    _checks: DownstreamChecks
    _lives: BreakLives
    _postings: Postings
    _mailbox: Mailbox
    _web: Web
    _now: Clock

    def read(self, delivery: Delivery) -> Outcome:
        """Read and analyse the subject; the outcome's pause asks for a retry, e.g. when GitHub's limit resets."""
        view, ref = self._channels.view(delivery.channel), parse_value(delivery.what)
        try:
            resumes_at = self._read(view.reader, ref, delivery.channel)
            return Outcome(pause=seconds_until(resumes_at, self._now()))
        except RateLimited as exc:
            pause = seconds_until(exc.resets_at, self._now()) or SOON
            return Outcome(pause=pause, failure=exc.translated(view.language))
        except OutsideFailure as exc:
            return Outcome(pause=SOON, failure=exc.translated(view.language))
        except DigestError as exc:
            return Outcome(failure=exc.translated(view.language))
        except Exception:
            # Drafting delivers what is possible; otherwise it hits the bug again and reports it in the channel.
            log.exception("this is a bug in vllm-digest")
            return Outcome()

    def _read(self, reader: Reader, ref: Subject, channel: str) -> datetime | None:
        """Read a subject. Return when GitHub's limit lets the rest be read, if that is missing."""
        match ref:
            case CommitRef():
                reader.commit(Reference(ref.sha, sha=ref.sha), ref.repository)
                return None
            case WeekRef():
                week = self._reports.read_week(reader, ref)
                if week.failure:
                    raise week.failure
                return week.resumes_at
            case ReleaseRef():
                self._reports.release(reader, channel, ref)
                return None
            case DayRef():
                return reader.resumes_at(ref, self._now())

    def draft(self, delivery: Delivery, failure: str) -> list[str]:
        """Freeze the messages of a delivery, unless already frozen. Return their keys in sending order.

        A day that could not be listed yields one line with the reason, `failure`. If two people request the same post at
        once, the second gets a link to the first one's: deliveries to a channel are sequential.
        """
        view, ref, prefix = self._channels.view(delivery.channel), parse_value(delivery.what), key_prefix(delivery)
        frozen = [each.key for each in self._mailbox.messages(prefix) if "." not in each.key.rpartition(":")[2]]
        if frozen:
            return frozen
        if delivery.once and (link := self._posted_before(delivery, ref)):
            show_requester(self._web, delivery, link_message(ref, link, delivery.what))
            return []
        found = self._drafts(view, ref, delivery, failure)
        self._mailbox.freeze(found)
        return [each.key for each in found]

    def draft_wait(self, delivery: Delivery, seconds: float) -> list[str]:
        """Freeze a message that gives the time when the rest of a day follows, in `seconds`; return its key."""
        ref = parse_value(delivery.what)
        at = (self._now() + timedelta(seconds=seconds)).astimezone(self._channels.everywhere.tz)
        key = f"notice:{ref.repository.key}:{subject_of(ref)}:{delivery.label}:{delivery.channel}:000"
        self._mailbox.freeze([Draft(key, delivery.channel, line(waiting(ref, f"{at:%H:%M}")).content)])
        return [key]

    def _posted_before(self, delivery: Delivery, ref: Subject) -> str:
        """Return the permalink of an existing post; empty if Slack does not answer, since sending waits for Slack anyway."""
        try:
            return self._postings.find_link(delivery.channel, ref)
        except Unanswered:
            return ""

    def _drafts(self, view: ChannelView, ref: Subject, delivery: Delivery, failure: str) -> list[Draft]:
        prefix = key_prefix(delivery)
        try:
            if isinstance(ref, ReleaseRef):
                return self._release(view, ref, delivery)
            if not isinstance(ref, CommitRef):
                return self._digest(view, ref, delivery)
            return drafts(prefix, delivery.channel, self._commit(view, ref, delivery.channel), delivery.what)
        except DigestError as exc:
            text = unread(ref, failure or exc.translated(ref.language))
        except Exception:
            log.exception("this is a bug in vllm-digest")
            text = catalogue(ref.language)(
                "⚠️ Something went wrong. Give your operator this number: `{run}`", run=delivery.run
            )
        return drafts(prefix, delivery.channel, [line(text)], "")

    def _digest(self, view: ChannelView, ref: DayRef | WeekRef, delivery: Delivery) -> list[Draft]:
        """Return the drafts of a digest, and of its files in its thread; none where the subscription keeps quiet.

        The message after quiet days says how many there were.
        """
        place = view.reader, delivery.channel
        report, check, shown, files = self._day(*place, ref) if isinstance(ref, DayRef) else self._week(*place, ref)
        if isinstance(ref, DayRef):
            self._lives.keep(delivery.channel, ref.repository, check)
        days = () if delivery.asked_by else days_told(ref)
        if days and (subscription := self._reports.subscription(ref)):
            unsaid = isinstance(report, DayReport) and report.remarks
            if subscription.terms.quiet and not unsaid and is_quiet(report, check):
                self._reports.keep_quiet(subscription, days)
                log.info("quiet", channel=delivery.channel, what=delivery.what)
                return []
            if subscription.quiet_days:
                shown = with_line(shown, quiet_line(subscription.quiet_days, ref.language))
        found = drafts(key_prefix(delivery), delivery.channel, shown, delivery.what)
        return found + attached(found, files)

    def _day(self, reader: Reader, channel: str, ref: DayRef) -> _Digest:
        """Return a day's digest, with the full report as a file if it has a thread."""
        report, check = self._reports.checked(reader, channel, ref)
        shown = digest_messages(report, value_of(ref), check)
        return report, check, shown, [report_file(report, check)] if len(shown) > 1 else []

    def _week(self, reader: Reader, channel: str, ref: WeekRef) -> _Digest:
        """Return the digest of a week, with the whole week as a file, and its chart unless it tells of days for the first time."""
        read = self._reports.read_week(reader, ref)
        report, check = self._reports.checked_week(reader, channel, ref, read)
        shown = week_message(report, value_of(ref), check, charted=not ref.covered)
        return report, check, shown, week_files(report, check, charted=not ref.covered) if report.entries else []

    def _release(self, view: ChannelView, ref: ReleaseRef, delivery: Delivery) -> list[Draft]:
        """Return the drafts of a release: its summary, and in the thread all that changes, also as a file."""
        report = self._reports.release(view.reader, delivery.channel, ref)
        found = drafts(key_prefix(delivery), delivery.channel, upgrade_messages(report), delivery.what)
        return found + attached(found, [upgrade_file(report)])

    def _commit(self, view: ChannelView, ref: CommitRef, channel: str) -> list[Message]:
        """Return the messages that show a commit in a channel."""
        located = view.reader.commit(Reference(ref.sha, sha=ref.sha), ref.repository)
        entry = view.reader.entry(located, ref.language)
        check = self._checks.check(view.reader, channel, located.repository, [entry])
        return commit_messages(located.repository, entry, ref.language, view.tz, public=True, check=check)


def key_prefix(delivery: Delivery) -> str:
    """Return the key prefix of a delivery's messages."""
    ref = parse_value(delivery.what)
    return f"{kind_of(ref)}:{ref.repository.key}:{subject_of(ref)}:{delivery.label}:{delivery.channel}:"


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


def attached(messages: Sequence[Draft], files: Sequence[dict[str, Any]]) -> list[Draft]:
    """Return files as drafts for the thread of the first of some messages, or the one where that is; their keys go on from its."""
    first, prefix = messages[0], messages[0].key.removesuffix("000")
    root = None if first.thread_ts else first.key
    return [
        Draft(f"{prefix}{place:03}", first.channel, each, thread_ts=first.thread_ts, root=root)
        for place, each in enumerate(files, len(messages))
    ]


def week_files(report: WeekReport, check: DownstreamCheck, *, charted: bool = True) -> list[dict[str, Any]]:
    """Return a week's chart, if it is `charted`, and its file.

    The chart counts what breaks the channel's code as the message does. If the chart cannot be drawn, the week has its file alone.
    """
    name = f"{report.repository.name}-{report.first}-{report.last}"
    contents = [_file(f"{name}.md", report_markdown(report))]
    if not charted:
        return contents
    try:
        contents.insert(0, _chart(raised(report, check), f"{name}.png"))
    except Exception:
        log.exception("the chart could not be drawn")
    return contents


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
        touching=check.touching,
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
