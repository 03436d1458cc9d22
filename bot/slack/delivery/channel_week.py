"""A week's report for a channel: its stored days, filtered by the channel's subscription, and what they break of its code."""

from typing import NamedTuple

from analysis.impact.netting import undone_commits
from analysis.models import DayReport
from analysis.models.weeks import WeekReport
from bot.models.clock import Clock
from bot.models.downstream import DownstreamCheck
from bot.models.subjects import DayRef, WeekRef
from bot.services.commit_reader import Progress
from bot.services.downstream import DownstreamChecks
from bot.services.reader import Reader
from bot.services.weeks import ReadWeek, WeekService
from bot.slack.delivery.channel_report import ChannelReports


class CheckedWeek(NamedTuple):
    """A filtered week, and what its commits break of the channel's downstream repositories."""

    report: WeekReport
    check: DownstreamCheck


class ChannelWeeks:
    """Weeks filtered by subscriptions."""

    def __init__(self, weeks: WeekService, reports: ChannelReports, checks: DownstreamChecks, now: Clock) -> None:
        self._weeks = weeks
        self._reports = reports
        self._checks = checks
        self._now = now

    def read(self, reader: Reader, ref: WeekRef, progress: Progress | None = None) -> ReadWeek:
        """Return the days of a week; of those since the first stored one, what is missing is read first, without a model."""
        now = self._now()
        reader.allow(ref.repository)

        def read(day: DayRef) -> DayReport:
            return reader.report(day, now, progress, ask=False)

        return self._weeks.read(ref, now.astimezone(ref.tz).date(), read)

    def checked(self, reader: Reader, channel: str, ref: WeekRef, read: ReadWeek) -> CheckedWeek:
        """Return the week, filtered by its subscription, with the commits that break the channel's code.

        What the week takes back again breaks nothing.
        """
        commits = {each.commit.sha: each for day in read.days for each in (*day.entries, *day.late)}
        oldest_first = sorted(commits.values(), key=lambda each: each.commit.committed_at)
        undone = undone_commits(oldest_first)
        standing = [each for each in oldest_first if each.commit.sha not in undone]
        check = self._checks.check(reader, channel, ref.repository, standing, ref.subscription)
        refs = {each.day: each for each in ref.days}
        today = self._now().astimezone(ref.tz).date()
        report = self._weeks.report(
            ref, read.days, today, lambda day: self._reports.filtered(day, refs[day.date], check.commits)
        )
        return CheckedWeek(report, check)
