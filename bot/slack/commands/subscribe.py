"""Management of subscriptions by the members of a channel, by command or modal: create, list, change, cancel."""

import json
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from analysis.errors import DigestError, Misuse, UnknownRepository
from analysis.locale import catalogue
from analysis.models import Repository
from bot.services.reader import Reader
from bot.slack.bot import Bot
from bot.slack.delivery import announcements
from bot.slack.messages.subscription_modal import (
    LONGEST_ERROR,
    Filled,
    filled_in,
    notice_modal,
    opened_in,
    subscription_modal,
)
from bot.slack.messages.subscriptions import Agreed
from bot.slack.parsing.requests import Request, from_terms
from bot.slack.parsing.subscription_parser import SubscriptionOptions
from bot.slack.web import SlackFailure
from bot.store import Subscription, Terms

_MOST = 20  # subscriptions per channel
_PATIENCE = 1.5  # seconds that a submitted form waits for GitHub; Slack's limit is three
_EXAMPLE = Repository(owner="vllm-project", name="vllm")


def subscribe(bot: Bot, request: Request, wanted: SubscriptionOptions, changes: int | None = None) -> Agreed:
    """Subscribe the request's channel, or change the subscription with the id `changes`. Raise `Misuse` if not possible.

    Options not given keep their value, or get the default.
    """
    say = catalogue(bot.language)
    if not bot.web.is_member(request.channel, request.user):
        raise Misuse(say("I am not in this channel; invite me first: `/invite @{name}`", name=bot.web.me["user"]))
    check_insider(bot, request, request.channel)
    repository = bot.reading.canonical_name(wanted.repository or _default_repository(bot))
    usual = Terms(request.channel, repository, bot.time, bot.tz, bot.language, paths=wanted.paths or ())
    held = bot.subscriptions.of(request.channel)
    same = next((each for each in held if _same(each.terms, usual)), None)
    terms = _merge_options(wanted, same.terms if same else usual)._replace(repository=repository)
    changed = bot.subscriptions.get(changes) if changes else None
    if changes and not changed:
        raise Misuse(say("This subscription has ended already"))
    if changed:
        check_insider(bot, request, changed.terms.channel)
        if same and same.id != changed.id:
            raise Misuse(say("the channel has another subscription to this repository with these paths"))
        announcements.tell_subscribed(bot, request, terms, changed.terms)
        return Agreed(bot.subscriptions.change(changed.id, terms, request.user), changed.terms)
    if len(held) >= _MOST and not same:
        raise Misuse(say("a channel has at most {most} subscriptions", most=_MOST))
    announcements.tell_subscribed(bot, request, terms, same.terms if same else None)
    return Agreed(bot.subscriptions.keep(terms, bot.now(), request.user), same.terms if same else None)


def _merge_options(wanted: SubscriptionOptions, before: Terms) -> Terms:
    return before._replace(
        time=wanted.at or before.time,
        tz=wanted.tz or before.tz,
        language=wanted.language or before.language,
        least=wanted.least or before.least,
        watch=before.watch if wanted.watch is None else wanted.watch,
    )


def unsubscribe(bot: Bot, request: Request, repository: Repository | None) -> list[Subscription]:
    """Cancel the channel's subscription if exactly one matches. Return all that match."""
    check_insider(bot, request, request.channel)
    held = [
        each
        for each in held_here(bot, request.channel)
        if repository is None or each.terms.repository.key == repository.key
    ]
    if len(held) == 1:
        announcements.tell_ended(bot, request, [held[0].terms])
        bot.subscriptions.end(held[0].id, bot.now())
    return held


def unsubscribe_all(bot: Bot, request: Request) -> list[Subscription]:
    """Cancel and return every subscription of the channel."""
    check_insider(bot, request, request.channel)
    held = held_here(bot, request.channel)
    announcements.tell_ended(bot, request, [each.terms for each in held])
    return [each for each in held if bot.subscriptions.end(each.id, bot.now())]


def end(bot: Bot, request: Request) -> Subscription | None:
    """Cancel and return a button's subscription, for members of its channel only; None if it was not active."""
    found = _subscription_of_button(bot, request)
    if found is None:
        return None
    check_insider(bot, request, found.terms.channel)
    announcements.tell_ended(bot, request, [found.terms])
    return found if bot.subscriptions.end(found.id, bot.now()) else None


def _subscription_of_button(bot: Bot, request: Request) -> Subscription | None:
    """Return a button's subscription, or None if it is not active."""
    return bot.subscriptions.get(int(request.text)) if re.fullmatch(r"\d{1,18}", request.text, re.ASCII) else None


def check_insider(bot: Bot, request: Request, channel: str) -> None:
    """Raise `Misuse` if the person is not a member of a channel, or belongs to another organisation.

    The place of a button does not prove membership: people outside a public channel can see and click its buttons.
    """
    _check_person(bot, request)
    if not bot.web.has_member(channel, request.user):
        raise Misuse(catalogue(bot.language)("only members of a channel change its subscriptions"))


