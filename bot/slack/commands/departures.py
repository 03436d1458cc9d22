"""Subscriptions whose channel or person is gone: they end, or follow a channel to its new id."""

import structlog

from bot.models.clock import Clock
from bot.slack.parsing.departures import Departed
from bot.store import Subscriptions

log = structlog.get_logger(__name__)


class Departures:
    """Ends the subscriptions of what is gone; the App Home tells those who made them, and operators."""

    def __init__(self, subscriptions: Subscriptions, now: Clock) -> None:
        self._subscriptions = subscriptions
        self._now = now

    def take(self, gone: Departed) -> None:
        """End or move the subscriptions of a channel or a person; doing so again changes nothing.

        Those that a person who left made for a channel stay: they are the channel's.
        """
        if gone.how is None:
            self._subscriptions.follow(gone.channel, gone.new_channel)
            return
        for each in self._subscriptions.end_all(gone.how, self._now(), channel=gone.channel, user=gone.user):
            log.warning("subscription ended", subscription=each.id, channel=each.terms.channel, why=gone.how)
