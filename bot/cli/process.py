"""The bot as a process: it runs until somebody wants it to end."""

import os
import signal
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from bot.settings import Settings

METRICS_PORT = 9464


def run_until_ended(settings: "Settings", address: tuple[str, int] | None, metrics_port: int | None) -> None:
    from bot import bootstrap

    wait = _asked_to_end()
    port, needed = (METRICS_PORT, False) if metrics_port is None else (metrics_port, True)
    with bootstrap.running_bot(
        settings, lambda: datetime.now(UTC), address=address, metrics_port=port, metrics_needed=needed
    ):
        typer.echo("vllm-digest is running", err=True)
        wait()
        typer.echo("vllm-digest ends; what is under way goes on at its next start", err=True)
        # Not by unwinding: what is under way would fail at what was closed under it, where a kill only interrupts it.
        os._exit(0)


def show_until_ended(settings: "Settings") -> None:
    from bot.local_workspace import local_workspace

    wait = _asked_to_end()
    with local_workspace(settings, lambda: datetime.now(UTC)) as workspace:
        for line in workspace.told():
            typer.echo(line, err=True)
        workspace.open_browser()
        wait()
        workspace.forget()
        os._exit(0)


def _asked_to_end() -> Callable[[], object]:
    """What waits until somebody wants the process to end, from this moment on.

    A pipe, which whatever thread a signal arrives in can write to: a lock that the main thread waits for might not wake it.
    """
    heard, asked = os.pipe()
    os.set_blocking(asked, False)
    signal.set_wakeup_fd(asked)
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, lambda *_: None)
    return lambda: os.read(heard, 1)
