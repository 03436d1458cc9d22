"""Messages of an upgrade or a release: a summary, and for its thread all that changes."""

from collections.abc import Sequence

from analysis.locale import Catalogue, catalogue
from analysis.models.upgrades import UpgradeGroup, UpgradeReport, UpgradeRow
from analysis.report.upgrades import (
    HEADINGS,
    consequence_line,
    highlights_heading,
    proposal,
    remarks,
    summary,
    title,
    warnings,
)
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
    for row in report.group(UpgradeGroup.BREAKS_YOU)[:_IN_FULL]:
        found += _in_full(row, report, say)
    for group in UpgradeGroup:
        rows = report.group(group)
        if len(rows) > _WORST and group is not UpgradeGroup.BREAKS_YOU:
            found += _listed(say(HEADINGS[group], count=len(rows)), rows, say)
    if report.release and report.release.highlights:
        found += _listed(highlights_heading(report.release, say), report.release.highlights, say)
    return found


def upgrade_summary(report: UpgradeReport) -> list[Message]:
    """Return how many commits there are, the worst of each group, and where the range begins and why."""
    say = catalogue(report.language)
    blocks: list[Block] = [header(title(report)), rich(paragraph(ours(summary(report), "bold")))]
    if report.release and report.release.url:
        blocks.append(rich(paragraph(linked(say("Release notes"), report.release.url))))
    for group in UpgradeGroup:
        if rows := report.group(group):
            items = [_row(row, say) for row in rows[:_WORST]]
            if len(rows) > _WORST:
                left = len(rows) - _WORST
                items.append(ours(say.plural("{count} more commit", "{count} more commits", left), "italic"))
            heading = ours(say(HEADINGS[group], count=len(rows)), "bold")
            blocks.append(rich(paragraph(heading), bullets(items)))
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


def _listed(heading: str, rows: Sequence[UpgradeRow], say: Catalogue) -> list[Message]:
    items = [_row(row, say) for row in rows[:_LISTED]]
    left = len(rows) - _LISTED
    more = [context(say.plural("{count} more commit in the file", "{count} more commits in the file", left))]
    packed = split([[rich(paragraph(ours(heading, "bold"))), rich(bullets(items)), *(more if left > 0 else [])]])
    return [Message(fallback(heading), blocks, thread=True) for blocks in packed]


def _row(row: UpgradeRow, say: Catalogue) -> list[Piece]:
    """Return a commit in a line: its consequence, or its title if that says more, and its number."""
    commit = row.entry.commit
    line = one_line(consequence_line(row, say.language)).removesuffix(f"({number_of(commit)})").rstrip()
    text = shorten(line, _TEXT)
    return [*prose(text or commit.title or commit.short_sha), *ours(" · "), *to_number(commit)]
