"""The message with which the bot greets a channel."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from analysis.consequences.period import CommitLine
from analysis.locale import Language, catalogue
from analysis.models import Repository
from analysis.writing.labels import dated
from analysis.writing.titles import number_of
from bot.slack.messages.blocks import Action, Message, actions, button, fallback, lines, linked, ours, prose, rich
from bot.slack.messages.subscriptions import subscribe_button


def welcome_message(
    known: Sequence[Repository],
    example: tuple[date, CommitLine] | None,
    command: str,
    language: Language,
    *,
    offered: bool,
) -> Message:
    """Return what the bot does in three lines, and the line of a commit as an example; a button subscribes where that is `offered`."""
    say = catalogue(language)
    names = ", ".join(map(str, known)) or "GitHub"
    told = [
        say("👋 I read each day's commits of {names}, and say which matter, to whom and why", names=names),
        say("🔌 Name your plug-in or fork, and each digest starts with what breaks its code"),
        say("💬 Mention me with a question about commits, or type `{command} help`", command=command),
    ]
    rows = [prose(each) for each in told]
    if example:
        day, shown = example
        commit = shown.entry.commit
        opening = say("For example, {day}: ", day=dated(day, language))
        rows.append(
            [*ours(opening, "italic"), *prose(shown.headline), *ours(" · "), *linked(number_of(commit), commit.url)]
        )
    row = actions(subscribe_button(language), button(say("Not now"), Action.NOT_NOW, "not now"))
    return Message(fallback(told[0]), (rich(lines(rows)), *([row] if offered else [])))


def without_buttons(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a message without its buttons."""
    return {**content, "blocks": [each for each in content["blocks"] if each["type"] != "actions"]}
