"""`vllm-digest run` on a machine without anything: the local workspace."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.conftest import Run
from tests.servers.own_machine import both_digests, started


def test_the_digest_is_there_after_the_start(tmp_path: Path) -> None:
    """Both digests come to the page by themselves; five lines say how to go on; nothing is left behind."""
    with started(tmp_path) as process:
        assert process.stderr is not None
        told = both_digests(process)
        for part in ("127.0.0.1", "sample day", "rules", "store", "SLACK_BOT_TOKEN"):
            assert part in told
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert process.stderr.read() == ""
    assert list(tmp_path.iterdir()) == []


def test_with_slacks_tokens_there_is_no_page(tmp_path: Path) -> None:
    """Where the bot runs in a real Slack, or tries to, nothing of the local workspace is so much as imported."""
    tokens = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1", "SLACK_API_URL": "http://127.0.0.1:9/api/"}
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).resolve().parents[2]), **tokens}
    command = [sys.executable, "-X", "importtime", "-m", "bot", "run"]
    ran = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode != 0
    assert "bot.bootstrap" in ran.stderr
    assert "bot.local_workspace" not in ran.stderr
    assert "loopback.page" not in ran.stderr
    assert "loopback.slack" not in ran.stderr


def test_one_token_alone_is_a_mistake(run: Run) -> None:
    """Who sets one token means the real Slack, and is told which one is missing."""
    ran = run("run", SLACK_BOT_TOKEN="xoxb-1")
    assert ran.code == 2
    assert "SLACK_APP_TOKEN is not set" in ran.err
