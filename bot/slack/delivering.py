"""The steps of a delivery: a day or a commit is read, its messages are frozen, and each is sent."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import structlog

from analysis.errors import DigestError, OutsideFailure, RateLimited
from analysis.models import DayReport
from analysis.report.markdown import reports_markdown
from bot.reference import Reference
from bot.slack.blocks import Message, escaped, section
from bot.slack.bot import Bot, Delivery, Outcome
from bot.slack.commit_messages import commit_messages
from bot.slack.digest_messages import digest_messages
from bot.slack.reports import report_of
from bot.slack.values import CommitRef, DayRef, parse_value, value_of
from bot.slack.web import ChannelClosed, Refused, Unanswered
from bot.slack.words import slack_words
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

    A day that could not even be listed is a line that says so: `trouble` tells why.
    """
    bot, ref = bot.within(delivery.channel), parse_value(delivery.what)
    prefix = f"{_kind(ref)}:{ref.repository.key}:{_subject(ref)}:{delivery.label}:{delivery.channel}:"
    kept = [each.key for each in bot.mail.letters(prefix) if "." not in each.key.rpartition(":")[2]]
    if kept:
        return kept
    found = _frozen(bot, ref, prefix, delivery, trouble)
    bot.outbox.freeze(found)
    return [each.key for each in found]


def notice(bot: Bot, delivery: Delivery, seconds: float) -> list[str]:
    """Freezes a message that says when the rest of a day follows."""
    ref = parse_value(delivery.what)
    at = (bot.now() + timedelta(seconds=seconds)).astimezone(bot.tz)
    told = slack_words(ref.language).label(
        "later", subject=escaped(f"{ref.repository} · {_subject(ref)}"), time=f"{at:%H:%M}"
    )
    key = f"notice:{ref.repository.key}:{_subject(ref)}:{delivery.label}:{delivery.channel}:000"
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
        return Outcome(failure=str(exc), closed=isinstance(exc, ChannelClosed))
    return Outcome()


def finish(bot: Bot, delivery: Delivery, failure: str) -> None:
    """Notes with the subscription why its digest was not delivered, or that it was."""
    if delivery.label.startswith("s") and delivery.label[1:].isdecimal():
        bot.subscriptions.noted(int(delivery.label[1:]), failure)
    if failure:
        log.warning("not delivered", channel=delivery.channel, what=delivery.what, why=failure)
    else:
        log.info("delivered", channel=delivery.channel, what=delivery.what)


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


def _frozen(bot: Bot, ref: DayRef | CommitRef, prefix: str, delivery: Delivery, trouble: str) -> list[Draft]:
    try:
        if isinstance(ref, DayRef):
            return _day(bot, ref, prefix, delivery)
        return drafts(prefix, delivery.channel, _commit(bot, ref), delivery.what)
    except DigestError as exc:
        subject = escaped(f"{ref.repository} · {_subject(ref)}")
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


def _kind(ref: DayRef | CommitRef) -> str:
    return "digest" if isinstance(ref, DayRef) else "commit"


def _subject(ref: DayRef | CommitRef) -> str:
    return ref.day.isoformat() if isinstance(ref, DayRef) else ref.sha[:12]
