"""The steps of a delivery: read a day or a commit, freeze its messages, send each.

A message that Slack refuses is reported in the thread that lacks it, or to the person who requested the delivery.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import structlog

from analysis.errors import DigestError, OutsideFailure, RateLimited
from analysis.locale import catalogue, mark
from analysis.models import DayReport
from analysis.report.markdown import reports_markdown
from bot.services.deliveries import Delivery, Outcome
from bot.services.reference import Reference
from bot.services.subjects import CommitRef, DayRef, parse_value, subject_of, value_of
from bot.slack.bot import Bot
from bot.slack.delivery import postings
from bot.slack.delivery.channel_report import report_of
from bot.slack.messages.blocks import Message, escaped, section
from bot.slack.messages.commit import commit_messages
from bot.slack.messages.digest import digest_messages
from bot.slack.web import ChannelClosed, Refused, SlackFailure, Unanswered, Web
from bot.store import Draft

SOON = 5.0  # seconds before a retry after an outside failure
_LACKING = {
    "file_refused": mark("The report file could not be attached: {reason}"),
    "part_refused": mark("Part of this could not be posted: {reason}"),
}
log = structlog.get_logger(__name__)


def read(bot: Bot, delivery: Delivery) -> Outcome:
    """Read and analyse the subject of a delivery; the outcome's pause asks for a retry, e.g. when GitHub's limit resets."""
    bot, ref = bot.within(delivery.channel), parse_value(delivery.what)
    try:
        if isinstance(ref, CommitRef):
            bot.reading.commit(Reference(ref.sha, sha=ref.sha), ref.repository)
            return Outcome()
        return Outcome(pause=until(bot, report_of(bot, ref).resumes_at))
    except RateLimited as exc:
        return Outcome(pause=until(bot, exc.resets_at) or SOON, failure=exc.translated(bot.language))
    except OutsideFailure as exc:
        return Outcome(pause=SOON, failure=exc.translated(bot.language))
    except DigestError as exc:
        return Outcome(failure=exc.translated(bot.language))
    except Exception:
        log.exception("this is a bug in vllm-digest")
        return Outcome()  # deliver what is possible; otherwise `draft` hits the bug again and reports it in the channel


def draft(bot: Bot, delivery: Delivery, trouble: str) -> list[str]:
    """Freeze the messages of a delivery, unless already frozen. Return their keys in sending order.

    A day that could not be listed yields one line with the reason, `trouble`. If two people request the same post at once,
    the second gets a link to the first one's: deliveries to a channel are sequential.
    """
    bot, ref, prefix = bot.within(delivery.channel), parse_value(delivery.what), _prefix(delivery)
    kept = [each.key for each in bot.mail.letters(prefix) if "." not in each.key.rpartition(":")[2]]
    if kept:
        return kept
    if delivery.once and (link := _posted_before(bot, delivery, ref)):
        tell_asker(bot, delivery, postings.linked_message(ref, link, delivery.what))
        return []
    found = _frozen(bot, ref, prefix, delivery, trouble)
    bot.outbox.freeze(found)
    return [each.key for each in found]


def notice(bot: Bot, delivery: Delivery, seconds: float) -> list[str]:
    """Freeze a message that gives the time when the rest of a day follows, in `seconds`; return its key."""
    ref = parse_value(delivery.what)
    at = (bot.now() + timedelta(seconds=seconds)).astimezone(bot.tz)
    told = catalogue(ref.language)(
        "⏳ {subject}: GitHub's request limit is used up; I go on at {time}",
        subject=escaped(f"{ref.repository} · {subject_of(ref)}"),
        time=f"{at:%H:%M}",
    )
    key = f"notice:{ref.repository.key}:{subject_of(ref)}:{delivery.label}:{delivery.channel}:000"
    bot.outbox.freeze([Draft(key, delivery.channel, content(line(told)))])
    return [key]


def send(bot: Bot, key: str) -> Outcome:
    """Send one message; the outcome's pause asks for a retry if it is unknown whether Slack received it."""
    try:
        bot.outbox.send(key)
    except Unanswered as exc:
        bot.outbox.hold(key, str(exc))
        return Outcome(pause=1.0, failure=str(exc))
    except Refused as exc:
        log.warning("refused", key=key, why=str(exc))
        return _refused(bot, key, exc)
    return Outcome()


