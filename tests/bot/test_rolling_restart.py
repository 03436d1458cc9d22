"""Processes of a bot on PostgreSQL are replaced one after the other while it works: nothing is lost, nothing is said twice."""

import os
import signal
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool

from analysis.models import Repository
from bot.store import Subscriptions, Terms, open_engine
from bot.store.executors import TIMING
from loopback.github import RecordedRepository
from loopback.slack import LoopbackSlack
from tests.conftest import recorded
from tests.servers.github import FaultyGitHub
from tests.servers.killed import more
from tests.servers.launched import Launched, begun
from tests.servers.postgresql import new_postgresql_database
from tests.servers.talk import ADA, DIGEST

_PATIENCE = 90  # seconds
_POSTS = 3  # of a digest, after which the process that delivers it is replaced


class Processes:
    """Two processes of a bot on a database, each started again by its number."""

    def __init__(self, folder: Path, slack: LoopbackSlack, github: FaultyGitHub, url: str) -> None:
        self._folder, self._slack = folder, slack
        self._engine = create_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
        self._running: dict[int, Launched] = {}
        self._log = folder / "bot.log"
        self._environment = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ} | {
            "SLACK_BOT_TOKEN": slack.bot_token,
            "SLACK_APP_TOKEN": slack.app_token,
            "SLACK_API_URL": slack.url,
            "GITHUB_API_URL": github.url,
            "GITHUB_TOKEN": "token",
            "DIGEST_REPOS": "o/n",
            "DIGEST_MIRRORS": "",
            "DIGEST_TIMEZONE": "UTC",
            "DIGEST_LANGUAGE": "en",
            "DATABASE_URL": url,
        }

    def start(self, number: int) -> None:
        """Starts a process and waits until it listens to Slack."""
        before = self._slack.delivery.sockets.opened
        streams = [Path(os.devnull), self._log, self._log]
        self._running[number] = begun(["run", "--metrics-port", "0"], self._folder, self._environment, streams)
        self.wait_for(lambda: self._slack.delivery.sockets.opened > before)

    def replace(self, number: int) -> None:
        """Ends a process as an operator does, and starts the next."""
        process = self._running[number]
        os.kill(process.pid or 0, signal.SIGTERM)
        process.join(_PATIENCE)
        assert process.exitcode == 0, self.log
        self.start(number)

    def number_of(self, executor: str) -> int:
        """The number of the process with an id, which has its pid before its random end."""
        pids = {process.pid: number for number, process in self._running.items()}
        return pids[int(executor.split("-")[-2])]

    def rows(self, query: str) -> list[Any]:
        with self._engine.connect() as connection:
            return [tuple(row) for row in connection.exec_driver_sql(query)]

    def wait_for(self, done: Callable[[], Any]) -> None:
        end = monotonic() + _PATIENCE
        while not done():
            assert monotonic() < end, self.log[-4000:]
            sleep(0.05)

    @property
    def log(self) -> str:
        return self._log.read_text()

    def kill(self) -> None:
        for process in self._running.values():
            process.kill()


def test_a_bot_answers_and_delivers_while_each_of_its_processes_is_replaced(tmp_path: Path) -> None:
    """Every question has one reply, each message of two digests comes once, and work goes on soon after a process ended."""
    with (
        new_postgresql_database() as url,
        LoopbackSlack() as slack,
        FaultyGitHub({"o/n": RecordedRepository(_commits())}) as github,
    ):
        _subscribe(url)
        bot = Processes(tmp_path, slack, github, url)
        try:
            bot.start(0)
            bot.start(1)
            questions = []
            for _ in range(2):
                bot.wait_for(more(lambda: len(slack.asked("chat.postMessage")), _POSTS))
                questions += [slack.say(ADA, DIGEST, f"<@U0BOT> #{number}") for number in (1, 2)]
                [(owner,)] = bot.rows(OWNER)
                bot.replace(bot.number_of(owner))
            bot.wait_for(lambda: bot.rows(WAITING) == [(0,)] and not bot.rows(UNFINISHED))
            states = Counter(state for (state,) in bot.rows("SELECT status FROM vllm_digest_flows.workflow_status"))
            outbox = bot.rows("SELECT ts, state FROM outbox")
            ended = bot.rows("SELECT ended_at FROM executors WHERE ended_at IS NOT NULL")
            steps = [at for (at,) in bot.rows(STEPS)]
        finally:
            bot.kill()
        assert states == {"SUCCESS": states.total()}
        assert {state for _, state in outbox} == {"sent"}
        visible = [each.ts for each in slack.workspace.visible(DIGEST) if each.by_bot]
        assert sorted(visible) == sorted(ts for ts, _ in outbox)
        assert all(len([each for each in slack.thread(DIGEST, ts) if each.by_bot]) == 1 for ts in questions)
        assert len(ended) == 2
        assert all(_pause(at, steps) < TIMING.sweep.total_seconds() / 2 for (at,) in ended)
        assert "Traceback" not in bot.log


OWNER = "SELECT executor_id FROM vllm_digest_flows.workflow_status WHERE name = 'deliver' AND status = 'PENDING'"
WAITING = "SELECT count(*) FROM inbox WHERE done_at IS NULL"
UNFINISHED = "SELECT name FROM vllm_digest_flows.workflow_status WHERE status IN ('PENDING', 'ENQUEUED')"
STEPS = (
    "SELECT to_timestamp(completed_at_epoch_ms / 1000.0) FROM vllm_digest_flows.operation_outputs"
    " WHERE completed_at_epoch_ms IS NOT NULL"
)


def _pause(ended: datetime, steps: list[datetime]) -> float:
    """The seconds from a process's end until the next step of any flow ended."""
    return min((at - ended).total_seconds() for at in steps if at > ended)


def _commits() -> list[dict[str, Any]]:
    """Commits of the two days before today."""
    noon = datetime.now(UTC).replace(hour=12)
    return [
        recorded(number, date=(noon - timedelta(days=2 - number % 2, minutes=number)).isoformat())
        for number in range(1, 13)
    ]


def _subscribe(url: str) -> None:
    """Subscribe a channel so that both days are due."""
    engine = open_engine(url)
    terms = Terms(DIGEST, Repository(owner="o", name="n"), time(), ZoneInfo("UTC"), "en")
    Subscriptions(engine).keep(terms, datetime.now(UTC) - timedelta(days=2))
    engine.dispose()
