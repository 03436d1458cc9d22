"""A bot on PostgreSQL: its store and the durable engine's tables are in one database, which one process uses."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool

from loopback.slack import LoopbackSlack
from tests.conftest import recorded
from tests.servers.clock import SettableClock
from tests.servers.github import FaultyGitHub
from tests.servers.postgresql import new_postgresql_database
from tests.servers.running import posted, whole
from tests.servers.talk import ADA, DIGEST, Talk


def test_a_bot_delivers_answers_and_goes_on_after_a_restart(serve: Callable[..., FaultyGitHub], tmp_path: Path) -> None:
    """The digest comes once over two runs, a command is answered in both, and no file is written for the engine."""
    clock = SettableClock(datetime(2026, 2, 6, 8, tzinfo=UTC), speed=20)
    github = serve(recorded(1), recorded(2))
    with new_postgresql_database() as url, LoopbackSlack(now=clock.timestamp, pace=False) as slack:
        talk = Talk(slack, github.url, tmp_path, now=clock, digest_channel=[DIGEST], database_url=url)
        with talk:
            clock.set(datetime(2026, 2, 6, 9, tzinfo=UTC))
            slack.wait_for(lambda: any(each.files for each in slack.workspace.visible(DIGEST)), 30)
            slack.wait_for(
                lambda: "Change part 2" in "".join(map(whole, slack.thread(DIGEST, posted(slack, DIGEST)[0].ts)))
            )
        with talk:
            slack.command(ADA, DIGEST, "search part")
            slack.wait_for(lambda: "Change part 1" in "".join(map(whole, slack.private(ADA, DIGEST))))
        roots = [each for each in posted(slack, DIGEST) if "2026-02-05" in each.text]
        engine = create_engine(url, poolclass=NullPool)
        with engine.connect() as connection:
            schemas = connection.exec_driver_sql("SELECT DISTINCT schemaname FROM pg_tables").scalars().all()
    assert len(roots) == 1
    assert "vllm_digest_flows" in schemas
    assert not list(tmp_path.glob("*.lock"))
