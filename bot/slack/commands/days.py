"""Commands about days and ranges of days, of one repository or of all that a channel knows, and the buttons of a day's digest."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TypeVar

from analysis.errors import DigestError, Misuse, OutsideFailure, Unreachable
from analysis.locale import catalogue
from analysis.models import DayReport, Language, Repository
from analysis.writing.labels import dated
from bot.models.clock import Clock
from bot.models.deliveries import Outcome, seconds_until
from bot.models.progress import Progress
from bot.models.subjects import DayRef, WeekRef, day_value, parse_day_value
from bot.services.downstream import DownstreamChecks
from bot.slack.commands.conversation import Conversation
from bot.slack.commands.posting import PostCommand
from bot.slack.delivery.channel_report import ChannelReports
from bot.slack.delivery.drafts import report_file
from bot.slack.delivery.reply import RequestReply
from bot.slack.messages.digest import rest_messages, summary_message
from bot.slack.messages.lists import DayRow, range_message
from bot.slack.messages.notices import line, named, unread, waiting
from bot.slack.outbox.outbox import Outbox
from bot.slack.parsing.command_types import Day, Days
from bot.slack.parsing.requests import ButtonRequest
from bot.slack.web import Web
from bot.store import Draft

_FEW = 3  # commits; so few are read too quickly for a progress message
Period = TypeVar("Period", DayRef, WeekRef)


class DayCommands:
    """Shows days, and ranges of days."""

    def __init__(self, post: PostCommand, checks: DownstreamChecks, now: Clock) -> None:
        self._post = post
        self._checks = checks
        self._now = now

    def show_day(self, conversation: Conversation, command: Day) -> Outcome:
        """Show a day of one repository, or of all that the channel knows."""
        view, shareable = conversation.view, self._post.is_offered(conversation)
        return show_each(
            conversation,
            command.repository,
            lambda repository: DayRef(repository, command.day, view.tz.key, view.language),
            lambda ref: self._show_digest(conversation, ref, shareable=shareable, or_latest=command.latest),
        )

    def _show_digest(
        self, conversation: Conversation, ref: DayRef, *, shareable: bool, or_latest: bool
    ) -> float | None:
        """Show a repository's day; with `or_latest` the last day with commits instead of one without.

        Return the seconds until the rest can be read, if some commits could not; else None.
        """
        view = conversation.view
        report, instead = self._read(conversation, ref), ""
        if or_latest and not report.entries and not report.late and (latest := self._latest(conversation, ref)):
            report = self._read(conversation, latest)
            instead = _instead(ref, latest)
            ref = latest
        again = seconds_until(report.resumes_at, self._now())
        posted = self._post.note(conversation, ref) if shareable else ""
        note = "\n".join(filter(None, (instead, posted)))
        day = (*report.entries, *report.late)
        check = self._checks.check(view.reader, conversation.request.channel, ref.repository, day)
        messages = summary_message(report, shareable=shareable, note=note, check=check)
        if report.resumes_at:
            at = f"{report.resumes_at.astimezone(view.tz):%H:%M}"
            messages = [
                *messages,
                line(waiting(ref, at)),
            ]
        stage = f"{ref.repository.key}{'-partial' if again else ''}"
        conversation.show(messages, about=day_value(report), stage=stage)
        return again

    def _read(self, conversation: Conversation, ref: DayRef) -> DayReport:
        """Read a day, with progress for the person."""
        progress = ReadingProgress(conversation.reply, named(ref), ref.language, self._now)
        return conversation.view.reader.report(ref, self._now(), progress)

    def _latest(self, conversation: Conversation, ref: DayRef) -> DayRef | None:
        """Return the last day with commits before a day; None if there is none, or it cannot be found out."""
        try:
            day = conversation.view.reader.latest_day(ref, self._now())
        except DigestError:
            return None
        return ref._replace(day=day) if day else None

    def show_range(self, conversation: Conversation, command: Days) -> Outcome:
        """Show a line a day; after a failure of GitHub the remaining days are not read."""
        view, reply = conversation.view, conversation.reply
        repositories = [command.repository] if command.repository else conversation.repositories
        rows: list[DayRow] = []
        failure = ""
        for day in command.days:
            for repository in repositories:
                ref = DayRef(repository, day, view.tz.key, view.language)
                if failure:
                    rows.append(DayRow(ref, None))
                    continue
                progress = ReadingProgress(reply, named(ref), view.language, self._now)
                try:
                    report = view.reader.report(ref, self._now(), progress, ask=False)
                except OutsideFailure as exc:
                    failure = exc.translated(view.language)
                    rows.append(DayRow(ref, None, failure))
                    continue
                failure = report.failed[0].translated(view.language) if report.resumes_at else ""
                rows.append(DayRow(ref, report.stats, failure))
        conversation.show(range_message(rows, view.language))
        return Outcome()


class DigestButtons:
    """The buttons of a day's digest: its other commits, and the full report."""

    def __init__(self, reports: ChannelReports, outbox: Outbox, web: Web) -> None:
        self._reports = reports
        self._outbox = outbox
        self._web = web

    def show_rest(self, conversation: Conversation, button: ButtonRequest) -> Outcome:
        """Show the commits that have no line in the digest."""
        ref, channel = parse_day_value(button.value), conversation.request.channel
        report, check = self._reports.checked(conversation.view.reader, channel, ref)
        conversation.show(rest_messages(report, check))
        return Outcome()

    def send_report(self, conversation: Conversation, button: ButtonRequest) -> Outcome:
        """Send a day's report as a file to the person's DMs, but for a private repository, which stays in its channels."""
        reader, language = conversation.view.reader, conversation.view.language
        report = self._reports.report(reader, parse_day_value(button.value))
        channel = self._web.directory.direct(button.user)
        hidden = reader.within(channel).hides(report.repository)
        if not hidden:
            key = f"report:{report.repository.key}:{report.date}:{button.run}:{channel}:000"
            self._outbox.freeze([Draft(key, channel, report_file(report))])
            self._outbox.send(key)
        say = catalogue(language)
        text = say("📄 Full report sent to your DMs")
        if hidden:
            text = say("📄 A private repository's report stays in its channel: once posted there, it is in the thread")
        conversation.show([line(text)])
        return Outcome()


