"""The head of a digest: what follows from a day's commits, one line a commit, each linked to its message in the thread."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from analysis.consequences import breaks_others
from analysis.consequences.period import Group, GroupLines, Line, shown_lines
from analysis.locale import Catalogue, catalogue
from analysis.models import SHORT_SHA, DayReport, Entry, Importance
from analysis.report import counts
from analysis.text import one_line, shorten
from analysis.writing.labels import REMARKS, dated
from analysis.writing.titles import number_of
from bot.models.downstream import DownstreamCheck
from bot.slack.messages.blocks import (
    Block,
    Piece,
    bullets,
    context,
    fits,
    header,
    linked,
    ours,
    paragraph,
    prose,
    rich,
    section,
    side_by_side,
)
from bot.slack.messages.impacts import SHOWN_COMMITS, THREAD_MARK, breaking_section, raised, worst_line

_NAME = 100  # characters of a repository's name in the header
_REASONS = 300
_TERMS = 3
_SPARE = "·" * 1_200  # room that other blocks may take up: buttons, an opening line


LinePieces = Mapping[str, list[Piece]]  # by SHA


class DigestHead(NamedTuple):
    """The blocks of a digest's head, the commits that have a line in it, and its worst line as plain text."""

    blocks: tuple[Block, ...]
    shown: frozenset[str]
    worst: str


def head_of(report: DayReport, check: DownstreamCheck) -> DigestHead:
    """Return a digest's head for a channel: its importance counts what breaks the channel's code as high."""
    say, day = catalogue(report.language), (*report.entries, *report.late)
    report = raised(report, check)
    broken = [each.commit.sha for each in day if check.of(each.commit.sha)]
    groups = shown_lines(report, apart=broken)
    worst = worst_line(day, check, report.language) or first_headline(groups)
    first, last = [*_opening(report), *breaking_section(day, check, report.language)], _closing(report, check)
    pieces = line_pieces(groups, say, THREAD_MARK)
    groups = fitting(groups, pieces, [*first, *last], say)
    shown = {line.entry.commit.sha for group in groups for line in group.lines}
    in_order = [sha for sha in check.commits if sha in set(broken)]
    blocks = (*first, *group_blocks(groups, pieces, say), *last)
    return DigestHead(blocks, frozenset(shown | set(in_order[:SHOWN_COMMITS])), worst)


def line_pieces(groups: Sequence[GroupLines], say: Catalogue, mark: str = "") -> LinePieces:
    """Return the line of each commit by SHA; `mark` ends the addresses of its links."""
    return {
        line.entry.commit.sha: _link(line.entry, line.headline.replace("`", ""), mark)
        if group.group is Group.NEW
        else _line(line, say, mark)
        for group in groups
        for line in group.lines
    }


def fitting(
    groups: Sequence[GroupLines], pieces: LinePieces, others: Sequence[Block], say: Catalogue
) -> list[GroupLines]:
    """Return groups with as many of their first lines as fit into one message with other blocks, and room for buttons."""
    found = list(groups)
    while found and not fits([*others, *group_blocks(found, pieces, say), context(_SPARE)]):
        found = _without_last(found)
    return found


def group_blocks(groups: Sequence[GroupLines], pieces: LinePieces, say: Catalogue) -> list[Block]:
    """Return a block a group, with a line a commit; what is new stands on one line."""
    blocks = []
    for group in groups:
        lines = [pieces[each.entry.commit.sha] for each in group.lines]
        items = [side_by_side(lines)] if group.group is Group.NEW else lines
        more = [ours(group.more(say), "italic")]
        blocks.append(rich(paragraph(ours(group.heading(say), "bold")), bullets([*items, *more])))
    return blocks


def others(report: DayReport, check: DownstreamCheck, head: DigestHead) -> DayReport:
    """Return the day's commits that have no line in its head, late ones included."""

    def rest(entries: Sequence[Entry]) -> tuple[Entry, ...]:
        return tuple(each for each in entries if each.commit.sha not in head.shown)

    report = raised(report, check)
    return report.model_copy(update={"entries": rest(report.entries), "late": rest(report.late)})


def _opening(report: DayReport) -> list[Block]:
    name, troubles = str(report.repository), _troubles(report)
    return [
        header(f"{shorten(name, _NAME)} · {dated(report.date, report.language)}"),
        section(counts.statistics(report)),
        *([context(name)] if len(name) > _NAME else []),
        *([rich(bullets(troubles))] if troubles else []),
    ]


def _closing(report: DayReport, check: DownstreamCheck) -> list[Block]:
    """Return the footer of the head: the time zone, late commits, a selection, raised commits."""
    say = catalogue(report.language)
    about = [f"🕘 {report.timezone}"]
    if report.late:
        about.append(counts.late_heading(report))
    if report.chosen:
        about.append(report.chosen.description)
    if check.commits:
        about.append(say("🔴 includes commits that break your code"))
    return [context(" · ".join(about))]


def _troubles(report: DayReport) -> list[list[Piece]]:
    """Return the warnings: unread commits, and remarks on the day."""
    say = catalogue(report.language)
    rows = [ours(f"ℹ️ {say(REMARKS[remark])}") for remark in report.remarks]
    if report.failed:
        reasons = dict.fromkeys(one_line(failure.translated(report.language)) for failure in report.failed)
        commits = say.plural("{count} commit", "{count} commits", len(report.failed))
        reason = shorten("; ".join(reasons), _REASONS)
        rows.insert(0, prose(say("⚠️ {commits} could not be read: {reason}", commits=commits, reason=reason)))
    return rows


def _without_last(found: Sequence[GroupLines]) -> list[GroupLines]:
    """Return the groups with one line less."""
    *groups, last = found
    left = [last._replace(lines=last.lines[:-1], left=last.left + 1)] if len(last.lines) > 1 else []
    return [*groups, *left]


def first_headline(groups: Sequence[GroupLines]) -> str:
    """Return the first line as plain text, for the notification."""
    return groups[0].lines[0].headline.replace("`", "") if groups else ""


def _line(line: Line, say: Catalogue, mark: str) -> list[Piece]:
    """Return a commit's headline, with its marks and the link to its message."""
    entry = line.entry
    pieces = [*prose(line.headline), *ours(" · "), *_link(entry, number_of(entry.commit), mark)]
    for touch in entry.watched[:_TERMS]:
        pieces += [*ours(" · 👁 "), *prose(touch.term, "code")]
    if entry.links.reverted_by:
        pieces += ours(" · ↩️ " + say("reverted by {sha}", sha=entry.links.reverted_by[:SHORT_SHA]))
    return pieces + (ours(f" · ⚠️ {say('Failed')}") if not entry.commit.read else [])


def _link(entry: Entry, text: str, mark: str) -> list[Piece]:
    """Link text to a commit, and once the thread says more of it to that: see `bot.slack.delivery.sending`."""
    more = entry.ranked.importance is Importance.HIGH or breaks_others(entry)
    return linked(text, f"{entry.commit.url}{mark}" if more else entry.commit.url)
