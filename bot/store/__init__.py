"""What was read, found and said, kept between runs."""

from bot.store.opening import open_engine
from bot.store.store import Found, Kept, Store, StoredCommit, StoredDay

__all__ = ["Found", "Kept", "Store", "StoredCommit", "StoredDay", "open_engine"]
