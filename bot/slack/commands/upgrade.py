"""The command `upgrade`: the changes between two versions, as a summary, its thread, and a file."""

from collections.abc import Sequence
from functools import partial

from analysis.errors import Misuse
from analysis.locale import Catalogue, Phrase, catalogue
from analysis.models import Repository
from analysis.models.upgrades import UpgradeGroup, UpgradeReport, UpgradeRow
from analysis.report.upgrades import HEADINGS, consequence_line, proposal, remarks, summary, title, warnings
from analysis.text import one_line, shorten
from analysis.writing.titles import number_of
from bot.models.downstream import DownstreamCheck
from bot.services.downstream import DownstreamChecks
from bot.services.versions.upgrade import UpgradeRequest, UpgradeService
from bot.slack.commands.conversation import Conversation
from bot.slack.delivery.drafts import attached, upgrade_file
from bot.slack.messages.blocks import (
    Block,
    Message,
    Piece,
    bullets,
    context,
    escaped,
    fallback,
    header,
    linked,
    ours,
    paragraph,
    prose,
    rich,
    split,
)
from bot.slack.messages.commit import to_number
from bot.slack.messages.impacts import impact_blocks
from bot.slack.parsing.command_types import Upgrade

_MOST_COMMITS = 2_000
_WORST = 3  # commits of a group in the summary
_LISTED = 30  # commits of a group in the thread; the file has all
_IN_FULL = 10  # commits that break the code, each with its places
_TEXT = 300  # characters of a consequence


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


def upgrade_messages(report: UpgradeReport) -> list[Message]:
    """Return the summary, and for its thread the groups with more commits; what breaks the code has both places."""
    say = catalogue(report.language)
    found = upgrade_summary(report)
    for row in report.group(UpgradeGroup.BREAKS_YOU)[:_IN_FULL]:
        found += _in_full(row, report, say)
    for group in UpgradeGroup:
        rows = report.group(group)
        if rows and group is not UpgradeGroup.BREAKS_YOU:
            found += _group(group, rows, say)
    return found


def upgrade_summary(report: UpgradeReport) -> list[Message]:
    """Return how many commits there are, the worst of each group, and where the range begins and why."""
    say = catalogue(report.language)
    blocks: list[Block] = [header(title(report)), rich(paragraph(ours(summary(report), "bold")))]
    for group in UpgradeGroup:
        if rows := report.group(group):
            items = [_row(row, say) for row in rows[:_WORST]]
            if len(rows) > _WORST:
                left = len(rows) - _WORST
                items.append(ours(say.plural("{count} more commit", "{count} more commits", left), "italic"))
            blocks.append(rich(paragraph(_heading(group, rows, say)), bullets(items)))
    blocks += [rich(paragraph(ours(proposal(report), "bold")))] if report.proposal else []
    blocks += [context(each) for each in remarks(report)]
    blocks += [context(f"⚠️ {each}") for each in warnings(report)]
    text = fallback(f"{title(report)}: {summary(report)}")
    return [Message(text, each, thread=number > 0) for number, each in enumerate(split([blocks]))]


def _in_full(row: UpgradeRow, report: UpgradeReport, say: Catalogue) -> list[Message]:
    commit = row.entry.commit
    check = DownstreamCheck(compared=report.downstreams, commits={commit.sha: row.found})
    name = rich(paragraph(linked(commit.title or commit.short_sha, commit.url, "bold")))
    packed = split([[name, *impact_blocks(commit, check, say.language)]])
    return [Message(fallback(commit.title), blocks, thread=True) for blocks in packed]


def _group(group: UpgradeGroup, rows: Sequence[UpgradeRow], say: Catalogue) -> list[Message]:
    heading = _heading(group, rows, say)
    items = [_row(row, say) for row in rows[:_LISTED]]
    left = len(rows) - _LISTED
    more = [context(say.plural("{count} more commit in the file", "{count} more commits in the file", left))]
    packed = split([[rich(paragraph(heading)), rich(bullets(items)), *(more if left > 0 else [])]])
    text = fallback(say(HEADINGS[group], count=len(rows)))
    return [Message(text, blocks, thread=True) for blocks in packed]


def _heading(group: UpgradeGroup, rows: Sequence[UpgradeRow], say: Catalogue) -> list[Piece]:
    return ours(say(HEADINGS[group], count=len(rows)), "bold")


def _row(row: UpgradeRow, say: Catalogue) -> list[Piece]:
    """Return a commit in a line: its consequence, or its title if that says more, and its number."""
    commit = row.entry.commit
    line = one_line(consequence_line(row, say.language)).removesuffix(f"({number_of(commit)})").rstrip()
    text = shorten(line, _TEXT)
    return [*prose(text or commit.title or commit.short_sha), *ours(" · "), *to_number(commit)]
