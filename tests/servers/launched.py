"""The command line as a person runs it: a process, a folder and settings of its own; only what it imports is shared.

Importing takes a second of processor time, and the command itself a tenth of that. So each is forked from a process that
has imported everything and done nothing else.
"""

import os
import runpy
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

_PATIENCE = 120  # seconds
_STREAMS = ("in", "out", "err")


# A file, or one end of a pipe or a terminal.
Stream = Path | Connection


class Ran(NamedTuple):
    """What a command line did."""

    code: int
    out: str
    err: str


def launched(arguments: Sequence[str], folder: Path, environment: Mapping[str, str], stdin: bytes = b"") -> Ran:
    """Runs `vllm-digest` to its end."""
    with TemporaryDirectory() as name:
        streams = [Path(name, each) for each in _STREAMS]
        streams[0].write_bytes(stdin)
        process = begun(arguments, folder, environment, streams)
        process.join(_PATIENCE)
        if process.exitcode is None:
            process.kill()
            raise TimeoutError(f"vllm-digest {' '.join(arguments)} runs for {_PATIENCE} s")
        return Ran(process.exitcode, *(each.read_bytes().decode() for each in streams[1:]))


def begun(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], streams: Sequence[Stream]
) -> ForkServerProcess:
    """`vllm-digest`, running; its standard input, output and error are `streams`, which stay the caller's to close."""
    process = _context().Process(target=_run, args=(list(arguments), str(folder), dict(environment), streams))
    process.start()
    return process


@cache
def _context() -> ForkServerContext:
    context = get_context("forkserver")
    context.set_forkserver_preload(["tests.servers.preloaded"])
    return context


def _run(arguments: list[str], folder: str, environment: dict[str, str], streams: Sequence[Stream]) -> None:
    for number, stream in enumerate(streams):
        mode = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_APPEND
        os.dup2(os.open(stream, mode) if isinstance(stream, Path) else stream.fileno(), number)
    # As they are made for a new process: in the encoding of its environment, and the errors not kept back.
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 (it is the process's)
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["vllm-digest", *arguments]
    runpy.run_module("bot", run_name="__main__")
