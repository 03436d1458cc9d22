"""The message shortcut "Explain commits": shows a person the commits that a message names."""

from analysis.errors import Misuse
from analysis.locale import catalogue
from analysis.questions.intent import references_in
from bot.models.deliveries import Outcome
from bot.models.reference import parse_reference
from bot.services.lookup import Located, SeveralCommits
from bot.slack.commands.commits import CommitCommands
from bot.slack.commands.conversation import Conversation
from bot.slack.delivery.drafts import line
from bot.slack.messages.blocks import escaped
from bot.slack.parsing.command_types import ExplainCommits

_MOST = 5  # commits that are shown


class ExplainShortcut:
    """Explains the commits of a message privately to the person who asked."""

    def __init__(self, commits: CommitCommands) -> None:
        self._commits = commits

    def explain(self, conversation: Conversation, command: ExplainCommits) -> Outcome:
        """Show each commit that the message names, once however it is named; tell which are unknown, or that none is named."""
        view = conversation.view
        say = catalogue(view.language)
        shown: list[Located] = []
        problems: list[str] = []
        names = references_in(command.text)
        if not names:
            problems = [say("This message names no commit: no SHA, no #number, no link to a commit or pull request")]
        for name in names:
            if len(shown) == _MOST:
                problems.append(say("Only the first {most} commits are shown", most=_MOST))
                break
            try:
                located = view.reader.commit(parse_reference(name), None)
            except SeveralCommits as exc:
                conversation.show(self._commits.which(view, exc, ""))
            except Misuse as exc:
                problems.append(f"⚠️ {escaped(exc.translated(view.language))}")
            else:
                if located not in shown:
                    shown.append(located)
                    self._commits.show_located(conversation, located)
        if problems:
            conversation.show([line("\n".join(problems))])
        return Outcome()
