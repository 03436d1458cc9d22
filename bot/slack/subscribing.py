"""Subscriptions as people handle them: asked for in words or in a modal, listed, changed and ended by whoever is in the channel."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from analysis.errors import Misuse
from analysis.models import Importance, Repository
from bot.schedule import next_digest
from bot.slack.blocks import Block, Message, actions, button, context, fallback, ours, paragraph, prose, rich
from bot.slack.bot import Bot
from bot.slack.requests import Request, from_terms
from bot.slack.subscription_grammar import Wanted
from bot.slack.subscription_modal import filled_in, subscription_modal
from bot.slack.words import selection_words, slack_words
from bot.store import Subscription, Terms

_MOST = 20  # subscriptions a channel
_EXAMPLE = Repository(owner="vllm-project", name="vllm")


def subscribe(bot: Bot, request: Request, wanted: Wanted, changes: int | None = None) -> Subscription:
    """Subscribes the channel in which it was asked for, or changes a subscription; `Misuse` says why that cannot be."""
    say = slack_words(bot.language)
    if not bot.web.is_member(request.channel, request.user):
        raise Misuse(say.label("invite", name=bot.web.me["user"]))
    check_insider(bot, request, request.channel)
    repository = wanted.repository or _usual(bot)
    bot.reading.allow(repository)
    terms = Terms(
        request.channel,
        repository,
        wanted.at or bot.time,
        wanted.tz or bot.tz,
        wanted.language or bot.language,
        wanted.least or Importance.LOW,
        wanted.paths or (),
    )
    changed = bot.subscriptions.get(changes) if changes else None
    held = bot.subscriptions.of(request.channel)
    if changed:
        check_insider(bot, request, changed.terms.channel)
        if not any(_same(each.terms, terms) and each.id != changed.id for each in held):
            return bot.subscriptions.change(changed.id, terms, request.user)
        bot.subscriptions.end(changed.id)  # it becomes what another one is
    elif len(held) >= _MOST and not any(_same(each.terms, terms) for each in held):
        raise Misuse(say.label("too_many", most=_MOST))
    return bot.subscriptions.keep(terms, bot.now(), request.user)


def unsubscribe(bot: Bot, request: Request, repository: Repository | None) -> list[Subscription]:
    """Ends the channel's subscription if only one can be meant. Gives those that could be, the ended one alone if it was."""
    check_insider(bot, request, request.channel)
    held = [
        each
        for each in held_here(bot, request.channel)
        if repository is None or each.terms.repository.key == repository.key
    ]
    if len(held) == 1:
        bot.subscriptions.end(held[0].id)
    return held


def end(bot: Bot, request: Request, subscription_id: int) -> Subscription | None:
    """Ends a subscription by its button; only for somebody who is in its channel."""
    found = bot.subscriptions.get(subscription_id)
    if found is None:
        return None
    check_insider(bot, request, found.terms.channel)
    bot.subscriptions.end(subscription_id)
    return found


def check_insider(bot: Bot, request: Request, channel: str) -> None:
    """`Misuse` for somebody who is not in a channel, or of another organisation.

    Where a button was pressed says little: a public channel is seen, and its buttons pressed, by people who are not in it.
    """
    _check_person(bot, request)
    if not bot.web.has_member(channel, request.user):
        raise Misuse(slack_words(bot.language).labels["not_in_channel"])


def _check_person(bot: Bot, request: Request) -> None:
    of_another = request.team and request.team != bot.web.me["team_id"]
    if of_another or bot.web.is_stranger(request.user):
        raise Misuse(slack_words(bot.language).labels["outsider"])


def _usual(bot: Bot) -> Repository:
    known = bot.reading.known
    if not known:
        raise Misuse(slack_words(bot.language).labels["no_repository"])
    return known[0]


def _same(some: Terms, others: Terms) -> bool:
    return (some.repository.key, some.paths) == (others.repository.key, others.paths)


# The modal


def terms_view(bot: Bot, request: Request) -> dict[str, Any]:
    """The modal for a new subscription, or for the one that a button is of."""
    changes = _changeable(bot, request) if request.action == "edit_subscription" else None
    known = bot.within(request.channel).reading.known
    usual = Terms(request.channel, known[0] if known else _EXAMPLE, bot.time, bot.tz, bot.language)
    return subscription_modal(usual, bot.language, changes)


def _changeable(bot: Bot, request: Request) -> Subscription | None:
    """The subscription that a button is of, for somebody who may change it."""
    found = bot.subscriptions.get(int(request.text))
    try:
        if found:
            check_insider(bot, request, found.terms.channel)
    except Misuse:
        return None
    return None if found and bot.reading.within(request.channel).hides(found.terms.repository) else found


