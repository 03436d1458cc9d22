"""The store: commits, facts, analyses and messages, kept between runs."""

from bot.store.commit_rows import StoredCommit
from bot.store.database import open_engine
from bot.store.mailbox import Draft, Duplicate, Mailbox, OutboxMessage, State, Thread
from bot.store.model_failures import ModelFailures
from bot.store.ongoing_answers import Interruption, OngoingAnswers
from bot.store.process_locks import ProcessLocks
from bot.store.publications import FailedPublication, Publications
from bot.store.ratings import AnswerRatings, Rating, RatingCounts
from bot.store.search_index import SearchResult
from bot.store.spending import Spending
from bot.store.store import Store, StoredAnalysis, StoredDay
from bot.store.subscriptions import Subscription, Subscriptions, Terms, Weekday
from bot.store.verdicts import GivenVerdict, Verdict, Verdicts

__all__ = [
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
    "Publications",
    "Rating",
    "RatingCounts",
    "SearchResult",
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
    "Verdict",
    "Verdicts",
    "Weekday",
    "open_engine",
]
