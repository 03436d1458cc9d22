"""The head of a day's or a week's digest: what breaks the channel's code, and what else follows from the commits, a line each."""

from collections.abc import Sequence
from typing import NamedTuple

from analysis.locale import Catalogue, catalogue
from analysis.models import SHORT_SHA, Entry, Importance, PeriodReport
from analysis.report.highlights import Highlight, HighlightGroup, Theme, shown_highlights
from analysis.text import one_line, shorten
from analysis.writing.headlines import feature_line, headline
from analysis.writing.titles import number_of
from bot.models.downstream import DownstreamCheck
from bot.slack.messages.blocks import (
    Block,
    Message,
    Piece,
    actions,
    context,
    escaped,
    fallback,
    fits,
    header,
    linked,
    listed,
    ours,
    prose,
    section,
    side_by_side,
)
from bot.slack.messages.impacts import SHOWN_COMMITS, breaking_section, worst_line

_NAME = 100  # characters of a repository's name in the header
_LONGEST_NAME = 300  # characters of one on the line of an empty digest
_LINE = 300  # characters of a line, which headlines seldom reach
_TERMS = 3
_SPARE = "·" * 1_200  # room that other blocks may take up: buttons, an opening line


class DigestHead(NamedTuple):
    """The blocks of a digest's head, the commits that have a line in it, and its worst line as plain text."""

    blocks: tuple[Block, ...]
    shown: frozenset[str]
    worst: str


def digest_head(
    report: PeriodReport,
    check: DownstreamCheck,
    opening: Sequence[Block],
    closing: Sequence[Block],
    *,
    every_high: bool = True,
    mark: str = "",
) -> DigestHead:
    """Return a digest's head, with as many lines as fit into one message between its opening and its closing, with buttons.

    With `every_high` each commit of high importance gets a line if there is room. `mark` ends the addresses of links to
    commits of which the thread says more.
    """
    say, commits = catalogue(report.language), (*report.entries, *report.late)
    known = {each.commit.sha for each in commits}
    broken = [sha for sha in check.commits if sha in known]
    groups = shown_highlights(report, broken, every_high=every_high)
    worst = worst_line(commits, check, report.language)
    if groups and not worst:
        worst = _headline(groups[0].rows[0], say).replace("`", "")
    lines = [[_line(each, say, mark) for each in group.rows] for group in groups]
    first = [*opening, *breaking_section(commits, check, report.language)]
    while groups and not fits([*first, *_group_blocks(groups, lines, say), *closing, context(_SPARE)]):
        groups = _without_last(groups)
    shown = {each.entry.commit.sha for group in groups for each in group.rows}
    blocks = (*first, *_group_blocks(groups, lines, say), *closing)
    return DigestHead(blocks, frozenset(shown.union(broken[:SHOWN_COMMITS])), worst)


def opening(report: PeriodReport, period: str, statistics: str) -> list[Block]:
    """Return what every digest begins with: its repository and period, and the commits by tier."""
    name = str(report.repository)
    return [
        header(f"{shorten(name, _NAME)} · {period}"),
        section(statistics),
        *([context(name)] if len(name) > _NAME else []),
    ]


def basis(report: PeriodReport, check: DownstreamCheck, late: str = "") -> str:
    """Return in small print what a digest rests on: the time zone, late commits, a selection, raised commits."""
    say = catalogue(report.language)
    chosen = report.chosen.description if report.chosen else ""
    raised = say("🔴 includes commits that break your code") if check.commits else ""
    return " · ".join(filter(None, (f"🕘 {report.timezone}", late, chosen, raised)))


def empty_digest(
    report: PeriodReport,
    period: str,
    facts: str,
    remarks: Sequence[str],
    above: Sequence[Block],
    buttons: Sequence[Block],
) -> Message:
    """Return a digest without commits: one line and its remarks, between what stands above it and its buttons."""
    line = f"{escaped(f'{shorten(str(report.repository), _LONGEST_NAME)} · {period}')} · {facts}"
    chosen = report.chosen.description if report.chosen else ""
    notes = [context(each) for each in (chosen, *remarks) if each]
    return Message(fallback(line), (*above, section(line), *notes, *([actions(*buttons)] if buttons else [])))


def _group_blocks(
    groups: Sequence[HighlightGroup], lines: Sequence[Sequence[list[Piece]]], say: Catalogue
) -> list[Block]:
    """Return a block a group, with a line a commit; what is new stands on one line."""
    blocks = []
    for group, rows in zip(groups, lines, strict=False):
        shown = rows[: len(group.rows)]
        items = [side_by_side(shown)] if group.theme is Theme.NEW else shown
        blocks.append(listed(ours(group.heading(say), "bold"), [*items, ours(group.more(say), "italic")]))
    return blocks


def _without_last(groups: Sequence[HighlightGroup]) -> list[HighlightGroup]:
    """Return the groups with one line less."""
    *others, last = groups
    left = [last._replace(rows=last.rows[:-1], left=last.left + 1)] if len(last.rows) > 1 else []
    return [*others, *left]


def _line(highlight: Highlight, say: Catalogue, mark: str) -> list[Piece]:
    """Return what follows from a commit, with its marks and the link to its message; of what is new, its name alone."""
    entry = highlight.entry
    if highlight.theme is Theme.NEW:
        return _link(entry, feature_line(entry.commit, say), mark)
    pieces = [*prose(_headline(highlight, say)), *ours(" · "), *_link(entry, number_of(entry.commit), mark)]
    for touch in entry.watched[:_TERMS]:
        pieces += [*ours(" · 👁 "), *prose(touch.term, "code")]
    if entry.links.reverted_by:
        pieces += ours(" · ↩️ " + say("reverted by {sha}", sha=entry.links.reverted_by[:SHORT_SHA]))
    return pieces + (ours(f" · ⚠️ {say('Failed')}") if not entry.commit.read else [])


def _headline(highlight: Highlight, say: Catalogue) -> str:
    return shorten(one_line(headline(highlight.entry, highlight.facts, say.language)), _LINE)


def _link(entry: Entry, text: str, mark: str) -> list[Piece]:
    """Link text to a commit, and once the thread says more of it to that: see `bot.slack.delivery.sending`."""
    more = entry.ranked.importance is Importance.HIGH or any(fact.breaking for fact in entry.facts)
    return linked(text, f"{entry.commit.url}{mark}" if more else entry.commit.url)
