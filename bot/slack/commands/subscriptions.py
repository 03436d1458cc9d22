"""Commands, buttons and the modal about subscriptions, for the members of a channel: create, list, change, cancel."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import time
from typing import Any

from analysis.errors import DigestError, Misuse
from analysis.locale import LANGUAGES, Phrase
from analysis.models import Repository
from bot.models.deliveries import Outcome
from bot.services.reader import Channels, ChannelView, Reader, visible_terms
from bot.slack.commands.conversation import Conversation
from bot.slack.commands.home import Home
from bot.slack.commands.posting import Members
from bot.slack.commands.status import BotStatus
from bot.slack.delivery.announcements import Announcements
from bot.slack.directory import Directory
from bot.slack.messages import subscriptions as messages
from bot.slack.messages.blocks import escaped
from bot.slack.messages.modals import (
    EXAMPLE,
    LONGEST_ERROR,
    filled_in,
    notice_modal,
    opened_in,
    subscription_modal,
)
from bot.slack.parsing.command_types import Command, ListSubscriptions, Subscribe, Unsubscribe
from bot.slack.parsing.requests import ButtonRequest, SubscriptionForm
from bot.slack.parsing.subscription_options import SubscriptionOptions, parse_zone
from bot.store import Subscription, Subscriptions, Terms

_MOST = 20  # subscriptions per channel
_MOST_LISTED = 80  # in the list of all


def visible_subscriptions(subscriptions: Subscriptions, view: ChannelView, channel: str) -> list[Subscription]:
    """Return a channel's subscriptions, without repositories that DIGEST_PRIVATE has since hidden from it."""
    held = [each for each in subscriptions.of(channel) if not view.reader.hides(each.terms.repository)]
    return [each._replace(terms=visible_terms(each.terms, view.reader)) for each in held]


def subscription_of(subscriptions: Subscriptions, button: ButtonRequest) -> Subscription | None:
    """Return a button's subscription, or None if it is not active."""
    return subscriptions.get(int(button.value)) if re.fullmatch(r"\d{1,18}", button.value, re.ASCII) else None


class SubscriptionDefaults:
    """The terms of a new subscription before what people ask for: `options`, at `time` unless they say otherwise.

    In direct messages they are in the person's own time zone and language, which `directory` knows.
    """

    def __init__(self, options: SubscriptionOptions, time: time, directory: Directory) -> None:
        self._options = options
        self._time = time
        self._directory = directory

    def terms(self, channel: str, repository: Repository, view: ChannelView, user: str = "") -> Terms:
        """Return the default terms of a channel, whose other subscriptions set its language and time zone."""
        options = self._options
        if view.followed:
            options = options.model_copy(update={"timezone": None, "language": None})
        elif channel.startswith("D") and user:
            options = options.model_copy(update=self._own(user))
        return _merge_options(options, Terms(channel, repository, self._time, view.tz, view.language))

    def _own(self, user: str) -> dict[str, str]:
        """Return a person's own time zone and language as options, as far as Slack knows them and we do."""
        name, locale = self._directory.settings_of(user)
        language, found = locale[:2].lower(), dict[str, str]()
        with suppress(Misuse):
            found["timezone"] = parse_zone(name)
        return found | ({"language": language} if language in LANGUAGES else {})


