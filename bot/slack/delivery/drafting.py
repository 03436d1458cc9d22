"""The first steps of a delivery: read its day or commit, and freeze its messages in the outbox, in their final form."""

from datetime import datetime, timedelta

import structlog

from analysis.errors import DigestError, OutsideFailure, RateLimited
from analysis.locale import catalogue
from bot.models.clock import Clock
from bot.models.deliveries import SOON, Delivery, Outcome, seconds_until
from bot.models.reference import Reference
from bot.models.subjects import CommitRef, DayRef, Subject, WeekRef, kind_of, parse_value, subject_of, value_of
from bot.services.downstream import DownstreamChecks
from bot.services.reader import Channels, ChannelView, Reader
from bot.slack.delivery.channel_report import ChannelReports, Postings
from bot.slack.delivery.drafts import drafts, report_file, show_requester, week_drafts
from bot.slack.messages.blocks import Message
from bot.slack.messages.commit import commit_messages
from bot.slack.messages.digest import digest_messages
from bot.slack.messages.notices import line, link_message, unread, waiting
from bot.slack.messages.week import week_message
from bot.slack.web import Web
from bot.slack.web_errors import Unanswered
from bot.store import Draft, Mailbox

log = structlog.get_logger(__name__)


class Drafter:
    """Reads what is to be delivered, and drafts its messages."""

    def __init__(
        self,
        channels: Channels,
        reports: ChannelReports,
        checks: DownstreamChecks,
        postings: Postings,
        mailbox: Mailbox,
        web: Web,
        now: Clock,
    ) -> None:
        self._channels = channels
        self._reports = reports
        self._checks = checks
        self._postings = postings
        self._mailbox = mailbox
        self._web = web
        self._now = now

    def read(self, delivery: Delivery) -> Outcome:
        """Read and analyse the subject; the outcome's pause asks for a retry, e.g. when GitHub's limit resets."""
        view, ref = self._channels.view(delivery.channel), parse_value(delivery.what)
        try:
            return Outcome(pause=seconds_until(self._read(view.reader, ref), self._now()))
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

    def _read(self, reader: Reader, ref: Subject) -> datetime | None:
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
            case DayRef():
                return self._reports.report(reader, ref).resumes_at

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
            if isinstance(ref, DayRef):
                return self._day(view, ref, delivery)
            if isinstance(ref, WeekRef):
                return self._week(view, ref, delivery)
            return drafts(prefix, delivery.channel, self._commit(view, ref, delivery.channel), delivery.what)
        except DigestError as exc:
            text = unread(ref, failure or exc.translated(ref.language))
        except Exception:
            log.exception("this is a bug in vllm-digest")
            text = catalogue(ref.language)(
                "⚠️ Something went wrong. Give your operator this number: `{run}`", run=delivery.run
            )
        return drafts(prefix, delivery.channel, [line(text)], "")

    def _day(self, view: ChannelView, ref: DayRef, delivery: Delivery) -> list[Draft]:
        """Return the drafts of a day's digest, with the full report as a file if the digest has a thread."""
        (report, check), prefix = self._reports.checked(view.reader, delivery.channel, ref), key_prefix(delivery)
        found = drafts(prefix, delivery.channel, digest_messages(report, value_of(ref), check), delivery.what)
        if len(found) > 1:
            file = Draft(f"{prefix}{len(found):03}", delivery.channel, report_file(report, check), root=found[0].key)
            found.append(file)
        return found

    def _week(self, view: ChannelView, ref: WeekRef, delivery: Delivery) -> list[Draft]:
        """Return the drafts of a week: its message, and in the thread its chart and the whole week as a file."""
        read = self._reports.read_week(view.reader, ref)
        report, check = self._reports.checked_week(view.reader, delivery.channel, ref, read)
        prefix = key_prefix(delivery)
        found = drafts(prefix, delivery.channel, week_message(report, value_of(ref), check), delivery.what)
        if report.entries:
            found += week_drafts(report, check, found, prefix)
        return found

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