def finish(bot: Bot, delivery: Delivery, failure: str) -> list[str]:
    """Store in the subscription why its digest was not fully delivered, or clear that note.

    If nothing was delivered, notify the person behind the delivery. Return the keys of messages still to be sent for that.
    """
    root = bot.mail.letter(f"{_prefix(delivery)}000")
    lines = _report_undelivered(bot, delivery, failure) if failure and not (root and root.ts) else []
    if delivery.label.startswith("s") and delivery.label[1:].isdecimal():
        bot.subscriptions.noted(int(delivery.label[1:]), failure)
    if not failure:
        log.info("delivered", channel=delivery.channel, what=delivery.what)
    else:
        how = "delivered in part" if root and root.ts else "not delivered"
        log.warning(how, channel=delivery.channel, what=delivery.what, why=failure)
    return lines


def until(bot: Bot, instant: datetime | None) -> float | None:
    """Return the seconds until an instant plus one; None for no instant."""
    return max(1.0, (instant - bot.now()).total_seconds() + 1) if instant else None


def drafts(
    prefix: str, channel: str, messages: Sequence[Message], about: str, thread_ts: str | None = None
) -> list[Draft]:
    """Convert messages to drafts: the first in the given channel or thread, the others in its thread if they are so marked."""
    keys = [f"{prefix}{place:03}" for place in range(len(messages))]
    return [
        Draft(
            key,
            channel,
            content(message),
            thread_ts=thread_ts,
            root=keys[0] if message.thread and thread_ts is None else None,
            about="" if message.thread and thread_ts is None else about,
        )
        for key, message in zip(keys, messages, strict=True)
    ]


def content(message: Message) -> dict[str, Any]:
    """Return a message's content in its stored form."""
    return {"text": message.text, "blocks": list(message.blocks)}


def line(mrkdwn: str) -> Message:
    """Return a message of one line of mrkdwn; text from elsewhere in it must be `escaped`."""
    return Message(mrkdwn, (section(mrkdwn),))


def show_only_to(web: Web, channel: str, user: str, message: Message) -> None:
    """Show a person an ephemeral message in a channel, or in their direct messages if the bot may not post there."""
    told = content(message)
    try:
        web.post_ephemeral(channel, user, told, None)
    except Refused:
        web.post_ephemeral(web.direct(user), user, told, None)


def tell_asker(bot: Bot, delivery: Delivery, message: Message) -> None:
    """Show a message to the person who requested a delivery."""
    try:
        show_only_to(bot.web, delivery.channel, delivery.asked_by, message)
    except SlackFailure as exc:
        log.warning("not told", user=delivery.asked_by, why=str(exc))


def _posted_before(bot: Bot, delivery: Delivery, ref: DayRef | CommitRef) -> str:
    """Return the permalink of an existing post; empty if Slack does not answer, since sending waits for Slack anyway."""
    try:
        return postings.find_link(bot, delivery.channel, ref)
    except Unanswered:
        return ""


# Messages that Slack refuses


def _refused(bot: Bot, key: str, why: Refused) -> Outcome:
    """Return the outcome of a refusal: a refused first message ends the delivery, a refused reply is reported in its thread."""
    letter = bot.mail.letter(key)
    root = bot.mail.letter(letter.root) if letter and letter.root else None
    if not letter or not root or isinstance(why, ChannelClosed):
        return Outcome(
            failure=why.translated(bot.within(letter.channel).language if letter else bot.language), closed=True
        )
    lacking = "file_refused" if "data" in letter.content else "part_refused"
    language = parse_value(root.about).language if root.about else bot.within(letter.channel).language
    failure = catalogue(language)(_LACKING[lacking], reason=why.translated(language))
    line_key = f"{lacking}:{root.key}"
    bot.outbox.freeze([Draft(line_key, letter.channel, content(line(escaped(f"⚠️ {failure}"))), root=root.key)])
    return Outcome(failure=failure, lines=(line_key,))


