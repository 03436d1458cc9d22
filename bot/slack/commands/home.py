"""The App Home: yesterday's digests, subscriptions of the person's channels, the bot's status, held messages for operators."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import structlog

from analysis.errors import DigestError
from analysis.locale import catalogue
from analysis.models import Language
from analysis.report import counts
from bot.logs import described
from bot.models.clock import Clock
from bot.models.subjects import DayRef
from bot.services.reader import ChannelView, visible_terms
from bot.slack.commands.conversation import Conversation
from bot.slack.commands.status import BotStatus
from bot.slack.messages import subscriptions
from bot.slack.messages.alerts import alert_row
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
from bot.slack.outbox import Outbox
from bot.slack.parsing.requests import ButtonRequest, HomeRequest
from bot.slack.web import Web
from bot.store import Alerts, Mailbox, OutboxMessage, Subscription, Subscriptions

_MOST_HELD = 5
_MOST_SUBSCRIPTIONS = 25  # two blocks each; a view has room for a hundred
_MOST_DIGESTS = 15
_MOST_ALERTS = 10
_MOST_DEPARTED = 10
_LATELY = timedelta(days=30)

log = structlog.get_logger(__name__)


@dataclass(eq=False)
class Home:
    """Publishes the App Home of a person. It belongs to no channel, so private repositories are not in it."""

    _subscriptions: Subscriptions
    _alerts: Alerts
    _mailbox: Mailbox
    _outbox: Outbox
    _web: Web
    _status: BotStatus
    _now: Clock

    def open(self, conversation: Conversation, opened: HomeRequest) -> None:
        """Publish the App Home of a person who opened it."""
        self.publish(conversation.view, opened.user)

    def release(self, conversation: Conversation, pressed: ButtonRequest) -> None:
        """Resend a held message, which searches Slack for it first, or drop it; for operators only."""
        if not self._web.directory.is_operator(pressed.user):
            return
        if pressed.action == "send_again":
            self._outbox.send(pressed.value)
        else:
            self._outbox.drop(pressed.value)
        self.publish(conversation.view, pressed.user)

    def publish(self, view: ChannelView, user: str, notice: str = "") -> None:
        """Publish a person's current App Home with a notice on top, or a notice alone if the rest fails."""
        try:
            home = self._view(view, user, notice)
        except Exception as exc:
            if not notice:
                raise
            log.warning("no home", why=described(exc), exc_info=not isinstance(exc, DigestError))
            home = {"type": "home", "blocks": [context(notice)]}
        self._web.publish_home(user, home)

    def _view(self, view: ChannelView, user: str, notice: str) -> dict[str, Any]:
        language, say = view.language, catalogue(view.language)
        mine = self._visible_subscriptions(view, user)
        offered = () if self._web.directory.is_stranger(user) else subscriptions.OFFERED
        messages = self._status.subscription_messages(language)
        open_ = self._status.open_breaks(view, dict.fromkeys(each.terms.channel for each in mine))
        blocks: list[Block] = [
            *([context(notice)] if notice else []),
            header(say("Yesterday's digests")),
            *self._digests(view),
            header(say("Subscriptions of your channels")),
            *[
                block
                for each in mine[:_MOST_SUBSCRIPTIONS]
                for block in messages.row(each, channel=True, offered=offered)
            ],
            *_left_out(language, len(mine) - _MOST_SUBSCRIPTIONS),
            *messages.departed(self.departed(view, user)[-_MOST_DEPARTED:]),
            *([] if mine else [context(say("No subscriptions yet"))]),
            *([actions(subscriptions.subscribe_button(language))] if offered else []),
            *self._alert_rows(view, user),
            *([rich(lines(open_))] if open_ else []),
            header(say("Status")),
            rich(lines(map(prose, self._status.rows(language)))),
        ]
        held = self._mailbox.held()
        if held and self._web.directory.is_operator(user):
            blocks += [header(say("Messages not confirmed by Slack")), *_held(language, held)]
        return {"type": "home", "blocks": blocks}

    def _visible_subscriptions(self, view: ChannelView, user: str) -> list[Subscription]:
        """Return the subscriptions that a person may see, with one membership request per channel."""
        seen = [
            each._replace(terms=visible_terms(each.terms, view.reader))
            for each in self._subscriptions.all()
            if view.reader.sees(each.terms.repository) and (each.user == user or not each.terms.channel.startswith("D"))
        ]
        channels = {each.terms.channel for each in seen}
        inside = {channel: self._web.directory.has_member(channel, user) for channel in channels}
        return [each for each in seen if inside[each.terms.channel]]

    def _alert_rows(self, view: ChannelView, user: str) -> list[Block]:
        seen = [each for each in self._alerts.of(user) if view.reader.sees(each.repository)]
        rows = [block for each in seen[:_MOST_ALERTS] for block in alert_row(each, view.language)]
        left_out = _left_out(view.language, len(seen) - _MOST_ALERTS)
        return [header(catalogue(view.language)("🔔 I'll send you a direct message")), *rows, *left_out] if seen else []

    def departed(self, view: ChannelView, user: str) -> list[Subscription]:
        """Return the subscriptions of a person, of all for an operator, that ended lately because a channel or a person is gone."""
        found = [
            each
            for each in self._subscriptions.departed(self._now() - _LATELY)
            if view.reader.sees(each.terms.repository)
        ]
        is_operator = bool(found) and self._web.directory.is_operator(user)
        return [each for each in found if is_operator or each.user == user]

    def _digests(self, view: ChannelView) -> list[Block]:
        """Return yesterday's digests from the store; opening the App Home reads nothing from GitHub."""
        day = self._now().astimezone(view.tz).date() - timedelta(days=1)
        say, known = catalogue(view.language), view.reader.known
        rows = []
        for repository in known[:_MOST_DIGESTS]:
            report = view.reader.stored_report(DayRef(repository, day, view.tz.key, view.language))
            stats = say("not read yet")
            if report:
                stats = counts.tiers(report.stats, view.language)
            rows.append(section(f"*{escaped(f'{repository} · {day}')}*\n{escaped(stats)}"))
        left_out = _left_out(view.language, len(known) - _MOST_DIGESTS)
        return [*rows, *left_out] or [context(say("no repository is available in this channel"))]


def _left_out(language: Language, count: int) -> list[Block]:
    return [context(catalogue(language).context("App Home", "and {count} more", count=count))] if count > 0 else []


def _held(language: Language, held: Sequence[OutboxMessage]) -> list[Block]:
    say = catalogue(language)
    blocks: list[Block] = []
    for message in held[:_MOST_HELD]:
        # Show the message's channel but not its subject, which may be private.
        place = {"type": "channel", "channel_id": message.channel}
        kind = message.key.partition(":")[0]
        blocks.append(rich(paragraph([place, *ours(f"  {kind}  "), *prose(message.note)])))
        blocks.append(
            actions(
                button(say("Try again"), "send_again", message.key),
                button(say("Give up"), "drop_held", message.key, style="danger"),
            )
        )
    return blocks
