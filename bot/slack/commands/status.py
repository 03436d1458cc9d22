"""Status of the bot and of a channel's subscriptions."""

from collections.abc import Sequence

from analysis.locale import catalogue, translated
from bot.services.analyst import Modelling
from bot.slack.bot import Bot
from bot.slack.messages.blocks import Message, fallback, lines, ours, paragraph, prose, rich
from bot.slack.messages.subscriptions import SubscriptionMessages, describe
from bot.store import Subscription


def status_message(bot: Bot, held: Sequence[Subscription]) -> Message:
    """Return the bot's status: its model, today's cost, and the next digests and delivery failures of `held`."""
    say, shown = catalogue(bot.language), subscription_messages(bot)
    rows = [*status_rows(bot), say("Subscriptions: {count}", count=len(held))]
    for each in held:
        rows.append(f"{describe(each, bot.language)}: {say('Next digest: {at}', at=shown.next_digest(each))}")
        if each.note:
            rows.append(f"⚠️ {each.terms.repository}: {shown.trouble(each)}")
    return Message(
        fallback(say("Status")),
        (rich(paragraph(ours(say("Status"), "bold"))), rich(lines(map(prose, rows)))),
    )


def status_rows(bot: Bot) -> list[str]:
    """Return the status lines of the whole bot, without names of channels or repositories."""
    say, services = catalogue(bot.language), bot.reading.services
    model = services.modelling.model.name if services.modelling else say("rules (no model is set)")
    held = len(bot.mail.held())
    rows = [say("Analyses by: {model}", model=model)]
    if services.modelling:
        rows.append(say("Spent on the model today: ${usd}", usd=f"{services.store.spent(bot.now().date()):.2f}"))
        rows += _failing(bot, services.modelling)
    if held:
        rows.append(say("⚠️ Messages held: {count}", count=held))
    return rows


def _failing(bot: Bot, modelling: Modelling) -> list[str]:
    """Return a line about the model's latest failure, if its latest call failed; makes no call itself."""
    trouble, say = modelling.attempts.trouble, catalogue(bot.language)
    if trouble is None:
        return []
    minutes = int((bot.now() - trouble.at).total_seconds() // 60)
    why = translated(trouble.why, bot.language)
    return [
        say(
            "⚠️ The model {model} failed {minutes} min ago: {why}; rules stand in",
            model=modelling.model.name,
            minutes=minutes,
            why=why,
        )
    ]


def subscription_messages(bot: Bot) -> SubscriptionMessages:
    """Return the builder of a channel's messages about subscriptions."""
    return SubscriptionMessages(bot.language, bot.now(), bot.web.me["user"])
