"""The bot at work in processes of its own, connected to loopback servers."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from loopback.slack import LoopbackSlack
from tests.servers.launched import Launched, begun


@contextmanager
def bot_at_work(
    slack: LoopbackSlack, github: str, chat: str, folder: Path, *, workers: int = 0, **settings: str
) -> Iterator[list[Launched]]:
    """`vllm-digest run` in `folder`, connected, with so many workers beside it, until the block ends; yield them all."""
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
    environment = {**os.environ, **usual, **settings}
    commands = [["run"], *[["worker", "--metrics-port", "0"]] * workers]
    silent, log = Path(os.devnull), folder / "bots.log"
    processes = [begun(command, folder, environment, [silent, silent, log]) for command in commands]
    try:
        slack.wait_for(lambda: slack.connected, 60)
        yield processes
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.join(60)
            process.kill()
        print(log.read_text("utf-8"), file=sys.stderr, end="")
