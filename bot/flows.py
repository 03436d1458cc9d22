"""The durable flows, which resume and finish after the process is killed and restarted.

    answer    a person's request -> replies, possibly a delivery
    deliver   a day or a commit -> its messages in a channel, each once, in order
    retract   a reverted commit -> a notice in the thread of the digest that contained it
    digest    a day -> commits read and analysed, after waiting for GitHub's rate limit if necessary
    alert     a person's alert -> the direct message, once
    publish   a day -> its report as files in a repository or a folder, once for all channels that got its digest

Arguments and results are keys, which the engine stores in its own tables. A step runs again if it was interrupted before
the engine recorded its result; the store and the outbox make steps idempotent. Flows and steps are registered under names
that stored flows refer to: do not rename them.
"""

import logging
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from hashlib import sha256
from math import ceil
from threading import Event, Lock, Semaphore
from typing import ParamSpec, TypeVar

import structlog
from dbos import DBOS, SetEnqueueOptions, SetWorkflowID
from sqlalchemy import Engine
from sqlalchemy.exc import IntegrityError, OperationalError, SQLAlchemyError
from structlog.contextvars import bound_contextvars

from analysis.errors import StoreAway, StoreUnusable
from bot.models.clock import Clock
from bot.models.deliveries import Delivery, Outcome
from bot.publishing.publications import ScheduledPublications
from bot.slack.commands.responder import Responder
from bot.slack.delivery.alerts import AlertNews
from bot.slack.delivery.drafts import Drafter
from bot.slack.delivery.revert_notices import Reverted, RevertNotices
from bot.slack.delivery.sending import Sender
from bot.store import Mailbox
from bot.store.database import display_name
from bot.store.executors import Executors
from bot.store.flow_tables import FLOWS_SCHEMA, FLOWS_VERSION, flows_engine
from bot.store.lease import Lease, LeaseLost
from bot.store.sqlite import supply_subseconds

_SQLITE = "sqlite:///"
SLACK, _PUBLISHING = "slack", "publishing"  # queues: of deliveries, partitioned by channel, and of publications
_ANSWERS_AT_ONCE = 16
# Channels to which a process delivers at once: each takes two threads and at most a message a second, of which Slack takes 17
# from a workspace. Of several processes each takes its share, however few wait at least so many.
_MOST_AT_ONCE, _LEAST_SHARE = 64, 4
_QUEUE_POLL = 1  # second between polls of a queue; each takes 4 ms of CPU time
_NOTIFICATION_POLL = 0.1  # seconds; nobody notifies here, but shutdown waits for one poll
# Minimum seconds before a step is retried, by attempt; the last one repeats.
_RETRY_DELAYS = (2, 5, 15, 60, 300, 900, 3600)
_ROUNDS = 24
_LONG_WAIT = 120  # seconds; for longer waits a notice is posted in the channel
_RETENTION = timedelta(days=30)
_DELETED_AT_ONCE = 500
_GRACE = 3  # seconds for flows to finish at shutdown
_POLL_INTERVAL = 0.5  # seconds between checks of the clock
_ORPHANED = timedelta(minutes=1)  # after which a request without an answer is started again, by whoever sees it
# By default the engine drops a flow after 100 recoveries, reached within minutes if Slack is unreachable.
_NO_LIMIT = None

log = structlog.get_logger(__name__)
logging.getLogger("dbos").addHandler(logging.NullHandler())  # without a handler it would print to standard error
_engine = Lock()  # the engine serves one bot a process
_P = ParamSpec("_P")
_R = TypeVar("_R")