def may_change(bot: Bot, request: Request) -> bool:
    """Return whether the person may change the subscriptions of the request's channel."""
    try:
        check_insider(bot, request, request.channel)
    except Misuse:
        return False
    return True


def may_post(bot: Bot, request: Request) -> bool:
    """Return whether to offer the person a button that posts to the request's channel.

    Also True if the bot is not in the channel: the button then explains how to invite it.
    """
    try:
        _check_person(bot, request)
        return not bot.web.is_member(request.channel, request.user) or bot.web.has_member(request.channel, request.user)
    except Misuse:
        return False
    except SlackFailure:
        return True  # unknown for now; the button checks again


def _check_person(bot: Bot, request: Request) -> None:
    of_another = request.team and request.team != bot.web.me["team_id"]
    if of_another or bot.web.is_stranger(request.user):
        raise Misuse(catalogue(bot.language)("people of other organisations cannot subscribe a channel or post to it"))


def _default_repository(bot: Bot) -> Repository:
    known = bot.reading.known
    if not known:
        raise Misuse(catalogue(bot.language)("there is no repository to be seen here"))
    return known[0]


def _same(some: Terms, others: Terms) -> bool:
    return (some.repository.key, some.paths) == (others.repository.key, others.paths)


# The modal


def terms_view(bot: Bot, request: Request) -> dict[str, Any]:
    """Return the modal for a new subscription or a button's one, in the language of the channel where it is opened."""
    bot, changes = bot.within(request.channel), None
    if request.action == "edit_subscription":
        try:
            changes = _changeable(bot, request)
        except Misuse as exc:
            return notice_modal(exc.translated(bot.language), bot.language)
    known = bot.reading.known
    usual = Terms(request.channel, known[0] if known else _EXAMPLE, bot.time, bot.tz, bot.language)
    return subscription_modal(usual, bot.language, request.channel, changes)


def _changeable(bot: Bot, request: Request) -> Subscription:
    """Return a button's subscription. Raise `Misuse` if it is not active, or the person may not change it."""
    found = _subscription_of_button(bot, request)
    if found is None or bot.reading.within(request.channel).hides(found.terms.repository):
        raise Misuse(catalogue(bot.language)("This subscription has ended already"))
    check_insider(bot, request, found.terms.channel)
    return found


def terms_filled(bot: Bot, body: Mapping[str, Any]) -> tuple[Request | None, dict[str, str]]:
    """Parse a submitted modal into a request, or None and the errors by field."""
    where = opened_in(body["view"])
    bot = bot.within(where)
    filled, errors = filled_in(body["view"], bot.language)
    if filled is None:
        return None, errors
    if filled.changes and not bot.subscriptions.get(filled.changes):
        return None, {"repository": catalogue(bot.language)("This subscription has ended already")}
    kept = {"changes": filled.changes, "wanted": filled.wanted.model_dump(mode="json")}
    request = from_terms(body, filled.channel, json.dumps(kept), at_home=not where)
    try:
        if not bot.web.is_member(filled.channel, request.user):
            return None, {
                "channel": catalogue(bot.language)(
                    "I am not in this channel; invite me first: `/invite @{name}`", name=bot.web.me["user"]
                )
            }
        check_insider(bot, request, filled.channel)
    except DigestError as exc:
        return None, {"channel": exc.translated(bot.language)[:LONGEST_ERROR]}
    errors = _validation_errors(bot, filled)
    return (None if errors else request), errors


def _validation_errors(bot: Bot, filled: Filled) -> dict[str, str]:
    """Return errors by field: an unknown repository, or a conflict with another subscription of the channel."""
    repository, paths = filled.wanted.repository, filled.wanted.paths
    if repository is None:
        return {}
    trouble = _repository_error(bot, bot.reading.within(filled.channel), repository)
    if trouble:
        return {"repository": trouble}
    others = [each.terms for each in bot.subscriptions.of(filled.channel) if each.id != filled.changes]
    if filled.changes and any((each.repository.key, each.paths) == (repository.key, paths) for each in others):
        return {
            "paths": catalogue(bot.language)("the channel has another subscription to this repository with these paths")
        }
    return {}


def _repository_error(bot: Bot, reading: Reader, repository: Repository) -> str:
    """Return the error for an unknown repository or branch; empty if GitHub does not answer in time, so that the reply reports it."""
    asking = ThreadPoolExecutor(1)
    asked = asking.submit(reading.canonical_name, repository)
    asking.shutdown(wait=False)
    try:
        asked.result(_PATIENCE)
    except UnknownRepository as exc:
        return exc.translated(bot.language)[:LONGEST_ERROR]
    except (TimeoutError, DigestError):
        return ""
    return ""


# Lists


def held_here(bot: Bot, channel: str) -> list[Subscription]:
    """Return a channel's subscriptions, without repositories that DIGEST_PRIVATE has since hidden from it."""
    return [each for each in bot.subscriptions.of(channel) if not bot.reading.hides(each.terms.repository)]
