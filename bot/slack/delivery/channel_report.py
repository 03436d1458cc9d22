"""A day's report for a channel: the shared report, filtered by the channel's subscription."""

from analysis.models import DayReport, Importance
from bot.models.clock import Clock
from bot.models.subjects import DayRef
from bot.services.reader import Reader
from bot.services.selection import Selection, selected, touched
from bot.slack.messages.subscriptions import describe_selection
from bot.store import Store, Subscriptions


class ChannelReports:
    """Reports filtered by subscriptions."""

    def __init__(self, store: Store, subscriptions: Subscriptions, now: Clock) -> None:
        self._store = store
        self._subscriptions = subscriptions
        self._now = now

    def report(self, reader: Reader, ref: DayRef) -> DayReport:
        """Return the report of a day, filtered by its subscription; unread commits are read first."""
        return self.filtered(reader.report(ref, self._now()), ref)

    def filtered(self, report: DayReport, ref: DayRef) -> DayReport:
        """Filter a report by the subscription of `ref`, with commits that touch watched terms raised to high."""
        selection = self._selection(ref)
        description = describe_selection(selection.least, selection.paths, selection.watch, ref.language)
        return selected(report, selection, description, touched(report, selection.watch, self._store))

    def is_whole(self, ref: DayRef) -> bool:
        """Return whether `ref` has no subscription, or one that selects every commit."""
        selection = self._selection(ref)
        return not selection.paths and selection.least is Importance.LOW

    def _selection(self, ref: DayRef) -> Selection:
        found = self._subscriptions.get(ref.subscription) if ref.subscription else None
        if found is None:
            return Selection()
        return Selection(least=found.terms.least, paths=found.terms.paths, watch=found.terms.watch)
