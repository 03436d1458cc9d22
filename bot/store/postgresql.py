"""PostgreSQL: its connections, the transactions that write, its text columns, and its errors as ours.

A reader sees one state of the database for the length of its transaction, and a comparison of texts goes by their code
points, as on SQLite.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, exc, text
from sqlalchemy.engine import URL, ExceptionContext
from sqlalchemy.pool import NullPool

from analysis.errors import BadSetting, StoreAway, StoreUnusable
from bot.store.transactions import WRITING, ClosingPool, CountingPool, count_failure, without_password

# The sessions that hold an advisory lock; one of 64 bits is listed in two halves.
LOCK_HOLDERS = (
    "FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    " AND classid::bigint << 32 | objid::bigint = :key"
)

_OLDEST = 14  # the oldest major version that its makers still maintain
_POOL_SIZE, POOL = 5, 15  # connections kept, and opened at most
_CONNECT_TIMEOUT = 10  # seconds to wait for a connection
IDLE_SECONDS = 60  # after which the server ends a session that holds locks, if it heard nothing of its process
# Another process that stops in the middle of a transaction, for example paused, blocks nobody for longer.
_IDLE_TRANSACTION = "idle_in_transaction_session_timeout = '60s'"
_SESSION = ("lock_timeout = '30s'", _IDLE_TRANSACTION, "jit = off")
# Of a session that holds locks: it ends within half a minute once this machine has vanished.
_LOCK_SETTINGS = (
    "tcp_keepalives_idle = 10",
    "tcp_keepalives_interval = 5",
    "tcp_keepalives_count = 3",
    "statement_timeout = '10s'",
)
_KEEPALIVES = {
    "keepalives_idle": _CONNECT_TIMEOUT,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": _CONNECT_TIMEOUT * 1000,
}
_PASSING = ("08", "40", "53", "55P03", "57")  # states, or their classes, of failures after which trying again may help
_AWAY = ("08", "57")  # of those, the failures of a server that does not answer
# What a server says that it does not connect, and never will until a person mends it, or for now.
_MISTAKES = (
    ("password", "rejects the user or the password; correct DATABASE_URL"),
    ('" does not exist', "knows no such database or user; create it, or correct DATABASE_URL"),
    ("resolve host", "cannot be found; check the host in DATABASE_URL"),
    ("pg_hba.conf", "does not accept connections from here; add this machine to its pg_hba.conf"),
)
_FULL = "has no connection left; raise its max_connections, or run fewer processes"
_CONNECTING = (("too many", _FULL), ("connection slots", _FULL))
# Without a right on any schema of the search path there is no current one; the usual one is named then.
_MAY_CREATE_TABLES = text(
    "SELECT schema, has_schema_privilege(schema, 'USAGE') AND has_schema_privilege(schema, 'CREATE'), current_user"
    " FROM (SELECT coalesce(current_schema(), 'public') AS schema) AS found WHERE to_regnamespace(schema) IS NOT NULL"
)
# By SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html) or its class; the first match counts.
_STATES = (
    ("42501", "does not grant the user what is needed; make it the owner of the tables of vllm-digest"),
    ("3F000", "has no schema that the user may create tables in; name one in its search_path that it may use"),
    ("42P01", "lacks a table of vllm-digest; restore the database, or set DATABASE_URL to another one"),
    ("25006", "is read-only; connect to the primary server"),
    ("53100", "has no room left; free some disk"),
    ("53300", _FULL),
    ("53", "is out of memory or another resource; look at its log"),
    ("55P03", "is locked by another program; end that one first"),
    ("40", "was changed by another process at the same time; try again"),
    ("57", "closed the connection; try again"),
    ("08", "closed the connection; try again"),
    ("58", "is damaged or cannot be read; look at its log"),
    ("XX", "is damaged or cannot be read; look at its log"),
)


def check_url(url: URL) -> None:
    """Raise `BadSetting` for another driver than psycopg, a URL without a database, or an option that libpq does not know."""
    if url.drivername != "postgresql+psycopg" or not url.database:
        raise BadSetting("DATABASE_URL: use postgresql+psycopg://user:password@host/database")
    if "@" in f"{url.host}{url.database}":  # the rest of a password, which no message may show
        raise BadSetting(
            "DATABASE_URL: write special characters of the password in percent-encoding, such as %40 for @"
        )
    from psycopg import ProgrammingError  # which SQLite's users need not wait for
    from psycopg.conninfo import make_conninfo

    try:
        make_conninfo("", **{name: str(value) for name, value in url.query.items()})
    except ProgrammingError:
        raise BadSetting(
            "DATABASE_URL: what follows the ? is no option of PostgreSQL's; correct or remove it"
        ) from None


def new_engine(url: URL) -> Engine:
    """Return an engine with a pool; a connection that was lost is replaced before it is used again."""
    engine = _engine(
        url,
        poolclass=CountingPool,
        pool_size=_POOL_SIZE,
        max_overflow=POOL - _POOL_SIZE,
        pool_pre_ping=True,
        isolation_level="REPEATABLE READ",
        execution_options={WRITING: {"isolation_level": "READ COMMITTED"}},
    )
    return _listening(engine)


def flows_engine(url: URL, connections: int) -> Engine:
    """Return the engine of SQLAlchemy by which the durable engine uses its tables. Its errors are the driver's.

    The durable engine waits for a server that is away, and lets a flow fail for any other error. It tells them apart by
    sentences of the driver, of which it lacks those about a socket that is not there and a name that is not resolved.
    """
    engine = _engine(url, " flows", poolclass=ClosingPool, pool_size=connections, max_overflow=0, pool_pre_ping=True)
    event.listen(engine, "connect", _end_idle_transactions)
    event.listen(engine, "handle_error", _mark_unreachable)
    return engine


def read_only_engine(url: URL) -> Engine:
    """Return an engine that only reads, with a new connection each time."""
    return _listening(_engine(url, poolclass=NullPool, execution_options={"postgresql_readonly": True}))


def _engine(url: URL, purpose: str = "", arguments: Mapping[str, Any] | None = None, **options: Any) -> Engine:
    named = {"connect_timeout": _CONNECT_TIMEOUT, "application_name": f"vllm-digest{purpose}", **(arguments or {})}
    return create_engine(url, connect_args=named, hide_parameters=True, **options)


def existing_engine(url: URL) -> Engine:
    """Return an engine that reads a database, with a new connection each time. Raise `StoreUnusable` if it cannot be written."""
    engine = _listening(_engine(url, poolclass=NullPool))
    with engine.connect() as connection:
        if connection.exec_driver_sql("SHOW transaction_read_only").scalar_one() == "on":
            raise StoreUnusable(f"{without_password(url)} {_words_of('25006')}")
    return engine


def session(url: URL) -> Connection:
    """Open a connection that holds locks of a session; the server ends it soon after this machine has vanished.

    Raise `StoreUnusable` if it cannot be opened, or the user may not create the schema of the durable engine.
    """
    connection = _lock_session(url, " lease")
    try:
        _check_may_create_schema(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def watched_session(url: URL) -> Connection:
    """Open a connection as `session` does, which the server also ends after `IDLE_SECONDS` without a statement.

    So a process that is paused loses its locks too. Any user may open one.
    """
    return _lock_session(url, " locks", f"idle_session_timeout = '{IDLE_SECONDS}s'")


def _lock_session(url: URL, purpose: str, *settings: str) -> Connection:
    # It stays in no transaction: the locks are the session's.
    options = {"isolation_level": "AUTOCOMMIT"}
    engine = _engine(url, purpose, _KEEPALIVES, poolclass=NullPool, execution_options=options)
    connection = _listening(engine).connect()
    try:
        for setting in (*_LOCK_SETTINGS, *settings):
            connection.exec_driver_sql(f"SET {setting}")
    except BaseException:
        connection.close()
        raise
    return connection


def check_may_create_tables(connection: Connection) -> None:
    """Raise `StoreUnusable`, with what to grant, for a user who may create no tables."""
    found = connection.execute(_MAY_CREATE_TABLES).first()
    name, quote = without_password(connection.engine.url), connection.dialect.identifier_preparer.quote
    if found is None:
        raise StoreUnusable(f"{name} {_words_of('3F000')}")
    schema, allowed, user = found
    if allowed:
        return
    needed = f"GRANT USAGE, CREATE ON SCHEMA {quote(schema)} TO {quote(user)}"
    raise StoreUnusable(f"{name} does not let the user create tables in the schema {quote(schema)}; {needed}")


def _check_may_create_schema(connection: Connection) -> None:
    may_create = "SELECT current_database(), has_database_privilege(current_database(), 'CREATE'), current_user"
    database, allowed, user = connection.exec_driver_sql(may_create).one()
    if not allowed:
        name, quote = without_password(connection.engine.url), connection.dialect.identifier_preparer.quote
        needed = f"GRANT CREATE ON DATABASE {quote(database)} TO {quote(user)}"
        raise StoreUnusable(f"{name} does not let the user create a schema in the database; {needed}")


def _listening(engine: Engine) -> Engine:
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "handle_error", _translate)
    return engine


def _end_idle_transactions(connection: Any, _record: object) -> None:
    connection.execute(f"SET {_IDLE_TRANSACTION}")
    connection.commit()


def _mark_unreachable(context: ExceptionContext) -> None:
    """Mark an error without a state as that of a lost connection, since no server answered."""
    error: Any = context.original_exception
    if isinstance(context.sqlalchemy_exception, exc.OperationalError) and error.sqlstate is None:
        context.is_disconnect = True


def _set_up(connection: Any, _record: object) -> None:
    from psycopg.types.string import StrDumperUnknown

    class TextDumper(StrDumperUnknown):
        """Text with a sign in place of NUL, which PostgreSQL stores in no text."""

        def dump(self, obj: str) -> Any:
            return super().dump(obj.replace("\0", "\N{REPLACEMENT CHARACTER}"))

    connection.adapters.register_dumper(str, TextDumper)
    connection.autocommit = True
    for setting in _SESSION:
        connection.execute(f"SET {setting}")
    connection.autocommit = False


def check_server(connection: Connection) -> None:
    """Raise `StoreUnusable` for a server that is too old, or a database of another encoding than UTF-8."""
    info: Any = connection.connection.dbapi_connection
    major = info.info.server_version // 10_000
    name = without_password(connection.engine.url)
    if major < _OLDEST:
        raise StoreUnusable(f"{name} is PostgreSQL {major}; {_OLDEST} or newer is needed")
    encoding = info.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise StoreUnusable(f"{name} is encoded in {encoding}; create a database with ENCODING 'UTF8'")


def _translate(context: ExceptionContext) -> None:
    if context.is_pre_ping or not isinstance(context.sqlalchemy_exception, exc.DBAPIError):
        return
    error: Any = context.original_exception
    from psycopg import InterfaceError, OperationalError

    words, kind = _words_of(error.sqlstate), StoreUnusable
    if words is None and error.sqlstate is None and isinstance(error, InterfaceError | OperationalError):
        told = str(error).lower()
        words = next((words for sign, words in _MISTAKES if sign in told), None)
        kind = StoreUnusable if words else StoreAway
        words = words or next((words for sign, words in _CONNECTING if sign in told), None)
        words = words or "does not answer; start it, or check the network, and host and port in DATABASE_URL"
    elif (error.sqlstate or "").startswith(_AWAY):
        kind = StoreAway
    if (error.sqlstate or "08").startswith(_PASSING):
        count_failure()
    if words:
        url = context.engine.url if context.engine else None
        raise kind(f"{without_password(url) if url else 'the database'} {words}") from error


def _words_of(state: str | None) -> str | None:
    return next((words for sign, words in _STATES if state and state.startswith(sign)), None)
