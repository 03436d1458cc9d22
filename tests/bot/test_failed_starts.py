"""Starts that fail: one line, the exit code that the README tells, and no process left behind for others to see."""

from collections.abc import Iterator

import pytest
from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool

from loopback.slack import LoopbackSlack
from tests.conftest import Run
from tests.servers.postgresql import postgresql_database


@pytest.fixture
def url() -> Iterator[str]:
    with postgresql_database() as found:
        yield found


def known_processes(url: str) -> int:
    engine = create_engine(url, poolclass=NullPool)
    with engine.connect() as connection:
        return int(connection.exec_driver_sql("SELECT count(*) FROM executors").scalar_one())


@pytest.mark.parametrize(
    ("command", "wrong", "words"),
    [
        ("worker", "port", "--metrics-port"),
        ("worker", "SLACK_BOT_TOKEN", "SLACK_BOT_TOKEN: Slack rejected the request: invalid_auth"),
        ("run", "SLACK_APP_TOKEN", "SLACK_APP_TOKEN: Slack rejected the request: invalid_auth"),
    ],
)
def test_a_start_that_is_refused_shows_nobody_a_process(
    command: str, wrong: str, words: str, url: str, run: Run
) -> None:
    """A port that is taken and a token that Slack rejects are found before the database is told of the process."""
    with LoopbackSlack() as slack:
        tokens = {"SLACK_BOT_TOKEN": slack.bot_token, "SLACK_APP_TOKEN": slack.app_token, "SLACK_API_URL": slack.url}
        if wrong in tokens:
            tokens[wrong] = f"{tokens[wrong]}-wrong"
        port = slack.address.rpartition(":")[2] if wrong == "port" else "0"
        ran = run(command, "--metrics-port", port, DATABASE_URL=url, LOG_LEVEL="warning", **tokens)
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (2, "", 1), ran.err
    assert words in ran.err
    assert known_processes(url) == 0


@pytest.mark.parametrize(
    ("database", "code"),
    [("postgresql+psycopg://me@127.0.0.1:9/x", 3), ("postgresql+psycopg://me@nowhere.invalid/x", 2), ("", 2)],
)
def test_a_database_that_is_away_is_told_from_a_wrong_one(database: str, code: int, url: str, run: Run) -> None:
    """A server that does not answer is exit 3, an address that is wrong exit 2."""
    missing = url.replace("/test_", "/missing_")
    ran = run("search", "x", DATABASE_URL=database or missing)
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (code, "", 1), ran.err