@dataclass(eq=False)
class SubscriptionCommands:
    """Creates, lists, changes and cancels subscriptions, and announces each change in its channel."""

    _subscriptions: Subscriptions
    _members: Members
    _announcements: Announcements
    _status: BotStatus
    _home: Home
    _defaults: SubscriptionDefaults

    def subscribe(self, conversation: Conversation, command: Subscribe) -> Outcome:
        """Subscribe the channel."""
        return self._subscribe(conversation, command.options)

    def apply_form(self, conversation: Conversation, form: SubscriptionForm) -> Outcome:
        """Apply a submitted modal; reply in the channel, visible to the person only."""
        return self._subscribe(conversation, form.options, form.changes, at_home=form.at_home)

    def _subscribe(
        self,
        conversation: Conversation,
        options: SubscriptionOptions,
        changes: int | None = None,
        *,
        at_home: bool = False,
    ) -> Outcome:
        """Subscribe the request's channel, or change the subscription with the id `changes`. Raise `Misuse` if not possible.

        Options not given keep their value, or get the default. What the App Home could not show (`at_home`) stays.
        """
        request, view = conversation.request, conversation.view
        self._members.check_invited(request)
        self._members.check_insider(request, request.channel)
        repository = view.reader.canonical_name(options.repository or conversation.repositories[0])
        usual = self._defaults.terms(request.channel, repository, view, request.user)
        usual = usual._replace(paths=options.paths or ())
        held = self._subscriptions.of(request.channel)
        same = next((each for each in held if _same(each.terms, usual)), None)
        before = same.terms if same else None
        terms = _merge_options(options, before or usual)._replace(repository=repository)
        if options.downstream is not None:
            changed = self._subscriptions.get(changes) if changes else same
            unseen = _hidden_at_home(view.reader, changed.terms) if changed and at_home else []
            terms = terms._replace(
                downstream=canonical_downstream(view.reader, repository, (*options.downstream, *unseen))
            )
        if changes:
            return self._change(conversation, changes, terms, same)
        if len(held) >= _MOST and not same:
            raise Misuse(Phrase("a channel has at most {most} subscriptions", most=_MOST))
        self._announce(conversation, terms, before)
        kept = self._subscriptions.keep(terms, conversation.now, request.user)
        return self._confirm(conversation, kept, before)

    def _change(self, conversation: Conversation, changes: int, terms: Terms, same: Subscription | None) -> Outcome:
        """Change a subscription; `same` is the one that the channel has to the same repository and paths, if any."""
        request = conversation.request
        changed = self._subscriptions.get(changes)
        if not changed:
            raise Misuse(Phrase("This subscription was already cancelled"))
        self._members.check_insider(request, changed.terms.channel)
        if same and same.id != changed.id:
            raise Misuse(Phrase("this channel already has a subscription to this repository with these paths"))
        self._announce(conversation, terms, changed.terms)
        kept = self._subscriptions.change(changed.id, terms, request.user, conversation.now)
        if kept is None:
            self._announcements.drop(request)
            raise Misuse(
                Phrase("somebody else has just changed the channel's subscriptions; look at them and try again")
            )
        return self._confirm(conversation, kept, changed.terms)

    def _announce(self, conversation: Conversation, terms: Terms, before: Terms | None) -> None:
        if before:
            before = visible_terms(before, conversation.view.reader.within(before.channel))
        self._announcements.freeze_subscribed(conversation.request, terms, before)

    def _confirm(self, conversation: Conversation, kept: Subscription, before: Terms | None) -> Outcome:
        reader = conversation.view.reader
        seen = kept._replace(terms=visible_terms(kept.terms, reader))
        seen_before = visible_terms(before, reader) if before else None
        # A person's first subscription chooses their language, a channel's speaks that of the channel.
        language = kept.terms.language if conversation.request.direct else conversation.view.language
        shown = self._status.subscription_messages(language)
        conversation.show([shown.subscribed(seen, seen_before)])
        return self._announced(conversation)

    def show_all(self, conversation: Conversation, asked: Command | ButtonRequest) -> None:
        """List the channel's subscriptions, with buttons for those who may change them, or those everywhere."""
        if isinstance(asked, ListSubscriptions) and asked.everywhere:
            self._show_everywhere(conversation)
            return
        request = conversation.request
        offered = messages.OFFERED if self._members.may_change(request) else ()
        heading = messages.heading_of(request.channel, conversation.view.language)
        self._list(conversation, self._held(conversation), heading, offered)

    def show_status(self, conversation: Conversation, _: Command) -> None:
        """Show the status of the bot and of the channel's subscriptions."""
        channel = conversation.request.channel
        conversation.show([self._status.message(conversation.view, channel, self._held(conversation))])

    def _show_everywhere(self, conversation: Conversation) -> None:
        """Show an admin alone the subscriptions of public channels and of those that they are in, and those that ended by themselves."""
        view, user = conversation.view, conversation.request.user
        self._members.check_admin(user)
        found = [each for each in self._subscriptions.all() if view.reader.sees(each.terms.repository)]
        channels = dict.fromkeys(each.terms.channel for each in found)
        is_open = {each: self._members.may_look_into(each, user) for each in channels}
        held = [
            each._replace(terms=visible_terms(each.terms, view.reader)) for each in found if is_open[each.terms.channel]
        ]
        shown = self._status.subscription_messages(view.language)
        for message in shown.overview(held[:_MOST_LISTED], len(held), self._home.departed(view, user)):
            conversation.show_privately(message)

    def unsubscribe(self, conversation: Conversation, command: Unsubscribe) -> Outcome:
        """Cancel the only matching subscription; otherwise ask which one."""
        request, say, named = conversation.request, conversation.say, command.repository
        self._members.check_insider(request, request.channel)
        held = self._held(conversation)
        matching = [each for each in held if named is None or each.terms.repository.key == named.key]
        if len(matching) == 1:
            conversation.tell(escaped(self._cancelled(conversation, self._end(conversation, matching))))
        else:
            heading = say("Which subscription should I cancel?")
            if named and not matching:
                heading = say("This channel has no subscription to {what}", what=named)
            self._list(conversation, matching or held, heading, ("unsubscribe",))
        return self._announced(conversation)

    def cancel(self, conversation: Conversation, button: ButtonRequest) -> Outcome:
        """Cancel a button's subscription and confirm it where the button was: in a reply or in the App Home.

        Only members of its channel may do so.
        """
        found, ended = subscription_of(self._subscriptions, button), []
        if found:
            self._members.check_insider(button, found.terms.channel)
            ended = self._end(conversation, [found])
        text = self._cancelled(conversation, ended)
        if button.channel:
            conversation.tell(escaped(text))
        else:
            self._home.publish(conversation.view, button.user, text)
        return self._announced(conversation)

    def _end(self, conversation: Conversation, held: Sequence[Subscription]) -> list[Subscription]:
        """End subscriptions of one channel; return those that were active."""
        reader = conversation.view.reader
        seen = [visible_terms(each.terms, reader.within(each.terms.channel)) for each in held]
        self._announcements.freeze_ended(conversation.request, seen)
        return [each for each in held if self._subscriptions.end(each.id, conversation.now)]

    def _announced(self, conversation: Conversation) -> Outcome:
        """Return the outcome that sends the lines about a request's changes."""
        return Outcome(lines=self._announcements.frozen(conversation.request))

    def _held(self, conversation: Conversation) -> list[Subscription]:
        return visible_subscriptions(self._subscriptions, conversation.view, conversation.request.channel)

    def _list(
        self, conversation: Conversation, held: Sequence[Subscription], heading: str, offered: Sequence[str]
    ) -> None:
        shown = self._status.subscription_messages(conversation.view.language)
        conversation.show(shown.listed(held, heading, offered))

    def _cancelled(self, conversation: Conversation, ended: Sequence[Subscription]) -> str:
        view, say = conversation.view, conversation.say
        if not ended:
            return say("This subscription was already cancelled")
        seen = (visible_terms(each.terms, view.reader) for each in ended)
        what = ", ".join(messages.summarize(each, view.language) for each in seen)
        return say("🗑️ Unsubscribed: {what}", what=what)


