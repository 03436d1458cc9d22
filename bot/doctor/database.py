"""Checks of the database: its schema, the processes that share it, their connections, their work and what was given up."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial

from sqlalchemy import Engine, func, inspect, select, text
from sqlalchemy.exc import SQLAlchemyError

from analysis.errors import BadSetting, StoreUnusable
from analysis.models import Importance
from analysis.writing.prompts import VERSION as PROMPT
from bot.doctor.finding import Finding, age, check
from bot.models.clock import Clock
from bot.settings import Settings
from bot.store import Mailbox
from bot.store.database import Condition, condition, display_name, engine_as_it_is
from bot.store.executors import TIMING, Executor, Executors
from bot.store.flow_tables import FLOWS_POOL, FlowTables, flow_tables
from bot.store.lease import flows_url
from bot.store.postgresql import POOL
from bot.store.schema import analyses

_DAY = timedelta(days=1)
_SHOWN = 20  # processes
# The engine's listener for notifications, the lease and the process's locks have a connection each.
_A_PROCESS = POOL + FLOWS_POOL + 3
_USED = text(
    "SELECT (SELECT sum(numbackends) FROM pg_stat_database), current_setting('max_connections')::int"
    " - current_setting('superuser_reserved_connections')::int"
)
_WEEK = timedelta(days=7)
_LONG = timedelta(minutes=10)  # for a request to wait
_REASONS = 3  # reasons of refusals that are shown, the most frequent
_REMEDIES = {
    "deliver": "post the day again in its channel",
    "digest": "post the day again in its channel",
    "answer": "ask again",
    "publish": "publish the day with `vllm-digest publish`",
    "alert": "the person was not told; they may ask again",
    "retract": "the thread of the reverted commit was not told",
}


def database(settings: Settings, now: Clock) -> Iterator[Finding]:
    """Check the database, and tell what its processes do; nothing is written, and the bot may be running."""
    schema = check("database", partial(_schema, settings))
    yield schema
    url = settings.database_url.get_secret_value()
    try:
        engine = engine_as_it_is(url, read_only=True)
        with flow_tables(flows_url(url), engine) as tables:
            if _has_tables(engine):
                yield from _work(engine, tables, now())
    except BadSetting:
        return  # of which the first check has told


def _schema(settings: Settings) -> str:
    url = settings.database_url.get_secret_value()
    flows_url(url)  # the bot needs more than commands do
    found, name = condition(url), display_name(url)
    if found is Condition.BEHIND:
        raise StoreUnusable(f"{name} was written by an earlier vllm-digest; start the bot once to upgrade it")
    if found is Condition.NEWER:
        return f"{name} was written by a newer vllm-digest, which this one can work with"
    return f"{name} is {'not set up yet; the first start does that' if found is Condition.NEW else 'up to date'}"


def _work(engine: Engine, tables: FlowTables, now: datetime) -> Iterator[Finding]:
    mailbox, executors = Mailbox(engine), Executors(engine)
    if engine.dialect.name == "postgresql":
        yield from _readable("processes", lambda: _processes(executors))
        yield from _readable("connections", lambda: connections(engine, len(executors.living())))
    yield from _readable("requests", lambda: _requests(mailbox, now))
    yield from _readable("flows", lambda: _flows(tables))
    yield from _readable("messages", lambda: _messages(mailbox, now))
    yield from _readable("analyses", lambda: _tiers(engine))


def _has_tables(engine: Engine) -> bool:
    try:
        return inspect(engine).has_table("inbox")
    except (StoreUnusable, SQLAlchemyError):
        return False  # the first check has told why


def _readable(name: str, read: Callable[[], list[Finding]]) -> list[Finding]:
    """Return what was read, or that it cannot be: the tables are of another version, as the check of the database says."""
    try:
        return read()
    except (StoreUnusable, SQLAlchemyError) as exc:
        why = str(exc) if isinstance(exc, StoreUnusable) else str(getattr(exc, "orig", exc))
        return [Finding(name, f"not checked: {why}", None)]


def _processes(executors: Executors) -> list[Finding]:
    """Return a line for each process that lives or ended within a day, those that live last."""
    now = executors.time()
    known = [each for each in executors.all() if each.ended_at is None or each.ended_at > now - _DAY]
    known.sort(key=lambda each: (each.ended_at is None, each.ended_at or each.started_at))
    return [_process(each, now) for each in known[-_SHOWN:]] or [Finding("processes", "none is running", None)]


def _process(process: Executor, now: datetime) -> Finding:
    told = (
        f"{process.command} on {process.host}, pid {process.pid}, version {process.version}, "
        f"since {process.started_at:%Y-%m-%d %H:%M} UTC; "
    )
    if process.ended_at:
        return Finding("process", f"{told}ended {age(now - process.ended_at)} ago", None)
    told += f"seen {age(now - process.seen_at)} ago"
    if now - process.seen_at <= TIMING.silence:
        return Finding("process", told)
    advice = "it was killed, paused or cut off; a living process takes over its work, or the next one that starts"
    return Finding("process", f"{told}: {advice}", None)


def connections(engine: Engine, living: int) -> list[Finding]:
    """Return the server's connections in use, and whether it allows all that `living` processes may open."""
    with engine.connect() as connection:
        used, usable = connection.execute(_USED).one()
    told = f"{used} of {usable} in use; a process opens at most {_A_PROCESS}"
    if living * _A_PROCESS <= usable:
        return [Finding("connections", told)]
    advice = f"raise max_connections above {living * _A_PROCESS}, or run fewer processes"
    return [Finding("connections", f"{told}, too many for {living} processes; {advice}", None)]


