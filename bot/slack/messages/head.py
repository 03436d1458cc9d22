"""The head of a digest: what follows from a day's commits, one line a commit, each linked to its message in the thread."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from analysis.locale import Catalogue, catalogue
from analysis.models import SHORT_SHA, DayReport, Entry, Importance
from analysis.report import counts
from analysis.report.highlights import Highlight, HighlightGroup, Theme, shown_highlights
from analysis.text import one_line, shorten
from analysis.writing.headlines import feature_line, headline
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
_LINE = 300  # characters of a line, which headlines seldom reach
_TERMS = 3
_SPARE = "·" * 1_200  # room that other blocks may take up: buttons, an opening line


HighlightRows = Mapping[tuple[Theme, str], list[Piece]]


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
    found = shown_highlights(report, apart=broken)
    worst = worst_line(day, check, report.language) or worst_highlight(found, say)
    first, last = [*_opening(report), *breaking_section(day, check, report.language)], _closing(report, check)
    rows = highlight_rows(found, say, THREAD_MARK)
    found = fitting(found, rows, [*first, *last], say)
    shown = {each.entry.commit.sha for group in found for each in group.rows}
    in_order = [sha for sha in check.commits if sha in set(broken)]
    blocks = (*first, *group_blocks(found, rows, say), *last)
    return DigestHead(blocks, frozenset(shown | set(in_order[:SHOWN_COMMITS])), worst)


def highlight_rows(found: Sequence[HighlightGroup], say: Catalogue, mark: str = "") -> HighlightRows:
    """Return the line of each commit by group and SHA; `mark` ends the addresses of its links."""
    return {
        (group.theme, each.entry.commit.sha): _link(each.entry, feature_line(each.entry.commit, say), mark)
        if group.theme is Theme.NEW
        else _row(each, say, mark)
        for group in found
        for each in group.rows
    }


def fitting(
    found: Sequence[HighlightGroup], rows: HighlightRows, others: Sequence[Block], say: Catalogue
) -> list[HighlightGroup]:
    """Return groups with as many of their first lines as fit into one message with other blocks, and room for buttons."""
    found = list(found)
    while found and not fits([*others, *group_blocks(found, rows, say), context(_SPARE)]):
        found = _without_last(found)
    return found


def group_blocks(found: Sequence[HighlightGroup], rows: HighlightRows, say: Catalogue) -> list[Block]:
    """Return a block a group, with a line a commit; what is new stands on one line."""
    blocks = []
    for group in found:
        lines = [rows[each.theme, each.entry.commit.sha] for each in group.rows]
        items = [side_by_side(lines)] if group.theme is Theme.NEW else lines
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


def _without_last(found: Sequence[HighlightGroup]) -> list[HighlightGroup]:
    """Return the groups with one line less."""
    *groups, last = found
    left = [last._replace(rows=last.rows[:-1], left=last.left + 1)] if len(last.rows) > 1 else []
    return [*groups, *left]


def worst_highlight(found: Sequence[HighlightGroup], say: Catalogue) -> str:
    """Return the first line as plain text, for the notification."""
    return highlight_text(found[0].rows[0], say).replace("`", "") if found else ""


def _row(highlight: Highlight, say: Catalogue, mark: str) -> list[Piece]:
    """Return what follows from a commit, with its marks and the link to its message."""
    entry = highlight.entry
    pieces = [*prose(highlight_text(highlight, say)), *ours(" · "), *_link(entry, number_of(entry.commit), mark)]
    for touch in entry.watched[:_TERMS]:
        pieces += [*ours(" · 👁 "), *prose(touch.term, "code")]
    if entry.links.reverted_by:
        pieces += ours(" · ↩️ " + say("reverted by {sha}", sha=entry.links.reverted_by[:SHORT_SHA]))
    return pieces + (ours(f" · ⚠️ {say('Failed')}") if not entry.commit.read else [])


def highlight_text(highlight: Highlight, say: Catalogue) -> str:
    return shorten(one_line(headline(highlight.entry, highlight.facts, say.language)), _LINE)


def _link(entry: Entry, text: str, mark: str) -> list[Piece]:
    """Link text to a commit, and once the thread says more of it to that: see `bot.slack.delivery.sending`."""
    more = entry.ranked.importance is Importance.HIGH or any(fact.breaking for fact in entry.facts)
    return linked(text, f"{entry.commit.url}{mark}" if more else entry.commit.url)