def _report_undelivered(bot: Bot, delivery: Delivery, failure: str) -> list[str]:
    """Notify the person who requested the post, or, once, the subscriber. Return the keys of messages to be sent."""
    ref = parse_value(delivery.what)
    say = catalogue(ref.language)
    if delivery.asked_by:
        subject = f"{ref.repository} · {subject_of(ref)}"
        told = say("⚠️ {subject} could not be posted: {reason}", subject=subject, reason=failure)
        tell_asker(bot, delivery, line(escaped(told)))
        return []
    key = f"undelivered:{_prefix(delivery)}"
    if bot.mail.letter(key):
        return [key]
    subscription = bot.subscriptions.get(ref.subscription) if isinstance(ref, DayRef) and ref.subscription else None
    if subscription is None or subscription.note or not subscription.user:
        return []
    # A private repository is not named outside its channels.
    told = say(
        "⚠️ The digest of {day} could not be posted in {channel}: {reason}",
        channel=f"<#{delivery.channel}>",
        day=subject_of(ref),
        reason=escaped(failure),
    )
    try:
        bot.outbox.freeze([Draft(key, bot.web.direct(subscription.user), content(line(told)))])
    except SlackFailure as exc:
        log.warning("not told", user=subscription.user, why=str(exc))
        return []
    return [key]


# Message contents


def _prefix(delivery: Delivery) -> str:
    """Return the key prefix of a delivery's messages."""
    ref = parse_value(delivery.what)
    kind = "digest" if isinstance(ref, DayRef) else "commit"
    return f"{kind}:{ref.repository.key}:{subject_of(ref)}:{delivery.label}:{delivery.channel}:"


def _frozen(bot: Bot, ref: DayRef | CommitRef, prefix: str, delivery: Delivery, trouble: str) -> list[Draft]:
    try:
        if isinstance(ref, DayRef):
            return _day(bot, ref, prefix, delivery)
        return drafts(prefix, delivery.channel, _commit(bot, ref), delivery.what)
    except DigestError as exc:
        subject = escaped(f"{ref.repository} · {subject_of(ref)}")
        told = catalogue(ref.language)(
            "⚠️ {subject} could not be read: {reason}",
            subject=subject,
            reason=escaped(trouble or exc.translated(ref.language)),
        )
        return drafts(prefix, delivery.channel, [line(told)], "")
    except Exception:
        log.exception("this is a bug in vllm-digest")
        return drafts(
            prefix,
            delivery.channel,
            [
                line(
                    catalogue(ref.language)(
                        "⚠️ Something went wrong here; please tell your operator the number `{run}`", run=delivery.run
                    )
                )
            ],
            "",
        )


def _day(bot: Bot, ref: DayRef, prefix: str, delivery: Delivery) -> list[Draft]:
    """Return the drafts of a day's digest, with the full report as a file if the digest has a thread."""
    report = report_of(bot, ref)
    messages = digest_messages(report, value_of(ref))
    found = drafts(prefix, delivery.channel, messages, delivery.what)
    if len(found) > 1:
        found.append(Draft(f"{prefix}{len(found):03}", delivery.channel, report_file(report), root=found[0].key))
    return found


def _commit(bot: Bot, ref: CommitRef) -> list[Message]:
    """Return the messages that show a commit in a channel."""
    located = bot.reading.commit(Reference(ref.sha, sha=ref.sha), ref.repository)
    entry = bot.reading.entry(located, ref.language)
    return commit_messages(located.repository, entry, ref.language, bot.tz, public=True)


def report_file(report: DayReport) -> dict[str, Any]:
    """Return the full report as a file {filename, title, data}."""
    name = f"{report.repository.name}-{report.date}.md"
    return {"filename": name, "title": name, "data": reports_markdown([report])}
