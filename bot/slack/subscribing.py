"""Subscriptions as people handle them: asked for in words or in a modal, listed, changed and ended by whoever is in the channel."""

import json
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any, NamedTuple

from analysis.errors import DigestError, Misuse, UnknownBranch, UnknownRepository
from analysis.models import Language, Repository
from bot.reading import Reading
from bot.schedule import next_digest
from bot.slack.blocks import Block, Message, actions, button, context, fallback, ours, paragraph, prose, rich
from bot.slack.bot import Bot
from bot.slack.requests import Request, from_terms
from bot.slack.subscription_grammar import Wanted
from bot.slack.subscription_modal import Filled, filled_in, notice_modal, subscription_modal
from bot.slack.words import selection_words, slack_words
from bot.store import Subscription, Terms

_MOST = 20  # subscriptions a channel
_PATIENCE = 1.5  # seconds that a form waits for GitHub; Slack gives up after three
OFFERED = ("edit", "unsubscribe")  # the buttons of a subscription
_EXAMPLE = Repository(owner="vllm-project", name="vllm")


class Agreed(NamedTuple):
    """A subscription, and the terms that it had before if it was changed."""

    subscription: Subscription
    before: Terms | None


def subscribe(bot: Bot, request: Request, wanted: Wanted, changes: int | None = None) -> Agreed:
    """Subscribes the channel in which it was asked for, or changes a subscription; `Misuse` says why that cannot be.

    What is not said stays as it was, or is as usual.
    """
    say = slack_words(bot.language)
    if not bot.web.is_member(request.channel, request.user):
        raise Misuse(say.label("invite", name=bot.web.me["user"]))
    check_insider(bot, request, request.channel)
    try:
        repository = bot.reading.spelled(wanted.repository or _usual(bot))
    except UnknownBranch as exc:
        raise Misuse(say.label("unknown_branch", what=wanted.repository)) from exc
    usual = Terms(request.channel, repository, bot.time, bot.tz, bot.language, paths=wanted.paths or ())
    held = bot.subscriptions.of(request.channel)
    same = next((each for each in held if _same(each.terms, usual)), None)
    terms = _filled(wanted, same.terms if same else usual)._replace(repository=repository)
    changed = bot.subscriptions.get(changes) if changes else None
    if changes and not changed:
        raise Misuse(say.labels["already_ended"])
    if changed:
        check_insider(bot, request, changed.terms.channel)
        if same and same.id != changed.id:
            raise Misuse(say.labels["another_is_so"])
        return Agreed(bot.subscriptions.change(changed.id, terms, request.user), changed.terms)
    if len(held) >= _MOST and not same:
        raise Misuse(say.label("too_many", most=_MOST))
    return Agreed(bot.subscriptions.keep(terms, bot.now(), request.user), same.terms if same else None)


def _filled(wanted: Wanted, before: Terms) -> Terms:
    return before._replace(
        time=wanted.at or before.time,
        tz=wanted.tz or before.tz,
        language=wanted.language or before.language,
        least=wanted.least or before.least,
        watch=before.watch if wanted.watch is None else wanted.watch,
    )


def unsubscribe(bot: Bot, request: Request, repository: Repository | None) -> list[Subscription]:
    """Ends the channel's subscription if only one can be meant. Gives those that could be, the ended one alone if it was."""
    check_insider(bot, request, request.channel)
    held = [
        each
        for each in held_here(bot, request.channel)
        if repository is None or each.terms.repository.key == repository.key
    ]
    if len(held) == 1:
        bot.subscriptions.end(held[0].id, bot.now())
    return held


def unsubscribe_all(bot: Bot, request: Request) -> list[Subscription]:
    """Ends every subscription of the channel, and gives them."""
    check_insider(bot, request, request.channel)
    return [each for each in held_here(bot, request.channel) if bot.subscriptions.end(each.id, bot.now())]


