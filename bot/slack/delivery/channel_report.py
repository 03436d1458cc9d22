"""A day's or a week's report for a channel, filtered by its subscription, with what breaks its code; and what the channel has already."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from analysis.impact.reversal import undone_commits
from analysis.models import DayReport, Entry, Importance
from analysis.models.upgrades import UpgradeReport
from analysis.models.weeks import WeekReport
from bot.models.clock import Clock
from bot.models.downstream import DownstreamCheck
from bot.models.progress import SILENT, Progress
from bot.models.subjects import CommitRef, DayRef, ReleaseRef, Subject, WeekRef, kind_of, parse_value, subject_of
from bot.services.breaks import BreakLives
from bot.services.digest import ReadWeek, WeekService
from bot.services.downstream import DownstreamChecks
from bot.services.reader import Reader
from bot.services.schedule import Selection, selected, touched
from bot.services.versions.release_digest import ReleaseDigests
from bot.services.versions.upgrade import UpgradeRequest
from bot.slack.messages.subscriptions import describe_selection
from bot.slack.web import Web
from bot.store import Mailbox, Store, Subscription, Subscriptions

_MOST_COMMITS = 3_000  # of a release, and since the pin


@dataclass(eq=False)
class ChannelReports:
    """Reports filtered by subscriptions; what is `checked` comes with what its commits break of the channel's downstream code."""

    _store: Store
    _weeks: WeekService
    _releases: ReleaseDigests
    _subscriptions: Subscriptions
    _checks: DownstreamChecks
    _lives: BreakLives
    _now: Clock

    def report(self, reader: Reader, ref: DayRef) -> DayReport:
        """Return the report of a day, filtered by its subscription; unread commits are read first."""
        return self._filtered(reader.report(ref, self._now()), ref)

    def checked(self, reader: Reader, channel: str, ref: DayRef) -> tuple[DayReport, DownstreamCheck]:
        """Return the report of a day as `report` does, with the commits that break the channel's code."""
        return self._checked(reader, channel, ref, reader.report(ref, self._now()))

    def stored_shas(self, reader: Reader, channel: str, ref: DayRef) -> frozenset[str]:
        """Return the commits of a stored day that the channel's digest shows; none if the channel may not see the day."""
        report = reader.stored_report(ref)
        if report is None:
            return frozenset()
        if not self.is_whole(ref):
            report, _ = self._checked(reader, channel, ref, report)
        return frozenset(each.commit.sha for each in (*report.entries, *report.late))

    def _checked(
        self, reader: Reader, channel: str, ref: DayRef, report: DayReport
    ) -> tuple[DayReport, DownstreamCheck]:
        check = self.check(reader, channel, ref, (*report.entries, *report.late))
        return self._filtered(report, ref, check.commits), check

    def check(self, reader: Reader, channel: str, ref: DayRef | WeekRef, entries: Sequence[Entry]) -> DownstreamCheck:
        """Return what commits break of the channel's code, but for the names that are no concern there."""
        check = self._checks.check(reader, channel, ref.repository, entries, ref.subscription)
        return check.without(self._lives.unconcerned(channel, ref.repository)) if check.commits else check

    def _filtered(self, report: DayReport, ref: DayRef, breaking: Iterable[str] = ()) -> DayReport:
        """Filter a report by the subscription of `ref`, with commits that touch watched terms raised to high."""
        selection = self._selection(ref)
        description = describe_selection(selection.least, selection.paths, selection.watch, ref.language)
        places = touched(report, selection.watch, self._store)
        return selected(report, selection, description, places, breaking)

    def read_week(self, reader: Reader, ref: WeekRef, progress: Progress = SILENT) -> ReadWeek:
        """Return the days of a week; of those since the first stored one, what is missing is read first, without a model.

        What is the only digest of its days is read as each of theirs would be.
        """
        now = self._now()
        reader.allow(ref.repository)
        read = partial(reader.report, now=now, progress=progress, ask=bool(ref.covered))
        return self._weeks.read(ref, now.astimezone(ref.tz).date(), read)

    def checked_week(
        self, reader: Reader, channel: str, ref: WeekRef, read: ReadWeek
    ) -> tuple[WeekReport, DownstreamCheck]:
        """Return the week, filtered by its subscription, with the commits that break the channel's code.

        What the week takes back again breaks nothing.
        """
        commits = {each.commit.sha: each for day in read.days for each in (*day.entries, *day.late)}
        oldest_first = sorted(commits.values(), key=lambda each: each.commit.committed_at)
        undone = undone_commits(oldest_first)
        standing = [each for each in oldest_first if each.commit.sha not in undone]
        check = self.check(reader, channel, ref, standing)
        refs = {each.day: each for each in ref.days}
        today = self._now().astimezone(ref.tz).date()
        report = self._weeks.report(
            ref, read.days, today, lambda day: self._filtered(day, refs[day.date], check.commits)
        )
        return report, check

    def release(self, reader: Reader, channel: str, ref: ReleaseRef) -> UpgradeReport:
        """Return a release, with what it breaks of the channel's code; commits that are not stored yet are read first."""
        reader.allow(ref.repository)
        downstream = self._checks.named(channel, ref.repository, ref.subscription)
        asked = UpgradeRequest(
            ref.repository, ref.since, ref.tag, downstream, ref.language, ref.tz, self._now(), _MOST_COMMITS
        )
        surfaces = partial(self._checks.surfaces, reader, channel, ref.repository, downstream)
        return self._releases.report(asked, find_surfaces=surfaces if downstream else None)

    def is_whole(self, ref: DayRef | WeekRef | ReleaseRef) -> bool:
        """Return whether `ref` has no subscription, or one that selects every commit."""
        selection = self._selection(ref)
        return not selection.paths and selection.least is Importance.LOW

    def subscription(self, ref: DayRef | WeekRef | ReleaseRef) -> Subscription | None:
        """Return the subscription that filters `ref`, if it is active."""
        return self._subscriptions.get(ref.subscription) if ref.subscription else None

    def keep_quiet(self, subscription: Subscription, days: Sequence[DayRef]) -> None:
        """Count days without a message."""
        self._subscriptions.kept_quiet(subscription.id, days[0].day, days[-1].day)

    def _selection(self, ref: DayRef | WeekRef | ReleaseRef) -> Selection:
        found = self.subscription(ref)
        if found is None:
            return Selection()
        return Selection(least=found.terms.least, paths=found.terms.paths, watch=found.terms.watch)


