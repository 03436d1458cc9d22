"""Notices to the person who requested a delivery."""

import structlog

from bot.models.deliveries import Delivery
from bot.slack.delivery.drafts import show_only_to
from bot.slack.messages.blocks import Message
from bot.slack.web import Web
from bot.slack.web_errors import SlackFailure

log = structlog.get_logger(__name__)


class RequesterNotices:
    """Messages that only the person behind a delivery sees."""

    def __init__(self, web: Web) -> None:
        self._web = web

    def show(self, delivery: Delivery, message: Message) -> None:
        """Show a message to the person who requested a delivery, or log why that failed."""
        try:
            show_only_to(self._web, delivery.channel, delivery.asked_by, message)
        except SlackFailure as exc:
            log.warning("not told", user=delivery.asked_by, why=str(exc))
