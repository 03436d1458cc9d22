"""The bot's home: yesterday's digests, the subscriptions of one's channels, how the bot is, and what is held for an operator."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from analysis.language import words
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
from bot.slack.messages.words import slack_words
from bot.store import OutboxMessage, Subscription

_MOST_HELD = 5
_MOST_SUBSCRIPTIONS = 25  # two blocks each; a view has room for a hundred
_MOST_DIGESTS = 15


def home_view(bot: Bot, user: str, told: str = "") -> dict[str, Any]:
    """What `user` sees, `told` first. Private repositories are not told here: a home belongs to no channel."""
    say = slack_words(bot.language)
    mine = _of_channels_of(bot, user)
    offered = () if bot.web.is_stranger(user) else subscriptions.OFFERED
    blocks: list[Block] = [
        *([context(told)] if told else []),
        header(say.labels["home_digests"]),
        *_digests(bot),
        header(say.labels["home_subscriptions"]),
        *[
            block
            for each in mine[:_MOST_SUBSCRIPTIONS]
            for block in subscription_messages(bot).row(each, channel=True, offered=offered)
        ],
        *_left_out(bot, len(mine) - _MOST_SUBSCRIPTIONS),
        *([] if mine else [context(say.labels["no_subscriptions"])]),
        *([actions(subscriptions.subscribe_button(bot.language))] if offered else []),
        header(say.labels["status"]),
        rich(lines(map(prose, status_rows(bot)))),
    ]
    held = bot.mail.held()
    if held and bot.web.is_operator(user):
        blocks += [header(say.labels["home_held"]), *_held(bot, held)]
    return {"type": "home", "blocks": blocks}


def _of_channels_of(bot: Bot, user: str) -> list[Subscription]:
    """The subscriptions that somebody may see; of each channel Slack is asked once."""
    seen = [each for each in bot.subscriptions.all() if bot.reading.sees(each.terms.repository)]
    inside = {channel: bot.web.has_member(channel, user) for channel in {each.terms.channel for each in seen}}
    return [each for each in seen if inside[each.terms.channel]]


def _left_out(bot: Bot, count: int) -> list[Block]:
    return [context(slack_words(bot.language).label("home_more", count=count))] if count > 0 else []


def _digests(bot: Bot) -> list[Block]:
    """Yesterday as far as it was read: nothing is read for a look at the home."""
    day = bot.today - timedelta(days=1)
    say, rows = slack_words(bot.language), []
    known = bot.reading.known
    for repository in known[:_MOST_DIGESTS]:
        report = bot.reading.stored(repository, day, bot.tz, bot.language)
        stats = (
            words(bot.language).label("statistics_line", **report.stats.model_dump())
            if report
            else say.labels["not_read"]
        )
        rows.append(section(f"*{escaped(f'{repository} · {day}')}*\n{escaped(stats)}"))
    return [*rows, *_left_out(bot, len(known) - _MOST_DIGESTS)] or [context(say.labels["no_repository"])]


def _held(bot: Bot, held: Sequence[OutboxMessage]) -> list[Block]:
    say = slack_words(bot.language)
    blocks: list[Block] = []
    for letter in held[:_MOST_HELD]:
        # Where it belongs is told, and not what it is about, which may be private.
        place = {"type": "channel", "channel_id": letter.channel}
        blocks.append(rich(paragraph([place, *ours(f"  {letter.key.partition(':')[0]}  "), *prose(letter.note)])))
        blocks.append(
            actions(
                button(say.labels["send_again"], "send_again", letter.key),
                button(say.labels["drop"], "drop_held", letter.key, style="danger"),
            )
        )
    return blocks
