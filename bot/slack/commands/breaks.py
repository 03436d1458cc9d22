"""The buttons of what breaks a channel's code: somebody takes it, puts it off until a day, or says that it is no concern there."""

from datetime import date
from typing import Any

from analysis.errors import Misuse
from analysis.locale import Phrase, mark
from bot.models.subjects import parse_commit_value
from bot.services.breaks import BreakLives
from bot.slack.commands.conversation import Conversation
from bot.slack.commands.posting import Members
from bot.slack.delivery.edits import DigestEdits
from bot.slack.messages.blocks import Action, Message, actions, button, fallback, prose, rich_text
from bot.slack.messages.breaks import break_names
from bot.slack.parsing.requests import ButtonRequest
from bot.store import Breaks, BreakState

_TOLD = {
    Action.TAKE: mark("🙋 You take {names}"),
    Action.PUT_OFF: mark("⏰ Put off until {day}: {names}"),
    Action.DISMISS: mark("🚫 No concern here: {names}. Later digests of this channel do not flag it"),
    Action.REOPEN: mark("↩️ Open again: {names}"),
}


class BreakCommands:
    """Changes the life of what one commit breaks in a channel, and edits the channel's digests. Nothing is posted."""

    def __init__(self, breaks: Breaks, lives: BreakLives, edits: DigestEdits, members: Members) -> None:
        self._breaks = breaks
        self._lives = lives
        self._edits = edits
        self._members = members

    def change(self, conversation: Conversation, pressed: ButtonRequest) -> None:
        """Do what the button says, show the person what was done, and offer to undo it.

        The value is that of a commit; a day, and a bar, come first where it is put off.
        """
        self._members.check_insider(pressed, pressed.channel)
        action, value, until = Action(pressed.action), pressed.value, None
        if action is Action.PUT_OFF:
            day, _, value = value.partition("|")
            until = date.fromisoformat(day) if day else conversation.today
            if until <= conversation.today:
                raise Misuse(Phrase("choose a day after today"))
        ref, reader, say = parse_commit_value(value), conversation.view.reader, conversation.say
        before = BreakState.UNCONCERNED if action is Action.REOPEN else BreakState.FOUND
        named = {"repository": ref.repository.key, "sha": ref.sha}
        found = self._lives.of_channel(reader, pressed.channel, **named, state=before)
        if action is Action.REOPEN:
            found += self._lives.of_channel(reader, pressed.channel, **named, state=BreakState.FOUND)
        if not found:
            raise Misuse(Phrase("nothing of this is open in this channel any more"))
        self._breaks.change(found, **_values(action, pressed.user, until), updated_at=conversation.now)
        self._edits.refresh([ref.repository], pressed.channel)
        text = say(_TOLD[action], names=break_names(found, say), day=until)
        undo = [actions(button(say("↩️ Undo"), Action.REOPEN, value))] if action is not Action.REOPEN else []
        conversation.show([Message(fallback(text), (rich_text(prose(text)), *undo))])


def _values(action: Action, user: str, until: date | None) -> dict[str, Any]:
    """Return what an action sets of a break."""
    match action:
        case Action.TAKE:
            return {"who": user, "until": None}
        case Action.PUT_OFF:
            return {"until": until}
        case Action.DISMISS:
            return {"state": BreakState.UNCONCERNED, "who": user, "until": None}
    return {"state": BreakState.FOUND, "who": "", "until": None}
