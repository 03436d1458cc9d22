"""The database of a running bot: one process at a time may use it, and the durable engine has tables of its own there."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from analysis.errors import BadSetting, StoreUnusable
from bot.store.database import address_of
from bot.store.postgresql import held_by_one_process
from bot.store.sqlite import prepare_folder


def flows_url(database_url: str) -> str:
    """Return the URL of the engine's tables: in a file beside SQLite's, or in a schema of the same PostgreSQL database.

    Raise `BadSetting` if DATABASE_URL is invalid, or in memory.
    """
    url = address_of(database_url)
    if url.get_backend_name() != "sqlite":
        return url.render_as_string(hide_password=False)
    file = _file(database_url)
    return f"sqlite:///{file.with_name(f'{file.stem}-flows.db')}"


def locked(database_url: str) -> AbstractContextManager[None]:
    """Lock the database against other bots for the duration of the block; a killed process releases the lock too.

    Raise `StoreUnusable` if another bot holds it, or it cannot be used.
    """
    url = address_of(database_url)
    if url.get_backend_name() != "sqlite":
        return held_by_one_process(url, "bot")
    return _file_locked(_file(database_url))


def _file(database_url: str) -> Path:
    name = address_of(database_url).database
    if not name or name == ":memory:":
        raise BadSetting("DATABASE_URL: the bot needs a database file, such as sqlite:///data/digest.db")
    return Path(name)


@contextmanager
def _file_locked(database: Path) -> Iterator[None]:
    import fcntl

    prepare_folder(database)
    try:
        file = database.with_name(f"{database.name}.lock").open("w")
    except OSError as exc:
        raise StoreUnusable(f"the folder of {database} cannot be written ({exc.strerror}); set DATABASE_URL") from exc
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise StoreUnusable(
                f"another vllm-digest is using {database}; stop it first, or set DATABASE_URL"
            ) from None
        yield
