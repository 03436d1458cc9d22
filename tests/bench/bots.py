"""The bot as an operator starts it: a process of its own, connected to loopback servers."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from loopback.slack import LoopbackSlack
from tests.bench.processes import PYTHON


@contextmanager
def bot_at_work(slack: LoopbackSlack, github: str, chat: str, folder: Path, **settings: str) -> Iterator[None]:
    """`vllm-digest run` in `folder`, connected, until the block ends."""
    usual = {
        "SLACK_BOT_TOKEN": slack.bot_token,
        "SLACK_APP_TOKEN": slack.app_token,
        "SLACK_API_URL": slack.url,
        "GITHUB_API_URL": github,
        "DIGEST_TIMEZONE": "UTC",
        "DIGEST_LANGUAGE": "en",
        "DIGEST_MODEL": "scripted",
        "OPENAI_BASE_URL": chat,
        "OPENAI_API_KEY": "none",
        "LOG_LEVEL": "error",
    }
    environment = {
        **os.environ,
        **usual,
        **settings,
        "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
    }
    process = subprocess.Popen([PYTHON, "-m", "bot", "run"], cwd=folder, env=environment)
    try:
        slack.wait_for(lambda: slack.connected, 60)
        yield
    finally:
        process.terminate()
        process.wait(60)
