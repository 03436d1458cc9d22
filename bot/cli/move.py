"""The command `move`: the store and what is under way, carried to another database."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from analysis.errors import BadSetting, StoreUnusable

if TYPE_CHECKING:
    from bot.store.move import ComparedTable, Progress


def move(
    source: Annotated[str, typer.Argument(metavar="FROM", help="The DATABASE_URL until now: sqlite:///data/digest.db")],
    target: Annotated[
        str,
        typer.Argument(metavar="TO", help="That of a new database: postgresql+psycopg://user:password@host/database"),
    ],
) -> None:
    """Carry everything stored to another database. Stop the bot first; an interrupted run resumes where it stopped.

    Every row is compared. Messages and requests under way are carried too, and finished by the bot that is started next,
    with TO as its DATABASE_URL. FROM stays as it is.
    """
    from bot.open_flows import carry_open_flows
    from bot.store.move import State, moving

    with _errors_of_arguments(), _progress() as progress, moving(source, target, datetime.now(UTC)) as under_way:
        if under_way.state is State.FINISHED:
            typer.echo("nothing is left to do: all of it was moved before", err=True)
            return
        under_way.copy(progress)
        under_way.index(progress)
        tables = under_way.compare(progress)
        flows = carry_open_flows(source, target)
        under_way.finish(datetime.now(UTC))
    _print(tables, flows)


@contextmanager
def _errors_of_arguments() -> Iterator[None]:
    """Raise the errors of databases without advice about the setting, which is not where these URLs come from."""
    try:
        yield
    except (BadSetting, StoreUnusable) as exc:
        raise type(exc)(str(exc).replace(", or set DATABASE_URL", "").replace("DATABASE_URL", "the URL")) from exc


class _Lines:
    """Progress where there is no terminal: a line for each tenth of a stage's rows."""

    def __init__(self) -> None:
        self._title = ""
        self._steps = self._done = 0

    def stage(self, title: str) -> None:
        self._title = title

    def expect(self, steps: int) -> None:
        self._steps, self._done = steps, 0

    def advance(self, steps: int = 1) -> None:
        before, self._done = self._done, self._done + steps
        if before * 10 // self._steps < self._done * 10 // self._steps:
            typer.echo(f"{self._title}: {self._done:,} of {self._steps:,} rows", err=True)


@contextmanager
def _progress() -> Iterator["Progress"]:
    from bot.cli.progress import TerminalProgress

    if not sys.stderr.isatty():
        yield _Lines()
        return
    with TerminalProgress() as progress:
        yield progress


def _print(tables: Sequence["ComparedTable"], flows: int) -> None:
    """Print what was moved: a line a table, equal in both databases."""
    from analysis.text import quantity

    widest = max(len(each.name) for each in tables)
    for each in tables:
        replaced = f"  {quantity(each.replaced, 'value')} shortened or without NUL" if each.replaced else ""
        typer.echo(
            f"{each.name:{widest}} {each.digest.rows:>13,} rows  checksum {each.digest.checksum} in both{replaced}"
        )
    if flows:
        typer.echo(f"deliveries under way: {flows:,}; the bot that is started next finishes them")
