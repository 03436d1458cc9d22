"""The lease of a running bot on its database: on SQLite one process holds it, on PostgreSQL each process has one of its own.

A process writes to Slack only while it holds its lease. On PostgreSQL another process may take it, and with it the work under
way, if this one was paused or cut off from the database; it then has to start anew, under a new id.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from importlib.metadata import version
from pathlib import Path
from secrets import token_hex
from socket import gethostname
from threading import Condition, Event, Lock, Thread
from typing import Any

import structlog
from sqlalchemy import Connection, Delete, Engine, Update, delete, func, insert, select, text, update

from analysis.errors import BadSetting, StoreUnusable
from bot.store.database import MIGRATION, address_of, open_engine, schema_condition
from bot.store.executors import TIMING, Timing, executor_lock
from bot.store.migrations import HEAD
from bot.store.postgresql import session
from bot.store.schema import executors
from bot.store.sqlite import prepare_folder
from bot.store.transactions import Database, lock_key, without_password

_RETRY_INTERVAL = 0.5  # seconds between attempts to reach the database again
_WRITE_GRACE = 40  # seconds that writes to Slack under way get to record what became of them, once the lease is lost
_EXIT_GRACE = 5  # seconds that they get when the process is told to end; who told it may kill it after ten

log = structlog.get_logger(__name__)


class LeaseLost(BaseException):
    """Others may act in place of this process, or it ends. It interrupts a flow: the engine records only `Exception`s."""


class Lease:
    """The right of a process to write to Slack, under the process's `id`.

    Here it is that on a SQLite file: a lock on a file beside it, which nobody can take from a living process.
    """

    id = "bot"  # constant, so that the engine resumes what an earlier process had begun

    def __init__(self, database_url: str) -> None:
        self._database_url = database_url

    @contextmanager
    def held(self) -> Iterator[Engine]:
        """Hold the lease for the duration of the block, and yield the engine of the migrated database.

        Raise `StoreUnusable` if the database cannot be used, or serves one process and has one.
        """
        with _file_locked(_file(self._database_url)):
            yield open_engine(self._database_url)

    def check(self) -> None:
        """Return if this process holds its lease at this moment; wait while the database is away. Else raise `LeaseLost`."""

    def is_lost(self) -> bool:
        """Return whether others may act in place of this process, as far as it knows."""
        return False

    def is_held(self) -> bool:
        """Return whether this process held its lease when it last looked, which it does every few seconds."""
        return True

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Have the process keep its lease, and not start anew, until a write to Slack has ended and its outcome is recorded."""
        yield

    def release(self) -> None:
        """Give up the lease once no write to Slack is under way, so that others go on at once. Only exiting may follow.

        On SQLite the next process needs the whole file, which is free when this one has exited.
        """


def new_lease(
    database_url: str, command: str, timing: Timing = TIMING, on_lost: Callable[[], object] = lambda: None
) -> Lease:
    """Return the lease of a process that runs `command`. Raise `BadSetting` if DATABASE_URL is invalid, or in memory.

    `on_lost` is called once in a thread of its own when the lease was lost to others.
    """
    if address_of(database_url).get_backend_name() == "sqlite":
        _file(database_url)
        return Lease(database_url)
    return _SessionLease(database_url, command, timing, on_lost)


def flows_url(database_url: str) -> str:
    """Return the URL of the engine's tables: in a file beside SQLite's, or in a schema of the same PostgreSQL database.

    Raise `BadSetting` if DATABASE_URL is invalid, or in memory.
    """
    url = address_of(database_url)
    if url.get_backend_name() != "sqlite":
        return url.render_as_string(hide_password=False)
    file = _file(database_url)
    return f"sqlite:///{file.with_name(f'{file.stem}-flows.db')}"


@contextmanager
def held_alone(database_url: str) -> Iterator[None]:
    """Hold a database for a command: on SQLite no bot uses it meanwhile, on PostgreSQL no such command.

    Raise `StoreUnusable` if one uses it now, `BadSetting` if DATABASE_URL is invalid, or in memory.
    """
    url = address_of(database_url)
    if url.get_backend_name() == "sqlite":
        with _file_locked(_file(database_url)):
            yield
        return
    with closing(session(url)) as connection:
        taken = connection.execute(text("SELECT pg_try_advisory_lock(:key)"), {"key": lock_key("alone")})
        if not taken.scalar_one():
            raise StoreUnusable(_in_use(without_password(url)))
        yield


