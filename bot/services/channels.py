"""Channels of the workspace: what each may see, and how its digest is written."""

from typing import NamedTuple
from zoneinfo import ZoneInfo

from analysis.models import Language, Repository
from bot.services.reader import Reader
from bot.store import Subscriptions, Terms


class ChannelView(NamedTuple):
    """One channel: the repositories and days that it may see, the language and time zone of its digest, and what it follows."""

    reader: Reader
    language: Language
    tz: ZoneInfo
    followed: tuple[Repository, ...] = ()


def visible_terms(terms: Terms, reader: Reader) -> Terms:
    """Return terms without the downstream repositories that DIGEST_PRIVATE hides where they are shown."""
    return terms._replace(downstream=tuple(each for each in terms.downstream if not reader.hides(each)))


class Channels:
    """The view of each channel. The first subscription sets its language and time zone, otherwise the defaults do."""

    def __init__(self, reader: Reader, subscriptions: Subscriptions, language: Language, tz: ZoneInfo) -> None:
        self._subscriptions = subscriptions
        self.everywhere = ChannelView(reader, language, tz)

    def view(self, channel: str) -> ChannelView:
        """Return the view of one channel."""
        view = self.everywhere._replace(reader=self.everywhere.reader.within(channel))
        held = self._subscriptions.of(channel)
        if not held:
            return view
        followed = tuple(each.terms.repository for each in held)
        return view._replace(language=held[0].terms.language, tz=held[0].terms.tz, followed=followed)
