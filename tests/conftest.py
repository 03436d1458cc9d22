"""What the tests share: recorded repositories, loopback servers, stores, and the command line run in this process."""

import gc
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from hypothesis import settings

from analysis.sources.github import GitHub
from analysis.sources.secrets import Redactor
from bot.services.factory import Services
from bot.store import Store, open_engine
from loopback.github import RecordedRepository
from tests.data import commit_lines
from tests.servers.databases import DATABASES, empty_database, migrated, share_compiled_statements
from tests.servers.github import FaultyGitHub
from tests.servers.launched import Ran, launched, start_launcher
from tests.servers.postgresql import leave_postgresql
from tests.servers.running import used_engine
from tests.strategies import TIMES

pytest_plugins = ["tests.processes"]

# Of generated examples few, the same ones each time, and none kept on disk. In a campaign many, those of a seed.
settings.register_profile("suite", max_examples=30 * TIMES, deadline=None, derandomize=TIMES == 1, database=None)
settings.load_profile("suite")

share_compiled_statements()

# What tests write is written to memory where there is room: a database on a disk waits for it at each commit.
_MEMORY, _ROOM = Path("/dev/shm"), 4_000_000_000  # bytes; a run needs a quarter of that
if (
    _MEMORY.is_dir()
    and shutil.disk_usage(_MEMORY).free > _ROOM
    and not os.statvfs(_MEMORY).f_flag & (os.ST_NOEXEC | os.ST_RDONLY)
):
    tempfile.tempdir = os.environ["TMPDIR"] = str(_MEMORY)

# What is imported and collected stays, and need not be looked through again and again: that takes a fifteenth of all time.
gc.disable()
_GARBAGE = 20_000  # new objects before a look for garbage

NOON = datetime(2026, 2, 5, 12, tzinfo=UTC)

# Commands that store what they read. To migrate a database from nothing is half of the time that most of them take.
_STORING = (
    "digest",
    "week",
    "impact",
    "upgrade",
    "compat",
    "publish",
    "commit",
    "ask",
    "backfill",
    "suspects",
    "score",
)


Run = Callable[..., Ran]


def recorded(number: int = 1, **changes: Any) -> dict[str, Any]:
    """A recorded commit, the `number`th of its repository, at an hour of 2026-02-05 UTC by default."""
    sha = changes.pop("sha", f"{number:02x}" * 20)
    date = changes.pop("date", (NOON + timedelta(minutes=number)).isoformat())
    patch = f"@@ -1,2 +1,2 @@\n def work():\n-    return {number}\n+    return {number + 1}"
    file = {
        "filename": f"pkg/part{number}.py",
        "status": "modified",
        "additions": 1,
        "deletions": 1,
        "changes": 2,
        "patch": patch,
    }
    return {
        "sha": sha,
        "parents": [f"{number - 1:02x}" * 20] if number > 1 else [],
        "author": {"name": "Core Team", "date": date},
        "committer": {"name": "GitHub", "date": date},
        "message": f"[Core] Change part {number} (#{number})",
        "files": [file],
        "stats": {"additions": 1, "deletions": 1, "total": 2},
        "pull": {"number": number, "title": f"Change part {number}", "body": f"## Purpose\n\nPart {number} was slow."},
    } | changes


def important(number: int = 1) -> dict[str, Any]:
    """A recorded commit that a model analyses by itself: it removes an environment variable."""
    patch = '@@ -1 +0,0 @@\n-    "APP_OLD_WAY": lambda: 1,'
    file = {"filename": "app/envs.py", "status": "modified", "additions": 0, "deletions": 1, "patch": patch}
    return recorded(number, files=[file])


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(open_engine(empty_database(tmp_path / "test.db")))
    yield opened
    opened.close()


@pytest.fixture
def serve() -> Iterator[Callable[..., FaultyGitHub]]:
    """Starts loopback GitHubs that end with the test."""
    running: list[FaultyGitHub] = []

    def start(
        *commits: dict[str, Any], name: str = "o/n", branches: dict[str, str] | None = None, **options: Any
    ) -> FaultyGitHub:
        server = FaultyGitHub({name: RecordedRepository(commits, branches)}, **options)
        running.append(server.__enter__())
        return server

    yield start
    for server in running:
        server.__exit__()


@pytest.fixture
def services(store: Store) -> Iterator[Callable[..., Services]]:
    """A desk at a server, by default with a token and little patience."""
    sources: list[GitHub] = []

    def at(server: FaultyGitHub, token: str | None = "token", url: str = "", **options: Any) -> Services:
        sources.append(GitHub(url or server.url, token, **{"max_wait": 2, **options}))
        return Services(sources[-1], store)

    yield at
    for source in sources:
        source.close()


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs `vllm-digest` as a person would: in a process of its own, with its own folder and settings.

    Commands that store what they read find a database without rows, unless they are given a DATABASE_URL.
    """

    def ran(*arguments: str, stdin: bytes = b"", server: FaultyGitHub | None = None, **settings: str) -> Ran:
        kept = {key: value for key, value in os.environ.items() if key in ("PATH", "HOME", "LANG", "SYSTEMROOT")}
        defaults = {
            "GITHUB_API_URL": server.url if server else "http://127.0.0.1:9",
            "DIGEST_REPOS": "o/n",
            "DIGEST_MIRRORS": "",
            "DIGEST_TIMEZONE": "UTC",
        }
        environment = {**kept, **defaults, "DIGEST_LANGUAGE": "en", **settings}
        if arguments and arguments[0] in _STORING and "DATABASE_URL" not in settings:
            (tmp_path / "data").mkdir(exist_ok=True)
            empty_database(tmp_path / "data" / "digest.db")
        return launched(arguments, tmp_path, environment, stdin)

    return ran


@pytest.fixture(scope="session")
def vllm_commits() -> list[dict[str, Any]]:
    """1,488 real vLLM commits without patches, oldest first."""
    return [json.loads(line) for line in commit_lines().splitlines()]


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Leaves the databases of a test's own bots to other tests."""
    folder = getattr(item, "funcargs", {}).get("tmp_path")
    if folder and DATABASES == "postgresql":
        leave_postgresql(folder)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Begins what all processes share while the tests are collected."""
    if session.config.option.processes > 1:
        start_launcher()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Builds what all processes share, leaves the modules and the tests to no collector of garbage, and what the tests make to a leisurely one."""
    if session.config.option.processes > 1:
        Redactor()("a text")  # builds the scanners, without a thread
        migrated()
        used_engine()
    gc.freeze()
    gc.set_threshold(_GARBAGE)
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mixes the files, the same way every time, so that each worker has tests that wait beside tests that compute.

    Those that kill bots come first: a single one of them takes longer than any other module.
    """
    items.sort(key=lambda item: ("killed" not in item.path.name, crc32(item.path.name.encode())))
