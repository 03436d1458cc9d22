"""The App Home: yesterday's digests, subscriptions of the person's channels, the bot's status, held messages for operators."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from analysis.locale import catalogue
from analysis.report import counts
from bot.slack.bot import Bot
from bot.slack.commands.status import status_rows, subscription_messages
from bot.slack.messages import subscriptions
from bot.slack.messages.blocks import (
    Block,
    actions,
    button,
    context,
    escaped,
    header,
    lines,
    ours,
    paragraph,
    prose,
    rich,
    section,
)
from bot.store import OutboxMessage, Subscription

_MOST_HELD = 5
_MOST_SUBSCRIPTIONS = 25  # two blocks each; a view has room for a hundred
_MOST_DIGESTS = 15


def home_view(bot: Bot, user: str, told: str = "") -> dict[str, Any]:
    """Return the App Home of `user`, with the notice `told` on top. Private repositories are omitted: it belongs to no channel."""
    say = catalogue(bot.language)
    mine = _visible_subscriptions(bot, user)
    offered = () if bot.web.is_stranger(user) else subscriptions.OFFERED
    blocks: list[Block] = [
        *([context(told)] if told else []),
        header(say("Yesterday's digests")),
        *_digests(bot),
        header(say("Subscriptions of your channels")),
        *[
            block
            for each in mine[:_MOST_SUBSCRIPTIONS]
            for block in subscription_messages(bot).row(each, channel=True, offered=offered)
        ],
        *_left_out(bot, len(mine) - _MOST_SUBSCRIPTIONS),
        *([] if mine else [context(say("No subscriptions yet"))]),
        *([actions(subscriptions.subscribe_button(bot.language))] if offered else []),
        header(say("Status")),
        rich(lines(map(prose, status_rows(bot)))),
    ]
    held = bot.mail.held()
    if held and bot.web.is_operator(user):
        blocks += [header(say("Held messages")), *_held(bot, held)]
    return {"type": "home", "blocks": blocks}


def _visible_subscriptions(bot: Bot, user: str) -> list[Subscription]:
    """Return the subscriptions that a person may see, with one membership request per channel."""
    seen = [each for each in bot.subscriptions.all() if bot.reading.sees(each.terms.repository)]
    inside = {channel: bot.web.has_member(channel, user) for channel in {each.terms.channel for each in seen}}
    return [each for each in seen if inside[each.terms.channel]]


def _left_out(bot: Bot, count: int) -> list[Block]:
    return [context(catalogue(bot.language).context("App Home", "and {count} more", count=count))] if count > 0 else []


def _digests(bot: Bot) -> list[Block]:
    """Return yesterday's digests from the store; opening the App Home reads nothing from GitHub."""
    day = bot.today - timedelta(days=1)
    say, rows = catalogue(bot.language), []
    known = bot.reading.known
    for repository in known[:_MOST_DIGESTS]:
        report = bot.reading.stored(repository, day, bot.tz, bot.language)
        stats = counts.tiers(report.stats, bot.language) if report else say("not read yet")
        rows.append(section(f"*{escaped(f'{repository} · {day}')}*\n{escaped(stats)}"))
    return [*rows, *_left_out(bot, len(known) - _MOST_DIGESTS)] or [
        context(say("there is no repository to be seen here"))
    ]


def _held(bot: Bot, held: Sequence[OutboxMessage]) -> list[Block]:
    say = catalogue(bot.language)
    blocks: list[Block] = []
    for letter in held[:_MOST_HELD]:
        # Show the message's channel but not its subject, which may be private.
        place = {"type": "channel", "channel_id": letter.channel}
        blocks.append(rich(paragraph([place, *ours(f"  {letter.key.partition(':')[0]}  "), *prose(letter.note)])))
        blocks.append(
            actions(
                button(say("Try again"), "send_again", letter.key),
                button(say("Give up"), "drop_held", letter.key, style="danger"),
            )
        )
    return blocks
