"""The bot as a process, which runs until SIGINT or SIGTERM."""

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
    from bot.slack_bot import running_bot

    wait = _install_signal_wait()
    port, needed = (METRICS_PORT, False) if metrics_port is None else (metrics_port, True)
    with running_bot(settings, lambda: datetime.now(UTC), address=address, metrics_port=port, metrics_needed=needed):
        typer.echo("vllm-digest is running", err=True)
        wait()
        typer.echo("vllm-digest ends; what is under way goes on at its next start", err=True)
        # Exit without unwinding: flows would fail on closed resources, whereas a kill only interrupts them and they resume.
        os._exit(0)


def show_until_ended(settings: "Settings") -> None:
    from bot.local_workspace import local_workspace

    wait = _install_signal_wait()
    with local_workspace(settings, lambda: datetime.now(UTC)) as workspace:
        for line in workspace.told():
            typer.echo(line, err=True)
        workspace.open_browser()
        wait()
        workspace.forget()
        os._exit(0)


def _install_signal_wait() -> Callable[[], object]:
    """Install signal handlers and return a function that blocks until SIGINT or SIGTERM.

    It uses a pipe, which a signal in any thread can write to; waiting for a lock in the main thread might not be woken.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer)
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, lambda *_: None)
    return lambda: os.read(reader, 1)
