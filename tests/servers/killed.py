"""The bot in processes of its own between slow loopback servers, killed at chosen moments and started again.

with killable(folder, commits) as bot:
    bot.live_until(Moment("posting", lambda: bot.slack.asked("chat.postMessage")))
    bot.start()
    bot.stop()

On SQLite it is one process. On PostgreSQL there may be several, numbered from 0, each of which is killed, paused and
started by itself.
"""

import math
import os
import re
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from slack_sdk import WebClient

from bot.store.executors import TIMING, Timing
from loopback.github import Recorded, RecordedRepository
from tests.servers.databases import DATABASES
from tests.servers.github import FaultyGitHub
from tests.servers.launched import Launched, begun
from tests.servers.postgresql import new_postgresql_database
from tests.servers.slow import CountingChat, LateSlack, SlowGitHub, SlowPublishingGitHub
from tests.servers.tables import Tables
from tests.servers.writable import NAME, WritableRepository

MODEL = "scripted"
CHANNELS = ("C0DIGEST", "C0OTHER")
AT_ONCE = 6  # analyses: DIGEST_CONCURRENCY's 8 without the share of answers

_POLLING = 0.005
_ON_ITS_WAY = 0.25  # seconds until the servers have heard what was sent before a kill
_PATIENCE = 60  # seconds
_START_UP = 0.5  # seconds on a machine with nothing else to do; one that takes longer is given more time for all else


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
    """A kill, or a pause: at which moment, with which parts' analyses in flight, and what was half posted."""

    moment: str
    came: bool
    in_flight: Sequence[int]
    sending: Sequence[str]


class Posted(NamedTuple):
    """A message as Slack tells of it: its key, or the name of its file."""

    key: str
    text: str


class _Life(NamedTuple):
    """A process from its start on. `api_key` is its own, by which the model's server knows it."""

    process: Launched
    began: float
    api_key: str
    listens: Callable[[], bool]


