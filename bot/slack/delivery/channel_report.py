"""A day's report as a channel gets it: what its subscription selects and watches of the one that all share."""

from zoneinfo import ZoneInfo

from analysis.models import DayReport, Importance
from bot.services.selection import Selection, selected, touched
from bot.services.subjects import DayRef
from bot.slack.bot import Bot
from bot.slack.messages.words import selection_words


def report_of(bot: Bot, ref: DayRef) -> DayReport:
    """The report of a day, from the store as far as it is there, and of that what its subscription selects."""
    report = bot.reading.day(ref.repository, ref.day, ZoneInfo(ref.timezone), ref.language, bot.now())
    return seen(bot, report, ref)


def seen(bot: Bot, report: DayReport, ref: DayRef) -> DayReport:
    """Of a report what the subscription of `ref` selects, with what it watches raised."""
    selection = _selection(bot, ref)
    told = selection_words(selection.least, selection.paths, selection.watch, ref.language)
    return selected(report, selection, told, touched(report, selection.watch, bot.reading.services.store))


def is_whole(bot: Bot, ref: DayRef) -> bool:
    """Whether the subscription of `ref`, if it has one, leaves nothing out of a day."""
    selection = _selection(bot, ref)
    return not selection.paths and selection.least is Importance.LOW


def _selection(bot: Bot, ref: DayRef) -> Selection:
    found = bot.subscriptions.get(ref.subscription) if ref.subscription else None
    if found is None:
        return Selection()
    return Selection(least=found.terms.least, paths=found.terms.paths, watch=found.terms.watch)
