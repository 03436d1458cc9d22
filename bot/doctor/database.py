"""Checks of the database: its schema, the processes that share it, their connections, their work and what was given up."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial

from sqlalchemy import Engine, inspect
from sqlalchemy.exc import SQLAlchemyError

from analysis.errors import BadSetting, StoreUnusable
from bot.doctor.finding import Finding, check
from bot.doctor.processes import connections, processes
from bot.doctor.work import flows, messages, requests
from bot.models.clock import Clock
from bot.settings import Settings
from bot.store import Mailbox
from bot.store.database import Condition, condition, display_name, engine_as_it_is
from bot.store.executors import Executors
from bot.store.flow_tables import FlowTables, flow_tables
from bot.store.lease import flows_url


def database(settings: Settings, now: Clock) -> Iterator[Finding]:
    """Check the database, and tell what its processes do; nothing is written, and the bot may be running."""
    schema = check("database", partial(_schema, settings))
    yield schema
    url = settings.database_url.get_secret_value()
    try:
        flows = flows_url(url)
        with _reading(url) as engine, flow_tables(flows, engine) as tables:
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
        yield from _readable("processes", lambda: processes(executors))
        yield from _readable("connections", lambda: connections(engine, len(executors.living())))
    yield from _readable("requests", lambda: requests(mailbox, now))
    yield from _readable("flows", lambda: flows(tables))
    yield from _readable("messages", lambda: messages(mailbox, now))


@contextmanager
def _reading(url: str) -> Iterator[Engine]:
    engine = engine_as_it_is(url, read_only=True)
    try:
        yield engine
    finally:
        engine.dispose()


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
