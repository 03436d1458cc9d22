"""A day's report for a channel: the shared report, filtered by the channel's subscription."""

from zoneinfo import ZoneInfo

from analysis.models import DayReport, Importance
from bot.services.selection import Selection, selected, touched
from bot.services.subjects import DayRef
from bot.slack.bot import Bot
from bot.slack.messages.subscriptions import describe_selection


def report_of(bot: Bot, ref: DayRef) -> DayReport:
    """Return the report of a day, filtered by its subscription; unread commits are read first."""
    report = bot.reading.day(ref.repository, ref.day, ZoneInfo(ref.timezone), ref.language, bot.now())
    return seen(bot, report, ref)


def seen(bot: Bot, report: DayReport, ref: DayRef) -> DayReport:
    """Filter a report by the subscription of `ref`, with commits that touch watched terms raised to high."""
    selection = _selection(bot, ref)
    description = describe_selection(selection.least, selection.paths, selection.watch, ref.language)
    return selected(report, selection, description, touched(report, selection.watch, bot.reading.services.store))


def is_whole(bot: Bot, ref: DayRef) -> bool:
    """Return whether `ref` has no subscription, or one that selects every commit."""
    selection = _selection(bot, ref)
    return not selection.paths and selection.least is Importance.LOW


def _selection(bot: Bot, ref: DayRef) -> Selection:
    found = bot.subscriptions.get(ref.subscription) if ref.subscription else None
    if found is None:
        return Selection()
    return Selection(least=found.terms.least, paths=found.terms.paths, watch=found.terms.watch)