class Killable:
    """The bot and its servers. `deaths` tells of every kill; `commands` has the command of each process."""

    def __init__(
        self,
        folder: Path,
        slack: LateSlack,
        github: FaultyGitHub,
        chat: CountingChat,
        database_url: str,
        settings: Mapping[str, str],
        commands: Sequence[str] = ("run",),
        timing: Timing = TIMING,
    ) -> None:
        self.database_url = database_url
        self.slack, self.github, self.chat = slack, github, chat
        self.deaths: list[Death] = []
        self.commands = commands
        self.timing = timing
        self._logs = [folder / f"bot-{number}.log" for number in range(len(commands))]
        self._folder = folder
        self._tables = Tables(database_url)
        self._settings = settings
        self._lives: dict[int, _Life] = {}
        self._started = 0

    # Its processes

    def start(self, number: int = 0) -> None:
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")}
        self._started += 1
        api_key = f"key-{self._started}"
        settings = {
            "SLACK_BOT_TOKEN": self.slack.bot_token,
            "SLACK_APP_TOKEN": self.slack.app_token,
            "SLACK_API_URL": self.slack.url,
            "GITHUB_API_URL": self.github.url,
            "GITHUB_TOKEN": "token",
            "OPENAI_BASE_URL": self.chat.url,
            "OPENAI_API_KEY": api_key,
            "DIGEST_MODEL": MODEL,
            "DIGEST_REPOS": "o/n",
            "DIGEST_MIRRORS": "",
            "DIGEST_TIMEZONE": "UTC",
            "DIGEST_LANGUAGE": "en",
            "DATABASE_URL": self.database_url,
            "PYTHONPATH": str(Path(__file__).parents[2]),
            **self._settings,
        }
        command = self.commands[number]
        arguments = [command, *(str(each.total_seconds()) for each in self.timing)]
        log = self._logs[number]
        # A message to a bot that is alone needs its connection; of several only their own words tell which is ready.
        alone = len(self.commands) == 1
        listens = more(lambda: self.slack.delivery.sockets.opened if alone else _times_ready(log), 1)
        streams = [Path(os.devnull), log, log]
        process = begun(arguments, self._folder, kept | settings, streams, "tests.servers.bot_process")
        self._lives[number] = _Life(process, time.monotonic(), api_key, listens)

    def start_listening(self, number: int = 0) -> None:
        """Starts it and waits until it is connected; the connection of the life before may still be open."""
        self.start(number)
        self.wait_for(self._lives[number].listens)

    def wait_until_all_listen(self) -> None:
        self.wait_for(lambda: all(life.listens() for life in self._lives.values()))

    def start_all(self) -> None:
        """Starts those that do not run."""
        for number in range(len(self.commands)):
            if number not in self._lives:
                self.start(number)

    def live_until(self, moment: Moment) -> None:
        """Starts the bot and kills it when the moment comes."""
        self.start()
        self.kill_at(moment)

    def kill_at(self, moment: Moment, choose: Callable[[], int] = lambda: 0) -> int:
        """Kills the process that is chosen when the moment comes, and gives its number."""
        number, life, death = self._interrupt(moment, choose, signal.SIGKILL)
        self._lives.pop(number)
        stored = self.analysed()  # at once: another process may soon have asked again and stored it
        self._join(life.process)
        time.sleep(_ON_ITS_WAY)
        sending = self.rows("SELECT key FROM outbox WHERE state IN ('sending', 'streaming', 'held')")
        self.deaths.append(
            death._replace(in_flight=self.in_flight(stored, [life.api_key]), sending=[key for (key,) in sending])
        )
        return number

    def kill(self, number: int) -> None:
        self._end(number, signal.SIGKILL)

    def pause_at(self, moment: Moment, choose: Callable[[], int], until: Callable[[int], Any]) -> None:
        """Stops the process that is chosen when the moment comes, until something is true of it, and lets it go on."""
        number, life, death = self._interrupt(moment, choose, signal.SIGSTOP)
        stored = self.analysed()
        time.sleep(_ON_ITS_WAY)
        self.deaths.append(death._replace(in_flight=self.in_flight(stored, [life.api_key])))
        try:
            self.wait_for(lambda: until(number))
        finally:
            os.kill(self.pid(number), signal.SIGCONT)

    def _interrupt(self, moment: Moment, choose: Callable[[], int], how: signal.Signals) -> tuple[int, _Life, Death]:
        came = self._wait_for_moment(moment)
        time.sleep(moment.after)
        number = choose()
        self._must_live()
        life = self._lives[number]
        os.kill(self.pid(number), how)
        return number, life, Death(moment.name, came, (), ())

    def _wait_for_moment(self, moment: Moment) -> bool:
        end = math.inf
        while not (came := bool(moment.comes())) and time.monotonic() < end:
            last = max(self._lives.values(), key=lambda life: life.began)
            if end == math.inf and last.listens():
                started = time.monotonic() - last.began
                end = time.monotonic() + moment.most * max(1.0, started / _START_UP)
            self._must_live()
            time.sleep(_POLLING)
        return came

    def pid(self, number: int) -> int:
        found = self._lives[number].process.pid
        assert found
        return found

    def running(self) -> list[int]:
        """The numbers of the processes that run."""
        return list(self._lives)

    def number_of(self, pid: int) -> int | None:
        """The number of the process that runs with this id."""
        return next((number for number, life in self._lives.items() if life.process.pid == pid), None)

    def stop(self) -> None:
        """Ends the bot as a person would."""
        for number in list(self._lives):
            code = self._end(number, signal.SIGTERM)
            if code not in (0, -signal.SIGTERM):  # the signal alone ends one that just starts
                raise RuntimeError(f"the bot ended with {code}: {self.log_text[-2000:]}")

    def kill_all(self) -> None:
        for number in list(self._lives):
            self.kill(number)

    def wait_for(self, done: Callable[[], Any], timeout: float = 180) -> None:
        end = time.monotonic() + timeout
        while not done():
            self._must_live()
            if time.monotonic() > end:
                raise TimeoutError(f"not within {timeout} s: {self.log_text[-4000:]}")
            time.sleep(0.1)

    def _must_live(self) -> None:
        if not self._lives or any(life.process.exitcode is not None for life in self._lives.values()):
            raise RuntimeError(f"the bot ended by itself: {self.log_text[-4000:]}")

    def _end(self, number: int, how: signal.Signals) -> int:
        if self._lives[number].process.exitcode is None:
            os.kill(self.pid(number), how)
        return self._join(self._lives.pop(number).process)

    def _join(self, process: Launched) -> int:
        process.join(_PATIENCE)
        if process.exitcode is None:
            raise TimeoutError(f"the bot does not end: {self.log_text[-4000:]}")
        return process.exitcode

    # What it left

    def rows(self, query: str, *, flows: bool = False) -> list[tuple[Any, ...]]:
        """What a database says, without touching it: what a kill left is the next start's to mend."""
        return self._tables.rows(query, flows=flows)

    def change_flows(self, statement: str) -> None:
        self._tables.change_flows(statement)

    def analysed(self) -> list[int]:
        """The parts whose analyses by the model are stored."""
        query = f"SELECT title FROM analyses JOIN commits ON commits.id = commit_id WHERE model = '{MODEL}'"
        return [int(re.findall(r"part (\d+)", title)[0]) for (title,) in self.rows(query)]

    def in_flight(self, stored: Sequence[int], api_keys: Sequence[str] = ()) -> list[int]:
        """The parts not `stored` that the processes with these keys, by default those that run, asked the model about."""
        keys = api_keys or [life.api_key for life in self._lives.values()]
        asked = {part for part, key in zip(self.chat.asked, self.chat.askers, strict=False) if key in keys}
        return sorted(asked - set(stored))

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
        return "".join(map(_text, self._logs))


