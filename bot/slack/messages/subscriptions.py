"""Subscriptions as they are shown: in a list, when they were agreed on, and what the bot says of its state."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from analysis.models import Language
from analysis.phrases import told
from bot.services.analyst import Modelling
from bot.services.schedule import next_digest
from bot.slack.bot import Bot
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

OFFERED = ("edit", "unsubscribe")  # the buttons of a subscription


class Agreed(NamedTuple):
    """A subscription, and the terms that it had before if it was changed."""

    subscription: Subscription
    before: Terms | None


def differences(before: Terms, now: Terms, language: Language) -> list[str]:
    """What became of a subscription's terms, field by field: `time 07:00 → 08:00`."""
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


def subscribed_message(bot: Bot, agreed: Agreed) -> Message:
    """What was agreed on, what that changes, and when the next digest comes. In a channel everybody reads the terms."""
    subscription, before = agreed
    say = slack_words(bot.language)
    began = "next_digest" if subscription.started_to else "first_digest"
    heading = rich(paragraph([*ours(f"{say.labels['subscribed']} ", "bold"), *prose(named(bot, subscription))]))
    changed = [context(_changes(before, subscription.terms, bot.language))] if before else []
    terms, *buttons = row(bot, subscription)
    shown = [terms, *buttons] if subscription.terms.channel.startswith("D") else buttons
    blocks = (heading, *shown, *changed, context(say.label(began, at=_next(bot, subscription))))
    return Message(fallback(f"{say.labels['subscribed']} {subscription.terms.repository}"), blocks)


def _next(bot: Bot, subscription: Subscription) -> str:
    """When the next digest comes: `2026-02-06 (Fri) 09:00 Asia/Shanghai`."""
    tz = subscription.terms.tz
    at: datetime = next_digest(subscription, bot.now()).astimezone(tz)
    return f"{slack_words(bot.language).dated(at.date())} {at:%H:%M} {tz.key}"


def named(bot: Bot, subscription: Subscription) -> str:
    """What is said of a subscription in a line: its repository, and what it selects."""
    terms = subscription.terms
    chosen = selection_words(terms.least, terms.paths, terms.watch, bot.language)
    return f"{terms.repository} ({chosen})" if chosen else str(terms.repository)


def heading_of(bot: Bot, channel: str) -> str:
    """What a list of a channel's subscriptions, or a conversation's, is called."""
    return slack_words(bot.language).labels["subscriptions_direct" if channel.startswith("D") else "subscriptions"]


def list_messages(
    bot: Bot, held: Sequence[Subscription], heading: str, offered: Sequence[str] = OFFERED
) -> list[Message]:
    """Subscriptions with the buttons that are offered; a message holds ten."""
    say = slack_words(bot.language)
    if not held:
        told = say.labels["no_subscriptions"]
        opening = [actions(subscribe_button(bot))] if offered else []
        return [Message(fallback(told), (rich(paragraph(ours(told))), *opening))]
    pages = [held[start : start + 10] for start in range(0, len(held), 10)]
    return [
        Message(
            fallback(heading),
            (
                rich(paragraph(ours(heading, "bold"))),
                *(block for each in page for block in row(bot, each, offered=offered)),
            ),
        )
        for page in pages
    ]


def row(
    bot: Bot, subscription: Subscription, *, channel: bool = False, offered: Sequence[str] = OFFERED
) -> list[Block]:
    """One subscription: what, when, by whom, which of it, what is wrong with it, and its buttons."""
    say, terms = slack_words(bot.language), subscription.terms
    when = f"{terms.time:%H:%M} {terms.tz.key} · {terms.language}"
    title = [*prose(str(terms.repository), "bold"), *ours(f"  {when}")]
    if channel:
        title = [{"type": "channel", "channel_id": terms.channel}, *ours("  "), *title]
    if subscription.user:
        title += [*ours(f" · {say.labels['by']} "), {"type": "user", "user_id": subscription.user}]
    rows = [title]
    chosen = selection_words(terms.least, terms.paths, terms.watch, bot.language)
    if chosen:
        rows.append(prose(chosen))
    if subscription.note:
        rows.append(prose(f"⚠️ {_trouble(bot, subscription)}"))
    value = str(subscription.id)
    made = {
        "edit": button(say.labels["edit"], "edit_subscription", value),
        "unsubscribe": button(
            say.labels["unsubscribe"], "unsubscribe", value, style="danger", confirm=_confirmation(bot, subscription)
        ),
    }
    return [rich(lines(rows)), *([actions(*(made[each] for each in offered))] if offered else [])]


def _confirmation(bot: Bot, subscription: Subscription) -> Block:
    """Asks before a subscription is ended by its button."""
    say = slack_words(bot.language)
    text = say.label("sure_text", what=named(bot, subscription))
    return confirmation(say.labels["sure"], text, say.labels["unsubscribe"], say.labels["keep"])


def subscribe_button(bot: Bot) -> Block:
    """The button that opens the modal for a new subscription."""
    return button(slack_words(bot.language).labels["subscribe"], "open_subscribe", "new", style="primary")


def status_message(bot: Bot, held: Sequence[Subscription]) -> Message:
    """How the bot is: what it analyses with, what that cost today, what is due of `held` and what could not be delivered."""
    say = slack_words(bot.language)
    rows = [*status_rows(bot), say.label("status_subscriptions", count=len(held))]
    for each in held:
        rows.append(f"{named(bot, each)}: {say.label('next_digest', at=_next(bot, each))}")
        if each.note:
            rows.append(f"⚠️ {each.terms.repository}: {_trouble(bot, each)}")
    return Message(
        fallback(say.labels["status"]),
        (rich(paragraph(ours(say.labels["status"], "bold"))), rich(lines(map(prose, rows)))),
    )


def _trouble(bot: Bot, subscription: Subscription) -> str:
    """What is wrong with a subscription, and what to do where the bot was sent away."""
    note = subscription.note
    return slack_words(bot.language).label("invite", name=bot.web.me["user"]) if "not_in_channel" in note else note


def _failing(bot: Bot, modelling: Modelling) -> list[str]:
    """That the model gave nothing when it was last asked. Nobody asks it for a look at the status."""
    trouble, say = modelling.attempts.trouble, slack_words(bot.language)
    if trouble is None:
        return []
    minutes = int((bot.now() - trouble.at).total_seconds() // 60)
    why = told(trouble.why, bot.language)
    return [say.label("status_failing", model=modelling.model.name, minutes=minutes, why=why)]


def status_rows(bot: Bot) -> list[str]:
    """The same of the whole bot, naming neither channels nor repositories."""
    say, desk = slack_words(bot.language), bot.reading.desk
    model = desk.modelling.model.name if desk.modelling else say.labels["by_rules_only"]
    held = len(bot.mail.held())
    rows = [say.label("status_model", model=model)]
    if desk.modelling:
        rows.append(say.label("status_spent", usd=f"{desk.store.spent(bot.now().date()):.2f}"))
        rows += _failing(bot, desk.modelling)
    if held:
        rows.append(say.label("status_held", count=held))
    return rows
