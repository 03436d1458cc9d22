"""Lists as messages: the days of a range, search results, and commits that match an ambiguous reference."""

from collections.abc import Callable, Sequence
from typing import NamedTuple
from zoneinfo import ZoneInfo

from analysis.locale import Catalogue, catalogue
from analysis.models import Commit, Language, Repository, Stats
from analysis.report import counts
from analysis.text import one_line, shorten
from analysis.writing.labels import dated
from bot.models.subjects import DayRef, page_value
from bot.slack.messages.blocks import (
    Action,
    Block,
    Message,
    Piece,
    actions,
    bullets,
    button,
    context,
    header,
    linked,
    ours,
    pack,
    prose,
    rich,
    rich_text,
)

PAGE_SIZE = 10  # search results per page
_CHOICES = 10
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
    words: str,
    found: Sequence[tuple[str, Commit]],
    page: int,
    *,
    more: bool,
    language: Language,
    tz: ZoneInfo,
    again: str = "",
) -> list[Message]:
    """Return page `page`, from 0, of search results, best first: (repository key, commit).

    `again` is the command that the paging buttons carry; by default the words.
    """
    say = catalogue(language)
    if found:
        heading = say("🔎 Commits matching “{words}”", words=one_line(words))
    elif page:
        heading = say("No more commits matching “{words}”", words=one_line(words))
    else:
        heading = say("No stored commit matches “{words}”", words=one_line(words))
    many = len({repository for repository, _ in found}) > 1
    items = [
        ours(f"{commit.committed_at.astimezone(tz):%Y-%m-%d}  ")
        + linked(commit.title or commit.short_sha, commit.url)
        + ours(f"  {commit.short_sha}", "code")
        + (ours("  ") + prose(repository) if many else [])
        for repository, commit in found
    ]
    # Each button in its own block: both have the action_id `page`.
    paging = []
    if more:
        paging.append(_paging((page + 1) * PAGE_SIZE, again or words, say("Next ▶")))
    if page:
        paging.append(_paging((page - 1) * PAGE_SIZE, again or words, say("◀ Previous")))
    at = [context(say("page {page}", page=page + 1))] if page or more else []
    page_of_results = [rich_text(prose(heading, "bold")), rich(bullets(items)), *at]
    return pack(heading, [page_of_results, *paging], say("Continued: {what}", what=shorten(heading, _HEADING)))


def _paging(offset: int, words: str, label: str) -> list[Block]:
    value = page_value(offset, words)
    return [actions(button(label, Action.PAGE, value))] if value else []


def which_message(
    candidates: Sequence[tuple[Repository, Commit]],
    value_of: Callable[[Repository, Commit], str],
    language: Language,
) -> list[Message]:
    """Return messages that ask which commit is meant, with a button for each; `value_of` returns its value."""
    say = catalogue(language)
    shown = candidates[:_CHOICES]
    many = len({repository for repository, _ in candidates}) > 1
    items = [
        ours(f"{commit.short_sha} ", "code")
        + linked(commit.title or commit.short_sha, commit.url)
        + (ours("  ") + prose(str(repository)) if many else [])
        for repository, commit in shown
    ]
    buttons = [
        button(f"{commit.short_sha} {commit.title}", f"which_{number}", value_of(repository, commit))
        for number, (repository, commit) in enumerate(shown, 1)
    ]
    left = len(candidates) - len(shown)
    more = [context(say("and {count} more; use a longer SHA", count=left))] if left else []
    asked = say("Which one do you mean?")
    return pack(asked, [[rich_text(ours(asked, "bold")), rich(bullets(items)), *more], [actions(*buttons)]])