@contextmanager
def killable(
    folder: Path,
    commits: Sequence[Recorded],
    answer: str = "",
    target: WritableRepository | None = None,
    database_url: str = "",
    commands: Sequence[str] = ("run",),
    timing: Timing = TIMING,
    settings: Mapping[str, str] | None = None,
) -> Iterator[Killable]:
    """The bot, not started yet, for the repository o/n and the workspace's `CHANNELS`; dead when the block ends.

    With a `target` it publishes there; `settings` are those beyond the usual. By default its database is a new one of the kind that the tests run on.
    """
    source = {"o/n": RecordedRepository(commits)}
    publishing = {"DIGEST_PUBLISH": NAME, "DIGEST_PUBLISH_TOKEN": "writer"} if target else {}
    with ExitStack() as stack:
        slack = stack.enter_context(LateSlack())
        github: FaultyGitHub = SlowPublishingGitHub(source, target) if target else SlowGitHub(source)
        stack.enter_context(github)
        chat = stack.enter_context(CountingChat(answer))
        if not database_url and DATABASES == "postgresql":
            database_url = stack.enter_context(new_postgresql_database())
        slack.workspace.add_channel("other", CHANNELS[1], members={"U0BOT", "U0ADA", "U0LIN"})
        url = database_url or f"sqlite:///{folder / 'bot.db'}"
        bot = Killable(folder, slack, github, chat, url, {**publishing, **(settings or {})}, commands, timing)
        stack.callback(bot.kill_all)
        yield bot


def _times_ready(log: Path) -> int:
    return _text(log).count("vllm-digest is running")


def _text(log: Path) -> str:
    return log.read_text("utf-8", errors="replace") if log.exists() else ""


def _posted(message: dict[str, Any]) -> Posted:
    key = message.get("metadata", {}).get("event_payload", {}).get("key", "")
    name = message["files"][0]["name"] if message.get("files") else ""
    return Posted(key or name, message["text"])
