"""Commands run as people run them, with the time they take and the memory they need at most."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from time import clock_gettime, perf_counter
from typing import NamedTuple

from tests.servers.launched import launched

PYTHON = sys.executable
COMMAND = str(Path(sys.executable).with_name("vllm-digest"))

_LAUNCHER = Path(__file__).with_name("launcher.py")
_forked = ContextVar("forked", default=False)
_OURS = ("DIGEST_", "GITHUB_", "DATABASE_URL", "LOG_LEVEL")


class Run(NamedTuple):
    """Wall time in seconds, and the peak of resident memory in bytes."""

    seconds: float
    peak: int


def run(command: Sequence[str], folder: Path, settings: Mapping[str, str] | None = None) -> Run:
    """Runs a command in `folder` with no other settings of ours than these; its output is thrown away."""
    outside = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    environment = {**outside, **(settings or {})}
    if _forked.get() and (module := _module(command)):
        return _run_forked(*module, folder, environment)
    measured = subprocess.run(
        [PYTHON, "-I", "-S", str(_LAUNCHER), *command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(measured.stdout)
    if found["code"]:
        raise RuntimeError(f"{' '.join(command)} ended with {found['code']}: {measured.stderr.strip()}")
    return Run(found["seconds"], found["peak"])


def processor_seconds(pid: int) -> float:
    """Return the processor time that a living process has used so far, its finished children not among it (Linux)."""
    return clock_gettime((~pid << 3) | 2)  # the id of its clock, as clock_getcpuclockid(3) makes it


@contextmanager
def forked() -> Iterator[None]:
    """Fork commands meanwhile from a process that has imported what they import: their time and memory are not their own."""
    token = _forked.set(True)
    try:
        yield
    finally:
        _forked.reset(token)


def _module(command: Sequence[str]) -> tuple[str, Sequence[str]] | None:
    """Return the module that a command runs, with its arguments; None for other commands."""
    program, *arguments = command
    if program == COMMAND:
        return "bot", arguments
    return (arguments[1], arguments[2:]) if arguments[0] == "-m" else None


def _run_forked(module: str, arguments: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Run:
    began = perf_counter()
    ran = launched(arguments, folder, environment, module=module)
    if ran.code:
        raise RuntimeError(f"{module} {' '.join(arguments)} ended with {ran.code}: {ran.err.strip()}")
    return Run(perf_counter() - began, peak=0)


def settings(folder: Path, api_url: str) -> dict[str, str]:
    """Settings for a store in `folder` and a server at `api_url`, days in UTC."""
    return {
        "DATABASE_URL": f"sqlite:///{folder / 'digest.db'}",
        "GITHUB_API_URL": api_url,
        "DIGEST_TIMEZONE": "UTC",
    }
