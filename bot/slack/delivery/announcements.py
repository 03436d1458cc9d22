"""Announcements of subscription changes, one line in the channel: a change concerns more people than its author.

The line is frozen before the change is made, under the request's key, and sent by the flow once the change is made.
"""

from collections.abc import Sequence

from analysis.locale import catalogue, mark
from analysis.models import Language
from bot.slack.bot import Bot
from bot.slack.delivery.steps import content
from bot.slack.messages.blocks import Message, fallback, paragraph, prose, rich
from bot.slack.messages.subscriptions import describe_selection, differences
from bot.slack.parsing.requests import Request
from bot.store import Draft, Terms


def tell_subscribed(bot: Bot, request: Request, terms: Terms, before: Terms | None) -> None:
    """Freeze the line about a new, changed or moved subscription, before the change; an unchanged one needs none."""
    language = _language(bot, terms)
    if before and before.channel != terms.channel:
        tell_ended(bot, request, [before])
        before = None
    if before is None:
        at = f"{terms.time:%H:%M} {terms.tz.key}"
        what = _summary(terms, language)
        _freeze_line(
            bot,
            request,
            terms.channel,
            language,
            mark("📬 {who} subscribed this channel to {what}: daily {at}, {lang}"),
            what=what,
            at=at,
            lang=terms.language,
        )
    elif rows := differences(before, terms, language):
        _freeze_line(
            bot,
            request,
            terms.channel,
            language,
            mark("📬 {who} changed this channel's subscription to {repository}: {what}"),
            repository=before.repository,
            what=catalogue(language)("; ").join(rows),
        )


def tell_ended(bot: Bot, request: Request, ended: Sequence[Terms]) -> None:
    """Freeze the line about the end of subscriptions of one channel, before they end."""
    if ended:
        language = _language(bot, ended[0])
        what = ", ".join(_summary(each, language) for each in ended)
        _freeze_line(
            bot,
            request,
            ended[0].channel,
            language,
            mark("📭 {who} ended this channel's subscription to {what}"),
            what=what,
        )


def to_be_told(bot: Bot, request: Request) -> tuple[str, ...]:
    """Return the outbox keys of the lines about a request's changes."""
    return tuple(each.key for each in bot.mail.letters(_prefix(request)))


def _freeze_line(bot: Bot, request: Request, channel: str, language: Language, message: str, **values: object) -> None:
    if channel.startswith("D"):
        return  # nobody else reads it
    say = catalogue(language)
    # By name: a mention would notify the person who made the change.
    name = bot.web.name_of(request.user) or say("Somebody")
    text = say(message, who=name, **values)
    line = Message(fallback(text), (rich(paragraph(prose(text))),))
    bot.outbox.freeze([Draft(f"{_prefix(request)}{channel}:000", channel, content(line))])


def _prefix(request: Request) -> str:
    return f"change:{request.key}:"


def _language(bot: Bot, terms: Terms) -> Language:
    """Return a channel's language, which its first subscription sets."""
    held = bot.subscriptions.of(terms.channel)
    return held[0].terms.language if held else terms.language


def _summary(terms: Terms, language: Language) -> str:
    chosen = describe_selection(terms.least, terms.paths, terms.watch, language)
    return f"{terms.repository} ({chosen})" if chosen else str(terms.repository)
