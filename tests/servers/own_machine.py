"""`vllm-digest run` as on a machine without anything: a process of its own, and what its page shows."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

_ROOT = Path(__file__).resolve().parents[2]
_BOTH = {"C0ZH", "C0EN"}


@contextmanager
def started(folder: Path, **settings: str) -> Iterator[subprocess.Popen[str]]:
    """`vllm-digest run` in `folder`, with no settings of ours and no GitHub; killed where it has not ended by itself."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    process = subprocess.Popen(
        [sys.executable, "-m", "bot", "run"],
        stderr=subprocess.PIPE,
        cwd=folder,
        env={
            **kept,
            "PYTHONPATH": str(_ROOT),
            "TMPDIR": str(folder),
            "GITHUB_API_URL": "http://127.0.0.1:9",
            **settings,
        },
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def both_digests(process: "subprocess.Popen[str]") -> str:
    """Waits until the page has been told of the sample's digest in both channels; what the terminal says until then."""
    assert process.stderr is not None
    told = [process.stderr.readline() for _ in range(5)]
    shown: set[str] = set()
    with urlopen(f"{told[1].split()[-1]}events", timeout=60) as news:
        while not shown >= _BOTH:
            line = news.readline()
            assert line, "the page ended"
            if line.startswith(b"data: "):
                items = json.loads(line[6:])["items"].values()
                shown |= {each["channel"] for each in items if "2026-02-05" in each["html"]}
    return "".join(told)
