"""An upgrade as messages: a summary with the worst of each group, then a thread with what breaks the code and the other groups."""

from collections.abc import Sequence

from analysis.locale import Catalogue, catalogue
from analysis.models.upgrades import Consequence, UpgradeReport, UpgradeRow
from analysis.report.upgrades import HEADINGS, consequence_line, remarks, summary, title, warnings
from analysis.text import one_line, shorten
from analysis.writing.titles import number_of
from bot.models.downstream import DownstreamCheck
from bot.slack.messages.blocks import (
    Block,
    Message,
    Piece,
    bullets,
    context,
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

_WORST = 3  # commits of a group in the summary
_LISTED = 30  # commits of a group in the thread; the file has all
_IN_FULL = 10  # commits that break the code, each with its places
_TEXT = 300  # characters of a consequence


def upgrade_messages(report: UpgradeReport) -> list[Message]:
    """Return the summary, and for its thread the groups with more commits; what breaks the code has both places."""
    say = catalogue(report.language)
    found = upgrade_summary(report)
    for row in report.group(Consequence.BREAKS_YOU)[:_IN_FULL]:
        found += _in_full(row, report, say)
    for group in Consequence:
        rows = report.group(group)
        if rows and group is not Consequence.BREAKS_YOU:
            found += _group(group, rows, say)
    return found


def upgrade_summary(report: UpgradeReport) -> list[Message]:
    """Return how many commits there are, the worst of each group, and where the range begins and why."""
    say = catalogue(report.language)
    blocks: list[Block] = [header(title(report)), rich(paragraph(ours(summary(report), "bold")))]
    for group in Consequence:
        if rows := report.group(group):
            items = [_row(group, row, say) for row in rows[:_WORST]]
            if len(rows) > _WORST:
                left = len(rows) - _WORST
                items.append(ours(say.plural("{count} more commit", "{count} more commits", left), "italic"))
            blocks.append(rich(paragraph(_heading(group, rows, say)), bullets(items)))
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


def _group(group: Consequence, rows: Sequence[UpgradeRow], say: Catalogue) -> list[Message]:
    heading = _heading(group, rows, say)
    items = [_row(group, row, say) for row in rows[:_LISTED]]
    left = len(rows) - _LISTED
    more = [context(say.plural("{count} more commit in the file", "{count} more commits in the file", left))]
    packed = split([[rich(paragraph(heading)), rich(bullets(items)), *(more if left > 0 else [])]])
    text = fallback(say(HEADINGS[group], count=len(rows)))
    return [Message(text, blocks, thread=True) for blocks in packed]


def _heading(group: Consequence, rows: Sequence[UpgradeRow], say: Catalogue) -> list[Piece]:
    return ours(say(HEADINGS[group], count=len(rows)), "bold")


def _row(group: Consequence, row: UpgradeRow, say: Catalogue) -> list[Piece]:
    """Return a commit in a line: its consequence, or its title if that says more, and its number."""
    commit = row.entry.commit
    line = one_line(consequence_line(group, row, say.language)).removesuffix(f"({number_of(commit)})").rstrip()
    text = shorten(line, _TEXT)
    return [*prose(text or commit.title or commit.short_sha), *ours(" · "), *to_number(commit)]
