"""The subscription modal: opened for a new subscription or for one of a button, and checked when submitted."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from datetime import time
from typing import Any

from analysis.errors import DigestError, Misuse
from analysis.locale import Phrase, catalogue
from analysis.models import Language, Repository
from bot.services.reader import Channels, ChannelView, Reader, visible_terms
from bot.slack.commands.posting import Members
from bot.slack.commands.subscriptions import canonical_downstream, subscription_of
from bot.slack.messages.modals import (
    EXAMPLE,
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
        """Parse a submitted modal into a request, or None and the errors by field."""
        opened = opened_in(body["view"])
        view = self._channels.view(opened)
        say = catalogue(view.language)
        filled, errors = filled_in(body["view"], view.language)
        if filled is None:
            return None, errors
        if filled.changes and not self._subscriptions.get(filled.changes):
            return None, {"repository": say("This subscription was already cancelled")}
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
            raise Misuse(Phrase("This subscription was already cancelled"))
        self._members.check_insider(button, found.terms.channel)
        return found._replace(terms=visible_terms(found.terms, view.reader))

    def _validation_errors(self, view: ChannelView, filled: Filled) -> dict[str, str]:
        """Return errors by field: an unknown repository, or a conflict with another subscription of the channel."""
        repository, paths = filled.options.repository, filled.options.paths
        if repository is None:
            return {}
        reader = view.reader.within(filled.channel)
        if errors := _repository_errors(reader, repository, filled.options.downstream or (), view.language):
            return errors
        others = [each.terms for each in self._subscriptions.of(filled.channel) if each.id != filled.changes]
        if filled.changes and any((each.repository.key, each.paths) == (repository.key, paths) for each in others):
            return {
                "paths": catalogue(view.language)(
                    "this channel already has a subscription to this repository with these paths"
                )
            }
        return {}


def _repository_errors(
    reader: Reader, repository: Repository, downstream: Sequence[Repository], language: Language
) -> dict[str, str]:
    """Return the errors for unknown repositories or branches, by field.

    There is none where GitHub does not answer in time, so that the reply reports it.
    """
    pool = ThreadPoolExecutor(2)
    checks: dict[str, Future[object]] = {
        "repository": pool.submit(reader.canonical_name, repository),
        "downstream": pool.submit(canonical_downstream, reader, repository, downstream),
    }
    pool.shutdown(wait=False)
    wait(checks.values(), _PATIENCE)
    failures = {field: check.exception() for field, check in checks.items() if check.done()}
    return {
        field: failure.translated(language)[:LONGEST_ERROR]
        for field, failure in failures.items()
        if isinstance(failure, Misuse)
    }
