"""The welcome: one message in a channel to which the bot is invited for the first time, which says what it does."""

from datetime import date

from analysis.consequences.period import CommitLine, shown_lines
from analysis.errors import DigestError
from analysis.models import Repository
from bot.models.deliveries import Outcome
from bot.models.subjects import DayRef
from bot.services.reader import ChannelView
from bot.slack.commands.conversation import Conversation
from bot.slack.commands.posting import Members
from bot.slack.messages.welcome import welcome_message, without_buttons
from bot.slack.parsing.requests import ButtonRequest, JoinRequest
from bot.slack.web import Web
from bot.store import Draft, Mailbox, Store

_MOST_DAYS = 7  # that are looked through for a headline


class Welcome:
    """Greets a channel once, in whichever process and however often the bot is invited: the outbox remembers the message."""

    def __init__(self, store: Store, mailbox: Mailbox, members: Members, web: Web, command: str) -> None:
        self._store = store
        self._mailbox = mailbox
        self._members = members
        self._web = web
        self._command = command

    def greet(self, conversation: Conversation, joined: JoinRequest) -> Outcome:
        """Freeze the message of a channel unless it has one, and return the outcome that sends it."""
        key, view = _key(joined.channel), conversation.view
        if self._mailbox.message(key) is None:
            try:
                known = view.reader.known
            except DigestError:  # GitHub cannot be asked what may be shown
                known = ()
            example = next(filter(None, (self._example(view, each, conversation.today) for each in known)), None)
            message = welcome_message(known, example, self._command, view.language, offered=not view.followed)
            self._mailbox.freeze([Draft(key, joined.channel, message.content)])
        return Outcome(lines=(key,))

    def _example(self, view: ChannelView, repository: Repository, today: date) -> tuple[date, CommitLine] | None:
        """Return the first line of the last stored day that has one."""
        day: date | None = today
        for _ in range(_MOST_DAYS):
            day = self._store.latest_day_before(repository, day, view.tz.key) if day else None
            report = view.reader.stored_report(DayRef(repository, day, view.tz.key, view.language)) if day else None
            if day and report and (groups := shown_lines(report)):
                return day, groups[0].lines[0]
        return None

    def decline(self, _: Conversation, button: ButtonRequest) -> None:
        """Take the buttons off the message. Raise `Misuse` for whoever may not subscribe the channel."""
        self._members.check_insider(button, button.channel)
        message = self._mailbox.message(_key(button.channel))
        if message and message.ts and message.content:
            self._web.update(message.channel, message.ts, without_buttons(message.content), message.key)


def _key(channel: str) -> str:
    return f"welcome:{channel}:000"
