"""`vllm-digest serve`: how it starts and ends, its health, and what it counts."""

import os
import shutil
import signal
import socket
import sqlite3
import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from loopback.slack import LoopbackSlack, payloads
from loopback.slack.delivery import Envelope
from tests.bot.cli.test_command_line import one_line
from tests.conftest import Run
from tests.servers.launched import Launched, begun
from tests.servers.running import bot_running, free_port, stored
from tests.servers.wire import Got, ask, send

_PATIENCE = 120  # seconds
SECRET = "made-up-secret"
PASTED = "Pasted-0451"
BEGUN = "POST /slack/events HTTP/1.1\r\nContent-Length: 1000"


def test_the_health_says_what_is_not_well(tmp_path: Path) -> None:
    """While the store cannot be read the health is 503 and names it, with the reason."""
    with LoopbackSlack() as slack, bot_running(slack, "http://127.0.0.1:9", tmp_path, http=True, log_level="critical"):
        url = str(slack.delivery.deliver_to).replace("/slack/events", "/healthz")
        assert ask(url).status == 200
        for before, after in (("inbox", "lost"), ("lost", "inbox")):
            stored(tmp_path, f"alter table {before} rename to {after}")
            well = after == "inbox"
            found = {"ok": well, "store": well, "engine": True, "lease": True}
            why = {} if well else {"why": "store failed; the log says why"}
            assert ask(url) == Got(200 if well else 503, found | why)


# The process


class Served(NamedTuple):
    process: Launched
    port: int
    told: Path

    def end(self) -> tuple[int | None, str]:
        """Ends it as a person would, and gives its exit code and what it said on standard error."""
        assert self.process.pid
        os.kill(self.process.pid, signal.SIGTERM)
        self.process.join(_PATIENCE)
        return self.process.exitcode, self.told.read_text("utf-8")


@contextmanager
def served(slack: LoopbackSlack, folder: Path, *options: str, **changes: str) -> Iterator[Served]:
    """`vllm-digest serve` in a process of its own, from the moment at which it is well."""
    port = free_port()
    told, nothing = folder / "told.txt", Path(os.devnull)
    environment = _environment(slack) | changes
    process = begun(["serve", "--port", str(port), *options], folder, environment, [nothing, nothing, told])
    try:
        deadline = time.monotonic() + _PATIENCE
        while not _is_well(port):
            assert process.exitcode is None, told.read_text("utf-8")
            assert time.monotonic() < deadline
            time.sleep(0.1)
        yield Served(process, port, told)
    finally:
        process.kill()
        process.join()


def _environment(slack: LoopbackSlack) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")}
    return kept | {
        "SLACK_BOT_TOKEN": slack.bot_token,
        "SLACK_SIGNING_SECRET": slack.signing_secret,
        "SLACK_API_URL": slack.url,
        "GITHUB_API_URL": "http://127.0.0.1:9",
        "LOG_LEVEL": "warning",
    }


def _is_well(port: int) -> bool:
    try:
        return ask(f"http://127.0.0.1:{port}/healthz").status == 200
    except OSError:
        return False


def test_serve_answers_without_an_app_token_and_ends_when_asked(tmp_path: Path) -> None:
    """`serve` needs no app token, answers a command over HTTP, and ends with 0 at a SIGTERM."""
    with LoopbackSlack() as slack, served(slack, tmp_path, "--metrics-port", "0") as bot:
        slack.delivery.deliver_to = f"http://127.0.0.1:{bot.port}/slack/events"
        done = slack.command("U0ADA", "C0DIGEST", "help")
        slack.wait_for(lambda: slack.private("U0ADA", "C0DIGEST"))
        assert done.acked_after is not None
        assert slack.connected == 0
        code, told = bot.end()
        assert code == 0
        assert told.splitlines() == [
            "vllm-digest is running",
            "vllm-digest is stopping; unfinished work resumes at the next start",
        ]


@pytest.mark.own_database
@pytest.mark.parametrize("then", ["running", "stopped", "killed"])
def test_what_was_pasted_is_in_no_file_once_it_is_answered(tmp_path: Path, then: str) -> None:
    """SQLite's log keeps what was pasted while others read it, but not longer; a stopped bot leaves its store in one file."""
    store = tmp_path / "data" / "digest.db"
    with LoopbackSlack() as slack:
        with served(slack, tmp_path, "--metrics-port", "0") as bot:
            slack.delivery.deliver_to = f"http://127.0.0.1:{bot.port}/slack/events"
            with _reading(store):
                for pasted in (PASTED, "another"):
                    slack.command("U0ADA", "C0DIGEST", f"suspects RuntimeError: {pasted}")
                slack.wait_for(lambda: _requests(store) == [("{}", True)] * 2)
                assert PASTED.encode() in Path(f"{store}-wal").read_bytes()
            if then == "stopped":
                assert bot.end()[0] == 0
            elif then == "running":
                slack.wait_for(lambda: not _files_with(PASTED, tmp_path), timeout=10)
        if then == "killed":
            with served(slack, tmp_path, "--metrics-port", "0"):
                slack.wait_for(lambda: not _files_with(PASTED, tmp_path), timeout=10)
    if then == "stopped":
        assert {each.name for each in store.parent.glob("digest*")} == {
            "digest.db",
            "digest.db.lock",
            "digest-flows.db",
        }
        assert _files_with(PASTED, tmp_path) == set()
        assert _requests(Path(shutil.copy(store, tmp_path / "backup.db"))) == [("{}", True)] * 2


