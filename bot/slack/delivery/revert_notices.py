"""Revert notices: one in each channel, in the thread of the digest that had the reverted commit."""

from collections.abc import Iterator
from typing import NamedTuple
from zoneinfo import ZoneInfo

from analysis.models import DayReport, Repository
from bot.services.deliveries import Delivery
from bot.services.subjects import DayRef, parse_day_value, parse_value
from bot.slack.bot import Bot
from bot.slack.delivery.channel_report import seen
from bot.slack.messages.blocks import Message
from bot.slack.messages.commit import reverted_message
from bot.store import Draft, Thread


class Reverted(NamedTuple):
    """A reverted commit, the reverting one and a channel whose digest contained the first; all as keys."""

    channel: str
    repository: str
    sha: str
    by: str
    run: str


def reverted(bot: Bot, delivery: Delivery) -> list[Reverted]:
    """Return the commits of other days that a delivered day reverts, for each channel whose digest contained them."""
    ref, store = parse_value(delivery.what), bot.reading.services.store
    if not isinstance(ref, DayRef):
        return []
    day = store.day(ref.repository, ref.day, ref.timezone)
    commits = store.commits(day.commit_ids + day.late_ids) if day else []
    links = store.links(commits)
    pairs = [(sha, each.commit.sha) for each in commits for sha in links[each.id].all_reverted]
    here = {each.commit.sha for each in commits}
    return [
        Reverted(channel, ref.repository.key, sha, by, delivery.run)
        for sha, by in pairs
        if sha not in here
        for channel in dict.fromkeys(each.channel for each in _threads(bot, ref.repository, sha))
    ]


def draft(bot: Bot, found: Reverted) -> list[str]:
    """Freeze the notice for the channel's first thread whose digest contains the commit but not its revert.

    Return its key; nothing if there is no such thread, or the channel may no longer see the repository.
    """
    bot, repository = bot.within(found.channel), Repository.parse(found.repository)
    for thread in _threads(bot, repository, found.sha):
        ref = parse_day_value(thread.about)
        if thread.channel == found.channel and _needs_notice(bot, ref, found):
            key = f"revert:{repository.key}:{found.sha}:{found.channel}:000"
            message = _message(bot, ref, found)
            content = {"text": message.text, "blocks": list(message.blocks)}
            bot.outbox.freeze([Draft(key, found.channel, content, thread_ts=thread.ts)])
            return [key]
    return []


def _threads(bot: Bot, repository: Repository, sha: str) -> Iterator[Thread]:
    """Yield the digest threads, in any channel, of the days that contain a commit."""
    for day in bot.reading.services.store.dates_of(repository, sha):
        yield from bot.mail.begun(f"digest:{repository.key}:{day}:")


def _needs_notice(bot: Bot, ref: DayRef, found: Reverted) -> bool:
    report = bot.reading.stored(ref.repository, ref.day, ZoneInfo(ref.timezone), ref.language)
    return report is not None and found.sha in _shas(seen(bot, report, ref)) and found.by not in _shas(report)


def _shas(report: DayReport) -> set[str]:
    return {each.commit.sha for each in (*report.entries, *report.late)}


def _message(bot: Bot, ref: DayRef, found: Reverted) -> Message:
    store = bot.reading.services.store
    ids = [store.with_sha(sha, ref.repository)[0][1] for sha in (found.sha, found.by)]
    commit, by = (each.commit for each in store.commits(ids))
    return reverted_message(commit, by, ref.language, ZoneInfo(ref.timezone))
