"""Days and commits that a channel has already: each is linked from then on, and posted again only for whoever asks for that."""

from bot.services.subjects import CommitRef, DayRef, parse_value, subject_of
from bot.slack.bot import Bot
from bot.slack.delivery.channel_report import is_whole
from bot.slack.messages.blocks import Action, Message, actions, button, escaped, section
from bot.slack.messages.words import slack_words


def find_link(bot: Bot, channel: str, ref: DayRef | CommitRef) -> str:
    """The address of the latest message of a channel that shows a day or a commit; empty where none does any more.

    A commit in the thread of a digest does not count: the channel itself does not have it, nor a thread of its own.
    """
    kind = "digest" if isinstance(ref, DayRef) else "commit"
    begun = bot.mail.begun(f"{kind}:{ref.repository.key}:{subject_of(ref)}:")
    shown = [each.ts for each in begun if each.channel == channel and _is_same(bot, parse_value(each.about), ref)]
    links = (bot.web.permalink(channel, ts) for ts in reversed(shown))
    return next((each for each in links if each), "")


def told(ref: DayRef | CommitRef, link: str) -> str:
    """That the channel has it already, in a line of mrkdwn."""
    subject = escaped(f"{ref.repository} · {subject_of(ref)}")
    return slack_words(ref.language).label("already_here", link=f"<{link}|{subject}>")


def linked_message(ref: DayRef | CommitRef, link: str, value: str) -> Message:
    """The same with a button that has it posted again nevertheless; `value` is what the button carries."""
    text = told(ref, link)
    again = button(slack_words(ref.language).labels["post_again"], Action.POST_AGAIN, value)
    return Message(text, (section(text), actions(again)))


def _is_same(bot: Bot, shown: DayRef | CommitRef, ref: DayRef | CommitRef) -> bool:
    """Whether a message shows what is asked for: the same in the same language, a day in its time zone and unabridged."""
    if isinstance(shown, DayRef):
        same = isinstance(ref, DayRef) and (shown.day, shown.timezone) == (ref.day, ref.timezone)
        same = same and is_whole(bot, shown)
    else:
        same = isinstance(ref, CommitRef) and shown.sha == ref.sha
    return same and (shown.repository.key, shown.language) == (ref.repository.key, ref.language)
