"""The list of commands, with examples from the repositories that a channel subscribes to, so that they work when copied."""

import re
from collections.abc import Sequence
from datetime import date, timedelta
from typing import NamedTuple

from analysis.locale import catalogue, mark
from analysis.models import Commit, Language, Repository
from bot.services.reader import ChannelView
from bot.slack.commands.conversation import Conversation
from bot.slack.commands.subscriptions import visible_subscriptions
from bot.slack.messages.blocks import Message, escaped, section
from bot.slack.parsing.command_types import MOST_DAYS, Help, NotUnderstood, Why
from bot.slack.parsing.requests import AnyRequest, MessageRequest
from bot.slack.web import Web
from bot.store import Store, Subscriptions

_PLAIN = re.compile(r"[\w-]+(?:[/.][\w-]+)+", re.ASCII)  # a path that can be typed verbatim
_WEEK = timedelta(days=6)
_RECENT = 20  # recent commits to search for an example

_FORMS = (  # of commands, and what they give, both with placeholders for `Examples`
    ("{day}", mark("the digest of a day (also: today, yesterday, -3, mon)")),
    ("{first}..{day}", mark("statistics for a range of days")),
    ("week {day}", mark("a week by consequence (also: week for the last seven days, week -1 for last week)")),
    ("{sha}", mark("a commit (SHA, #{pr} or URL)")),
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
_NOT_UNDERSTOOD: dict[Why, str] = {
    "": mark("I didn't understand {text}. Try {nearest}"),
    "future": mark("{text} is in the future. Try {nearest}"),
    "too_many": mark("{text} is longer than {most} days. Try {nearest}"),
}


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

    def __init__(self, store: Store, subscriptions: Subscriptions, web: Web, command: str) -> None:
        self._store = store
        self._subscriptions = subscriptions
        self._web = web
        self._command = command

    def show(self, conversation: Conversation, _: Help) -> None:
        """Show the list of commands, with examples from the repositories that the channel subscribes to."""
        request, view = conversation.request, conversation.view
        say, known = conversation.say, view.reader.known
        followed = [each.terms.repository for each in visible_subscriptions(self._subscriptions, view, request.channel)]
        prefix = self._prefix(request)
        rows = [
            f"• {_code(prefix + form)}  {gives}"
            for form, gives in forms(self._examples(view, conversation.today, (*followed, *known)), view.language)
        ]
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
        nearest = _code(f"{self._prefix(conversation.request)}{command.nearest or 'help'}")
        values = {"text": _code(command.text), "nearest": nearest, "most": MOST_DAYS}
        conversation.tell(conversation.say(_NOT_UNDERSTOOD[command.why], **values))

    def _prefix(self, request: AnyRequest) -> str:
        """Return the prefix of a command in this context: the slash command, a mention (in threads and channels), or nothing."""
        if not isinstance(request, MessageRequest):
            return f"{self._command} "
        return "" if request.direct else f"@{self._web.me['user']} "

    def _examples(self, view: ChannelView, today: date, repositories: Sequence[Repository]) -> Examples:
        """Return examples from the first repository with stored commits: its latest listed day and a recent commit."""
        yesterday = today - timedelta(days=1)
        for repository in repositories:
            commits = [each.commit for each in self._store.commits(self._store.latest(repository, _RECENT))]
            if commits:
                day = self._store.latest_day_before(repository, today, view.tz.key) or yesterday
                # The latest commit with the most usable fields.
                best = max(commits, key=lambda each: (bool(each.pr), bool(_path(each))))
                return _of_commit(Examples(repository.name, day), best)
        return Examples(repositories[0].name if repositories else "name", yesterday)


def _of_commit(examples: Examples, commit: Commit) -> Examples:
    found, path = examples._replace(sha=commit.short_sha, pr=commit.pr or examples.pr), _path(commit)
    if not path:
        return found
    stem = re.split(r"[/.]", path)[-2]
    return found._replace(folder=path.partition("/")[0], words=stem.replace("_", " ").strip())


def _path(commit: Commit) -> str:
    """Return the first changed path inside a folder that can be typed in a command; empty if there is none."""
    return next((each for each in commit.paths if "/" in each and "." in each and _PLAIN.fullmatch(each)), "")


def _code(text: str) -> str:
    """Format a person's text as code with Slack's tokens escaped; nothing else is live inside code."""
    return f"`{escaped(text).replace('`', chr(39))}`" if text else ""
