"""The command `move`: the store and what is under way, carried to another database."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from analysis.errors import BadSetting, StoreUnusable


def move(
    source: Annotated[str, typer.Argument(metavar="FROM", help="The DATABASE_URL until now: sqlite:///data/digest.db")],
    target: Annotated[
        str,
        typer.Argument(metavar="TO", help="That of a new database: postgresql+psycopg://user:password@host/database"),
    ],
) -> None:
    """Copy everything stored to another database. Stop the bot first; an interrupted run can be repeated.

    Messages and requests under way are carried too, and finished by the bot that is started next, with TO as its
    DATABASE_URL. FROM stays as it is.
    """
    from bot.cli.progress import TerminalProgress
    from bot.move import move_store

    with _errors_of_arguments(), TerminalProgress() as progress:
        tables, flows = move_store(source, target, progress)
    widest = max(map(len, tables))
    for name, rows in tables.items():
        typer.echo(f"{name:{widest}} {rows:>13,} rows")
    if flows:
        typer.echo(f"deliveries under way: {flows:,}; the bot that is started next finishes them")


@contextmanager
def _errors_of_arguments() -> Iterator[None]:
    """Raise the errors of databases without advice about the setting, which is not where these URLs come from."""
    try:
        yield
    except (BadSetting, StoreUnusable) as exc:
        raise type(exc)(str(exc).replace(", or set DATABASE_URL", "").replace("DATABASE_URL", "the URL")) from exc
