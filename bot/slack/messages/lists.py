"""Lists as messages: the days of a range, and search results."""

from collections.abc import Sequence
from typing import NamedTuple
from zoneinfo import ZoneInfo

from analysis.locale import Catalogue, catalogue
from analysis.models import Commit, Language, Stats
from analysis.report import counts
from analysis.text import one_line, shorten
from analysis.writing.labels import dated
from bot.models.subjects import DayRef
from bot.slack.messages.blocks import (
    Message,
    Piece,
    bullets,
    context,
    header,
    linked,
    ours,
    pack,
    prose,
    rich,
    rich_text,
)

_HEADING = 200  # characters of a heading repeated in a continuation message


class DayRow(NamedTuple):
    """A day of a range: its counts, or None if it was not read; `note` is a remark to show with it."""

    day: DayRef
    stats: Stats | None
    note: str = ""


def range_message(rows: Sequence[DayRow], language: Language) -> list[Message]:
    """Return days, one per line."""
    say = catalogue(language)
    first, last = rows[0].day, rows[-1].day
    many = len({row.day.repository for row in rows}) > 1
    title = f"{first.day}..{last.day}" if many else f"{first.repository} · {first.day}..{last.day}"
    body = rich(bullets(_day(row, say, language, many=many) for row in rows))
    return pack(title, [[header(title), body]], say("Continued: {what}", what=title))


def _day(row: DayRow, say: Catalogue, language: Language, *, many: bool) -> list[Piece]:
    pieces = [*prose(str(row.day.repository)), *ours("  ")] if many else []
    pieces += ours(dated(row.day.day, language), "bold")
    if row.stats:
        line = counts.tiers(row.stats, language)
        pieces += ours(f"  {line}")
    elif not row.note:
        pieces += ours(f"  {say('not read yet')}", "italic")
    return pieces + (ours("  ") + prose(row.note, "italic") if row.note else [])


def search_messages(
    words: str, found: Sequence[tuple[str, Commit]], *, more: bool, language: Language, tz: ZoneInfo
) -> list[Message]:
    """Return what a search found, best first: (repository key, commit); `more` says that there was more."""
    say = catalogue(language)
    shown = one_line(words)
    heading = say("No stored commit matches “{words}”", words=shown)
    if found:
        heading = say("🔎 Commits matching “{words}”", words=shown)
    many = len({repository for repository, _ in found}) > 1
    items = [
        ours(f"{commit.committed_at.astimezone(tz):%Y-%m-%d}  ")
        + linked(commit.title or commit.short_sha, commit.url)
        + ours(f"  {commit.short_sha}", "code")
        + (ours("  ") + prose(repository) if many else [])
        for repository, commit in found
    ]
    left = [context(say("Only the first {most} commits are shown", most=len(found)))] if more else []
    blocks = [rich_text(prose(heading, "bold")), rich(bullets(items)), *left]
    return pack(heading, [blocks], say("Continued: {what}", what=shorten(heading, _HEADING)))
