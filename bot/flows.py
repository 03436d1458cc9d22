"""The durable flows, which resume and finish after the process is killed and restarted.

    answer    a person's request -> replies, possibly a delivery
    deliver   a day or a commit -> its messages in a channel, each once, in order
    retract   a reverted commit -> a notice in the thread of the digest that contained it
    digest    a day -> commits read and analysed, after waiting for GitHub's rate limit if necessary

Arguments and results are keys, which the engine stores in its own tables. A step runs again if it was interrupted before
the engine recorded its result; the store and the outbox make steps idempotent.
"""

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from threading import Event

import structlog
from dbos import DBOS, SetEnqueueOptions, SetWorkflowID
from structlog.contextvars import bound_contextvars

from bot.services.deliveries import Delivery, Outcome
from bot.slack.bot import Bot
from bot.slack.commands import respond
from bot.slack.delivery import revert_notices, steps
from bot.slack.delivery.revert_notices import Reverted

# Flows of another version are not resumed: increase it only when the order of steps changes.
_VERSION = "1"
_EXECUTOR = "bot"  # one process per database file, under a constant name
_ANSWERS, _SLACK = "answers", "slack"
_ANSWERS_AT_ONCE = 16
_POLLING = 0.25  # seconds between polls of a queue; each takes 4 ms of CPU time
_LISTENING = 0.1  # seconds between polls for notifications, which are not used here; shutdown waits for one poll
_PATIENCE = (2, 5, 15, 60, 300, 900, 3600)  # minimum seconds before a step is retried, by attempt; the last one repeats
_ROUNDS = 24
_LATER = 120  # seconds; for longer waits a notice is posted in the channel
_RETENTION = timedelta(days=30)
_PAGE = 500
_GRACE = 3  # seconds for flows to finish at shutdown
_NAP = 0.5  # seconds between checks of the clock
_NO_LIMIT = (
    None  # by default the engine drops a flow after 100 recoveries, reached within minutes if Slack is unreachable
)

log = structlog.get_logger(__name__)
logging.getLogger("dbos").addHandler(logging.NullHandler())  # without a handler it would print to standard error
_running: list[Bot] = []
_ending = Event()


class _Interrupted(BaseException):
    """Interrupts a waiting flow at shutdown; the engine records only `Exception`s, so the flow resumes at the next start."""


@DBOS.workflow(max_recovery_attempts=_NO_LIMIT)
def answer(key: str) -> None:
    """Answer the request with this key, and start the deliveries that it asks for."""
    for round_ in range(_ROUNDS):
        outcome = _respond(key, round_)
        if outcome.pause is None:
            break
        _wait(outcome.pause, round_)
    for each in outcome.deliveries:
        start_delivery(each)
    for line in outcome.lines:
        _sent(line)
    _answered(key)


@DBOS.workflow(max_recovery_attempts=_NO_LIMIT)
def deliver(label: str, channel: str, what: str, run: str) -> None:
    """Deliver a day or a commit to a channel, each message once, in order; stop if the channel is closed."""
    delivery = Delivery(label, channel, what, run)
    with bound_contextvars(run=run):
        with SetWorkflowID(_flow_id("digest", label, channel, what)):
            reading = DBOS.start_workflow(digest, label, channel, what, run)
        failure = ""
        for key in _draft(delivery, reading.get_result()):
            outcome = _sent(key)
            failure = failure or outcome.failure
            if outcome.closed:
                break
        for line in _finish(delivery, failure) or ():  # None in recorded results of an earlier version
            _sent(line)
        for each in _reverted(delivery):
            _start_retraction(each)


@DBOS.workflow(max_recovery_attempts=_NO_LIMIT)
def retract(channel: str, repository: str, sha: str, by: str, run: str) -> None:
    """Post the revert notice in the thread of the reverted commit's digest."""
    with bound_contextvars(run=run):
        for key in _draft_retraction(Reverted(channel, repository, sha, by, run)):
            _sent(key)


@DBOS.workflow(max_recovery_attempts=_NO_LIMIT)
def digest(label: str, channel: str, what: str, run: str) -> str:
    """Read and analyse a day, with a notice in the channel if that takes long. Return the reason of a failure, or ''."""
    delivery = Delivery(label, channel, what, run)
    with bound_contextvars(run=run):
        for round_ in range(_ROUNDS):
            outcome = _read(delivery)
            if outcome.pause is None:
                break
            if outcome.pause > _LATER:
                for key in _notice(delivery, outcome.pause):
                    _sent(key)
            _wait(outcome.pause, round_)
        return outcome.failure


def _sent(key: str) -> Outcome:
    """Send a message, or its replacement if refused; retry while it is unknown whether Slack received it."""
    for round_ in range(_ROUNDS):
        outcome = _send(key)
        if outcome.pause is None:
            break
        _wait(outcome.pause, round_)
    for line in outcome.lines:
        _sent(line)
    return outcome


def _wait(pause: float, round_: int) -> None:
    """Wait by the bot's clock, across restarts; the engine's own sleep would block shutdown."""
    until = datetime.fromisoformat(_alarm(max(pause, _PATIENCE[min(round_, len(_PATIENCE) - 1)])))
    while not _ending.wait(_NAP):
        if _running[-1].now() >= until:
            return
    raise _Interrupted


