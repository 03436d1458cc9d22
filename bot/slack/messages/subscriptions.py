"""Messages about subscriptions: lists, and confirmations of changes."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from analysis.models import Language
from bot.services import schedule
from bot.slack.messages.blocks import (
    Block,
    Message,
    actions,
    button,
    confirmation,
    context,
    fallback,
    lines,
    ours,
    paragraph,
    prose,
    rich,
)
from bot.slack.messages.words import selection_words, slack_words
from bot.store import Subscription, Terms

OFFERED = ("edit", "unsubscribe")  # the buttons shown with a subscription


class Agreed(NamedTuple):
    """A stored subscription, and its previous terms if it was changed."""

    subscription: Subscription
    before: Terms | None


def differences(before: Terms, now: Terms, language: Language) -> list[str]:
    """Return the changes of a subscription's terms by field: `time 07:00 → 08:00`."""
    say, old, new = slack_words(language), _fields(before, language), _fields(now, language)
    return [f"{say.labels[f'field_{name}']} {old[name]} → {new[name]}" for name in old if old[name] != new[name]]


def _fields(terms: Terms, language: Language) -> dict[str, str]:
    say = slack_words(language)
    return {
        "repository": str(terms.repository),
        "time": f"{terms.time:%H:%M}",
        "tz": terms.tz.key,
        "language": terms.language,
        "least": say.labels[f"tier_{terms.least.value}"],
        "paths": ", ".join(terms.paths) or say.labels["no_paths"],
        "watch": ", ".join(terms.watch) or say.labels["no_watch"],
    }


def _changes(before: Terms, now: Terms, language: Language) -> str:
    say, rows = slack_words(language), differences(before, now, language)
    return say.label("changed", what=say.labels["and_changed"].join(rows)) if rows else say.labels["unchanged"]


def describe(subscription: Subscription, language: Language) -> str:
    """Return a subscription in a line: its repository and selection."""
    terms = subscription.terms
    chosen = selection_words(terms.least, terms.paths, terms.watch, language)
    return f"{terms.repository} ({chosen})" if chosen else str(terms.repository)


def heading_of(channel: str, language: Language) -> str:
    """Return the heading for the subscriptions of a channel or a direct message."""
    return slack_words(language).labels["subscriptions_direct" if channel.startswith("D") else "subscriptions"]


def subscribe_button(language: Language) -> Block:
    """Return the button that opens the modal for a new subscription."""
    return button(slack_words(language).labels["subscribe"], "open_subscribe", "new", style="primary")


class SubscriptionMessages:
    """Builder of messages about subscriptions, for a language, the current time (UTC) and the bot's name."""

    def __init__(self, language: Language, now: datetime, bot_name: str) -> None:
        self._language: Language = language
        self._now = now
        self._bot_name = bot_name

    def subscribed(self, agreed: Agreed) -> Message:
        """Return the confirmation of a subscription: its changes and next digest; in a channel the announcement has the terms."""
        subscription, before = agreed
        say = slack_words(self._language)
        began = "next_digest" if subscription.started_to else "first_digest"
        heading = rich(
            paragraph([*ours(f"{say.labels['subscribed']} ", "bold"), *prose(describe(subscription, self._language))])
        )
        changed = [context(_changes(before, subscription.terms, self._language))] if before else []
        terms, *buttons = self.row(subscription)
        shown = [terms, *buttons] if subscription.terms.channel.startswith("D") else buttons
        blocks = (heading, *shown, *changed, context(say.label(began, at=self.next_digest(subscription))))
        return Message(fallback(f"{say.labels['subscribed']} {subscription.terms.repository}"), blocks)

    def next_digest(self, subscription: Subscription) -> str:
        """Return the time of the next digest: `2026-02-06 (Fri) 09:00 Asia/Shanghai`."""
        tz = subscription.terms.tz
        at: datetime = schedule.next_digest(subscription, self._now).astimezone(tz)
        return f"{slack_words(self._language).dated(at.date())} {at:%H:%M} {tz.key}"

    def listed(self, held: Sequence[Subscription], heading: str, offered: Sequence[str] = OFFERED) -> list[Message]:
        """Return the list of subscriptions with the buttons in `offered`, ten per message."""
        say = slack_words(self._language)
        if not held:
            told = say.labels["no_subscriptions"]
            opening = [actions(subscribe_button(self._language))] if offered else []
            return [Message(fallback(told), (rich(paragraph(ours(told))), *opening))]
        pages = [held[start : start + 10] for start in range(0, len(held), 10)]
        return [
            Message(
                fallback(heading),
                (
                    rich(paragraph(ours(heading, "bold"))),
                    *(block for each in page for block in self.row(each, offered=offered)),
                ),
            )
            for page in pages
        ]

    def row(
        self, subscription: Subscription, *, channel: bool = False, offered: Sequence[str] = OFFERED
    ) -> list[Block]:
        """Return one subscription: repository, time, user, selection, delivery failure and buttons."""
        say, terms = slack_words(self._language), subscription.terms
        when = f"{terms.time:%H:%M} {terms.tz.key} · {terms.language}"
        title = [*prose(str(terms.repository), "bold"), *ours(f"  {when}")]
        if channel:
            title = [{"type": "channel", "channel_id": terms.channel}, *ours("  "), *title]
        if subscription.user:
            title += [*ours(f" · {say.labels['by']} "), {"type": "user", "user_id": subscription.user}]
        rows = [title]
        chosen = selection_words(terms.least, terms.paths, terms.watch, self._language)
        if chosen:
            rows.append(prose(chosen))
        if subscription.note:
            rows.append(prose(f"⚠️ {self.trouble(subscription)}"))
        value = str(subscription.id)
        made = {
            "edit": button(say.labels["edit"], "edit_subscription", value),
            "unsubscribe": button(
                say.labels["unsubscribe"],
                "unsubscribe",
                value,
                style="danger",
                confirm=self._confirmation(subscription),
            ),
        }
        return [rich(lines(rows)), *([actions(*(made[each] for each in offered))] if offered else [])]

    def _confirmation(self, subscription: Subscription) -> Block:
        """Return the confirmation dialog of the unsubscribe button."""
        say = slack_words(self._language)
        text = say.label("sure_text", what=describe(subscription, self._language))
        return confirmation(say.labels["sure"], text, say.labels["unsubscribe"], say.labels["keep"])

    def trouble(self, subscription: Subscription) -> str:
        """Return why a subscription's digest failed, or how to invite the bot if it was removed from the channel."""
        note = subscription.note
        return slack_words(self._language).label("invite", name=self._bot_name) if "not_in_channel" in note else note
