"""The steps of a delivery: a day or a commit is read, its messages are frozen, and each is sent.

What Slack refuses is told where it is missed: in the thread that lacks it, or to the person who wanted the whole.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import structlog

from analysis.errors import DigestError, OutsideFailure, RateLimited
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
from bot.slack.messages.words import slack_words
from bot.slack.web import ChannelClosed, Refused, SlackFailure, Unanswered, Web
from bot.store import Draft

SOON = 5.0  # seconds after which what failed outside may work again

log = structlog.get_logger(__name__)


def read(bot: Bot, delivery: Delivery) -> Outcome:
    """Reads and analyses what is to be delivered; asks to be called again when GitHub's limit lets it be completed."""
    bot, ref = bot.within(delivery.channel), parse_value(delivery.what)
    try:
        if isinstance(ref, CommitRef):
            bot.reading.commit(Reference(ref.sha, sha=ref.sha), ref.repository)
            return Outcome()
        return Outcome(pause=until(bot, report_of(bot, ref).resumes_at))
    except RateLimited as exc:
        return Outcome(pause=until(bot, exc.resets_at) or SOON, failure=exc.told(bot.language))
    except OutsideFailure as exc:
        return Outcome(pause=SOON, failure=exc.told(bot.language))
    except DigestError as exc:
        return Outcome(failure=exc.told(bot.language))
    except Exception:
        log.exception("this is a bug in vllm-digest")
        return Outcome()  # what can be told without it is; else `draft` meets it again, and tells the channel


