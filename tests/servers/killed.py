"""The bot in a process of its own between slow loopback servers, killed at chosen moments and started again.

with killable(folder, commits) as bot:
    bot.live_until(Moment("posting", lambda: bot.slack.asked("chat.postMessage")))
    bot.start()
    bot.finish()
"""

import json
import math
import os
import re
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any, NamedTuple

from slack_sdk import WebClient

from loopback.github import Handler, Recorded, RecordedRepository
from loopback.slack import LoopbackSlack
from loopback.slack.server import Reply
from tests.servers.chat import ScriptedChat
from tests.servers.github import FaultyGitHub
from tests.servers.launched import begun
from tests.servers.writable import NAME, PublishingGitHub, WritableRepository

MODEL = "scripted"
CHANNELS = ("C0DIGEST", "C0OTHER")
AT_ONCE = 6  # analyses: DIGEST_CONCURRENCY's 8 without the share of answers

_LATENCY = 0.07  # seconds that GitHub and the model take for each request
_POLLING = 0.005
_ON_ITS_WAY = 0.25  # seconds until the servers have heard what was sent before a kill
_PATIENCE = 60  # seconds
_START_UP = 0.5  # seconds on a machine with nothing else to do; one that takes longer is given more time for all else


class SlowGitHub(FaultyGitHub):
    def handle(self, handler: Handler, path: str, query: Any) -> None:
        time.sleep(_LATENCY)
        super().handle(handler, path, query)


class SlowPublishingGitHub(PublishingGitHub):
    def handle(self, handler: Handler, path: str, query: Any) -> None:
        time.sleep(_LATENCY)
        super().handle(handler, path, query)


class LateSlack(LoopbackSlack):
    """Does what the next posts ask for only after the seconds in `late`, whether or not anybody still waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self.late: list[float] = []
        self.kept_back = 0

    def api(self, method: str, params: dict[str, Any], token: str | None) -> Reply:
        if method == "chat.postMessage" and self.late:
            seconds = self.late.pop()
            self.kept_back += 1
            time.sleep(seconds)
        return super().api(method, params, token)


class CountingChat(ScriptedChat):
    """Analyses every "part N" that it is asked about, and keeps which those were; to questions it says `answer`, slowly."""

    def __init__(self, answer: str) -> None:
        super().__init__(self._say, pause=0.4)
        self.asked: list[int] = []
        self.questions = 0
        self._answer = answer

    def _say(self, request: dict[str, Any]) -> str:
        if "response_format" not in request:
            self.questions += 1
            return self._answer
        part = int(re.findall(r"part (\d+)", json.dumps(request["messages"]))[0])
        self.asked.append(part)
        time.sleep(_LATENCY)
        insight = dict.fromkeys(
            ("architecture", "performance", "security", "compatibility", "maintenance", "dependencies"), ""
        )
        told = {"summary": f"Changes part {part}.", "scope": [], "insight": insight, "risks": [], "advice": []}
        return json.dumps({**told, "move": "keep", "move_reason": ""})


class Moment(NamedTuple):
    """When to kill: `after` seconds after `comes` is true, or where it stays false, `most` seconds after the bot listens."""

    name: str
    comes: Callable[[], Any] = lambda: True
    after: float = 0.0
    most: float = 15.0


def more(count: Callable[[], int], by: int) -> Callable[[], bool]:
    """Whether `count` has grown by so much since now."""
    before = count()
    return lambda: count() >= before + by


class Death(NamedTuple):
    """A kill: at which moment, after how many seconds, with which parts' analyses in flight, and what was half posted."""

    moment: str
    came: bool
    lived: float
    in_flight: Sequence[int]
    sending: Sequence[str]


class Posted(NamedTuple):
    """A message as Slack tells of it: its key, or the name of its file."""

    key: str
    text: str


