"""Commands run as people run them, with the time they take and the memory they need at most."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

PYTHON = sys.executable
COMMAND = str(Path(sys.executable).with_name("vllm-digest"))

_LAUNCHER = Path(__file__).with_name("launcher.py")
_OURS = ("DIGEST_", "GITHUB_", "DATABASE_URL", "LOG_LEVEL")


class Run(NamedTuple):
    """Wall time in seconds, and the peak of resident memory in bytes."""

    seconds: float
    peak: int


def run(command: Sequence[str], folder: Path, settings: Mapping[str, str] | None = None) -> Run:
    """Runs a command in `folder` with no other settings of ours than these; its output is thrown away."""
    outside = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    launched = subprocess.run(
        [PYTHON, "-I", "-S", str(_LAUNCHER), *command],
        cwd=folder,
        env={**outside, **(settings or {})},
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(launched.stdout)
    if found["code"]:
        raise RuntimeError(f"{' '.join(command)} ended with {found['code']}: {launched.stderr.strip()}")
    return Run(found["seconds"], found["peak"])


def settings(folder: Path, api_url: str) -> dict[str, str]:
    """Settings for a store in `folder` and a server at `api_url`, days in UTC."""
    return {
        "DATABASE_URL": f"sqlite:///{folder / 'digest.db'}",
        "GITHUB_API_URL": api_url,
        "DIGEST_TIMEZONE": "UTC",
    }