def draft(bot: Bot, delivery: Delivery, trouble: str) -> list[str]:
    """Freezes the messages of a delivery, unless that was done before. Gives their keys, in the order of sending.

    A day that could not even be listed is a line that says so: `trouble` tells why. Of two people who have the same posted
    at once the second is shown what the first posted: deliveries to a channel follow each other.
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
    """Freezes a message that says when the rest of a day follows."""
    ref = parse_value(delivery.what)
    at = (bot.now() + timedelta(seconds=seconds)).astimezone(bot.tz)
    told = slack_words(ref.language).label(
        "later", subject=escaped(f"{ref.repository} · {subject_of(ref)}"), time=f"{at:%H:%M}"
    )
    key = f"notice:{ref.repository.key}:{subject_of(ref)}:{delivery.label}:{delivery.channel}:000"
    bot.outbox.freeze([Draft(key, delivery.channel, content(line(told)))])
    return [key]


def send(bot: Bot, key: str) -> Outcome:
    """Sends one message once; asks to be called again where it is not known whether Slack has it."""
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
    """Notes with the subscription what of its digest was not delivered, or that all was.

    Whoever wanted a digest of which nothing came is told so. Gives the keys of messages that remain to be sent for that.
    """
    root = bot.mail.letter(f"{_prefix(delivery)}000")
    lines = _tell_undelivered(bot, delivery, failure) if failure and not (root and root.ts) else []
    if delivery.label.startswith("s") and delivery.label[1:].isdecimal():
        bot.subscriptions.noted(int(delivery.label[1:]), failure)
    if not failure:
        log.info("delivered", channel=delivery.channel, what=delivery.what)
    else:
        how = "delivered in part" if root and root.ts else "not delivered"
        log.warning(how, channel=delivery.channel, what=delivery.what, why=failure)
    return lines


def until(bot: Bot, instant: datetime | None) -> float | None:
    """Seconds until an instant, and one more; None where there is none."""
    return max(1.0, (instant - bot.now()).total_seconds() + 1) if instant else None


def drafts(
    prefix: str, channel: str, messages: Sequence[Message], about: str, thread_ts: str | None = None
) -> list[Draft]:
    """Messages as drafts: the first in the channel or the thread that is given, the others as they say."""
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
    """A message as it is frozen."""
    return {"text": message.text, "blocks": list(message.blocks)}


def line(mrkdwn: str) -> Message:
    """A message of one line of our own words; anything else in it passed `escaped`."""
    return Message(mrkdwn, (section(mrkdwn),))


def whisper(web: Web, channel: str, user: str, message: Message) -> None:
    """Shows a person a message in a channel, or where the bot may not post there in their direct messages."""
    told = content(message)
    try:
        web.whisper(channel, user, told, None)
    except Refused:
        web.whisper(web.direct(user), user, told, None)


def tell_asker(bot: Bot, delivery: Delivery, message: Message) -> None:
    """Shows a message to the person who had something posted."""
    try:
        whisper(bot.web, delivery.channel, delivery.asked_by, message)
    except SlackFailure as exc:
        log.warning("not told", user=delivery.asked_by, why=str(exc))


def _posted_before(bot: Bot, delivery: Delivery, ref: DayRef | CommitRef) -> str:
    """The address of what the channel has already; empty where Slack does not answer, since the post itself waits for that."""
    try:
        return postings.find_link(bot, delivery.channel, ref)
    except Unanswered:
        return ""


# What Slack refuses


def _refused(bot: Bot, key: str, why: Refused) -> Outcome:
    """A first message that is refused ends the delivery; of what is refused in its thread, the thread is told, once."""
    letter = bot.mail.letter(key)
    root = bot.mail.letter(letter.root) if letter and letter.root else None
    if not letter or not root or isinstance(why, ChannelClosed):
        return Outcome(failure=why.told(bot.within(letter.channel).language if letter else bot.language), closed=True)
    lacking = "file_refused" if "data" in letter.content else "part_refused"
    language = parse_value(root.about).language if root.about else bot.within(letter.channel).language
    failure = slack_words(language).label(lacking, reason=why.told(language))
    line_key = f"{lacking}:{root.key}"
    bot.outbox.freeze([Draft(line_key, letter.channel, content(line(escaped(f"⚠️ {failure}"))), root=root.key)])
    return Outcome(failure=failure, lines=(line_key,))


def _tell_undelivered(bot: Bot, delivery: Delivery, failure: str) -> list[str]:
    """Tells the person who had it posted, or once the one who subscribed the channel. Gives the key of a message to be sent."""
    ref = parse_value(delivery.what)
    say = slack_words(ref.language)
    if delivery.asked_by:
        subject = f"{ref.repository} · {subject_of(ref)}"
        told = say.label("not_posted", subject=subject, reason=failure)
        tell_asker(bot, delivery, line(escaped(told)))
        return []
    key = f"undelivered:{_prefix(delivery)}"
    if bot.mail.letter(key):
        return [key]
    subscription = bot.subscriptions.get(ref.subscription) if isinstance(ref, DayRef) and ref.subscription else None
    if subscription is None or subscription.note or not subscription.user:
        return []
    # A private repository is not named outside its channels.
    told = say.label("not_delivered", channel=f"<#{delivery.channel}>", day=subject_of(ref), reason=escaped(failure))
    try:
        bot.outbox.freeze([Draft(key, bot.web.direct(subscription.user), content(line(told)))])
    except SlackFailure as exc:
        log.warning("not told", user=subscription.user, why=str(exc))
        return []
    return [key]


# What is sent


def _prefix(delivery: Delivery) -> str:
    """How the keys of a delivery's messages begin."""
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
        told = slack_words(ref.language).label(
            "unreadable", subject=subject, reason=escaped(trouble or exc.told(ref.language))
        )
        return drafts(prefix, delivery.channel, [line(told)], "")
    except Exception:
        log.exception("this is a bug in vllm-digest")
        return drafts(prefix, delivery.channel, [line(slack_words(ref.language).label("bug", run=delivery.run))], "")


def _day(bot: Bot, ref: DayRef, prefix: str, delivery: Delivery) -> list[Draft]:
    """A day as the channel sees it, and where it has a thread the whole report as a file."""
    report = report_of(bot, ref)
    messages = digest_messages(report, value_of(ref))
    found = drafts(prefix, delivery.channel, messages, delivery.what)
    if len(found) > 1:
        found.append(Draft(f"{prefix}{len(found):03}", delivery.channel, report_file(report), root=found[0].key))
    return found


def _commit(bot: Bot, ref: CommitRef) -> list[Message]:
    """A commit as the channel sees it."""
    located = bot.reading.commit(Reference(ref.sha, sha=ref.sha), ref.repository)
    entry = bot.reading.entry(located, ref.language)
    return commit_messages(located.repository, entry, ref.language, bot.tz, public=True)


def report_file(report: DayReport) -> dict[str, Any]:
    """The whole report as a file {filename, title, data}."""
    name = f"{report.repository.name}-{report.date}.md"
    return {"filename": name, "title": name, "data": reports_markdown([report])}