class _SessionLease(Lease):
    """The lease of one of several processes on PostgreSQL: a lock on a connection of its own, and a row renewed in time."""

    def __init__(self, database_url: str, command: str, timing: Timing, on_lost: Callable[[], object]) -> None:
        super().__init__(database_url)
        self.id = f"{gethostname()[:200]}-{os.getpid()}-{token_hex(4)}"
        self._url = address_of(database_url)
        self._command, self._timing, self._on_lost = command, timing, on_lost
        self._key = {"key": executor_lock(self.id)}
        self._own = executors.c.id == self.id, executors.c.ended_at.is_(None)
        self._connection: Connection | None = None
        self._connecting = Lock()  # one thread at a time uses the connection, or opens it again
        self._ending, self._lost = Event(), Event()
        self._why = "this process ends"  # why it acts no more
        self._away = ""  # why the database could not be used when it was last tried
        self._writes = 0
        self._written = Condition()

    @contextmanager
    def held(self) -> Iterator[Engine]:
        engine = open_engine(self._database_url)
        self._connection = self._opened()
        try:
            with Database(engine).begin(alone=MIGRATION) as connection:
                schema_condition(
                    connection
                )  # from here on, a program whose migration would exclude this one finds its row
                connection.execute(insert(executors).values(self._row()))
        except BaseException:
            self._close()
            raise
        renewing = Thread(target=self._renew, name="lease", daemon=True)
        renewing.start()
        try:
            yield engine
        except BaseException:
            self._leave(delete(executors).where(*self._own))  # a start that failed is no process that ended
            raise
        else:
            self._leave(self._marked_ended())
        finally:
            renewing.join()
            engine.dispose()

    def check(self) -> None:
        self._confirm(select(func.count()).select_from(executors).where(*self._own))

    def is_lost(self) -> bool:
        return self._lost.is_set()

    def is_held(self) -> bool:
        return not (self._lost.is_set() or self._away)

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self._written:
            self._writes += 1
        try:
            yield
        finally:
            with self._written:
                self._writes -= 1
                self._written.notify_all()

    def release(self) -> None:
        self._ending.set()
        with self._written:
            quiet = self._written.wait_for(lambda: not self._writes, _EXIT_GRACE)
        if quiet:  # otherwise the others wait until the lock is free, and look for the message in Slack
            self._leave(self._marked_ended())

    def _renew(self) -> None:
        renewal = update(executors).where(*self._own).values(seen_at=func.clock_timestamp())
        try:
            while not self._ending.wait(self._timing.renewal.total_seconds()):
                self._confirm(renewal)
        except LeaseLost:
            if self._lost.is_set():
                with self._written:
                    self._written.wait_for(lambda: not self._writes, _WRITE_GRACE)
                self._on_lost()

    def _confirm(self, statement: Any) -> None:
        """Execute a statement that tells by its count whether the lease is held, on the connection that holds the lock."""
        with self._connecting:
            while not (self._lost.is_set() or self._ending.is_set()):
                try:
                    found = self._execute(statement)
                except StoreUnusable as exc:
                    self._wait_while_away(str(exc))
                    continue
                if self._away:
                    log.info("lease looked up again", executor=self.id)
                self._away = ""
                if found:
                    return
                self._why = "another process marked this one as ended, or its row was deleted"
                self._lost.set()
                log.warning("lease lost", executor=self.id, why=self._why)
        raise LeaseLost(self._why)

    def _execute(self, statement: Any) -> bool:
        self._connection = self._connection or self._opened()
        result = self._connection.execute(statement)
        return bool(result.scalar() if result.returns_rows else result.rowcount)

    def _wait_while_away(self, why: str) -> None:
        if why != self._away:
            log.warning("lease cannot be looked up; nothing is sent until it can", why=why)
        self._away = why
        self._close()
        self._ending.wait(_RETRY_INTERVAL)

    def _opened(self) -> Connection:
        """Open a connection and take the lock on it. Raise `StoreUnusable` if that fails, or the schema became too new."""
        with ExitStack() as undone:
            connection = undone.enter_context(closing(session(self._url)))
            if not connection.execute(text("SELECT pg_try_advisory_lock(:key)"), self._key).scalar_one():
                # By the connection that was lost, of which the server does not know yet, or by whoever ends this process.
                raise StoreUnusable(f"{without_password(self._url)} still holds the lock of this process")
            schema_condition(connection)  # it may have been migrated while it was away
            undone.pop_all()
        return connection

    def _row(self) -> dict[str, Any]:
        now = func.clock_timestamp()
        times = {"started_at": now, "seen_at": now, "ended_at": None}
        row = {"id": self.id, "host": gethostname(), "pid": os.getpid(), "command": self._command, **times}
        return {**row, "version": version("vllm-digest"), "schema_version": HEAD}

    def _marked_ended(self) -> Update:
        return update(executors).where(*self._own).values(ended_at=func.clock_timestamp())

    def _leave(self, change: Update | Delete) -> None:
        """Change the row of this process, so that the others need not find out that it ended, and release the lock."""
        self._ending.set()
        with self._connecting:
            try:
                if self._connection is not None and not self._lost.is_set():
                    self._connection.execute(change)
            except StoreUnusable as exc:
                log.info("not recorded that this process ended", why=str(exc))
            self._close()

    def _close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.invalidate()  # the server must not keep a session with the lock
            connection.close()


def _file(database_url: str) -> Path:
    name = address_of(database_url).database
    if not name or name == ":memory:":
        raise BadSetting("DATABASE_URL: the bot needs a database file, such as sqlite:///data/digest.db")
    return Path(name)


def _in_use(database: str) -> str:
    return f"another vllm-digest is using {database}; stop it first, or set DATABASE_URL"


@contextmanager
def _file_locked(database: Path) -> Iterator[None]:
    """Lock the file beside a database."""
    import fcntl

    prepare_folder(database)
    try:
        file = database.with_name(f"{database.name}.lock").open("a+")
    except OSError as exc:
        raise StoreUnusable(f"the folder of {database} cannot be written ({exc.strerror}); set DATABASE_URL") from exc
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise StoreUnusable(_in_use(str(database))) from None
        yield
