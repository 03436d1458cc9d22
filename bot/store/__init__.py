"""The store: commits, facts, analyses and messages, kept between runs."""

from bot.store.commit_rows import StoredCommit
from bot.store.database import open_engine
from bot.store.feedback import AnswerRatings, GivenVerdict, Rating, Verdicts
from bot.store.mailbox import Draft, Duplicate, Mailbox, OutboxMessage, State, Thread
from bot.store.ongoing_answers import Interruption, OngoingAnswers
from bot.store.outcomes import FailedPublication, ModelFailures, PublicationOutcomes, Spending
from bot.store.process_locks import ProcessLocks
from bot.store.store import Store, StoredAnalysis, StoredDay
from bot.store.subscriptions import (
    Alert,
    AlertEvent,
    Alerts,
    Releases,
    SeenReleases,
    Subscription,
    Subscriptions,
    Terms,
    Weekday,
)

__all__ = [
    "Alert",
    "AlertEvent",
    "Alerts",
    "AnswerRatings",
    "Draft",
    "Duplicate",
    "FailedPublication",
    "GivenVerdict",
    "Interruption",
    "Mailbox",
    "ModelFailures",
    "OngoingAnswers",
    "OutboxMessage",
    "ProcessLocks",
    "PublicationOutcomes",
    "Rating",
    "Releases",
    "SeenReleases",
    "Spending",
    "State",
    "Store",
    "StoredAnalysis",
    "StoredCommit",
    "StoredDay",
    "Subscription",
    "Subscriptions",
    "Terms",
    "Thread",
    "Verdicts",
    "Weekday",
    "open_engine",
]
