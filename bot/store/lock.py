"""The database file of a running bot, which one process at a time may use."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from analysis.errors import BadSetting, StoreUnusable
from bot.store.database import address_of
from bot.store.sqlite import prepare_folder


def database_file(database_url: str) -> Path:
    """Return the path of the database. Raise `BadSetting` if DATABASE_URL does not name a file."""
    url = address_of(database_url)
    name = url.database if url.get_backend_name() == "sqlite" else None
    if not name or name == ":memory:":
        raise BadSetting("DATABASE_URL: the bot needs a database file, such as sqlite:///data/digest.db")
    return Path(name)


@contextmanager
def locked(database: Path) -> Iterator[None]:
    """Lock the database against other bots for the duration of the block; a killed process releases the lock too.

    Raise `StoreUnusable` if another bot holds it, or the folder cannot be written.
    """
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