class Postings:
    """The days and commits that channels already have."""

    def __init__(self, mailbox: Mailbox, web: Web, reports: ChannelReports) -> None:
        self._mailbox = mailbox
        self._web = web
        self._reports = reports

    def find_link(self, channel: str, ref: Subject) -> str:
        """Return the permalink of the latest message in a channel that shows a day or commit; empty if there is none.

        A commit in a digest's thread does not count: it is neither in the channel itself nor in a thread of its own.
        """
        begun = self._mailbox.roots(f"{kind_of(ref)}:{ref.repository.key}:{subject_of(ref)}:")
        shown = [each.ts for each in begun if each.channel == channel and self._is_same(parse_value(each.about), ref)]
        links = (self._web.directory.permalink(channel, ts) for ts in reversed(shown))
        return next((each for each in links if each), "")

    def _is_same(self, shown: Subject, ref: Subject) -> bool:
        """Return whether a post shows the requested subject: same language, and for days the same time zone, unfiltered."""
        shown_as, asked_as = (
            (kind_of(each), subject_of(each), each.repository.key, each.language) for each in (shown, ref)
        )
        if isinstance(shown, CommitRef) or isinstance(ref, CommitRef):
            return shown_as == asked_as
        return shown_as == asked_as and shown.timezone == ref.timezone and self._reports.is_whole(shown)
