"""The command `suspects`: the commits that most likely caused what somebody pasted, or attached as a file."""

from collections.abc import Sequence

from analysis.errors import Misuse
from analysis.locale import Phrase, catalogue
from analysis.models import Repository
from analysis.models.suspects import SuspectReport
from analysis.search.pasted import decoded
from bot.models.deliveries import Outcome
from bot.models.downstream import Unchecked
from bot.services.downstream import DownstreamChecks
from bot.services.suspects import SuspectService, SuspectTerms
from bot.slack.commands.conversation import Conversation
from bot.slack.messages.suspects import suspect_messages
from bot.slack.parsing.command_types import Suspects
from bot.slack.parsing.requests import MessageRequest
from bot.slack.web import Web
from bot.store import Subscriptions

_DAYS = 90
_MOST_BYTES = 20_000_000  # of a file


class SuspectsCommand:
    """Shows suspects. What was pasted is searched here, and neither kept nor shown to a model."""

    def __init__(
        self, service: SuspectService, checks: DownstreamChecks, subscriptions: Subscriptions, web: Web
    ) -> None:
        self._service = service
        self._checks = checks
        self._subscriptions = subscriptions
        self._web = web

    def show(self, conversation: Conversation, command: Suspects) -> Outcome:
        """Show the suspects among the commits of the repository that is named, or of those that the channel follows."""
        view = conversation.view
        repositories = self._repositories(conversation, command)
        conversation.reply.show_progress(
            catalogue(view.language)("⏳ Searching the commits of the last {days} days", days=_DAYS)
        )
        text = self._text(conversation, command)
        reports, unchecked = self._reports(conversation, repositories, text)
        conversation.show(suspect_messages(reports, unchecked))
        return Outcome()

    def _repositories(self, conversation: Conversation, command: Suspects) -> Sequence[Repository]:
        reader = conversation.view.reader
        if command.repository:
            reader.allow(command.repository)
            return [command.repository]
        followed = {each.terms.repository.key for each in self._subscriptions.of(conversation.request.channel)}
        known = reader.known
        if not known:
            raise Misuse(Phrase("no repository is available in this channel"))
        return [each for each in known if each.key in followed] or known

    def _text(self, conversation: Conversation, command: Suspects) -> str:
        """Return what was pasted, with the text of the message's files."""
        request = conversation.request
        parts = [command.text] if command.text else []
        for file in request.files if isinstance(request, MessageRequest) else ():
            name, content = self._web.download(file, _MOST_BYTES)
            parts.append(decoded(content, name))
        if not parts:
            raise Misuse(Phrase("paste a traceback or log after `suspects`, or mention me with it attached as a file"))
        return "\n".join(parts)

    def _reports(
        self, conversation: Conversation, repositories: Sequence[Repository], text: str
    ) -> tuple[list[SuspectReport], list[Unchecked]]:
        """Return a report of each repository of which commits are stored. Raise `Misuse` if none are of any."""
        view, channel, now = conversation.view, conversation.request.channel, conversation.now
        reports: list[SuspectReport] = []
        unchecked: list[Unchecked] = []
        unstored: list[Misuse] = []
        for each in repositories:
            surfaces, failed = self._checks.surfaces(view.reader, channel, each)
            unchecked += failed
            try:
                reports.append(
                    self._service.find(each, text, SuspectTerms(surfaces, now, _DAYS, view.language, view.tz, now))
                )
            except Misuse as exc:
                unstored.append(exc)
        if not reports:
            raise unstored[0]
        return reports, unchecked
