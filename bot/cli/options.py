"""Options that several commands share, and the error of a command whose result is incomplete."""

from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from analysis.errors import DigestError
from analysis.locale import Language

RepoOption = Annotated[
    str | None, typer.Option("--repo", metavar="OWNER/NAME", help="One repository instead of DIGEST_REPOS.")
]
LangOption = Annotated[
    Language | None, typer.Option("--lang", help="Language of the report; otherwise DIGEST_LANGUAGE, or the locale's.")
]
ZoneOption = Annotated[
    str | None, typer.Option("--timezone", metavar="ZONE", help="Time zone of the days (DIGEST_TIMEZONE).")
]
NoModelOption = Annotated[bool, typer.Option("--no-model", help="Rule-based analyses only.")]
DownstreamOption = Annotated[
    list[str] | None,
    typer.Option(
        "--downstream",
        metavar="OWNER/NAME[@REF]|FOLDER",
        help="The code that may break; . is the current folder. May be repeated. (DIGEST_DOWNSTREAM)",
    ),
]
FormatOption = Annotated[Literal["terminal", "markdown", "json"], typer.Option("--format", help="Output format.")]
FormatOrSlackOption = Annotated[
    Literal["terminal", "markdown", "json", "slack"], typer.Option("--format", help="Output format.")
]
OutOption = Annotated[
    Path | None, typer.Option("--out", metavar="PATH", help="Write to a file instead of the terminal.")
]


class IncompleteResult(DigestError):
    """An external service failed, and the result is incomplete."""

    exit_code = 3


def parse_days(text: str, today: date) -> list[date]:
    """Parse a day or a range of days into its days, oldest first. Raise `Misuse` for anything else."""
    from analysis.window import parse_day, parse_range

    return parse_range(text, today) if ".." in text else [parse_day(text, today)]


def budget_time(now: datetime, no_model: bool) -> datetime | None:  # noqa: FBT001 (the option)
    """Return the time (UTC) that determines the model's daily budget; None to use no model."""
    return None if no_model else now
