"""The subscription modal: opened for a new subscription or for one of a button, and checked when submitted."""

from collections.abc import Mapping
from datetime import time
from typing import Any

from analysis.errors import DigestError, Misuse
from analysis.locale import Phrase
from bot.services.reader import Channels, ChannelView, visible_terms
from bot.slack.commands.posting import Members
from bot.slack.commands.subscriptions import subscription_of
from bot.slack.messages.modals import (
    EXAMPLE,
    LONGEST_ERROR,
    filled_in,
    notice_modal,
    opened_in,
    subscription_modal,
)
from bot.slack.parsing.requests import ButtonRequest, SubscriptionForm, from_terms
from bot.store import Subscription, Subscriptions, Terms


class SubscriptionForms:
    """Builds and parses the modal. `time` is that of a digest by default."""

    def __init__(self, channels: Channels, subscriptions: Subscriptions, members: Members, time: time) -> None:
        self._channels = channels
        self._subscriptions = subscriptions
        self._members = members
        self._time = time

    def modal(self, button: ButtonRequest) -> dict[str, Any]:
        """Return the modal for a new subscription or a button's one, in the language of the channel where it is opened."""
        view, changes = self._channels.view(button.channel), None
        if button.action == "edit_subscription":
            try:
                changes = self._changeable(view, button)
            except Misuse as exc:
                return notice_modal(exc.translated(view.language), view.language)
        known = view.reader.known
        usual = Terms(button.channel, known[0] if known else EXAMPLE, self._time, view.tz, view.language)
        return subscription_modal(usual, view.language, button.channel, changes)

    def parse(self, body: Mapping[str, Any]) -> tuple[SubscriptionForm | None, dict[str, str]]:
        """Parse a submitted modal into a request, or None and the errors by field. What only GitHub or the store knows the reply tells."""
        opened = opened_in(body["view"])
        view = self._channels.view(opened)
        filled, errors = filled_in(body["view"], view.language)
        if filled is None:
            return None, errors
        form = from_terms(body, filled.channel, filled.options, filled.changes, at_home=not opened)
        try:
            self._members.check_invited(form, filled.channel)
            self._members.check_insider(form, filled.channel)
        except DigestError as exc:
            return None, {"channel": exc.translated(view.language)[:LONGEST_ERROR]}
        return form, {}

    def _changeable(self, view: ChannelView, button: ButtonRequest) -> Subscription:
        """Return a button's subscription. Raise `Misuse` if it is not active, or the person may not change it."""
        found = subscription_of(self._subscriptions, button)
        if found is None or view.reader.hides(found.terms.repository):
            raise Misuse(Phrase("This subscription was already cancelled"))
        self._members.check_insider(button, found.terms.channel)
        return found._replace(terms=visible_terms(found.terms, view.reader))
