"""Revert notices: one in each channel, in the thread of the digest that had the reverted commit."""

from collections.abc import Iterator
from datetime import timedelta
from typing import NamedTuple

from analysis.facts.links import may_revert
from analysis.impact.reversal import undoes
from analysis.models import Commit, Repository
from bot.models.deliveries import Delivery
from bot.models.subjects import DayRef, days_told, parse_value
from bot.services.reader import Channels
from bot.slack.delivery.channel_report import ChannelReports
from bot.slack.messages.blocks import Message
from bot.slack.messages.notices import reverted_message
from bot.store import Draft, Mailbox, Root, Store

_MOST_COVERED = 7  # days of a digest


class Reverted(NamedTuple):
    """A reverted commit, the reverting one and a channel whose digest contained the first; all as keys."""

    channel: str
    repository: str
    sha: str
    by: str
    run: str


class RevertNotices:
    """Finds the digests of reverted commits, and drafts their notices."""

    def __init__(self, channels: Channels, reports: ChannelReports, store: Store, mailbox: Mailbox) -> None:
        self._channels = channels
        self._reports = reports
        self._store = store
        self._mailbox = mailbox

    def reverted_by(self, delivery: Delivery) -> list[Reverted]:
        """Return the commits of other days that a delivered day undoes, for each channel whose digest contained them."""
        ref = parse_value(delivery.what)
        days = filter(None, (self._store.day(each.repository, each.day, each.timezone) for each in days_told(ref)))
        commits = self._store.commits([each for day in days for each in day.commit_ids + day.late_ids])
        reverting = [each for each in commits if may_revert(each.commit)]
        links = self._store.links(reverting)
        here = {each.commit.sha for each in commits}
        pairs = [(sha, each.commit) for each in reverting for sha in links[each.id].all_reverted if sha not in here]
        return [
            Reverted(channel, ref.repository.key, sha, by.sha, delivery.run)
            for sha, by in pairs
            if self._is_undone(ref.repository, sha, by)
            for channel in dict.fromkeys(each.channel for each, _ in self._threads(ref.repository, sha))
        ]

    def draft(self, found: Reverted) -> list[str]:
        """Freeze the notice for the channel's first thread whose digest contains the commit but not its revert.

        Return its key; nothing if there is no such thread, or the channel may no longer see the repository.
        """
        repository = Repository.parse(found.repository)
        for thread, ref in self._threads(repository, found.sha):
            if thread.channel == found.channel and self._needs_notice(ref, found):
                key = f"revert:{repository.key}:{found.sha}:{found.channel}:000"
                notice = self._message(ref, found).content
                self._mailbox.freeze([Draft(key, found.channel, notice, thread_ts=thread.ts)])
                return [key]
        return []

    def _is_undone(self, repository: Repository, sha: str, by: Commit) -> bool:
        """Return whether a revert undoes a commit that was read; only those are in digests."""
        ids = self._store.read_ids(repository, [sha])
        return any(undoes(by, each.commit, each.facts) for each in self._store.commits(list(ids.values())))

    def _threads(self, repository: Repository, sha: str) -> Iterator[tuple[Root, DayRef]]:
        """Yield the digest threads, in any channel, of the days that contain a commit, each with the day in it."""
        for day in self._store.dates_of(repository, sha):
            begun = self._mailbox.roots(f"digest:{repository.key}:{day}:")
            for back in range(_MOST_COVERED):
                begun += self._mailbox.roots(f"week:{repository.key}:{day - timedelta(days=back)}..")
            for thread in begun:
                yield from ((thread, each) for each in days_told(parse_value(thread.about)) if each.day == day)

    def _needs_notice(self, ref: DayRef, found: Reverted) -> bool:
        reader = self._channels.view(found.channel).reader
        report = reader.stored_report(ref)
        if report is None or found.by in {each.commit.sha for each in (*report.entries, *report.late)}:
            return False
        return found.sha in self._reports.stored_shas(reader, found.channel, ref)

    def _message(self, ref: DayRef, found: Reverted) -> Message:
        ids = [self._store.with_sha(sha, ref.repository)[0][1] for sha in (found.sha, found.by)]
        commit, by = (each.commit for each in self._store.commits(ids))
        return reverted_message(commit, by, ref.language, ref.tz)
