"""Commands about days, ranges of days and weeks, of one repository or of all that a channel knows, and a digest's buttons."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NamedTuple, TypeVar

from analysis.errors import DigestError, Misuse, OutsideFailure, Unreachable
from analysis.locale import Catalogue, catalogue
from analysis.models import DayReport, Language, Repository, Stats
from analysis.report import counts
from analysis.writing.labels import dated
from bot.models.deliveries import Outcome, seconds_until
from bot.models.subjects import DayRef, WeekRef, day_value, parse_day_value, value_of
from bot.slack.commands.conversation import Conversation
from bot.slack.commands.posting import PostCommand
from bot.slack.delivery.channel_report import ChannelReports
from bot.slack.delivery.drafts import attached, report_file, week_files
from bot.slack.messages.blocks import Message, Piece, bullets, header, ours, pack, prose, rich
from bot.slack.messages.digest import rest_messages, summary_message
from bot.slack.messages.notices import line, named, unread, waiting
from bot.slack.messages.week import week_message
from bot.slack.parsing.command_types import Day, Days, Week
from bot.slack.parsing.requests import ButtonRequest

Period = TypeVar("Period", DayRef, WeekRef)


class DayRow(NamedTuple):
    """A day of a range: its counts, or None if it was not read; `note` is a remark to show with it."""

    day: DayRef
    stats: Stats | None
    note: str = ""


class DayCommands:
    """Shows days, ranges of days and weeks: privately with a button to post them, or in a thread; and what a digest's buttons ask for."""

    def __init__(self, reports: ChannelReports, post: PostCommand) -> None:
        self._reports = reports
        self._post = post

    def show_day(self, conversation: Conversation, command: Day) -> Outcome:
        """Show a day of one repository, or of all that the channel knows."""
        view = conversation.view
        return show_each(
            conversation,
            command.repository,
            lambda repository: DayRef(repository, command.day, view.tz.key, view.language),
            lambda ref: self._show_digest(conversation, ref, or_latest=command.latest),
        )

    def _show_digest(self, conversation: Conversation, ref: DayRef, *, or_latest: bool) -> datetime | None:
        """Show a repository's day; with `or_latest` the last day with commits instead of one without.

        Return when the rest can be read, if some commits could not; else None.
        """
        view = conversation.view
        report, instead = self._read(conversation, ref), ""
        if or_latest and not report.entries and not report.late and (latest := self._latest(conversation, ref)):
            instead = _instead(ref, latest)
            report, ref = self._read(conversation, latest), latest
        shareable, posted = self._post.offer(conversation, ref)
        day = (*report.entries, *report.late)
        check = self._reports.check(view.reader, conversation.request.channel, ref, day)
        note = "\n".join(filter(None, (instead, posted)))
        messages = summary_message(report, shareable=shareable, note=note, check=check)
        if report.resumes_at:
            messages = [*messages, line(waiting(ref, f"{report.resumes_at.astimezone(view.tz):%H:%M}"))]
        stage = f"{ref.repository.key}{'-partial' if report.resumes_at else ''}"
        conversation.show(messages, about=day_value(report), stage=stage)
        return report.resumes_at

    def _read(self, conversation: Conversation, ref: DayRef, *, ask: bool = True) -> DayReport:
        """Read a day, with progress for the person."""
        return conversation.view.reader.report(ref, conversation.now, conversation.progress(named(ref)), ask=ask)

    def _latest(self, conversation: Conversation, ref: DayRef) -> DayRef | None:
        """Return the last day with commits before a day; None if there is none, or it cannot be found out."""
        try:
            day = conversation.view.reader.latest_day(ref, conversation.now)
        except DigestError:
            return None
        return ref._replace(day=day) if day else None

    def show_range(self, conversation: Conversation, command: Days) -> None:
        """Show a line a day; after a failure of GitHub the remaining days are not read."""
        view = conversation.view
        repositories = [command.repository] if command.repository else conversation.repositories
        rows: list[DayRow] = []
        failure = ""
        for ref in (DayRef(each, day, view.tz.key, view.language) for day in command.days for each in repositories):
            if failure:
                rows.append(DayRow(ref, None))
                continue
            try:
                report = self._read(conversation, ref, ask=False)
            except OutsideFailure as exc:
                failure = exc.translated(view.language)
                rows.append(DayRow(ref, None, failure))
            else:
                failure = report.failed[0].translated(view.language) if report.resumes_at else ""
                rows.append(DayRow(ref, report.stats, failure))
        conversation.show(range_message(rows, view.language))

    def show_week(self, conversation: Conversation, command: Week) -> Outcome:
        """Show a week of one repository, or of all that the channel knows."""
        view = conversation.view
        return show_each(
            conversation,
            command.repository,
            lambda repository: WeekRef(repository, command.first, view.tz.key, view.language),
            lambda ref: self._show_week(conversation, ref),
        )

    def _show_week(self, conversation: Conversation, ref: WeekRef) -> datetime | None:
        """Show a repository's week. Return when the rest can be read, if some commits could not; else None."""
        request, reader = conversation.request, conversation.view.reader
        read = self._reports.read_week(reader, ref, conversation.progress(named(ref)))
        if read.failure and not read.days:
            raise read.failure
        report, check = self._reports.checked_week(reader, request.channel, ref, read)
        shareable, posted = self._post.offer(conversation, ref)
        trouble = unread(ref, read.failure.translated(ref.language)) if read.failure else ""
        note = "\n".join(filter(None, (trouble, posted)))
        stage = f"week-{ref.repository.key}{'-partial' if read.resumes_at else ''}"
        messages = week_message(report, check=check, shareable=shareable, note=note, charted=not conversation.private)
        shown = conversation.show(messages, about=value_of(ref), stage=stage)
        if shown and report.entries and not read.resumes_at:
            conversation.attach(attached(shown, week_files(report, check)))
        return read.resumes_at

    def show_rest(self, conversation: Conversation, button: ButtonRequest) -> None:
        """Show the commits that have no line in the digest."""
        ref, channel = parse_day_value(button.value), conversation.request.channel
        report, check = self._reports.checked(conversation.view.reader, channel, ref)
        conversation.show(rest_messages(report, check))

    def send_report(self, conversation: Conversation, button: ButtonRequest) -> None:
        """Send a day's report as a file to the person's DMs, but for a private repository, which stays in its channels."""
        say = conversation.say
        hidden = say("📄 A private repository's report stays in its channel: once posted there, it is in the thread")
        report = self._reports.report(conversation.view.reader, parse_day_value(button.value))
        key = f"report:{report.repository.key}:{report.date}:{button.run}"
        conversation.send_directly(key, report_file(report), [report.repository], hidden)


