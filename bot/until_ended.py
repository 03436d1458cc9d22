"""The bot as a process: it runs until somebody wants it to end."""

import os
import signal
from datetime import UTC, datetime
from threading import Event
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from bot.settings import Settings

METRICS_PORT = 9464


def run_until_ended(settings: "Settings", address: tuple[str, int] | None, metrics_port: int | None) -> None:
    from bot import wiring

    ended = _end()
    port, needed = (METRICS_PORT, False) if metrics_port is None else (metrics_port, True)
    with wiring.running_bot(
        settings, lambda: datetime.now(UTC), address=address, metrics_port=port, metrics_needed=needed
    ):
        typer.echo("vllm-digest is running", err=True)
        ended.wait()
        typer.echo("vllm-digest ends; what is under way goes on at its next start", err=True)
        # Not by unwinding: what is under way would fail at what was closed under it, where a kill only interrupts it.
        os._exit(0)


def show_until_ended(settings: "Settings") -> None:
    from bot.workspace import local_workspace

    ended = _end()
    with local_workspace(settings, lambda: datetime.now(UTC)) as workspace:
        for line in workspace.told():
            typer.echo(line, err=True)
        workspace.open_browser()
        ended.wait()
        workspace.forget()
        os._exit(0)


def _end() -> Event:
    """Set when somebody wants the process to end."""
    ended = Event()
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, lambda *_: ended.set())
    return ended
