"""Messages and their threads: which messages are meant for the bot, and whether they are commands or questions."""

import re
from collections.abc import Mapping
from typing import Any

from analysis.models import Turn
from analysis.questions.intent import reads_as_question, references_in
from bot.models.subjects import CommitRef, parse_value
from bot.slack.commands.conversation import Conversation
from bot.slack.parsing.command_types import Ask, Command, Help, NotUnderstood, Suspects
from bot.slack.parsing.commands import MOST_CHARACTERS, holds_failure
from bot.slack.parsing.input import plain, plain_lines
from bot.slack.parsing.requests import MessageRequest, Request
from bot.slack.web import Web
from bot.slack.web_calls import about_of, key_of
from bot.slack.web_errors import SlackFailure
from bot.store import Mailbox

_TURNS = 12  # messages of a thread passed as history; the answer's own limit may be lower
_TURN = 2_000  # characters of a message in the history
_LINK = re.compile(r"\[((?:\\.|[^\[\]\\\n])*)\]\(https?://[^()\s]*\)")


class Threads:
    """Messages, and the threads that the bot started or answered in.

    `private_to_model` tells whether answers that show code of private downstream repositories are part of the history.
    """

    def __init__(self, mailbox: Mailbox, web: Web, *, private_to_model: bool) -> None:
        self._mailbox = mailbox
        self._web = web
        self._answers = ("answer:", "private-answer:") if private_to_model else ("answer:",)

    def concerns(self, message: MessageRequest) -> bool:
        """Return whether a message could be meant for the bot; only such messages are stored."""
        if message.mentioned or message.direct or message.root_is_ours:
            return True
        return bool(message.thread_ts and self._mailbox.thread(message.channel, message.thread_ts))

    def subject(self, message: MessageRequest) -> str:
        """Return the subject of a message's thread, from the store or else from the metadata of its first message."""
        if not message.thread_ts:
            return ""
        known = self._mailbox.thread(message.channel, message.thread_ts)
        if known or not message.root_is_ours:
            return known
        try:
            root = self._web.thread(message.channel, message.thread_ts)[:1]
        except SlackFailure:
            return ""
        about = about_of(root[0]) if root else ""
        if about:
            self._mailbox.keep_thread(message.channel, message.thread_ts, about)
        return about

    def command(self, conversation: Conversation, message: MessageRequest) -> Command | None:
        """Return the command that a message is, or the question in it; None if it is not meant for the bot."""
        lines = plain_lines(message.text, self._web.me["user_id"])
        text = " ".join(lines.split())[:MOST_CHARACTERS]
        about = self.subject(message)
        if not (message.mentioned or message.direct):
            if not _is_addressed(message, text, about):
                return None
            return Suspects(lines) if holds_failure(message.text) else Ask(text, about)  # no model may read a failure
        command = conversation.understand(lines)
        if message.files and (not text or isinstance(command, Ask | NotUnderstood)):
            return Suspects(lines)
        if not text and message.thread_ts:
            return Help()
        if not isinstance(command, Ask) and not (about and isinstance(command, NotUnderstood)):
            return command
        return Ask(text, about)

    def turns(self, request: Request) -> tuple[Turn, ...]:
        """Return the earlier messages of a request's thread; empty if Slack does not provide them."""
        if not request.thread_ts or request.private:
            return ()
        try:
            until = request.ts if isinstance(request, MessageRequest) else ""
            messages = self._web.thread(request.channel, request.thread_ts)
        except SlackFailure:
            return ()
        me = self._web.me["user_id"]
        if until:
            messages = [each for each in messages if float(each["ts"]) < float(until)]
        turns = [_turn(each, me) for each in messages if self._is_spoken(each, me)]
        return tuple(turn for turn in turns[-_TURNS:] if turn.text)

    def _is_spoken(self, message: Mapping[str, Any], me: str) -> bool:
        """Return whether a message is conversation.

        Of our own messages only answers are, not a digest's parts in its thread. What people pasted of their failures is not
        for a model.
        """
        if message.get("user") == me:
            return key_of(message).startswith(self._answers)
        return not holds_failure(str(message.get("text") or ""), me)


def _turn(message: Mapping[str, Any], me: str) -> Turn:
    """Convert a message to a turn; in our own ones drop link URLs, which are long and carry no information."""
    text = plain(str(message.get("text") or ""), me)
    if message.get("user") != me:
        return Turn(who="person", text=text[:_TURN])
    read = re.sub(r"\\([^\w\s]|_)|\u200b", r"\1", _LINK.sub(r"[\1]", text)).replace("\u2024", ".")
    return Turn(who="bot", text=read[:_TURN])


def _is_addressed(message: MessageRequest, text: str, about: str) -> bool:
    """Return whether a message without a mention of the bot is still meant for it."""
    if not about or re.search(r"<[@!](?!here|channel|everyone)", message.text):
        return False
    return reads_as_question(text) if isinstance(parse_value(about), CommitRef) else bool(references_in(text))
