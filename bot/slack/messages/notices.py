"""Messages of one line: what could not be read, what is waited for, and what a channel has already."""

from analysis.locale import catalogue
from bot.models.subjects import Subject, subject_of
from bot.slack.messages.blocks import Action, Message, actions, button, escaped, section


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
    text = link_line(ref, link)
    again = button(catalogue(ref.language)("📣 Post again"), Action.POST_AGAIN, value)
    return Message(text, (section(text), actions(again)))
