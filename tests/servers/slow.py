"""Loopback servers that take their time, so that a bot can be killed while it waits for them, and that count what it asks."""

import json
import re
import time
from typing import Any

from loopback.github import Handler
from loopback.slack import LoopbackSlack
from loopback.slack.server import Reply
from tests.servers.bot_process import PACE
from tests.servers.chat import Said, ScriptedChat
from tests.servers.github import FaultyGitHub
from tests.servers.writable import PublishingGitHub

_JITTER = 0.1  # seconds that a message may come too early, as the loopback Slack puts up with
_LATENCY = 0.07  # seconds that GitHub and the model take for each request


class SlowGitHub(FaultyGitHub):
    def handle(self, handler: Handler, path: str, query: Any) -> None:
        time.sleep(_LATENCY)
        super().handle(handler, path, query)


class SlowPublishingGitHub(PublishingGitHub):
    def handle(self, handler: Handler, path: str, query: Any) -> None:
        time.sleep(_LATENCY)
        super().handle(handler, path, query)


class LateSlack(LoopbackSlack):
    """Takes messages at `PACE`, and does what the next posts ask for only after the seconds in `late`, whether or not anybody still waits for it."""

    def __init__(self) -> None:
        super().__init__(pace=PACE.channel.total_seconds() - _JITTER)
        self.late: list[float] = []
        self.kept_back = 0

    def api(self, method: str, params: dict[str, Any], token: str | None) -> Reply:
        if method == "chat.postMessage" and self.late:
            seconds = self.late.pop()
            self.kept_back += 1
            time.sleep(seconds)
        return super().api(method, params, token)


class CountingChat(ScriptedChat):
    """Analyses every "part N" that it is asked about, and keeps which those were; to questions it says `answer`, slowly.

    `askers` has the API key that came with each.
    """

    def __init__(self, answer: str) -> None:
        super().__init__(lambda _: answer, pause=0.4)
        self.asked: list[int] = []
        self.askers: list[str] = []
        self.questions = 0

    def reply_to(self, request: dict[str, Any], api_key: str) -> Said:
        if "response_format" not in request:
            self.questions += 1
            return super().reply_to(request, api_key)
        part = int(re.findall(r"part (\d+)", json.dumps(request["messages"]))[0])
        self.askers.append(api_key)
        self.asked.append(part)
        time.sleep(_LATENCY)
        insight = dict.fromkeys(
            ("architecture", "performance", "security", "compatibility", "maintenance", "dependencies"), ""
        )
        told = {"summary": f"Changes part {part}.", "scope": [], "insight": insight, "risks": [], "advice": []}
        return json.dumps({**told, "move": "keep", "move_reason": ""})
