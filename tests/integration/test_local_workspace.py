"""`vllm-digest run` on a machine without anything: the local workspace."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

from tests.conftest import Run

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def started(folder: Path, **settings: str) -> Iterator[subprocess.Popen[str]]:
    """`vllm-digest run` in a process of its own, ended with SIGTERM."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    process = subprocess.Popen(
        [sys.executable, "-m", "bot", "run"],
        stderr=subprocess.PIPE,
        cwd=folder,
        env={
            **kept,
            "PYTHONPATH": str(ROOT),
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


def test_the_digest_is_there_after_the_start(tmp_path: Path) -> None:
    """Both digests come to the page by themselves; five lines say how to go on; nothing is left behind."""
    took, shown = _shown_after(tmp_path)
    print(f"both digests after {took:.1f} s")
    assert {"C0ZH", "C0EN"} <= shown


def _shown_after(folder: Path) -> tuple[float, set[str]]:
    """(seconds, the channels that showed their digest by then)."""
    begun = time.monotonic()
    with started(folder) as process:
        assert process.stderr is not None
        told = [process.stderr.readline() for _ in range(5)]
        for part in ("127.0.0.1", "sample day", "rules", "store", "SLACK_BOT_TOKEN"):
            assert part in "".join(told)
        with urlopen(f"{told[1].split()[-1]}events", timeout=30) as news:
            shown: set[str] = set()
            while not {"C0ZH", "C0EN"} <= shown:
                line = news.readline()
                assert line, "the page ended"
                if line.startswith(b"data: "):
                    items = json.loads(line[6:])["items"].values()
                    shown |= {each["channel"] for each in items if "2026-02-05" in each["html"]}
        took = time.monotonic() - begun
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert process.stderr.read() == ""
    assert list(folder.iterdir()) == []
    return took, shown


def test_with_slacks_tokens_there_is_no_page(tmp_path: Path) -> None:
    """Where the bot runs in a real Slack, or tries to, nothing of the local workspace is so much as imported."""
    tokens = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1", "SLACK_API_URL": "http://127.0.0.1:9/api/"}
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).resolve().parents[2]), **tokens}
    command = [sys.executable, "-X", "importtime", "-m", "bot", "run"]
    ran = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode != 0
    assert "bot.wiring" in ran.stderr
    assert "bot.workspace" not in ran.stderr
    assert "bot.local.page" not in ran.stderr
    assert "bot.local.slack" not in ran.stderr


def test_one_token_alone_is_a_mistake(run: Run) -> None:
    """Who sets one token means the real Slack, and is told which one is missing."""
    ran = run("run", SLACK_BOT_TOKEN="xoxb-1")
    assert ran.code == 2
    assert "SLACK_APP_TOKEN is not set" in ran.err
