"""The processes that share a PostgreSQL, and the connections that they may open."""

from datetime import datetime, timedelta

from sqlalchemy import Engine, text

from bot.doctor.finding import Finding, age
from bot.store.executors import TIMING, Executor, Executors
from bot.store.flow_tables import FLOWS_POOL
from bot.store.postgresql import POOL

_DAY = timedelta(days=1)
_SHOWN = 10  # processes that ended, the latest
# The engine's listener for notifications, the lease and the process's locks have a connection each.
_A_PROCESS = POOL + FLOWS_POOL + 3
_USED = text(
    "SELECT (SELECT sum(numbackends) FROM pg_stat_database), current_setting('max_connections')::int"
    " - current_setting('superuser_reserved_connections')::int"
)


def processes(executors: Executors) -> list[Finding]:
    """Return a line for each living process, and for each that ended within a day."""
    now, known = executors.time(), executors.all()
    found = [_living(each, now) for each in known if each.ended_at is None]
    found = found or [Finding("processes", "none is running", None)]
    ended = sorted((each.ended_at, each) for each in known if each.ended_at and each.ended_at > now - _DAY)
    for at, each in reversed(ended[-_SHOWN:]):
        found.append(Finding("process", f"{_described(each)}; ended {age(now - at)} ago", None))
    if len(ended) > _SHOWN:
        found.append(Finding("processes", f"{len(ended) - _SHOWN} more ended within a day", None))
    return found


def _living(process: Executor, now: datetime) -> Finding:
    seen = f"{_described(process)}; seen {age(now - process.seen_at)} ago"
    if now - process.seen_at <= TIMING.silence:
        return Finding("process", seen)
    advice = "it was killed, paused or cut off; a living process takes over its work, or the next one that starts"
    return Finding("process", f"{seen}: {advice}", None)


def _described(process: Executor) -> str:
    began = f"{process.started_at:%Y-%m-%d %H:%M} UTC"
    return f"{process.command} on {process.host}, pid {process.pid}, version {process.version}, since {began}"


def connections(engine: Engine, living: int) -> list[Finding]:
    """Return the server's connections in use, and whether it allows all that `living` processes may open."""
    with engine.connect() as connection:
        used, usable = connection.execute(_USED).one()
    told = f"{used} of {usable} in use; a process opens at most {_A_PROCESS}"
    if living * _A_PROCESS <= usable:
        return [Finding("connections", told)]
    advice = f"raise max_connections above {living * _A_PROCESS}, or run fewer processes"
    return [Finding("connections", f"{told}, too many for {living} processes; {advice}", None)]
