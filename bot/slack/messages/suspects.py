"""Suspects as messages: the likeliest commits first, each with the changed lines that hold what the failure names."""

from collections.abc import Iterator, Sequence
from zoneinfo import ZoneInfo

from analysis.models.suspects import ChangedLine, Suspect, SuspectReport
from analysis.report.impacts import suspects_heading, suspects_summary, suspicion_reasons
from analysis.text import one_line, shorten
from analysis.writing.labels import BADGE
from bot.models.downstream import DownstreamCheck, Unchecked
from bot.slack.messages.blocks import (
    Block,
    Message,
    Piece,
    bullets,
    code,
    context,
    fallback,
    lines,
    linked,
    ours,
    paragraph,
    prose,
    rich,
    split,
)
from bot.slack.messages.impacts import impact_blocks, unchecked_text

_PLACE = 120  # characters of a path with its line
_LINE = 160  # characters of a line of code


def suspect_messages(reports: Sequence[SuspectReport], unchecked: Sequence[Unchecked] = ()) -> list[Message]:
    """Return the suspects of each repository that has any; without one that there are none, and why."""
    shown = [each for each in reports if each.suspects] or reports
    groups = [group for report in shown for group in _report(report)]
    groups += [[context(unchecked_text(each, reports[0].language))] for each in unchecked]
    found = next((each.suspects[0].entry.commit.title for each in shown if each.suspects), "")
    text = fallback(" ".join(filter(None, (suspects_summary(shown[0]), found))))
    return [Message(text, blocks) for blocks in split(groups)]


def _report(report: SuspectReport) -> Iterator[list[Block]]:
    yield [rich(paragraph(ours(suspects_summary(report), "bold"))), context(suspects_heading(report))]
    for suspect in report.suspects:
        yield _suspect(suspect, report)


def _suspect(suspect: Suspect, report: SuspectReport) -> list[Block]:
    commit = suspect.entry.commit
    when = f"{commit.committed_at.astimezone(ZoneInfo(report.timezone)):%Y-%m-%d %H:%M}"
    title = ours(f"{BADGE[suspect.entry.ranked.importance]} ")
    title += linked(commit.title or commit.short_sha, commit.url, "bold")
    about = [*linked(f"`{commit.short_sha}`", commit.url), *prose(f" · {when} · {commit.author}")]
    unbroken = suspect.model_copy(update={"impacts": ()})  # what breaks is told with both places
    rows = [prose(each) for each in suspicion_reasons(unbroken, report.language)] + [
        _line(each) for each in suspect.lines
    ]
    blocks = [rich(lines([title, about]), bullets(rows))]
    if suspect.impacts:
        check = DownstreamCheck(compared=report.downstreams, commits={commit.sha: suspect.impacts})
        blocks += impact_blocks(commit, check, report.language)
    return blocks


def _line(changed: ChangedLine) -> list[Piece]:
    """Return a changed line with its place and link."""
    place = shorten(f"{changed.path}:{changed.line}", _PLACE).replace("`", "'")
    text = shorten(one_line(changed.code), _LINE)
    return [*linked(f"`{place}`", changed.url), *ours(" "), *code(f"{changed.sign} {text}")]