def _requests(mailbox: Mailbox, now: datetime) -> list[Finding]:
    """Return how many requests wait for an answer, and for how long the oldest has."""
    since, waiting = mailbox.waiting_since(), len(mailbox.waiting())
    if since is None:
        return [Finding("requests", "none waits for an answer")]
    told = f"{waiting} not answered yet, the oldest for {age(now - since)}"
    if now - since <= _LONG:
        return [Finding("requests", told)]
    return [Finding("requests", f"{told}; see whether a process runs, and its log", None)]


def _flows(tables: FlowTables) -> list[Finding]:
    """Return a line for each kind of flow that waits or runs in a queue, or outside of queues, and for each that failed."""
    found = []
    for each in tables.in_flight():
        name = f"queue {each.queue}" if each.queue else "flows without a queue"
        found.append(Finding(name, f"{each.number} {each.name} {each.status}, the oldest for {age(each.oldest)}"))
    for name, number in tables.failed(_WEEK).items():
        advice = _REMEDIES.get(name, "see the log")
        message = f"{number} of the last 7 days given up after an error that the log has; {advice}"
        found.append(Finding(f"flow {name}", message, None))
    return found or [Finding("flows", "none waits or runs")]


def _messages(mailbox: Mailbox, now: datetime) -> list[Finding]:
    """Return the messages that are held or were refused, with their reasons; nothing if there are none."""
    found = []
    if held := len(mailbox.held()):
        advice = "an operator decides in the bot's Home in Slack: Try again, or Give up"
        found.append(
            Finding("messages held", f"{held}, of which it is not known whether Slack has them; {advice}", None)
        )
    if refused := mailbox.refusals(now - _WEEK):
        reasons = "; ".join(f"{number} × {why}" for why, number in refused[:_REASONS])
        total = sum(number for _, number in refused)
        advice = "mend what is named, then post the day or ask again"
        found.append(Finding("messages refused", f"{total} in the last 7 days ({reasons}); {advice}", None))
    return found


def _tiers(engine: Engine) -> list[Finding]:
    """Return a line for each tier: what analyses with the present prompts used; two calls a commit are without a retry."""
    names = ("calls", "input_tokens", "cached_tokens", "output_tokens", "cost_usd")
    query = select(analyses.c.importance, func.count(), *(func.sum(analyses.c[name]) for name in names))
    by_model = query.where(analyses.c.model != "rules", analyses.c.prompt == PROMPT).group_by(analyses.c.importance)
    with engine.connect() as connection:
        rows = {tier: [each or 0 for each in row] for tier, *row in connection.execute(by_model)}
    told = (
        "{} analyses by a model with the present prompts: {:,} calls, {:,} tokens in ({:,} cached), {:,} out, ${:.4f}"
    )
    return [Finding(f"{tier} importance", told.format(*rows[tier])) for tier in Importance if tier in rows]