@contextmanager
def _reading(store: Path) -> Iterator[None]:
    """Keep SQLite from moving what is written during the block from its log to its file."""
    with closing(sqlite3.connect(store)) as other:
        other.execute("BEGIN")
        other.execute("SELECT * FROM inbox").fetchall()
        yield


def _requests(store: Path) -> list[tuple[str, bool]]:
    """Return the body of each stored request, and whether it is done."""
    with closing(sqlite3.connect(store)) as reader:
        return [(body, bool(done)) for body, done in reader.execute("SELECT body, done_at IS NOT NULL FROM inbox")]


def _files_with(text: str, folder: Path) -> set[str]:
    return {each.name for each in folder.rglob("*") if each.is_file() and text.encode() in each.read_bytes()}


def test_forged_requests_do_not_fill_the_log(tmp_path: Path) -> None:
    """Whatever a stranger sends, and however often, the log has a line about it a minute, and no traceback."""
    with LoopbackSlack() as slack, served(slack, tmp_path, "--metrics-port", "0", LOG_LEVEL="info") as bot:
        for at in ("9" * 400, "9" * 5_000, "\xb2", "", "inf"):
            signed = (f"X-Slack-Request-Timestamp: {at}", f"X-Slack-Signature: v0={'0' * 64}")
            for _ in range(10):
                assert send(bot.port, BEGUN, *signed, body=b"x" * 1_000).status == 401
        for _ in range(10):
            assert send(bot.port, "GET http://[ HTTP/1.1").status == 400
        for _ in range(200):  # who leaves without waiting for the reply
            with socket.create_connection(("127.0.0.1", bot.port)) as left:
                left.sendall(f"{BEGUN}\r\n\r\n{'x' * 1_000}".encode())
                left.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        _, told = bot.end()
    assert "Traceback" not in told
    assert 1 <= told.count("refused") <= 2
    assert len(told.splitlines()) < 10


@pytest.mark.parametrize(
    ("arguments", "changes", "words"),
    [
        (
            ("--port", "{taken}"),
            {},
            "port {taken} of 127.0.0.1 cannot be opened (address already in use); choose others",
        ),
        (("--metrics-port", "{taken}"), {}, "--metrics-port"),
        (("--host", "no.such.host.invalid"), {}, "--host"),
        (("--host", "192.0.2.1"), {}, "--host"),
        (("--host", "x" * 300), {}, "--host"),
        ((), {"SLACK_BOT_TOKEN": ""}, "vllm-digest: SLACK_BOT_TOKEN is not set;"),
        ((), {"SLACK_SIGNING_SECRET": ""}, "vllm-digest: SLACK_SIGNING_SECRET is not set;"),
        *(
            ((), {"DATABASE_URL": url}, "DATABASE_URL")
            for url in ("nonsense", "sqlite://", "sqlite:////dev/null/digest.db", "oracle://x")
        ),
    ],
)
def test_a_start_that_cannot_be_is_one_line(
    arguments: Sequence[str], changes: dict[str, str], words: str, run: Run
) -> None:
    """A taken port, an address of another machine, a missing secret or no database end `serve` with 2, before Slack is asked."""
    with LoopbackSlack() as slack:
        taken = slack.address.rpartition(":")[2]
        tokens = {"SLACK_BOT_TOKEN": slack.bot_token, "SLACK_SIGNING_SECRET": SECRET, "SLACK_API_URL": slack.url}
        given = [each.format(taken=taken) for each in arguments]
        ran = run("serve", "--port", str(free_port()), *given, **{**tokens, "LOG_LEVEL": "critical", **changes})
        assert slack.calls == [] or "--metrics-port" in arguments
    assert words.format(taken=taken) in one_line(ran.err)
    assert (ran.code, ran.out) == (2, "")


def test_what_is_refused_is_counted(tmp_path: Path) -> None:
    """Refused signatures are a figure, and so are signed requests that are not for this bot."""
    port = free_port()
    with LoopbackSlack() as slack, bot_running(slack, "http://127.0.0.1:9", tmp_path, http=True, metrics_port=port):
        for _ in range(5):
            assert ask(str(slack.delivery.deliver_to), b"x").status == 401
        foreign = payloads.command(slack.workspace, "U0ADA", "C0DIGEST", "/vllm-digest", "help") | {
            "team_id": "T0OTHER"
        }
        slack.delivery.send(Envelope("slash_commands", {**foreign, "trigger_id": "1.2"}))
        slack.wait_for(lambda: slack.delivery.idle)
        figures = str(ask(f"http://127.0.0.1:{port}/metrics").body)
    assert "vllm_digest_refused_signatures_total 5.0" in figures
    assert 'vllm_digest_requests_total{kind="refused"} 1.0' in figures
