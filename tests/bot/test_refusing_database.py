"""A bot whose database refuses: requests are lost in a sentence, and /healthz answers in time."""

from collections.abc import Callable
from pathlib import Path
from time import monotonic

import pytest
from sqlalchemy import make_url

from loopback.slack import LoopbackSlack
from tests.servers.github import FaultyGitHub
from tests.servers.postgresql import executed, new_postgresql_database
from tests.servers.running import bot_running
from tests.servers.wire import ask

ADA, DIGEST = "U0ADA", "C0DIGEST"
_END_OTHERS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid != pg_backend_pid()"


def set_read_only(url: str, value: str) -> None:
    name = make_url(url).database
    alter = f"ALTER DATABASE {name} SET default_transaction_read_only = {value}"
    executed(url, "SET default_transaction_read_only = off", alter, _END_OTHERS)


def test_what_is_asked_meanwhile_is_lost_in_a_sentence(
    serve: Callable[..., FaultyGitHub], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Who typed a command is told to try again; neither it nor a mention, which Slack sends again, leaves a traceback of a listener."""
    with (
        new_postgresql_database() as url,
        LoopbackSlack() as slack,
        bot_running(slack, serve().url, tmp_path, http=True, database_url=url, log_level="warning"),
    ):
        set_read_only(url, "on")
        try:
            slack.command(ADA, DIGEST, "help")
            slack.wait_for(lambda: slack.private(ADA, DIGEST))
            slack.say(ADA, DIGEST, f"<@{slack.workspace.bot_user}> help")
            told = ""

            def is_told() -> bool:
                nonlocal told
                told += capfd.readouterr().err
                return "request lost" in told and "request not taken" in told

            slack.wait_for(is_told)
        finally:
            set_read_only(url, "off")
        assert "I can't store requests at the moment" in slack.private(ADA, DIGEST)[0].text
        for event in ("request lost", "request not taken"):
            line = next(line for line in told.splitlines() if event in line)
            assert "is read-only; connect to the primary server" in line
        assert "slack_bolt" not in told
        assert "this is a bug" not in told


def test_the_health_is_told_in_time_while_no_connection_is_accepted(
    serve: Callable[..., FaultyGitHub], tmp_path: Path
) -> None:
    """Where the database takes no connection any more, /healthz is 503 within two seconds, and says so."""
    with (
        new_postgresql_database() as url,
        LoopbackSlack() as slack,
        bot_running(slack, serve().url, tmp_path, http=True, database_url=url, log_level="critical"),
    ):
        health = str(slack.delivery.deliver_to).replace("/slack/events", "/healthz")
        name = str(make_url(url).database)
        other = make_url(url).set(database="postgres").render_as_string(hide_password=False)
        executed(other, f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        try:
            executed(other, f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
            for _ in range(3):
                begun = monotonic()
                found = ask(health)
                assert monotonic() - begun < 2
                assert (found.status, found.body["ok"], found.body["store"]) == (503, False, False)
                assert "store" in found.body["why"]
        finally:
            executed(other, f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
        slack.wait_for(lambda: ask(health).status == 200, 30)
