"""The list of commands, with examples."""

from datetime import date, timedelta
from typing import NamedTuple

from analysis.locale import catalogue, mark
from analysis.models import Language
from bot.slack.commands.conversation import Conversation
from bot.slack.messages.blocks import Message, escaped, section
from bot.slack.parsing.command_types import Help, NotUnderstood
from bot.slack.parsing.requests import AnyRequest, MessageRequest
from bot.slack.web import Web

_WEEK = timedelta(days=6)

_FORMS = (  # of commands, and what they give, both with placeholders for `Examples`
    ("{day}", mark("the digest of a day (also: today, yesterday, -3, mon)")),
    ("{first}..{day}", mark("statistics for a range of days")),
    ("week {day}", mark("a week by consequence (also: week for the last seven days, week -1 for last week)")),
    ("{sha}", mark("a commit (SHA, #{pr} or URL)")),
    ("tell me when #{pr} is merged", mark("a direct message then (also: reverted, released; `tell me` lists them)")),
    ("search {words}", mark("search commits")),
    (
        "which commits touch {folder}?",
        mark("a question about commits (of the last 7 days unless it names others)"),
    ),
    (
        "upgrade v1.2.0..v1.3.0",
        mark("changes between two versions; `upgrade` alone starts at the version that your code pins"),
    ),
    (
        "suspects TRACEBACK",
        mark("commits that most likely caused a failure (paste or attach a traceback or log)"),
    ),
    ("{name} {day}", mark("the same for one repository")),
    (
        "subscribe at 09:00 min medium paths {folder}/**",
        mark("daily digest in this channel (also: tz, lang, weekly mon; unsubscribe, subscriptions, status)"),
    ),
    (
        "subscribe watch {folder}/, SOME_VARIABLE, Class.method, --some-flag",
        mark("commits that touch these paths, names, variables or flags are high in this channel"),
    ),
    (
        "subscribe downstream owner/plug-in",
        mark("digests in this channel start with what breaks this repository's code"),
    ),
)


class Examples(NamedTuple):
    """Values for the command examples; placeholders stand for the SHA and the pull request if no commit is known."""

    name: str
    day: date
    sha: str = "SHA"
    pr: int | str = "PR"
    words: str = "memory leak"
    folder: str = "src"


def forms(examples: Examples, language: Language) -> list[tuple[str, str]]:
    """Return (command, description) of each command form, filled with examples."""
    say, blanks = catalogue(language), {**examples._asdict(), "first": examples.day - _WEEK}
    return [(form.format(**blanks), say(gives, **blanks)) for form, gives in _FORMS]


class HelpCommand:
    """Shows the commands, and replies to text that was not understood."""

    def __init__(self, web: Web, command: str) -> None:
        self._web = web
        self._command = command

    def show(self, conversation: Conversation, _: Help) -> None:
        """Show the list of commands, with examples for yesterday and the first repository that the channel may see."""
        view, say, known = conversation.view, conversation.say, conversation.view.reader.known
        prefix = self._prefix(conversation.request)
        examples = Examples(known[0].name if known else "name", conversation.today - timedelta(days=1))
        rows = [f"• {_code(prefix + form)}  {gives}" for form, gives in forms(examples, view.language)]
        names = ", ".join(f"`{escaped(str(each))}`" for each in known)
        text = "\n".join(
            [
                say("You can ask me:"),
                *rows,
                say(
                    "You can also mention me or send me a direct message; in a commit's thread just ask. Repositories: {known}",
                    known=names,
                ),
            ]
        )
        conversation.show([Message(say("You can ask me:"), (section(text),))])

    def show_not_understood(self, conversation: Conversation, command: NotUnderstood) -> None:
        """Show one line with the input that was not understood and the nearest command that would work."""
        say, nearest = conversation.say, _code(f"{self._prefix(conversation.request)}{command.nearest}")
        conversation.tell(say("I didn't understand {text}. Try {nearest}", text=_code(command.text), nearest=nearest))

    def _prefix(self, request: AnyRequest) -> str:
        """Return the prefix of a command in this context: the slash command, a mention (in threads and channels), or nothing."""
        if not isinstance(request, MessageRequest):
            return f"{self._command} "
        return "" if request.direct else f"@{self._web.me['user']} "


def _code(text: str) -> str:
    """Format a person's text as code with Slack's tokens escaped; nothing else is live inside code."""
    return f"`{escaped(text).replace('`', chr(39))}`"
