"""Messages of one line: what could not be read, what is waited for, what a channel has already, and what was reverted."""

from zoneinfo import ZoneInfo

from analysis.locale import Language, catalogue
from analysis.models import Commit
from bot.models.subjects import Subject, subject_of
from bot.slack.messages.blocks import (
    Action,
    Message,
    actions,
    button,
    escaped,
    fallback,
    linked,
    ours,
    rich_text,
    section,
)


def line(mrkdwn: str) -> Message:
    """Return a message of one line of mrkdwn; text from elsewhere in it must be `escaped`."""
    return Message(mrkdwn, (section(mrkdwn),))


def named(ref: Subject) -> str:
    """Return a repository and its day, week or commit, as mrkdwn."""
    return escaped(f"{ref.repository} · {subject_of(ref)}")


def unread(ref: Subject, reason: str) -> str:
    """Return that a day, a week, some of its days or a commit could not be read, and why, as mrkdwn."""
    say = catalogue(ref.language)
    return say("⚠️ {subject} could not be read: {reason}", subject=named(ref), reason=escaped(reason))


def waiting(ref: Subject, time: str) -> str:
    """Return that the rest of a day or a commit follows at a time, as mrkdwn."""
    say = catalogue(ref.language)
    return say("⏳ {subject}: GitHub's rate limit is reached; continuing at {time}", subject=named(ref), time=time)


def link_line(ref: Subject, link: str) -> str:
    """Return a line of mrkdwn with the link to the existing post."""
    return catalogue(ref.language)("📌 Already in this channel: {link}", link=f"<{link}|{named(ref)}>")


def link_message(ref: Subject, link: str, value: str) -> Message:
    """Return a message that links to the existing post, with a "post again" button that carries `value`."""
    told = link_line(ref, link)
    again = button(catalogue(ref.language)("📣 Post again"), Action.POST_AGAIN, value)
    return Message(told, (section(told), actions(again)))


def reverted_message(commit: Commit, by: Commit, language: Language, tz: ZoneInfo) -> Message:
    """Return the revert notice for the thread of the digest that contained the commit."""
    say = catalogue(language)
    when = say(" was reverted on {date} by ", date=f"{by.committed_at.astimezone(tz):%Y-%m-%d}")
    reverted, reverting = commit.title or commit.short_sha, by.title or by.short_sha
    pieces = [*ours("⏪ "), *linked(reverted, commit.url), *ours(when), *linked(reverting, by.url)]
    return Message(fallback(f"⏪ {reverted}{when}{reverting}"), (rich_text(pieces),))
