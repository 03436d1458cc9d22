"""The commands `run`, `serve` and `worker`, the bot as a process, which runs until SIGINT or SIGTERM; and `mcp`."""

import gc
import os
import signal
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from analysis.errors import BadSetting, StoreAway

if TYPE_CHECKING:
    from bot.settings import Settings

_METRICS_PORT = 9464
_POLL_INTERVAL = 1  # second between two looks whether the database is back

MetricsOption = Annotated[
    int | None,
    typer.Option(
        "--metrics-port",
        min=0,
        max=65535,
        help="Loopback port of /metrics, for Prometheus, and of /healthz; 0 for none.",
        show_default=str(_METRICS_PORT),
    ),
]


def run(metrics_port: MetricsOption = None) -> None:
    """Run the bot over Socket Mode. It answers, and posts the daily digests. Ends with Ctrl+C or SIGTERM.

    Without Slack's tokens it is a local workspace in the browser.
    """
    from bot.cli.options import load_settings

    settings = load_settings()
    if settings.slack_bot_token or settings.slack_app_token:
        run_bot(settings, None, metrics_port)
    else:
        _run_local_workspace(settings)


def serve(
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Port to listen on.")] = 3000,
    metrics_port: MetricsOption = None,
) -> None:
    """Run the bot over HTTP. Slack calls /slack/events; /healthz tells whether it is well. Ends with Ctrl+C or SIGTERM."""
    from bot.cli.options import load_settings

    run_bot(load_settings(), (host, port), metrics_port)


def worker(metrics_port: MetricsOption = None) -> None:
    """Run one more process of a bot on PostgreSQL. It reads, analyses and posts, but does not listen to Slack.

    Start as many as needed beside `run` or `serve`. Ends with Ctrl+C or SIGTERM.
    """
    from bot.cli.options import load_settings

    settings = load_settings()
    if settings.database_url.get_secret_value().startswith("sqlite"):
        raise BadSetting("a worker shares a database with other processes; set DATABASE_URL to one of PostgreSQL")
    run_bot(settings, None, metrics_port, listens=False)


def mcp() -> None:
    """Serve an agent over MCP. It reads what is stored and what commands read, on standard input and output."""
    from bot.cli.options import command_settings
    from bot.mcp.server import serve_stdio

    serve_stdio(command_settings(), lambda: datetime.now(UTC))


def run_bot(
    settings: "Settings",
    address: tuple[str, int] | None,
    metrics_port: int | None,
    **options: Any,
) -> None:
    """Run the bot as a process until SIGINT or SIGTERM; the arguments and the options are those of `Start`."""
    from bot.bootstrap import Start, running_bot

    url = settings.database_url.get_secret_value()
    signals = _Signals()
    start = Start(
        address,
        metrics_port=_METRICS_PORT if metrics_port is None else metrics_port,
        metrics_needed=metrics_port is not None,
        on_lease_lost=signals.start_anew,
        **options,
    )
    try:
        with running_bot(settings, lambda: datetime.now(UTC), start) as flows:
            gc.freeze()  # else each look for cycles goes through all that is imported, and no thread acknowledges for 0.1 s
            typer.echo("vllm-digest is running", err=True)
            if signals.wait():
                typer.echo("vllm-digest lost its lease and starts anew", err=True)
                _start_anew(url)
            typer.echo("vllm-digest is stopping; unfinished work resumes at the next start", err=True)
            flows.hand_over()
            _exit_without_unwinding(url)
    except StoreAway as exc:
        typer.echo(f"vllm-digest: {exc}; waiting until it does", err=True)
        _start_anew(url)


def _exit_without_unwinding(database_url: str) -> NoReturn:
    """End this process as a kill would: flows would fail on closed resources, but resume once they were interrupted.

    On SQLite it is replaced by a program that only closes its files, so that they are whole, with nothing beside them.
    """
    from bot.store.database import address_of
    from bot.store.lease import flows_url
    from bot.store.sqlite import CLOSE_FILES

    if database_url.startswith("sqlite"):
        files = [str(address_of(each).database) for each in (database_url, flows_url(database_url))]
        os.execv(sys.executable, [sys.executable, "-I", "-S", "-c", CLOSE_FILES, *files])  # noqa: S606 (our own program)
    os._exit(0)


def _start_anew(database_url: str) -> NoReturn:
    """Replace this process by one with the same command line, once the database answers."""
    from bot.store.database import condition

    signal.set_wakeup_fd(-1)
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, signal.SIG_DFL)
    while True:
        time.sleep(_POLL_INTERVAL)
        try:
            condition(database_url)
        except StoreAway:
            continue
        break
    sys.stderr.flush()
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 (the same command line)


def _run_local_workspace(settings: "Settings") -> None:
    from bot.local.workspace import local_workspace

    signals = _Signals()
    with local_workspace(settings, lambda: datetime.now(UTC)) as workspace:
        for line in workspace.guide():
            typer.echo(line, err=True)
        workspace.open_browser()
        signals.wait()
        with Path(os.devnull).open("w") as nowhere:
            os.dup2(nowhere.fileno(), 2)  # what is under way fails when its store goes, which is nobody's error
        workspace.forget()
        os._exit(0)


class _Signals:
    """Waits for SIGINT or SIGTERM, or for the order to start anew.

    It uses a pipe, which a signal in any thread can write to; waiting for a lock in the main thread might not be woken.
    """

    _ANEW = b"\0"  # no signal has this number

    def __init__(self) -> None:
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        signal.set_wakeup_fd(self._writer)
        for each in (signal.SIGTERM, signal.SIGINT):
            signal.signal(each, lambda *_: None)

    def start_anew(self) -> None:
        """Let `wait` return True."""
        os.write(self._writer, self._ANEW)

    def wait(self) -> bool:
        """Block until SIGINT or SIGTERM, or until `start_anew` was called; return whether that is what ended it."""
        return os.read(self._reader, 1) == self._ANEW