# Steps


@DBOS.step()
def _alarm(seconds: float) -> str:
    return (_running[-1].now() + timedelta(seconds=seconds)).isoformat()


@DBOS.step()
def _respond(key: str, round_: int) -> Outcome:
    return respond.respond(_running[-1], key, round_)


@DBOS.step()
def _answered(key: str) -> None:
    bot = _running[-1]
    bot.mail.done(key, bot.now())


@DBOS.step()
def _read(delivery: Delivery) -> Outcome:
    return steps.read(_running[-1], delivery)


@DBOS.step()
def _notice(delivery: Delivery, seconds: float) -> list[str]:
    return steps.notice(_running[-1], delivery, seconds)


@DBOS.step()
def _draft(delivery: Delivery, trouble: str) -> list[str]:
    return steps.draft(_running[-1], delivery, trouble)


@DBOS.step()
def _send(key: str) -> Outcome:
    return steps.send(_running[-1], key)


@DBOS.step()
def _finish(delivery: Delivery, failure: str) -> list[str]:
    return steps.finish(_running[-1], delivery, failure)


@DBOS.step()
def _reverted(delivery: Delivery) -> list[Reverted]:
    return revert_notices.reverted(_running[-1], delivery)


@DBOS.step()
def _draft_retraction(found: Reverted) -> list[str]:
    return revert_notices.draft(_running[-1], found)


# Starting flows


def start_answer(key: str) -> None:
    """Start the flow that answers a request, unless already started."""
    with SetWorkflowID(_flow_id("answer", key)):
        DBOS.enqueue_workflow(_ANSWERS, answer, key)


def start_delivery(delivery: Delivery) -> None:
    """Start a delivery, unless already started. Deliveries to a channel run one at a time."""
    with (
        SetWorkflowID(_flow_id("deliver", delivery.label, delivery.channel, delivery.what)),
        SetEnqueueOptions(queue_partition_key=delivery.channel),
    ):
        DBOS.enqueue_workflow(_SLACK, deliver, *delivery)


def _start_retraction(found: Reverted) -> None:
    """Start the flow of a revert notice, unless already started for any delivery."""
    with (
        SetWorkflowID(_flow_id("retract", found.channel, found.repository, found.sha)),
        SetEnqueueOptions(queue_partition_key=found.channel),
    ):
        DBOS.enqueue_workflow(_SLACK, retract, *found)


@contextmanager
def running(bot: Bot, database: Path) -> Iterator[None]:
    """Run the flow engine on its own database file for the duration of the block, resuming interrupted flows."""
    if _running:
        raise RuntimeError("the engine serves one bot a process")
    with closing(sqlite3.connect(database)) as connection:
        connection.execute(
            "PRAGMA journal_mode=WAL"
        )  # the engine does not set it, and writes at half the speed without
    _running.append(bot)
    _ending.clear()
    DBOS(
        config={
            "name": "vllm-digest",
            "system_database_url": f"sqlite:///{database}",
            "executor_id": _EXECUTOR,
            "application_version": _VERSION,
            "log_level": "ERROR",
            "notification_listener_polling_interval_sec": _LISTENING,
        }
    )
    try:
        DBOS.launch()
        DBOS.register_queue(_ANSWERS, worker_concurrency=_ANSWERS_AT_ONCE, polling_interval_sec=_POLLING)
        DBOS.register_queue(_SLACK, partition_concurrency=1, polling_interval_sec=_POLLING)
        for key in bot.mail.waiting():
            start_answer(key)
        yield
    finally:
        # Unfinished flows resume at the next start; their interruption need not be logged.
        logging.getLogger("dbos").setLevel(logging.CRITICAL)
        _ending.set()
        # With a timeout, the engine sleeps for a second before it checks for running flows.
        DBOS.destroy(workflow_completion_timeout_sec=_GRACE if _at_work() else 0)
        _running.remove(bot)


def _at_work() -> bool:
    """Return whether any flow is running."""
    return bool(DBOS.list_workflows(status="PENDING", limit=1, load_input=False, load_output=False))


def alive() -> bool:
    """Return whether the engine runs and its database works."""
    try:
        DBOS.list_workflows(limit=1, load_input=False, load_output=False)
    except Exception:  # noqa: BLE001 (any error means that it does not run)
        return False
    return not _ending.is_set()


def forget_old(bot: Bot) -> None:
    """Delete flows, requests and message contents older than the retention period."""
    before = bot.now() - _RETENTION
    bot.mail.forget(before)
    while True:
        found = DBOS.list_workflows(
            completed_before=before.isoformat(), limit=_PAGE, load_input=False, load_output=False
        )
        if found:
            DBOS.delete_workflows([each.workflow_id for each in found])
        if len(found) < _PAGE:
            return


def _flow_id(*parts: str) -> str:
    """Return the workflow id for the parts; a long one is truncated and ends with a hash."""
    name = ":".join(parts)
    return name if len(name) <= 200 else f"{name[:150]}:{sha256(name.encode()).hexdigest()[:32]}"  # noqa: PLR2004
