"""A bot that was killed, moved with all that was under way, and started on the new database."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool

from analysis.models import Repository
from bot.store import Subscriptions, Terms, open_engine
from loopback.slack import Fault
from tests.conftest import recorded
from tests.servers.killed import CHANNELS, Killable, Moment, killable, more
from tests.servers.launched import launched
from tests.servers.postgresql import new_postgresql_database

PARTS = 8
ANSWER = "It returns another number now [pkg/part1.py:2]. "


@pytest.fixture
def bot(tmp_path: Path) -> Iterator[Killable]:
    """A bot whose two channels are due for the digest of yesterday."""
    zone = ZoneInfo("UTC" if datetime.now(UTC).hour < 22 else "Asia/Shanghai")  # where today does not end soon
    yesterday = datetime.combine(datetime.now(zone).date() - timedelta(days=1), time(9), zone)
    commits = [
        recorded(number, date=(yesterday + timedelta(minutes=number)).isoformat()) for number in range(1, PARTS + 1)
    ]
    with killable(tmp_path, commits, ANSWER) as started:
        engine = open_engine(started.database_url)
        for channel in CHANNELS:
            terms = Terms(channel, Repository(owner="o", name="n"), time(), zone, "en")
            Subscriptions(engine).keep(terms, yesterday - timedelta(hours=9))
        engine.dispose()
        yield started


def ask(url: str, query: str) -> list[tuple[Any, ...]]:
    engine = create_engine(url, poolclass=NullPool)
    with engine.connect() as connection:
        return [tuple(row) for row in connection.exec_driver_sql(query)]


def test_what_was_under_way_is_finished_once_after_a_move(bot: Killable, tmp_path: Path) -> None:
    """A digest half posted, one not begun, a message that Slack may have and a question: each comes once from the new database."""
    slack = bot.slack
    bot.start_listening()
    slack.wait_for(lambda: slack.asked("chat.postMessage"), 60)
    slack.faults.append(Fault("chat.postMessage$", "accept_and_drop"))
    dropped = more(lambda: sum(call.fault == "accept_and_drop" for call in slack.calls), 1)
    slack.say("U0ADA", CHANNELS[0], "<@U0BOT> what does 010101010101 change?")
    # Slack would send the question again only to a bot that is there.
    bot.kill_at(Moment("posting", lambda: dropped() and bot.rows("SELECT 1 FROM inbox"), 0.05))
    source = bot.database_url
    before = Counter(dict(ask(source, "SELECT state, count(*) FROM outbox GROUP BY state")))
    assert before["sending"] + before["ready"] > 1
    assert ask(source, "SELECT 1 FROM inbox WHERE done_at IS NULL") or bot.chat.questions
    with new_postgresql_database() as target:
        moved = launched(["move", source, target], tmp_path, {})
        assert moved.code == 0, moved.err
        assert "deliveries under way" in moved.out
        bot.database_url = target
        bot.start_listening()
        bot.wait_for(lambda: is_done(target))
        bot.stop()
        kept = {key for (key,) in ask(target, "SELECT key FROM outbox WHERE state = 'sent'")}
        files = ask(target, "SELECT key FROM outbox WHERE file_id IS NOT NULL")
    posted = Counter(message.key for channel in CHANNELS for thread in bot.threads(channel) for message in thread)
    assert set(posted.values()) <= {1, len(CHANNELS)}
    by_key = {key: count for key, count in posted.items() if ":" in key}
    assert set(by_key) == kept - {key for (key,) in files}
    assert set(by_key.values()) == {1}
    assert len([key for key in by_key if key.startswith("answer:")]) == 1
    assert sorted(count for key, count in posted.items() if key.endswith(".md")) == [len(CHANNELS)]


def is_done(target: str) -> bool:
    open_messages = ask(target, "SELECT 1 FROM outbox WHERE state != 'sent'")
    open_requests = ask(target, "SELECT 1 FROM inbox WHERE done_at IS NULL")
    states = ask(target, "SELECT DISTINCT status FROM vllm_digest_flows.workflow_status")
    return not open_messages and not open_requests and states == [("SUCCESS",)]
