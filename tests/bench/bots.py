"""The bot at work in processes of its own, connected to loopback servers, and what its scripted model says: true, so that no check asks again."""

import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from analysis.models import Insight
from loopback.slack import LoopbackSlack
from tests.servers.conversing import changed_lines
from tests.servers.launched import Launched, begun

_WORD = re.compile(r"\b[A-Za-z_]\w{3,}\b")
_WORDS = 5  # of a title
_STATEMENTS = 12  # of an answer; more are not kept


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


def true_reply(request: dict[str, Any]) -> str:
    """Say something true of the commit that a request is about."""
    prompt = str(request["messages"][1]["content"])
    return _analysis(prompt) if "response_format" in request else _answer(prompt)


def _analysis(prompt: str) -> str:
    """An analysis that names words of the commit's title, in the language of the prompt."""
    title = re.findall(r"^message:\n(.*)$", prompt, re.MULTILINE)[0]
    words = " ".join(f"`{word}`" for word in _WORD.findall(title)[:_WORDS])
    summary = f"标题里有 {words}，改动与此有关。" if "简体中文" in prompt else f"It is about {words}."
    whole = {"scope": [], "insight": Insight().model_dump(), "risks": [], "advice": []}
    return json.dumps({"summary": summary, **whole, "move": "keep", "move_reason": ""}, ensure_ascii=False)


def _answer(prompt: str) -> str:
    """A statement a changed line, each with its place."""
    named = (
        (max(words, key=len), f"{path}:{number}")
        for path, number, text in changed_lines(prompt)
        if (words := _WORD.findall(text))
    )
    return "\n\n".join(
        f"Among what this commit changes there is `{name}` in this place [{place}]."
        for name, place in islice(named, _STATEMENTS)
    )
