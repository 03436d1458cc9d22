"""`vllm-digest run` on a machine without anything: the local workspace."""

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from itertools import count
from pathlib import Path

from bot.local.workspace import LocalWorkspace, workspace_page
from bot.settings import Settings
from loopback.slack import LoopbackSlack
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


def test_a_store_that_is_written_is_removed(tmp_path: Path) -> None:
    """At the end the store goes even while what still runs writes into it."""
    folder, ended, written = tmp_path / "store", threading.Event(), threading.Event()
    folder.mkdir()

    def write() -> None:
        for number in count():
            if ended.is_set():
                return
            with suppress(OSError):
                (folder / "mirrors").mkdir(exist_ok=True)
                (folder / "mirrors" / str(number % 500)).touch()
            if number == 500:
                written.set()

    writers = [threading.Thread(target=write) for _ in range(3)]
    for writer in writers:
        writer.start()
    try:
        assert written.wait(60)
        with LoopbackSlack() as slack, workspace_page(slack, Settings()) as page:
            LocalWorkspace(page, slack, Settings(), folder).forget()
    finally:
        ended.set()
        for writer in writers:
            writer.join()
    assert list(tmp_path.iterdir()) == []


def test_with_slacks_tokens_there_is_no_page(tmp_path: Path) -> None:
    """In a real Slack the bot imports nothing of the local workspace, from its start to its end."""
    with LoopbackSlack() as slack:
        tokens = {"SLACK_BOT_TOKEN": slack.bot_token, "SLACK_APP_TOKEN": slack.app_token, "SLACK_API_URL": slack.url}
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).resolve().parents[2]), **tokens}
        command = [sys.executable, "-X", "importtime", "-m", "bot", "run", "--metrics-port", "0"]
        with (tmp_path / "stderr").open("w") as stderr:
            process = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=stderr)
        try:
            slack.wait_for(lambda: slack.connected, timeout=60)
            slack.command("U0ADA", "C0DIGEST", "help")
            slack.wait_for(lambda: slack.private("U0ADA", "C0DIGEST"))
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0
        finally:
            process.kill()
            process.wait()
    told = (tmp_path / "stderr").read_text()
    imported = {line.rsplit("|", 1)[-1].strip() for line in told.splitlines() if line.startswith("import time:")}
    assert "bot.slack.app" in imported
    assert not [name for name in imported if name.split(".")[0] == "loopback" or name.startswith("bot.local.")]


def test_one_token_alone_is_a_mistake(run: Run) -> None:
    """Who sets one token means the real Slack, and is told which one is missing."""
    ran = run("run", SLACK_BOT_TOKEN="xoxb-1")
    assert ran.code == 2
    assert "SLACK_APP_TOKEN is not set" in ran.err