class Flows:
    """The durable flows of one bot, in a process that has a `lease`. `now` returns the time in UTC.

    `failures` returns how many uses of the database failed so far for a reason that passes.
    """

    def __init__(
        self,
        responder: Responder,
        drafter: Drafter,
        sender: Sender,
        revert_notices: RevertNotices,
        alerts: AlertNews,
        publications: ScheduledPublications,
        mailbox: Mailbox,
        now: Clock,
        lease: Lease,
        failures: Callable[[], int],
    ) -> None:
        self._mailbox = mailbox
        self._now = now
        self._lease = lease
        self._failures = failures
        self._ending = Event()
        self._answering = Semaphore(_ANSWERS_AT_ONCE)
        self._register_steps(responder, drafter, sender)
        self._reverted = self._step("_reverted", revert_notices.reverted_by)
        self._draft_retraction = self._step("_draft_retraction", revert_notices.draft)
        self._draft_alert = self._step("_draft_alert", alerts.draft)
        self._end_alert = self._step("_end_alert", alerts.end)
        self._publications_due = self._step("_publications_due", publications.due)
        self._try_publishing = self._step("_try_publishing", publications.publish)
        self._answer = _flow("answer", self._run_answer)
        self._deliver = _flow("deliver", self._run_delivery)
        self._retract = _flow("retract", self._run_retraction)
        self._alert = _flow("alert", self._run_alert)
        self._digest = _flow("digest", self._run_digest)
        self._publish = _flow("publish", self._run_publication)

    def _register_steps(self, responder: Responder, drafter: Drafter, sender: Sender) -> None:
        self._respond = self._step("_respond", responder.respond)
        self._answered = self._step("_answered", lambda key: self._mailbox.done(key, self._now()))
        self._read = self._step("_read", drafter.read)
        self._draft = self._step("_draft", drafter.draft)
        self._notice = self._step("_notice", drafter.draft_wait)
        self._send = self._step("_send", sender.send)
        self._finish = self._step("_finish", sender.finish)

        def alarm(seconds: float) -> str:
            return (self._now() + timedelta(seconds=seconds)).isoformat()

        # Not interrupted: a wait that began before the shutdown is over at the same instant after it.
        self._alarm = DBOS.step(name="_alarm")(alarm)

    def _step(self, name: str, function: Callable[_P, _R]) -> Callable[_P, _R]:
        """Register a step with the engine under a name. Calling it interrupts the flow once the engine ends.

        It is repeated while the database fails for a reason that passes: what it returns then may be such a failure.
        """

        def repeat(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            while True:
                before = self._failures()
                try:
                    result = function(*args, **kwargs)
                except StoreUnusable:
                    if self._failures() == before:
                        raise
                else:
                    if self._failures() == before:
                        return result
                self._ending.wait(_POLL_INTERVAL)
                self._go_on()

        registered = DBOS.step(name=name)(repeat)

        def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            self._go_on()
            return registered(*args, **kwargs)

        return call

    def _go_on(self) -> None:
        """Raise `LeaseLost` if this process must not act any more, beside a continuation of its flows elsewhere or later."""
        if self._ending.is_set() or self._lease.is_lost():
            raise LeaseLost

    # Starting flows

    def start_answer(self, key: str) -> None:
        """Start the flow that answers a request, unless already started. It is not queued: somebody waits for it."""
        with SetWorkflowID(_flow_id("answer", key)):
            DBOS.start_workflow(self._answer, key)

    def start_delivery(self, delivery: Delivery) -> None:
        """Start a delivery, unless already started. Deliveries to a channel run one at a time."""
        with (
            SetWorkflowID(_flow_id("deliver", delivery.label, delivery.channel, delivery.what)),
            SetEnqueueOptions(queue_partition_key=delivery.channel),
        ):
            DBOS.enqueue_workflow(SLACK, self._deliver, *delivery)

    def _start_retraction(self, found: Reverted) -> None:
        """Start the flow of a revert notice, unless already started for any delivery."""
        with (
            SetWorkflowID(_flow_id("retract", found.channel, found.repository, found.sha)),
            SetEnqueueOptions(queue_partition_key=found.channel),
        ):
            DBOS.enqueue_workflow(SLACK, self._retract, *found)

    def start_alert(self, alert_id: int) -> None:
        """Start the flow that tells a person what they asked to be told, unless already started."""
        with SetWorkflowID(_flow_id("alert", f"{alert_id}")):
            DBOS.start_workflow(self._alert, alert_id)

    def _start_publication(self, day: str, target: str) -> None:
        """Start a publication, unless already started for any channel. Those to a target run one at a time."""
        with SetWorkflowID(_flow_id("publish", day, target)), SetEnqueueOptions(queue_partition_key=target):
            DBOS.enqueue_workflow(_PUBLISHING, self._publish, day, target)

    # Flows

    def _run_answer(self, key: str) -> None:
        """Answer the request with this key, and start the deliveries that it asks for. Failed or not, it is done then."""
        try:
            self._run_responses(key)
        except Exception:
            self._answered(key)
            raise
        self._answered(key)

    def _run_responses(self, key: str) -> None:
        def respond(round_: int) -> Outcome:
            with self._turn_to_answer():
                return self._respond(key, round_)

        outcome = self._until_done(respond)
        for each in outcome.deliveries:
            self.start_delivery(each)
        for line in outcome.lines:
            self._send_until_known(line)

    @contextmanager
    def _turn_to_answer(self) -> Iterator[None]:
        """Wait until few enough others are being answered; those that wait for GitHub are not."""
        while not self._answering.acquire(timeout=_POLL_INTERVAL):
            self._go_on()
        try:
            yield
        finally:
            self._answering.release()

    def _run_delivery(self, label: str, channel: str, what: str, run: str) -> None:
        """Deliver a day or a commit to a channel, each message once, in order; stop if the channel is closed."""
        delivery = Delivery(label, channel, what, run)
        with bound_contextvars(run=run):
            with SetWorkflowID(_flow_id("digest", label, channel, what)):
                reading = DBOS.start_workflow(self._digest, label, channel, what, run)
            failure = ""
            for key in self._draft(delivery, reading.get_result()):
                outcome = self._send_until_known(key)
                failure = failure or outcome.failure
                if outcome.closed:
                    break
            for line in self._finish(delivery, failure):
                self._send_until_known(line)
            for each in self._reverted(delivery):
                self._start_retraction(each)
            for day, target in self._publications_due(delivery):
                self._start_publication(day, target)

    def _run_publication(self, day: str, target: str) -> None:
        """Publish a day; what could not be published within the rounds is stored as failed."""
        self._until_done(lambda _: self._try_publishing(day, target))

    def _run_retraction(self, channel: str, repository: str, sha: str, by: str, run: str) -> None:
        """Post the revert notice in the thread of the reverted commit's digest."""
        with bound_contextvars(run=run):
            for key in self._draft_retraction(Reverted(channel, repository, sha, by, run)):
                self._send_until_known(key)

    def _run_alert(self, alert_id: int) -> None:
        """Send the direct message of an alert, which is over then."""
        for key in self._until_done(lambda _: self._draft_alert(alert_id)).lines:
            self._send_until_known(key)
        self._end_alert(alert_id)

    def _run_digest(self, label: str, channel: str, what: str, run: str) -> str:
        """Read and analyse a day, with a notice in the channel if that takes long. Return the reason of a failure, or ''."""
        delivery = Delivery(label, channel, what, run)

        def read(_: int) -> Outcome:
            outcome = self._read(delivery)
            if outcome.pause is not None and outcome.pause > _LONG_WAIT:
                for key in self._notice(delivery, outcome.pause):
                    self._send_until_known(key)
            return outcome

        with bound_contextvars(run=run):
            return self._until_done(read).failure

    def _send_until_known(self, key: str) -> Outcome:
        """Send a message, or its replacement if refused; retry while it is unknown whether Slack received it."""
        outcome = self._until_done(lambda _: self._send(key))
        for line in outcome.lines:
            self._send_until_known(line)
        return outcome

    def _until_done(self, attempt: Callable[[int], Outcome]) -> Outcome:
        """Make attempts, each with its number, until one asks for no pause or there were enough; return the last outcome."""
        for round_ in range(_ROUNDS):
            outcome = attempt(round_)
            if outcome.pause is None:
                break
            self._wait(outcome.pause, round_)
        return outcome

    def _wait(self, pause: float, round_: int) -> None:
        """Wait by the bot's clock, across restarts; the engine's own sleep would block shutdown."""
        pause = max(pause, _RETRY_DELAYS[min(round_, len(_RETRY_DELAYS) - 1)])
        until = datetime.fromisoformat(self._alarm(pause))
        while self._now() < until:
            self._ending.wait(_POLL_INTERVAL)
            self._go_on()

    # The engine

    @contextmanager
    def running(self, database_url: str) -> Iterator[None]:
        """Run the engine on its tables in a database for the duration of the block, resuming interrupted flows."""
        if not _engine.acquire(blocking=False):
            raise RuntimeError("the engine serves one bot a process")
        if database_url.startswith(_SQLITE):
            supply_subseconds()
            with closing(sqlite3.connect(database_url.removeprefix(_SQLITE))) as connection:
                # The engine does not set it, and writes at half the speed without.
                connection.execute("PRAGMA journal_mode=WAL")
        engine = flows_engine(database_url)
        self._create_engine(database_url, engine)
        try:
            _launch(database_url)
            for queue in (_PUBLISHING, SLACK):
                DBOS.register_queue(
                    queue,
                    worker_concurrency=_MOST_AT_ONCE,
                    partition_concurrency=1,
                    polling_interval_sec=_QUEUE_POLL,
                )
            for key in self._mailbox.waiting():
                self.start_answer(key)
            yield
        finally:
            # Unfinished flows resume at the next start; their interruption need not be logged.
            logging.getLogger("dbos").setLevel(logging.CRITICAL)
            self._ending.set()
            # With a timeout, the engine sleeps for a second before it checks for running flows.
            DBOS.destroy(workflow_completion_timeout_sec=_GRACE if _is_busy() else 0)
            if engine:
                engine.dispose()
            _engine.release()

    def _create_engine(self, database_url: str, pool: Engine | None) -> None:
        """Create the durable engine of this process, which the library keeps."""
        DBOS(
            config={
                "name": "vllm-digest",
                "system_database_url": database_url,
                "system_database_engine": pool,
                "dbos_system_schema": FLOWS_SCHEMA,
                "executor_id": self._lease.id,
                "application_version": FLOWS_VERSION,
                "log_level": "ERROR",
                "notification_listener_polling_interval_sec": _NOTIFICATION_POLL,
            }
        )

    def share_deliveries(self, channels: int, processes: int) -> None:
        """Let each of several processes deliver to its share of the `channels` that wait: the first to look would take all."""
        share = delivery_share(channels, processes)
        queue = DBOS.retrieve_queue(SLACK)
        if queue and queue.worker_concurrency != share:
            queue.set_worker_concurrency(share)

    def hand_over(self) -> None:
        """Interrupt the flows and let other processes go on with them at once. Only exiting may follow."""
        logging.getLogger("dbos").setLevel(logging.CRITICAL)
        self._ending.set()
        self._lease.release()

    def take_over(self, executors: Executors) -> int:
        """Go on with what processes that died had begun or received. Return how many such processes there were."""
        pending = DBOS.list_workflows(status="PENDING", load_input=False, load_output=False)
        owners = {each.executor_id for each in pending if each.executor_id} - {self._lease.id}
        dead_ids = executors.dead_among(owners)
        for dead in dead_ids:
            taken = DBOS._recover_pending_workflows([dead])  # noqa: SLF001 (nothing public tests whose the flow still is)
            log.info("took over", executor=dead, flows=len(taken))
        for key in self._mailbox.waiting(self._now() - _ORPHANED):
            self.start_answer(key)
        return len(dead_ids)

    def alive(self) -> bool:
        """Return whether the engine runs and its database works."""
        try:
            DBOS.list_workflows(limit=1, load_input=False, load_output=False)
        except Exception:  # noqa: BLE001 (any error means that it does not run)
            return False
        return not self._ending.is_set()

    def forget_old(self) -> None:
        """Delete flows, requests and message contents older than the retention period."""
        before = self._now() - _RETENTION
        self._mailbox.forget(before)
        while True:
            found = DBOS.list_workflows(
                completed_before=before.isoformat(), limit=_DELETED_AT_ONCE, load_input=False, load_output=False
            )
            if found:
                DBOS.delete_workflows([each.workflow_id for each in found])
            if len(found) < _DELETED_AT_ONCE:
                return


def delivery_share(channels: int, processes: int) -> int:
    """Return to how many of the `channels` that wait each process may deliver at once: all may have their turn."""
    share = ceil(channels / processes) if processes > 1 else _MOST_AT_ONCE
    return min(_MOST_AT_ONCE, max(_LEAST_SHARE, share))


def _launch(database_url: str) -> None:
    """Start the engine. Raise `StoreAway` if the server goes away, or a killed process is still creating the tables."""
    try:
        DBOS.launch()
    except (OperationalError, IntegrityError) as exc:
        if database_url.startswith(_SQLITE):
            raise StoreUnusable(f"{display_name(database_url)} cannot be used ({exc.orig})") from exc
        raise StoreAway(f"{display_name(database_url)} closed the connection, or is being set up; try again") from exc


def _flow(name: str, function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Register a flow with the engine under a name."""

    def flow(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        return function(*args, **kwargs)

    return DBOS.workflow(name=name, max_recovery_attempts=_NO_LIMIT)(flow)


def _is_busy() -> bool:
    """Return whether any flow is running, as far as the database can tell."""
    try:
        return bool(DBOS.list_workflows(status="PENDING", limit=1, load_input=False, load_output=False))
    except SQLAlchemyError:
        return False  # it went away, or has no tables yet


def _flow_id(*parts: str) -> str:
    """Return the workflow id for the parts; a long one is truncated and ends with a hash."""
    name = ":".join(parts)
    return name if len(name) <= 200 else f"{name[:150]}:{sha256(name.encode()).hexdigest()[:32]}"  # noqa: PLR2004