def terms_filled(bot: Bot, body: Mapping[str, Any]) -> tuple[Request | None, dict[str, str]]:
    """The request that a filled modal makes, or what is wrong with which of its fields."""
    filled, errors = filled_in(body["view"], bot.language)
    if filled is None:
        return None, errors
    kept = {"changes": filled.changes, "wanted": filled.wanted.model_dump(mode="json")}
    request = from_terms(body, filled.channel, json.dumps(kept))
    try:
        if not bot.web.is_member(filled.channel, request.user):
            return None, {"channel": slack_words(bot.language).label("invite", name=bot.web.me["user"])}
        check_insider(bot, request, filled.channel)
    except Misuse as exc:
        return None, {"channel": str(exc)}
    if filled.wanted.repository and not bot.within(filled.channel).reading.sees(filled.wanted.repository):
        return None, {"repository": slack_words(bot.language).labels["unknown_repository"]}
    return request, {}


# What is shown


def held_here(bot: Bot, channel: str) -> list[Subscription]:
    """A channel's subscriptions, but to what DIGEST_PRIVATE has kept from it since."""
    return [each for each in bot.subscriptions.of(channel) if not bot.reading.hides(each.terms.repository)]


def subscribed_message(bot: Bot, subscription: Subscription) -> Message:
    """What was agreed on, and when the first digest comes."""
    say = slack_words(bot.language)
    at = next_digest(subscription, bot.now()).astimezone(subscription.terms.tz)
    first = say.label("first_digest", at=f"{at:%Y-%m-%d %H:%M}")
    heading = rich(paragraph(ours(say.labels["subscribed"], "bold")))
    blocks = (heading, *row(bot, subscription), context(first))
    return Message(fallback(f"{say.labels['subscribed']} {subscription.terms.repository}"), blocks)


def list_messages(bot: Bot, held: Sequence[Subscription], heading: str) -> list[Message]:
    """Subscriptions with the buttons that change and end them; a message holds ten."""
    say = slack_words(bot.language)
    if not held:
        told = say.labels["no_subscriptions"]
        return [Message(fallback(told), (rich(paragraph(ours(told))), actions(subscribe_button(bot))))]
    pages = [held[start : start + 10] for start in range(0, len(held), 10)]
    return [
        Message(
            fallback(heading),
            (rich(paragraph(ours(heading, "bold"))), *(block for each in page for block in row(bot, each))),
        )
        for page in pages
    ]


def row(bot: Bot, subscription: Subscription, *, channel: bool = False) -> list[Block]:
    """One subscription: what, when, which of it, what is wrong with it, and its buttons."""
    say, terms = slack_words(bot.language), subscription.terms
    when = f"{terms.time:%H:%M} {terms.tz.key} · {terms.language}"
    title = [*prose(str(terms.repository), "bold"), *ours(f"  {when}")]
    if channel:
        title = [{"type": "channel", "channel_id": terms.channel}, *ours("  "), *title]
    rows = [paragraph(title)]
    chosen = selection_words(terms.least, terms.paths, bot.language)
    if chosen:
        rows.append(paragraph(prose(f"\n{chosen}")))
    if subscription.note:
        rows.append(paragraph(prose(f"\n⚠️ {subscription.note}")))
    value = str(subscription.id)
    return [
        rich(*rows),
        actions(
            button(say.labels["edit"], "edit_subscription", value),
            button(say.labels["unsubscribe"], "unsubscribe", value, style="danger"),
        ),
    ]


def subscribe_button(bot: Bot) -> Block:
    """The button that opens the modal for a new subscription."""
    return button(slack_words(bot.language).labels["subscribe"], "open_subscribe", "new", style="primary")


def status_message(bot: Bot, channel: str) -> Message:
    """How the bot is: what it analyses with, what that cost today, what is due here and what could not be delivered."""
    say = slack_words(bot.language)
    rows = status_rows(bot)
    for each in held_here(bot, channel):
        at: datetime = next_digest(each, bot.now()).astimezone(each.terms.tz)
        rows.append(f"{each.terms.repository}: {say.label('next_digest', at=f'{at:%Y-%m-%d %H:%M %Z}')}")
        if each.note:
            rows.append(f"⚠️ {each.terms.repository}: {each.note}")
    return Message(
        fallback(say.labels["status"]),
        (rich(paragraph(ours(say.labels["status"], "bold"))), rich(*(paragraph(prose(f"{each}\n")) for each in rows))),
    )


def status_rows(bot: Bot) -> list[str]:
    """The same of the whole bot, naming neither channels nor repositories."""
    say, desk = slack_words(bot.language), bot.reading.desk
    model = desk.modelling.model.name if desk.modelling else say.labels["by_rules_only"]
    held = len(bot.mail.held())
    rows = [say.label("status_model", model=model)]
    if desk.modelling:
        rows.append(say.label("status_spent", usd=f"{desk.store.spent(bot.now().date()):.2f}"))
    rows.append(say.label("status_subscriptions", count=len(bot.subscriptions.all())))
    if held:
        rows.append(say.label("status_held", count=held))
    return rows