def range_message(rows: Sequence[DayRow], language: Language) -> list[Message]:
    """Return days, one per line."""
    say = catalogue(language)
    first, last = rows[0].day, rows[-1].day
    many = len({row.day.repository for row in rows}) > 1
    title = f"{first.day}..{last.day}" if many else f"{first.repository} · {first.day}..{last.day}"
    body = rich(bullets(_day(row, say, language, many=many) for row in rows))
    return pack(title, [[header(title), body]], say("Continued: {what}", what=title))


def _day(row: DayRow, say: Catalogue, language: Language, *, many: bool) -> list[Piece]:
    pieces = [*prose(str(row.day.repository)), *ours("  ")] if many else []
    pieces += ours(dated(row.day.day, language), "bold")
    if row.stats:
        line = counts.tiers(row.stats, language)
        pieces += ours(f"  {line}")
    elif not row.note:
        pieces += ours(f"  {say('not read yet')}", "italic")
    return pieces + (ours("  ") + prose(row.note, "italic") if row.note else [])


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
    show: Callable[[Period], datetime | None],
) -> Outcome:
    """Show the period of the chosen repository, or of each that the channel knows. Raise `Misuse` if it knows none.

    `show` returns when the rest can be read, or None; the last one sets the outcome's pause. Where one of several
    cannot be read, the reason stands in its place.
    """
    repositories = [chosen] if chosen else conversation.repositories
    resumes = []
    for ref in map(period_of, repositories):
        try:
            resumes.append(show(ref))
        except (Misuse, Unreachable) as exc:
            if len(repositories) == 1:
                raise
            conversation.tell(unread(ref, exc.translated(ref.language)), stage=f"{ref.repository.key}-trouble")
    return Outcome(pause=seconds_until(max(filter(None, resumes), default=None), conversation.now))
