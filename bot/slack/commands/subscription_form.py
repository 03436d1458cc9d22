"""The subscription modal: opened for a new subscription or for one of a button, and checked when submitted."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import time
from typing import Any

from analysis.errors import DigestError, Misuse, UnknownRepository
from analysis.locale import Phrase, catalogue
from analysis.models import Language, Repository
from bot.services.channels import Channels, ChannelView
from bot.services.reader import Reader
from bot.slack.commands.members import Members
from bot.slack.commands.subscriptions import subscription_of
from bot.slack.messages.subscription_modal import (
    LONGEST_ERROR,
    Filled,
    filled_in,
    notice_modal,
    opened_in,
    subscription_modal,
)
from bot.slack.parsing.requests import ButtonRequest, SubscriptionForm, from_terms
from bot.store import Subscription, Subscriptions, Terms

_PATIENCE = 1.5  # seconds that a submitted form waits for GitHub; Slack's limit is three
_EXAMPLE = Repository(owner="vllm-project", name="vllm")


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
        usual = Terms(button.channel, known[0] if known else _EXAMPLE, self._time, view.tz, view.language)
        return subscription_modal(usual, view.language, button.channel, changes)

    def parse(self, body: Mapping[str, Any]) -> tuple[SubscriptionForm | None, dict[str, str]]:
        """Parse a submitted modal into a request, or None and the errors by field."""
        opened = opened_in(body["view"])
        view = self._channels.view(opened)
        say = catalogue(view.language)
        filled, errors = filled_in(body["view"], view.language)
        if filled is None:
            return None, errors
        if filled.changes and not self._subscriptions.get(filled.changes):
            return None, {"repository": say("This subscription has ended already")}
        form = from_terms(body, filled.channel, filled.options, filled.changes, at_home=not opened)
        try:
            self._members.check_invited(form, filled.channel)
            self._members.check_insider(form, filled.channel)
        except DigestError as exc:
            return None, {"channel": exc.translated(view.language)[:LONGEST_ERROR]}
        errors = self._validation_errors(view, filled)
        return (None if errors else form), errors

    def _changeable(self, view: ChannelView, button: ButtonRequest) -> Subscription:
        """Return a button's subscription. Raise `Misuse` if it is not active, or the person may not change it."""
        found = subscription_of(self._subscriptions, button)
        if found is None or view.reader.hides(found.terms.repository):
            raise Misuse(Phrase("This subscription has ended already"))
        self._members.check_insider(button, found.terms.channel)
        return found

    def _validation_errors(self, view: ChannelView, filled: Filled) -> dict[str, str]:
        """Return errors by field: an unknown repository, or a conflict with another subscription of the channel."""
        repository, paths = filled.options.repository, filled.options.paths
        if repository is None:
            return {}
        error = _repository_error(view.reader.within(filled.channel), repository, view.language)
        if error:
            return {"repository": error}
        others = [each.terms for each in self._subscriptions.of(filled.channel) if each.id != filled.changes]
        if filled.changes and any((each.repository.key, each.paths) == (repository.key, paths) for each in others):
            return {
                "paths": catalogue(view.language)(
                    "the channel has another subscription to this repository with these paths"
                )
            }
        return {}


def _repository_error(reader: Reader, repository: Repository, language: Language) -> str:
    """Return the error for an unknown repository or branch; empty if GitHub does not answer in time, so that the reply reports it."""
    pool = ThreadPoolExecutor(1)
    spelling = pool.submit(reader.canonical_name, repository)
    pool.shutdown(wait=False)
    try:
        spelling.result(_PATIENCE)
    except UnknownRepository as exc:
        return exc.translated(language)[:LONGEST_ERROR]
    except (TimeoutError, DigestError):
        return ""
    return ""
