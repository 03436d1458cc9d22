"""Options that several commands share, their settings, and the error of a command whose result is incomplete."""

import os
from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from analysis.errors import DigestError
from analysis.locale import Language

if TYPE_CHECKING:
    from bot.settings import Settings

_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")  # of POSIX's locale: the first that is set counts
Repo = Annotated[
    str | None, typer.Option("--repo", metavar="OWNER/NAME", help="One repository instead of DIGEST_REPOS.")
]
Lang = Annotated[
    Language | None, typer.Option("--lang", help="Language of the report; otherwise DIGEST_LANGUAGE, or the locale's.")
]
Zone = Annotated[
    str | None, typer.Option("--timezone", metavar="ZONE", help="Time zone of the days (DIGEST_TIMEZONE).")
]
NoModel = Annotated[bool, typer.Option("--no-model", help="Rule-based analyses only.")]
Downstream = Annotated[
    list[str] | None,
    typer.Option(
        "--downstream",
        metavar="OWNER/NAME[@REF]|FOLDER",
        help="The code that may break; . is the current folder. May be repeated. (DIGEST_DOWNSTREAM)",
    ),
]
Format = Annotated[Literal["terminal", "markdown", "json"], typer.Option("--format", help="Output format.")]
FormatOrSlack = Annotated[
    Literal["terminal", "markdown", "json", "slack"], typer.Option("--format", help="Output format.")
]
Out = Annotated[Path | None, typer.Option("--out", metavar="PATH", help="Write to a file instead of the terminal.")]


class IncompleteResult(DigestError):
    """An external service failed, and the result is incomplete."""

    exit_code = 3


def load_settings() -> "Settings":
    """Load the settings, and name on standard error those that are unknown. Raise `WrongSettings` if one is invalid."""
    from analysis.text import one_line
    from bot.settings import Settings

    settings = Settings.load()
    for each in Settings.unknown():
        typer.echo(f"vllm-digest: {one_line(each)}", err=True)
    return settings


def command_settings() -> "Settings":
    """Load the settings; without DIGEST_LANGUAGE the language is that of the locale. Raise `WrongSettings` if one is invalid."""
    settings = load_settings()
    if "digest_language" in settings.model_fields_set:
        return settings
    return settings.model_copy(update={"digest_language": locale_language(os.environ)})


def locale_language(environment: Mapping[str, str]) -> Language:
    """Return "zh" for a Chinese locale, such as zh_CN.UTF-8, else "en"."""
    name = next(filter(None, map(environment.get, _VARIABLES)), "")
    return "zh" if name.lower().startswith("zh") else "en"


def parse_days(text: str, today: date) -> list[date]:
    """Parse a day or a range of days into its days, oldest first. Raise `Misuse` for anything else."""
    from analysis.window import parse_day, parse_range

    return parse_range(text, today) if ".." in text else [parse_day(text, today)]


def budget_time(now: datetime, no_model: bool) -> datetime | None:  # noqa: FBT001 (the option)
    """Return the time (UTC) that determines the model's daily budget; None to use no model."""
    return None if no_model else now
