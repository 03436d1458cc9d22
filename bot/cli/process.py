"""The commands `run` and `serve`: the bot as a process, which runs until SIGINT or SIGTERM."""

import os
import signal
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from bot.settings import Settings

_METRICS_PORT = 9464

MetricsOption = Annotated[
    int | None,
    typer.Option(
        "--metrics-port",
        min=0,
        max=65535,
        help="Loopback port of /metrics, for Prometheus; 0 for none.",
        show_default=str(_METRICS_PORT),
    ),
]


def run(metrics_port: MetricsOption = None) -> None:
    """Run the bot over Socket Mode. It answers, and posts the daily digests. Ends with Ctrl+C or SIGTERM.

    Without Slack's tokens it is a local workspace in the browser.
    """
    from bot.settings import Settings

    settings = Settings.load()
    if settings.slack_bot_token or settings.slack_app_token:
        _run_bot(settings, None, metrics_port)
    else:
        _run_local_workspace(settings)


def serve(
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Port to listen on.")] = 3000,
    metrics_port: MetricsOption = None,
) -> None:
    """Run the bot over HTTP. Slack calls /slack/events; /healthz tells whether it is well. Ends with Ctrl+C or SIGTERM."""
    from bot.settings import Settings

    _run_bot(Settings.load(), (host, port), metrics_port)


def _run_bot(settings: "Settings", address: tuple[str, int] | None, metrics_port: int | None) -> None:
    from bot.bootstrap import running_bot

    wait = _install_signal_wait()
    port, needed = (_METRICS_PORT, False) if metrics_port is None else (metrics_port, True)
    with running_bot(settings, lambda: datetime.now(UTC), address=address, metrics_port=port, metrics_needed=needed):
        typer.echo("vllm-digest is running", err=True)
        wait()
        typer.echo("vllm-digest is stopping; unfinished work resumes at the next start", err=True)
        # Exit without unwinding: flows would fail on closed resources, whereas a kill only interrupts them and they resume.
        os._exit(0)


def _run_local_workspace(settings: "Settings") -> None:
    from bot.local.workspace import local_workspace

    wait = _install_signal_wait()
    with local_workspace(settings, lambda: datetime.now(UTC)) as workspace:
        for line in workspace.guide():
            typer.echo(line, err=True)
        workspace.open_browser()
        wait()
        with Path(os.devnull).open("w") as nowhere:
            os.dup2(nowhere.fileno(), 2)  # what is under way fails when its store goes, which is nobody's error
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
