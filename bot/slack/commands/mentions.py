"""Messages of people: which are meant for the bot, and whether they are commands or questions.

In a commit's thread the bot answers when mentioned, or to a question that mentions nobody else; in a digest's thread when
mentioned or when a commit is named; in direct messages always. Otherwise it is silent. A question that names no commit, and
follows on none, is about the commits of days.
"""

import re

from analysis.questions.intent import reads_as_question, references_in
from analysis.questions.scope import asks_over_days
from bot.models.deliveries import Outcome
from bot.models.subjects import CommitRef, parse_value
from bot.slack.commands.conversation import Conversation
from bot.slack.commands.dispatch import CommandDispatcher
from bot.slack.commands.questions import Questions
from bot.slack.commands.threads import Threads
from bot.slack.parsing.command_types import Ask, Help, NotUnderstood, Suspects
from bot.slack.parsing.commands import MOST_CHARACTERS, holds_failure
from bot.slack.parsing.markup import plain_lines
from bot.slack.parsing.requests import MessageRequest
from bot.slack.web import Web


class Messages:
    """Handles messages and mentions."""

    def __init__(self, commands: CommandDispatcher, questions: Questions, threads: Threads, web: Web) -> None:
        self._commands = commands
        self._questions = questions
        self._threads = threads
        self._web = web

    def handle(self, conversation: Conversation, message: MessageRequest) -> Outcome:
        """Carry out a command, answer a question, or stay silent if the message is not meant for the bot."""
        lines = plain_lines(message.text, self._web.me["user_id"])
        text = " ".join(lines.split())[:MOST_CHARACTERS]
        about = self._threads.subject(message)
        if message.mentioned or message.direct:
            command = conversation.understand(lines)
            if message.files and (not text or isinstance(command, Ask | NotUnderstood)):
                command = Suspects(lines)
            elif not text and message.thread_ts:
                command = Help()
            if not isinstance(command, Ask) and not (about and isinstance(command, NotUnderstood)):
                return self._commands.carry_out(conversation, command)
            if not about and not references_in(text) and not asks_over_days(text, conversation.today):
                about = self._latest_subject(message)
        elif not _is_addressed(message, text, about):
            return Outcome()
        elif holds_failure(message.text):  # which no model may read, not even as a question
            return self._commands.carry_out(conversation, Suspects(lines))
        self._questions.answer(conversation, about, text)
        return Outcome()

    def _latest_subject(self, message: MessageRequest) -> str:
        """Return the latest subject of direct messages, to which a question outside a conversation refers, else an empty string."""
        if not message.direct or self._threads.turns(message):
            return ""
        return self._threads.latest_subject(message.channel)


def _is_addressed(message: MessageRequest, text: str, about: str) -> bool:
    """Return whether a message without a mention of the bot is still meant for it."""
    if not about or re.search(r"<[@!](?!here|channel|everyone)", message.text):
        return False
    return reads_as_question(text) if isinstance(parse_value(about), CommitRef) else bool(references_in(text))
