"""The bot's home: yesterday's digests, the subscriptions of one's channels, how the bot is, and what is held for an operator."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from analysis.language import words
from bot.slack import subscribing
from bot.slack.blocks import Block, actions, button, context, escaped, header, ours, paragraph, prose, rich, section
from bot.slack.bot import Bot
from bot.slack.words import slack_words
from bot.store import Letter, Subscription

_MOST_HELD = 5
_MOST_SUBSCRIPTIONS = 25  # two blocks each; a view has room for a hundred


def home_view(bot: Bot, user: str) -> dict[str, Any]:
    """What `user` sees. Private repositories are not told here: a home belongs to no channel."""
    say = slack_words(bot.language)
    mine = [each for each in bot.subscriptions.all() if _may_see(bot, user, each)]
    blocks: list[Block] = [
        header(say.labels["home_digests"]),
        *_digests(bot),
        header(say.labels["home_subscriptions"]),
        *[block for each in mine[:_MOST_SUBSCRIPTIONS] for block in subscribing.row(bot, each, channel=True)],
        *([] if mine else [context(say.labels["no_subscriptions"])]),
        actions(subscribing.subscribe_button(bot)),
        header(say.labels["status"]),
        rich(*(paragraph(prose(f"{each}\n")) for each in subscribing.status_rows(bot))),
    ]
    held = bot.mail.held()
    if held and bot.web.is_operator(user):
        blocks += [header(say.labels["home_held"]), *_held(bot, held)]
    return {"type": "home", "blocks": blocks}


def _may_see(bot: Bot, user: str, subscription: Subscription) -> bool:
    terms = subscription.terms
    return bot.reading.sees(terms.repository) and bot.web.has_member(terms.channel, user)


def _digests(bot: Bot) -> list[Block]:
    """Yesterday as far as it was read: nothing is read for a look at the home."""
    day = bot.today - timedelta(days=1)
    say, rows = slack_words(bot.language), []
    for repository in bot.reading.known:
        report = bot.reading.stored(repository, day, bot.tz, bot.language)
        stats = (
            words(bot.language).label("statistics_line", **report.stats.model_dump())
            if report
            else say.labels["not_read"]
        )
        rows.append(section(f"*{escaped(f'{repository} · {day}')}*\n{escaped(stats)}"))
    return rows or [context(say.labels["no_repository"])]


def _held(bot: Bot, held: Sequence[Letter]) -> list[Block]:
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