class ReadingProgress(Progress):
    """A progress reporter that posts at the start, after ten seconds and after a minute."""

    def __init__(self, reply: RequestReply, subject: str, language: Language, now: Clock) -> None:
        self._reply = reply
        self._subject = subject
        self._language = language
        self._now = now
        self._steps = self._done = 0
        self._after = [timedelta(seconds=10), timedelta(minutes=1)]
        self._began: datetime = now()

    def expect(self, steps: int) -> None:
        self._steps = steps
        if steps > _FEW:
            self._report()

    def advance(self, steps: int = 1) -> None:
        self._done += steps
        if self._after and self._now() - self._began >= self._after[0] and self._done < self._steps:
            del self._after[0]
            self._report()

    def _report(self) -> None:
        say = catalogue(self._language)
        self._reply.show_progress(
            say("⏳ Reading {subject}: {done} of {steps}", subject=self._subject, done=self._done, steps=self._steps)
        )


def _instead(empty: DayRef, shown: DayRef) -> str:
    """Return the line that tells why another day is shown."""
    return catalogue(empty.language)(
        "No commits on {empty}. Last day with commits: {shown}",
        empty=dated(empty.day, empty.language),
        shown=dated(shown.day, empty.language),
    )


def show_each(
    conversation: Conversation,
    chosen: Repository | None,
    period_of: Callable[[Repository], Period],
    show: Callable[[Period], float | None],
) -> Outcome:
    """Show the period of the chosen repository, or of each that the channel knows. Raise `Misuse` if it knows none.

    `show` returns the seconds until the rest can be read, or None; the longest is the outcome's pause. Where one of several
    cannot be read, the reason stands in its place.
    """
    repositories = [chosen] if chosen else conversation.repositories
    pauses = []
    for repository in repositories:
        ref = period_of(repository)
        try:
            pauses.append(show(ref))
        except (Misuse, Unreachable) as exc:
            if len(repositories) == 1:
                raise
            conversation.show([line(unread(ref, exc.translated(ref.language)))], stage=f"{repository.key}-trouble")
    return Outcome(pause=max(filter(None, pauses), default=None))
