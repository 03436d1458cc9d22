"""What was read, found and said, kept between runs."""

from bot.store.opening import open_engine
from bot.store.store import Found, Store, StoredCommit, StoredDay

__all__ = ["Found", "Store", "StoredCommit", "StoredDay", "open_engine"]
