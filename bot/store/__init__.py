"""What was read, found and said, kept between runs."""

from bot.store.database import open_engine
from bot.store.mailbox import Draft, Letter, Mailbox, State, Thread
from bot.store.store import Found, Kept, Store, StoredCommit, StoredDay
from bot.store.subscriptions import Subscription, Subscriptions, Terms, Verdict

__all__ = [
    "Draft",
    "Found",
    "Kept",
    "Letter",
    "Mailbox",
    "State",
    "Store",
    "StoredCommit",
    "StoredDay",
    "Subscription",
    "Subscriptions",
    "Terms",
    "Thread",
    "Verdict",
    "open_engine",
]
