"""The store: commits, facts, analyses and messages, kept between runs."""

from bot.store.database import open_engine
from bot.store.mailbox import Draft, Mailbox, OutboxMessage, State, Thread
from bot.store.store import Found, Kept, Store, StoredCommit, StoredDay
from bot.store.subscriptions import Subscription, Subscriptions, Terms, Verdict

__all__ = [
    "Draft",
    "Found",
    "Kept",
    "Mailbox",
    "OutboxMessage",
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
