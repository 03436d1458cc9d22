"""The head of a day's or a week's digest: what breaks the channel's code, and what else follows from the commits, a line each."""

from collections.abc import Sequence
from typing import NamedTuple

from analysis.consequences import breaks_others
from analysis.consequences.period import CommitLine, Group, GroupLines, group_lines, lead_of, shown_lines
from analysis.locale import Catalogue, catalogue
from analysis.models import SHORT_SHA, Entry, Importance, PeriodReport
from analysis.models.consequences import Effect
from analysis.text import shorten
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
)
from bot.slack.messages.impacts import SHOWN_COMMITS, breaking_section, worst_line

_NAME = 100  # characters of a repository's name in the header
_LONGEST_NAME = 300  # characters of one on the line of an empty digest
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
    mark: str = "",
) -> DigestHead:
    """Return a digest's head, with as many lines as fit into one message between its opening and its closing, with buttons.

    `mark` ends the addresses of links to commits of which the thread says more.
    """
    say, commits = catalogue(report.language), (*report.entries, *report.late)
    known = {each.commit.sha for each in commits}
    broken = [sha for sha in check.commits if sha in known]
    groups = shown_lines(report, broken)
    worst = worst_line(commits, check, report.language)
    lead = lead_of(report, broken)
    if lead and not worst:
        worst = lead.text.replace("`", "").rstrip(".。")
    if groups and not worst and groups[0].group is not Group.IMPORTANT:  # a title alone tells no consequence
        worst = _weightiest(groups).headline.replace("`", "")
    first = [*opening, *breaking_section(commits, check, report.language)]
    while groups and not fits([*first, *_group_blocks(groups, say, mark), *closing, context(_SPARE)]):
        groups = _without_last(groups)
    shown = {line.entry.commit.sha for group in groups for line in group.lines}
    blocks = (*first, *_group_blocks(groups, say, mark), *closing)
    return DigestHead(blocks, frozenset(shown.union(broken[:SHOWN_COMMITS])), worst)


def _weightiest(groups: Sequence[GroupLines]) -> CommitLine:
    """Return the first line, but of what is only required from now on that of a high commit alone, if there is another line."""
    lines = [line for each in groups if each.group is not Group.IMPORTANT for line in each.lines]
    return next(
        (each for each in lines if each.tier == 0 or each.consequences[0].effect is not Effect.REQUIREMENT), lines[0]
    )


def is_quiet(report: PeriodReport, check: DownstreamCheck) -> bool:
    """Return whether a digest would tell no consequence: no commit has one or is high, and none was left unread.

    What could not be compared with the channel's code may break it.
    """
    entries = (*report.entries, *report.late)
    is_high = any(each.ranked.importance is Importance.HIGH for each in entries)
    unknown = report.failed or check.commits or check.unchecked or check.failed
    told = any(lines for group, lines in group_lines(report).items() if group is not Group.IMPORTANT)
    return not (unknown or is_high or told)


def with_line(messages: Sequence[Message], line: str) -> list[Message]:
    """Return a digest with a line in small print below its opening."""
    first, *others = messages
    return [first._replace(blocks=(*first.blocks[:2], context(line), *first.blocks[2:])), *others]


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


def _group_blocks(groups: Sequence[GroupLines], say: Catalogue, mark: str) -> list[Block]:
    """Return a block a group, with a line a commit."""
    return [
        listed(ours(group.heading(say), "bold"), [_line(each, say, mark) for each in group.lines]) for group in groups
    ]


def _without_last(groups: Sequence[GroupLines]) -> list[GroupLines]:
    """Return the groups with one line less."""
    *others, last = groups
    lines = last.lines[:-1]
    left = [last._replace(lines=lines, left=last.left + 1)] if lines else []
    return [*others, *left]


def _line(line: CommitLine, say: Catalogue, mark: str) -> list[Piece]:
    """Return what a line tells, with the marks of its commit and the link to its message."""
    entry = line.entry
    pieces = [*prose(line.text), *ours(" · "), *_link(entry, number_of(entry.commit), mark)]
    for touch in entry.watched[:_TERMS]:
        pieces += [*ours(" · 👁 "), *prose(touch.term, "code")]
    if entry.links.reverted_by:
        pieces += ours(" · ↩️ " + say("reverted by {sha}", sha=entry.links.reverted_by[:SHORT_SHA]))
    return pieces + ([] if entry.commit.read else ours(f" · ⚠️ {say('Failed')}"))


def _link(entry: Entry, text: str, mark: str) -> list[Piece]:
    """Link text to a commit, and once the thread says more of it to that: see `bot.slack.delivery.sending`."""
    more = entry.ranked.importance is Importance.HIGH or breaks_others(entry)
    return linked(text, f"{entry.commit.url}{mark}" if more else entry.commit.url)
