"""The operator's commands `move` and `doctor`."""

from datetime import UTC, datetime

import typer
from rich.text import Text

from analysis.errors import BadSetting, Misuse, StoreUnusable
from analysis.report.terminal import Line, print_line
from analysis.text import one_line
from bot.cli.options import IncompleteResult
from bot.cli.output import standard_console
from bot.cli.progress import TerminalProgress
from bot.doctor import Finding, findings
from bot.move import move_store


def move_database(source: str, target: str) -> None:
    """Copy a database, and print the rows of each table and the deliveries that are under way."""
    try:
        with TerminalProgress() as progress:
            tables, flows = move_store(source, target, progress)
    except (
        BadSetting,
        StoreUnusable,
    ) as exc:  # without advice about the setting, which is not where these URLs come from
        raise type(exc)(str(exc).replace(", or set DATABASE_URL", "").replace("DATABASE_URL", "the URL")) from exc
    widest = max(map(len, tables))
    for name, rows in tables.items():
        typer.echo(f"{name:{widest}} {rows:>13,} rows")
    if flows:
        typer.echo(f"deliveries under way: {flows:,}; the bot that is started next finishes them")


def check_settings() -> None:
    """Print a line for each check. Raise `Misuse` if the settings are wrong, `IncompleteResult` if a service fails."""
    console, found = standard_console(), list[Finding]()
    for each in findings(lambda: datetime.now(UTC)):
        found.append(each)
        mark = ("✗", "red") if each.exit_code else ("✓", "green") if each.exit_code == 0 else ("–", "yellow")
        print_line(console, Line(Text(f"{each.name}: {one_line(each.message)}"), Text.assemble(mark, " ")))
    if wrong := [each.exit_code for each in found if each.exit_code]:
        message = f"{len(wrong)} of {len(found)} checks failed; each line with ✗ says what to do"
        raise Misuse(message) if Misuse.exit_code in wrong else IncompleteResult(message)
