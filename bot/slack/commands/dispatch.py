"""Dispatch: the handler of each command, and of each button."""

from collections.abc import Callable, Mapping
from typing import Any

from analysis.locale import catalogue
from bot.models.deliveries import Outcome
from bot.slack.commands.conversation import Conversation
from bot.slack.delivery.drafts import line
from bot.slack.parsing.command_types import Command, Wrong
from bot.slack.parsing.requests import ButtonRequest

CommandHandler = Callable[[Conversation, Any], Outcome]
ButtonHandler = Callable[[Conversation, ButtonRequest], Outcome]


class CommandDispatcher:
    """Carries out commands. `handlers` maps the type of each command to what takes the conversation and the command."""

    def __init__(self, handlers: Mapping[type[Command], CommandHandler]) -> None:
        self._handlers = handlers

    def carry_out(self, conversation: Conversation, command: Command) -> Outcome:
        """Carry out a command; the caller reports errors to the person. Raise the error of one that is `Wrong`."""
        if isinstance(command, Wrong):
            raise command.complaint
        return self._handlers[type(command)](conversation, command)


class ButtonDispatcher:
    """Handles clicks. `handlers` maps action ids; those of the form `which_N` choose one of several commits."""

    def __init__(self, handlers: Mapping[str, ButtonHandler], choose: ButtonHandler) -> None:
        self._handlers = handlers
        self._choose = choose

    def press(self, conversation: Conversation, button: ButtonRequest) -> Outcome:
        """Handle a click; one of a button that no longer exists has no effect."""
        if button.action.startswith("which_"):
            return self._choose(conversation, button)
        handler = self._handlers.get(button.action)
        return handler(conversation, button) if handler else Outcome()


def show_no_form(conversation: Conversation, _: ButtonRequest) -> Outcome:
    """Tell the person of a button that opens a modal that it could not be opened."""
    say = catalogue(conversation.view.language)
    conversation.show([line(say("⚠️ The form did not open; press the button again"))])
    return Outcome()
