"""The last steps of a delivery: send each frozen message, link what was sent, and report what could not be delivered.

A message that Slack refuses is reported in the thread that lacks it, or to the person who requested the delivery.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import structlog

from analysis.locale import catalogue, mark
from bot.models.deliveries import Delivery, Outcome
from bot.models.subjects import CommitRef, days_told, parse_value, subject_of
from bot.services.reader import Channels
from bot.slack.delivery.drafts import key_prefix, show_requester
from bot.slack.delivery.edits import DigestEdits
from bot.slack.messages.blocks import escaped
from bot.slack.messages.marks import marked_urls
from bot.slack.messages.notices import line
from bot.slack.outbox import Outbox
from bot.slack.web import Web
from bot.slack.web_errors import ChannelClosed, Refused, SlackFailure, Unanswered
from bot.store import Draft, Mailbox, OutboxMessage, State, Subscription, Subscriptions

_LACKING = {
    "file_refused": mark("The report file could not be attached: {reason}"),
    "chart_refused": mark("The chart could not be attached: {reason}"),
    "part_refused": mark("Part of this could not be posted: {reason}"),
}

log = structlog.get_logger(__name__)


@dataclass(eq=False)
class Sender:
    """Sends frozen messages, links what was delivered, and records and reports how deliveries ended."""

    _channels: Channels
    _subscriptions: Subscriptions
    _mailbox: Mailbox
    _outbox: Outbox
    _edits: DigestEdits
    _web: Web

    def send(self, key: str) -> Outcome:
        """Send one message; the outcome's pause asks for a retry if it is unknown whether Slack received it."""
        try:
            self._outbox.send(key)
        except Unanswered as exc:
            self._outbox.hold(key, str(exc))
            return Outcome(pause=1.0, failure=str(exc))
        except Refused as exc:
            log.warning("refused", key=key, why=str(exc))
            return self._refused(key, exc)
        return Outcome()

    def _refused(self, key: str, why: Refused) -> Outcome:
        """Return the outcome of a refusal: a refused first message ends the delivery, a refused reply is reported in its thread."""
        message = self._mailbox.message(key)
        root = self._mailbox.message(message.root) if message and message.root else None
        view = self._channels.view(message.channel) if message else self._channels.everywhere
        if not message or not root or isinstance(why, ChannelClosed):
            return Outcome(failure=why.translated(view.language), closed=True)
        lacking = "part_refused"
        if "data" in message.content:
            lacking = "chart_refused" if "alt" in message.content else "file_refused"
        language = parse_value(root.about).language if root.about else view.language
        failure = catalogue(language)(_LACKING[lacking], reason=why.translated(language))
        line_key = f"{lacking}:{root.key}"
        report = line(escaped(f"⚠️ {failure}")).content
        self._mailbox.freeze([Draft(line_key, message.channel, report, root=root.key)])
        return Outcome(failure=failure, lines=(line_key,))

    def finish(self, delivery: Delivery, failure: str) -> list[str]:
        """Store in the subscription why its digest was not fully delivered, or clear that note.

        If nothing was delivered, notify the person behind the delivery. Return the keys of messages still to be sent for that.
        """
        root = self._mailbox.message(f"{key_prefix(delivery)}000")
        delivered = bool(root and root.ts)
        if root and root.state is State.SENT:
            self._link_thread(root, self._mailbox.messages(key_prefix(delivery)))
        keys = self._report_undelivered(delivery, failure) if failure and not delivered else []
        if delivery.label.startswith("s") and delivery.label[1:].isdecimal():
            spoke = delivered and bool(days_told(parse_value(delivery.what)))
            self._subscriptions.noted(int(delivery.label[1:]), failure, spoke=spoke)
        if not failure and root:
            log.info("delivered", channel=delivery.channel, what=delivery.what)
        elif failure:
            how = "delivered in part" if delivered else "not delivered"
            log.warning(how, channel=delivery.channel, what=delivery.what, why=failure)
        return keys

    def _report_undelivered(self, delivery: Delivery, failure: str) -> list[str]:
        """Notify the person who requested the post, or, once, the subscriber. Return the keys of messages to be sent."""
        ref = parse_value(delivery.what)
        say = catalogue(ref.language)
        if delivery.asked_by:
            subject = f"{ref.repository} · {subject_of(ref)}"
            text = say("⚠️ {subject} could not be posted: {reason}", subject=subject, reason=failure)
            show_requester(self._web, delivery, line(escaped(text)))
            return []
        key = f"undelivered:{key_prefix(delivery)}"
        if self._mailbox.message(key):
            return [key]
        subscription = self._subscription(ref.subscription) if not isinstance(ref, CommitRef) else None
        if subscription is None:
            return []
        # A private repository is not named outside its channels.
        text = say(
            "⚠️ The digest of {day} could not be posted in {channel}: {reason}",
            channel=f"<#{delivery.channel}>",
            day=subject_of(ref),
            reason=escaped(failure),
        )
        try:
            self._mailbox.freeze([Draft(key, self._web.directory.direct(subscription.user), line(text).content)])
        except SlackFailure as exc:
            log.warning("not told", user=subscription.user, why=str(exc))
            return []
        return [key]

    def _subscription(self, number: int | None) -> Subscription | None:
        """Return a subscription that a person made and that has no note of a failure yet."""
        found = self._subscriptions.get(number) if number else None
        return found if found and found.user and not found.note else None

    def _link_thread(self, root: OutboxMessage, messages: list[OutboxMessage]) -> None:
        """Link the commits in a sent digest's head, which led to GitHub until then, to their messages in its thread.

        If Slack fails, the digest stays as it is.
        """
        marked = marked_urls(root.content.get("blocks") or [])
        sent: dict[str, str] = {}
        for each in messages:
            for url in _subjects(each) if marked and each.root == root.key and each.ts else ():
                sent.setdefault(url, each.ts or "")
        try:
            # A list is linked from many lines, and asked for once.
            places = {sent[url] for url in marked if url in sent}
            permalinks = {ts: self._web.directory.permalink(root.channel, ts) for ts in places}
            links = {url: link for url in marked if url in sent and (link := permalinks[sent[url]])}
            if links:
                self._edits.link(root, links)
        except SlackFailure as exc:
            log.warning("not linked", key=root.key, why=str(exc))


def _subjects(message: OutboxMessage) -> Iterator[str]:
    """Yield the addresses of the commits that a message tells of: its first link, and those of its list items."""
    blocks = message.content.get("blocks") or []
    yield next(_links(blocks[:1]), "")
    for block in blocks:
        for part in block.get("elements") or () if block["type"] == "rich_text" else ():
            if part["type"] == "rich_text_list":
                yield from _links(part)


def _links(value: object) -> Iterator[str]:
    """Yield the addresses of the links in blocks, in order."""
    if isinstance(value, Mapping):
        if value.get("type") == "link":
            yield str(value["url"])
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _links(each)
