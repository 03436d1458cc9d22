"""A publication is killed (SIGKILL) at each of its steps: the day becomes one commit, neither none nor two."""

from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from analysis.models import Repository
from bot.store import PublicationOutcomes, Subscriptions, Terms, open_engine
from tests.conftest import recorded
from tests.servers.killed import CHANNELS, Killable, Moment, killable, more
from tests.servers.writable import WritableRepository

# What the bot asks of GitHub, one step after the other: the branch, a tree, a commit, and to move the branch to it.
_MOST = 60.0  # seconds: on PostgreSQL a dead process is found by a sweep, and its flow then waits in a queue
_STEPS = (r"git/ref/heads", r"git/trees$", r"git/commits$", r"git/refs/heads")


def test_a_publication_that_is_killed_at_each_step_is_one_commit(tmp_path: Path) -> None:
    """Whether GitHub did what was asked last is not known; the next start looks."""
    now = datetime.now(UTC)
    zone = ZoneInfo("UTC" if now.hour < 22 else "Asia/Shanghai")  # in which today does not end soon
    day = now.astimezone(zone).date() - timedelta(days=1)
    commit = recorded(1, date=datetime.combine(day, time(9), zone).isoformat())
    target = WritableRepository()
    with killable(tmp_path, [commit], target=target) as bot:
        _subscribe(bot, datetime.combine(day, time(), zone), zone)
        for step in _STEPS:
            bot.live_until(Moment(step, more(lambda step=step: bot.github.asked(step), 1), most=_MOST))  # type: ignore[misc]
        bot.start()
        bot.wait_for(lambda: len(target.messages()) > 1 and set(bot.flows_ended()) == {"SUCCESS"}, 60)
        bot.stop()
        assert [death.came for death in bot.deaths] == [True] * len(_STEPS)
        assert target.messages() == ["Begin", f"Add the digest of {day} of o/n"]
        assert f"reports/{day.year}/n/{day}.md" in target.files()
        engine = open_engine(bot.database_url)
        assert PublicationOutcomes(engine).failed(now - timedelta(days=1)) == []
        engine.dispose()
        assert "Traceback" not in bot.log_text


def _subscribe(bot: Killable, since: datetime, zone: ZoneInfo) -> None:
    engine = open_engine(bot.database_url)
    for channel in CHANNELS:
        Subscriptions(engine).keep(Terms(channel, Repository.parse("o/n"), time(), zone, "en"), since.astimezone(UTC))
    engine.dispose()