def end(bot: Bot, request: Request) -> Subscription | None:
    """Ends the subscription that a button is of; only for somebody who is in its channel. None where it ended before."""
    found = _pressed(bot, request)
    if found is None:
        return None
    check_insider(bot, request, found.terms.channel)
    return found if bot.subscriptions.end(found.id, bot.now()) else None


def _pressed(bot: Bot, request: Request) -> Subscription | None:
    """The subscription that a button is of, if it still holds."""
    return bot.subscriptions.get(int(request.text)) if re.fullmatch(r"\d{1,18}", request.text, re.ASCII) else None


def check_insider(bot: Bot, request: Request, channel: str) -> None:
    """`Misuse` for somebody who is not in a channel, or of another organisation.

    Where a button was pressed says little: a public channel is seen, and its buttons pressed, by people who are not in it.
    """
    _check_person(bot, request)
    if not bot.web.has_member(channel, request.user):
        raise Misuse(slack_words(bot.language).labels["not_in_channel"])


def may_change(bot: Bot, request: Request) -> bool:
    """Whether somebody may change the subscriptions of the channel in which they asked."""
    try:
        check_insider(bot, request, request.channel)
    except Misuse:
        return False
    return True


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
    changes = None
    if request.action == "edit_subscription":
        try:
            changes = _changeable(bot, request)
        except Misuse as exc:
            return notice_modal(str(exc), bot.language)
    known = bot.within(request.channel).reading.known
    usual = Terms(request.channel, known[0] if known else _EXAMPLE, bot.time, bot.tz, bot.language)
    return subscription_modal(usual, bot.language, changes)


def _changeable(bot: Bot, request: Request) -> Subscription:
    """The subscription that a button is of; `Misuse` where it ended, or where the person may not change it."""
    found = _pressed(bot, request)
    if found is None or bot.reading.within(request.channel).hides(found.terms.repository):
        raise Misuse(slack_words(bot.language).labels["already_ended"])
    check_insider(bot, request, found.terms.channel)
    return found


def terms_filled(bot: Bot, body: Mapping[str, Any]) -> tuple[Request | None, dict[str, str]]:
    """The request that a filled modal makes, or what is wrong with which of its fields."""
    filled, errors = filled_in(body["view"], bot.language)
    if filled is None:
        return None, errors
    if filled.changes and not bot.subscriptions.get(filled.changes):
        return None, {"repository": slack_words(bot.language).labels["already_ended"]}
    kept = {"changes": filled.changes, "wanted": filled.wanted.model_dump(mode="json")}
    request = from_terms(body, filled.channel, json.dumps(kept))
    try:
        if not bot.web.is_member(filled.channel, request.user):
            return None, {"channel": slack_words(bot.language).label("invite", name=bot.web.me["user"])}
        check_insider(bot, request, filled.channel)
    except Misuse as exc:
        return None, {"channel": str(exc)}
    errors = _wrong(bot, filled)
    return (None if errors else request), errors


def _wrong(bot: Bot, filled: Filled) -> dict[str, str]:
    """What GitHub and the channel's other subscriptions have against what was filled in."""
    repository, paths = filled.wanted.repository, filled.wanted.paths
    if repository is None:
        return {}
    trouble = _unknown(bot, bot.reading.within(filled.channel), repository)
    if trouble:
        return {"repository": trouble}
    others = [each.terms for each in bot.subscriptions.of(filled.channel) if each.id != filled.changes]
    if filled.changes and any((each.repository.key, each.paths) == (repository.key, paths) for each in others):
        return {"paths": slack_words(bot.language).labels["another_is_so"]}
    return {}


def _unknown(bot: Bot, reading: Reading, repository: Repository) -> str:
    """That there is no such repository or branch, if GitHub says so in the time that a form has; else the answer to it will."""
    say = slack_words(bot.language)
    asking = ThreadPoolExecutor(1)
    asked = asking.submit(reading.spelled, repository)
    asking.shutdown(wait=False)
    try:
        asked.result(_PATIENCE)
    except UnknownBranch:
        return say.label("unknown_branch", what=repository)
    except UnknownRepository:
        return say.labels["unknown_repository"]
    except (TimeoutError, DigestError):
        return ""
    return ""


