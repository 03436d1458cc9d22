"""The subject that a word names: a commit, a day or days."""

from datetime import date
from typing import TYPE_CHECKING

from analysis.errors import Misuse

if TYPE_CHECKING:
    from bot.models.reference import Reference


def days_or_commit(text: str, today: date) -> "list[date] | Reference":
    """Return the days, oldest first, or the commit that a word names. Raise `Misuse` for anything else."""
    from analysis.window import parse_day, parse_range
    from bot.models.reference import parse_reference

    if ".." in text:
        return parse_range(text, today)
    try:
        return parse_reference(text)
    except Misuse:
        try:
            return [parse_day(text, today)]
        except Misuse:
            if any(map(str.isdigit, text)):  # an invalid date, or one in the future
                raise
    raise Misuse(f"{text!r} is neither a commit nor a day; use a SHA, #123, 2026-02-05, yesterday or FROM..TO")