def _merge_options(options: SubscriptionOptions, before: Terms) -> Terms:
    return before._replace(
        time=options.at or before.time,
        tz=options.tz or before.tz,
        language=options.language or before.language,
        least=options.least or before.least,
        watch=before.watch if options.watch is None else options.watch,
        weekly=before.weekly if options.weekly is None else None if options.weekly == "off" else options.weekly,
        releases=before.releases
        if options.releases is None
        else None
        if options.releases == "off"
        else options.releases,
        days=before.days if options.days is None else options.days,
        quiet=before.quiet if options.quiet is None else options.quiet == "on",
    )


def canonical_downstream(reader: Reader, upstream: Repository, named: Sequence[Repository]) -> tuple[Repository, ...]:
    """Return downstream repositories under GitHub's spelling, each once.

    Raise `Misuse` for the upstream repository itself, `UnknownRepository` or `UnknownBranch` for one that is not available to
    the reader's channel.
    """
    if any(each.full_name.lower() == upstream.full_name.lower() for each in named):
        raise Misuse(
            Phrase("{repository} is the upstream repository; name the one that depends on it", repository=upstream)
        )
    found = [reader.canonical_name(each) for each in named]
    return tuple({each.key: each for each in found}.values())


def _hidden_at_home(reader: Reader, terms: Terms) -> list[Repository]:
    """Return the downstream repositories of terms that the reader's channel may see, but that the App Home does not show."""
    return [each for each in terms.downstream if reader.within("").hides(each) and reader.sees(each)]


def _same(some: Terms, others: Terms) -> bool:
    return (some.repository.key, some.paths) == (others.repository.key, others.paths)


class SubscriptionForms:
    """Builds and parses the modal for a new subscription or that of a button."""

    def __init__(
        self, channels: Channels, subscriptions: Subscriptions, members: Members, defaults: SubscriptionDefaults
    ) -> None:
        self._channels = channels
        self._subscriptions = subscriptions
        self._members = members
        self._defaults = defaults

    def modal(self, button: ButtonRequest) -> dict[str, Any]:
        """Return the modal for a new subscription or a button's one, in the language of the channel where it is opened."""
        view, changes = self._channels.view(button.channel), None
        if button.action == "edit_subscription":
            try:
                changes = self._changeable(view, button)
            except Misuse as exc:
                return notice_modal(exc.translated(view.language), view.language)
        known = view.reader.known
        usual = self._defaults.terms(button.channel, known[0] if known else EXAMPLE, view, button.user)
        return subscription_modal(usual, view.language, button.channel, changes)

    def parse(self, body: Mapping[str, Any]) -> tuple[SubscriptionForm | None, dict[str, str]]:
        """Parse a submitted modal into a request, or None and the errors by field. What only GitHub or the store knows the reply tells."""
        view = self._channels.view(opened_in(body["view"]))
        form, errors = filled_in(body, view.language)
        if form is None:
            return None, errors
        try:
            self._members.check_invited(form)
            self._members.check_insider(form, form.channel)
        except DigestError as exc:
            field = "repository" if form.direct else "channel"  # which that of direct messages does not have
            return None, {field: exc.translated(view.language)[:LONGEST_ERROR]}
        return form, {}

    def _changeable(self, view: ChannelView, button: ButtonRequest) -> Subscription:
        """Return a button's subscription. Raise `Misuse` if it is not active, or the person may not change it."""
        found = subscription_of(self._subscriptions, button)
        if found is None or view.reader.hides(found.terms.repository):
            raise Misuse(Phrase("This subscription was already cancelled"))
        self._members.check_insider(button, found.terms.channel)
        return found._replace(terms=visible_terms(found.terms, view.reader))