# What is shown


def held_here(bot: Bot, channel: str) -> list[Subscription]:
    """A channel's subscriptions, but to what DIGEST_PRIVATE has kept from it since."""
    return [each for each in bot.subscriptions.of(channel) if not bot.reading.hides(each.terms.repository)]


def _changes(before: Terms, now: Terms, language: Language) -> str:
    """What became of a subscription's terms: `07:00 → 08:00`."""
    say = slack_words(language)

    def told(terms: Terms) -> list[str]:
        about = [str(terms.repository), f"{terms.time:%H:%M}", terms.tz.key, terms.language]
        return [*about, say.labels[f"tier_{terms.least.value}"], ", ".join(terms.paths) or "–"]

    rows = [f"{old} → {new}" for old, new in zip(told(before), told(now), strict=True) if old != new]
    return say.label("changed", what="; ".join(rows)) if rows else say.labels["unchanged"]


def subscribed_message(bot: Bot, agreed: Agreed) -> Message:
    """What was agreed on, what that changes, and when the next digest comes."""
    subscription, before = agreed
    say = slack_words(bot.language)
    began = "next_digest" if subscription.started_to else "first_digest"
    heading = rich(paragraph(ours(say.labels["subscribed"], "bold")))
    changed = [context(_changes(before, subscription.terms, bot.language))] if before else []
    blocks = (heading, *row(bot, subscription), *changed, context(say.label(began, at=_next(bot, subscription))))
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
    rows = [paragraph(title)]
    chosen = selection_words(terms.least, terms.paths, terms.watch, bot.language)
    if chosen:
        rows.append(paragraph(prose(f"\n{chosen}")))
    if subscription.note:
        rows.append(paragraph(prose(f"\n⚠️ {_trouble(bot, subscription)}")))
    value = str(subscription.id)
    made = {
        "edit": button(say.labels["edit"], "edit_subscription", value),
        "unsubscribe": button(say.labels["unsubscribe"], "unsubscribe", value, style="danger"),
    }
    return [rich(*rows), *([actions(*(made[each] for each in offered))] if offered else [])]


def subscribe_button(bot: Bot) -> Block:
    """The button that opens the modal for a new subscription."""
    return button(slack_words(bot.language).labels["subscribe"], "open_subscribe", "new", style="primary")


def status_message(bot: Bot, channel: str) -> Message:
    """How the bot is: what it analyses with, what that cost today, what is due here and what could not be delivered."""
    say = slack_words(bot.language)
    held = held_here(bot, channel)
    rows = [*status_rows(bot), say.label("status_subscriptions", count=len(held))]
    for each in held:
        rows.append(f"{named(bot, each)}: {say.label('next_digest', at=_next(bot, each))}")
        if each.note:
            rows.append(f"⚠️ {each.terms.repository}: {_trouble(bot, each)}")
    return Message(
        fallback(say.labels["status"]),
        (rich(paragraph(ours(say.labels["status"], "bold"))), rich(*(paragraph(prose(f"{each}\n")) for each in rows))),
    )


def _trouble(bot: Bot, subscription: Subscription) -> str:
    """What is wrong with a subscription, and what to do where the bot was sent away."""
    note = subscription.note
    return slack_words(bot.language).label("invite", name=bot.web.me["user"]) if "not_in_channel" in note else note


def status_rows(bot: Bot) -> list[str]:
    """The same of the whole bot, naming neither channels nor repositories."""
    say, desk = slack_words(bot.language), bot.reading.desk
    model = desk.modelling.model.name if desk.modelling else say.labels["by_rules_only"]
    held = len(bot.mail.held())
    rows = [say.label("status_model", model=model)]
    if desk.modelling:
        rows.append(say.label("status_spent", usd=f"{desk.store.spent(bot.now().date()):.2f}"))
    if held:
        rows.append(say.label("status_held", count=held))
    return rows