class Killable:
    """The bot and its servers. `deaths` tells of every kill."""

    def __init__(
        self, folder: Path, slack: LateSlack, github: FaultyGitHub, chat: CountingChat, settings: Mapping[str, str]
    ) -> None:
        self.database, self.flows = folder / "bot.db", folder / "bot-flows.db"
        self.slack, self.github, self.chat = slack, github, chat
        self.deaths: list[Death] = []
        self.log = folder / "bot.log"
        self._folder = folder
        self._settings = settings
        self._process: ForkServerProcess | None = None
        self._began = 0.0
        self._before = 0  # calls of earlier lives
        self._listens: Callable[[], bool] = lambda: False

    def start(self) -> None:
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")}
        settings = {
            "SLACK_BOT_TOKEN": self.slack.bot_token,
            "SLACK_APP_TOKEN": self.slack.app_token,
            "SLACK_API_URL": self.slack.url,
            "GITHUB_API_URL": self.github.url,
            "GITHUB_TOKEN": "token",
            "OPENAI_BASE_URL": self.chat.url,
            "OPENAI_API_KEY": "key",
            "DIGEST_MODEL": MODEL,
            "DIGEST_REPOS": "o/n",
            "DIGEST_MIRRORS": "",
            "DIGEST_TIMEZONE": "UTC",
            "DIGEST_LANGUAGE": "en",
            "DATABASE_URL": f"sqlite:///{self.database}",
            **self._settings,
        }
        self._process = begun(["run"], self._folder, kept | settings, [Path(os.devnull), self.log, self.log])
        self._began = time.monotonic()
        self._before = len(self.chat.asked)
        self._listens = more(lambda: self.slack.delivery.sockets.opened, 1)

    def start_listening(self) -> None:
        """Starts it and waits until it is connected; the connection of the life before may still be open."""
        self.start()
        self.wait_for(self._listens)

    def live_until(self, moment: Moment) -> None:
        """Starts the bot and kills it when the moment comes."""
        self.start()
        self.kill_at(moment)

    def kill_at(self, moment: Moment) -> None:
        end = math.inf
        while not (came := bool(moment.comes())) and time.monotonic() < end:
            if end == math.inf and self._listens():
                started = time.monotonic() - self._began
                end = time.monotonic() + moment.most * max(1.0, started / _START_UP)
            self._must_live()
            time.sleep(_POLLING)
        time.sleep(moment.after)
        self._must_live()
        lived = time.monotonic() - self._began
        self._end(signal.SIGKILL)
        time.sleep(_ON_ITS_WAY)
        in_flight = sorted(set(self.chat.asked[self._before :]) - set(self.analysed()))
        sending = self.rows("SELECT key FROM outbox WHERE state IN ('sending', 'streaming', 'held')")
        self.deaths.append(Death(moment.name, came, lived, in_flight, [key for (key,) in sending]))

    def stop(self) -> None:
        """Ends the bot as a person would."""
        code = self._end(signal.SIGTERM)
        if code:
            raise RuntimeError(f"the bot ended with {code}: {self.log_text[-2000:]}")

    def wait_for(self, done: Callable[[], Any], timeout: float = 180) -> None:
        end = time.monotonic() + timeout
        while not done():
            self._must_live()
            if time.monotonic() > end:
                raise TimeoutError(f"not within {timeout} s: {self.log_text[-4000:]}")
            time.sleep(0.1)

    def rows(self, query: str, *, flows: bool = False) -> list[tuple[Any, ...]]:
        """What a database says, without touching it: what a kill left is the next start's to mend."""
        path = self.flows if flows else self.database
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)) as connection:
            return connection.execute(query).fetchall()

    def analysed(self) -> list[int]:
        """The parts whose analyses by the model are stored."""
        query = f"SELECT title FROM analyses JOIN commits ON commits.id = commit_id WHERE model = '{MODEL}'"
        return [int(re.findall(r"part (\d+)", title)[0]) for (title,) in self.rows(query)]

    def flows_ended(self) -> Counter[str]:
        """How many flows are in which state."""
        return Counter(state for (state,) in self.rows("SELECT status FROM workflow_status", flows=True))

    def threads(self, channel: str) -> list[list[Posted]]:
        """What the bot began in a channel, oldest first, each with its thread, as Slack tells."""
        client = WebClient(self.slack.bot_token, base_url=self.slack.url)
        roots = client.conversations_history(channel=channel, include_all_metadata=True, limit=200)["messages"]
        return [
            [
                _posted(each)
                for each in client.conversations_replies(
                    channel=channel, ts=root["ts"], include_all_metadata=True, limit=200
                )["messages"]
            ]
            for root in reversed(roots)
        ]

    @property
    def log_text(self) -> str:
        return self.log.read_text("utf-8", errors="replace")

    def _must_live(self) -> None:
        if self._process is None or self._process.exitcode is not None:
            raise RuntimeError(f"the bot ended by itself: {self.log_text[-4000:]}")

    def _end(self, how: signal.Signals) -> int:
        if self._process is None:
            return 0
        process, self._process = self._process, None
        assert process.pid
        os.kill(process.pid, how)
        process.join(_PATIENCE)
        if process.exitcode is None:
            raise TimeoutError(f"the bot does not end: {self.log_text[-4000:]}")
        return process.exitcode


@contextmanager
def killable(
    folder: Path, commits: Sequence[Recorded], answer: str = "", target: WritableRepository | None = None
) -> Iterator[Killable]:
    """The bot, not started yet, for the repository o/n and the workspace's `CHANNELS`; dead when the block ends.

    With a `target` it publishes there.
    """
    source = {"o/n": RecordedRepository(commits)}
    settings = {"DIGEST_PUBLISH": NAME, "DIGEST_PUBLISH_TOKEN": "writer"} if target else {}
    with (
        LateSlack() as slack,
        SlowPublishingGitHub(source, target) if target else SlowGitHub(source) as github,
        CountingChat(answer) as chat,
    ):
        slack.workspace.add_channel("other", CHANNELS[1], members={"U0BOT", "U0ADA", "U0LIN"})
        bot = Killable(folder, slack, github, chat, settings)
        try:
            yield bot
        finally:
            bot._end(signal.SIGKILL)


def _posted(message: dict[str, Any]) -> Posted:
    key = message.get("metadata", {}).get("event_payload", {}).get("key", "")
    name = message["files"][0]["name"] if message.get("files") else ""
    return Posted(key or name, message["text"])
