"""The durable flows: what was begun is finished, whenever the process is killed and started again.

    answer    a person's request -> replies, and perhaps a delivery
    deliver   a day or a commit -> its messages in a channel, each once, in order
    retract   a commit that was reverted -> the thread of the digest that told of it
    digest    a day -> read and analysed, waiting for GitHub's limit where that is used up

Arguments and results are keys: the engine keeps them in tables of its own. A step runs again when it was interrupted
before the engine had noted that it was done; the store and the outbox see to it that this changes nothing.
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

# The flows of another version are not resumed: it is raised only when the order of steps changes.
_VERSION = "1"
_EXECUTOR = "bot"  # one process a database file, under a name that stays
_ANSWERS, _SLACK = "answers", "slack"
_ANSWERS_AT_ONCE = 16
_POLLING = 0.25  # seconds between two looks at a queue; each takes four milliseconds of a processor
_LISTENING = 0.1  # seconds between two looks for what the flows here never send; its end is waited for
_PATIENCE = (2, 5, 15, 60, 300, 900, 3600)  # seconds before a step is called again; the last again and again
_ROUNDS = 24
_LATER = 120  # seconds of waiting from which a channel is told
_RETENTION = timedelta(days=30)
_PAGE = 500
_GRACE = 3  # seconds in which flows may end when the bot does
_NAP = 0.5  # seconds between two looks at the clock
_NO_LIMIT = None  # the engine drops a flow after a hundred starts, which a bot that cannot reach Slack has in minutes

log = structlog.get_logger(__name__)
logging.getLogger("dbos").addHandler(logging.NullHandler())  # without any, it would print by itself
_running: list[Bot] = []
_ending = Event()


class _Interrupted(BaseException):
    """Ends a flow that waits when the bot ends; the engine takes note of `Exception`s only, and resumes it at the next start."""


@DBOS.workflow(max_recovery_attempts=_NO_LIMIT)
def answer(key: str) -> None:
    """A request is answered, and what it wants delivered is delivered."""
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
    """A day or a commit is shown in a channel: every message once, in order. A channel that is closed ends it."""
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
        for line in _finish(delivery, failure) or ():  # of an earlier version that was interrupted it gave nothing
            _sent(line)
        for each in _reverted(delivery):
            _start_retraction(each)


@DBOS.workflow(max_recovery_attempts=_NO_LIMIT)
def retract(channel: str, repository: str, sha: str, by: str, run: str) -> None:
    """A thread is told that its commit was reverted."""
    with bound_contextvars(run=run):
        for key in _draft_retraction(Reverted(channel, repository, sha, by, run)):
            _sent(key)


@DBOS.workflow(max_recovery_attempts=_NO_LIMIT)
def digest(label: str, channel: str, what: str, run: str) -> str:
    """A day is read and analysed; the channel is told when that takes long. Gives why it could not be done, if so."""
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
    """The message is sent, or what is told in its place; while it cannot be known whether Slack has it, nothing follows."""
    for round_ in range(_ROUNDS):
        outcome = _send(key)
        if outcome.pause is None:
            break
        _wait(outcome.pause, round_)
    for line in outcome.lines:
        _sent(line)
    return outcome


def _wait(pause: float, round_: int) -> None:
    """Waits, through restarts too, until the bot's clock has come so far; the engine's own sleep would not let the bot end."""
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


# Starting them


def start_answer(key: str) -> None:
    """Begins to answer a request; one that was begun goes on."""
    with SetWorkflowID(_flow_id("answer", key)):
        DBOS.enqueue_workflow(_ANSWERS, answer, key)


def start_delivery(delivery: Delivery) -> None:
    """Begins a delivery; one that was begun goes on. A channel has one at a time."""
    with (
        SetWorkflowID(_flow_id("deliver", delivery.label, delivery.channel, delivery.what)),
        SetEnqueueOptions(queue_partition_key=delivery.channel),
    ):
        DBOS.enqueue_workflow(_SLACK, deliver, *delivery)


def _start_retraction(found: Reverted) -> None:
    """Begins to tell a channel of a revert; what was begun, for whichever delivery, goes on."""
    with (
        SetWorkflowID(_flow_id("retract", found.channel, found.repository, found.sha)),
        SetEnqueueOptions(queue_partition_key=found.channel),
    ):
        DBOS.enqueue_workflow(_SLACK, retract, *found)


@contextmanager
def running(bot: Bot, database: Path) -> Iterator[None]:
    """The engine on a database file of its own: it resumes what was interrupted, and ends with the block."""
    if _running:
        raise RuntimeError("the engine serves one bot a process")
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")  # the engine does not ask for it, and writes half as fast without
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
        # What does not end soon is resumed by the next start; that it is interrupted here is nothing to report.
        logging.getLogger("dbos").setLevel(logging.CRITICAL)
        _ending.set()
        # Told to wait, the engine sleeps for a second before it looks whether there is anything to wait for.
        DBOS.destroy(workflow_completion_timeout_sec=_GRACE if _at_work() else 0)
        _running.remove(bot)


def _at_work() -> bool:
    """Whether a flow has begun and not ended."""
    return bool(DBOS.list_workflows(status="PENDING", limit=1, load_input=False, load_output=False))


def alive() -> bool:
    """Whether the engine runs and its tables answer."""
    try:
        DBOS.list_workflows(limit=1, load_input=False, load_output=False)
    except Exception:  # noqa: BLE001 (whatever it raises, it does not run)
        return False
    return not _ending.is_set()


def forget_old(bot: Bot) -> None:
    """Drops what ended long ago from the engine's tables and from the inbox."""
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
    """Names what the flow is for; long ones end with a digest of the rest."""
    name = ":".join(parts)
    return name if len(name) <= 200 else f"{name[:150]}:{sha256(name.encode()).hexdigest()[:32]}"  # noqa: PLR2004
