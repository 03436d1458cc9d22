"""The command line as a person runs it: a process, a folder and settings of its own; only what it imports is shared.

Importing takes a second of processor time, and the command itself a tenth of that. So each is forked from a process that
has imported everything and done nothing else: `launcher`, of which there is one for all processes of tests.
"""

import os
import re
import signal
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from multiprocessing.connection import Client, Connection
from multiprocessing.reduction import send_handle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

_ROOT = Path(__file__).parents[2]
_PATIENCE = 120  # seconds
_STREAMS = ("in", "out", "err")


# A file, or one end of a pipe or a terminal.
Stream = Path | Connection


class Ran(NamedTuple):
    """What a command line did."""

    code: int
    out: str
    err: str


class Launched:
    """A command line at work. `exitcode` is as `subprocess` has it, and None while it runs."""

    def __init__(self, launcher: Connection) -> None:
        self._launcher = launcher
        self._code: int | None = None
        self.pid: int = launcher.recv()

    @property
    def exitcode(self) -> int | None:
        self.join(0)
        return self._code

    def join(self, timeout: float | None = None) -> None:
        """Wait until it has ended, at most `timeout` seconds."""
        if self._code is None and self._launcher.poll(timeout):
            self._code = self._launcher.recv()

    def kill(self) -> None:
        self._send(signal.SIGKILL)

    def terminate(self) -> None:
        self._send(signal.SIGTERM)

    def _send(self, what: signal.Signals) -> None:
        if self.exitcode is None:
            os.kill(self.pid, what)


def launched(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], stdin: bytes = b"", module: str = "bot"
) -> Ran:
    """Runs `vllm-digest`, or another module, to its end."""
    with TemporaryDirectory() as name:
        streams = [Path(name, each) for each in _STREAMS]
        streams[0].write_bytes(stdin)
        process = begun(arguments, folder, environment, streams, module)
        process.join(_PATIENCE)
        if process.exitcode is None:
            process.kill()
            raise TimeoutError(f"{module} {' '.join(arguments)} runs for {_PATIENCE} s")
        out, err = (each.read_bytes().decode() for each in streams[1:])
        return Ran(process.exitcode, out, without_progress(err))


def without_progress(err: str) -> str:
    """Errors without the lines of a command that takes long on a busy machine."""
    return re.sub(r"^… .*\n", "", err, flags=re.MULTILINE)


def begun(
    arguments: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    streams: Sequence[Stream],
    module: str = "bot",
) -> Launched:
    """`vllm-digest`, or another module, running; its standard input, output and error are `streams`, the caller's to close."""
    launcher = Client(start_launcher())
    launcher.send((module, list(arguments), str(folder), dict(environment)))
    for number, stream in enumerate(streams):
        mode = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_APPEND
        opened = os.open(stream, mode) if isinstance(stream, Path) else os.dup(stream.fileno())
        send_handle(launcher, opened, None)
        os.close(opened)
    return Launched(launcher)


@cache
def start_launcher() -> str:
    """Start the launcher of this process and of those that it forks from now on, with which it ends; return its address."""
    its_input, _kept_open = os.pipe()
    told, its_output = os.pipe()
    os.posix_spawn(
        sys.executable,
        [sys.executable, "-m", "tests.servers.launcher"],
        {**os.environ, "PYTHONPATH": str(_ROOT)},
        file_actions=[(os.POSIX_SPAWN_DUP2, its_input, 0), (os.POSIX_SPAWN_DUP2, its_output, 1)],
        setsid=True,
        setsigdef=[signal.SIGINT],  # which a shell's background jobs ignore, and their children with them
    )
    os.close(its_input)
    os.close(its_output)
    with os.fdopen(told) as lines:
        return lines.readline().strip()
