"""The store: commits, facts, analyses and messages, kept between runs."""

from bot.store.alerts import Alert, AlertEvent, Alerts
from bot.store.breaks import Breaks, BreakState, DownstreamBreak
from bot.store.commit_rows import StoredCommit
from bot.store.database import open_engine
from bot.store.feedback import AnswerRatings, Rating, Verdicts
from bot.store.mailbox import Draft, Duplicate, Mailbox, OutboxMessage, Root, State
from bot.store.ongoing_answers import Interruption, OngoingAnswers
from bot.store.outcomes import DayEdits, ModelFailures, PublicationOutcomes, Spending
from bot.store.process_locks import ProcessLocks
from bot.store.store import Store, StoredAnalysis, StoredDay
from bot.store.subscriptions import (
    Departure,
    Releases,
    SeenReleases,
    Subscription,
    Subscriptions,
    Terms,
    Weekday,
)
