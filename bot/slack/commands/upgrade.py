"""The command `upgrade`: the changes between two versions, as a summary, its thread, and a file."""

from functools import partial

from analysis.errors import Misuse
from analysis.locale import Phrase
from analysis.models import Repository
from bot.services.downstream import DownstreamChecks
from bot.services.versions.upgrade import UpgradeRequest, UpgradeService
from bot.slack.commands.conversation import Conversation
from bot.slack.delivery.drafts import attached, upgrade_file
from bot.slack.messages.blocks import escaped
from bot.slack.messages.upgrades import upgrade_messages, upgrade_summary
from bot.slack.parsing.command_types import Upgrade

_MOST_COMMITS = 2_000


class UpgradeCommand:
    """Shows upgrades; the file goes where the summary is, or to the person's direct messages if only they see it."""

    def __init__(self, upgrades: UpgradeService, checks: DownstreamChecks) -> None:
        self._upgrades = upgrades
        self._checks = checks

    def show(self, conversation: Conversation, command: Upgrade) -> None:
        """Show the changes between two versions of a repository that the channel may see."""
        view, channel = conversation.view, conversation.request.channel
        upstream = command.repository or self._only_repository(conversation, command)
        for each in (upstream, *command.downstream):
            view.reader.allow(each)
        downstream = command.downstream or self._checks.named(channel, upstream)
        asked = UpgradeRequest(
            upstream,
            command.start,
            command.end,
            [each for each in downstream if view.reader.sees(each)],
            view.language,
            view.tz,
            conversation.now,
            most_commits=_MOST_COMMITS,
        )
        find_surfaces = partial(self._checks.surfaces, view.reader, channel, upstream, downstream)
        report = self._upgrades.report(asked, conversation.progress(escaped(str(upstream))), find_surfaces)
        private = conversation.private
        shown = conversation.show(upgrade_summary(report) if private else upgrade_messages(report), stage="upgrade")
        if report.commits and private:
            say = conversation.say
            hidden = say("📄 A private repository's report stays in its channel; mention me there")
            key, about = f"upgrade:{conversation.request.run}", (upstream, *downstream)
            conversation.send_directly(key, upgrade_file(report), about, hidden)
        elif report.commits:
            conversation.attach(attached(shown, [upgrade_file(report)]))

    def _only_repository(self, conversation: Conversation, command: Upgrade) -> Repository:
        """Return the repository that is meant where none is named: the only one, or the only one with downstream code."""
        known = conversation.repositories
        named = [each for each in known if self._checks.named(conversation.request.channel, each)]
        meant = named if len(named) == 1 else known
        if len(meant) == 1:
            return meant[0]
        example = f"{known[0].full_name} upgrade {command.start}"
        raise Misuse(Phrase("this channel has several repositories; put one first: {example}", example=example))
