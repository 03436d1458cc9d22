"""Metrics for Prometheus, without names of repositories, people or channels, and their server on a loopback port.

The server also tells whoever watches over the process on its machine of its health. What is read from the database is over all processes, and the same from each of them. The rest is of this process alone.
"""

import re
from collections import Counter as Tally
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from http import HTTPStatus
from importlib.metadata import version
from typing import NamedTuple
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector, make_wsgi_app
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from sqlalchemy.exc import SQLAlchemyError

from analysis.errors import Misuse, StoreUnusable
from bot.http_server import Health, bound, reply_health, reply_json, served
from bot.models.clock import Clock
from bot.store import Mailbox, State, Store
from bot.store.executors import Executors
from bot.store.flow_tables import ENQUEUED, FlowTables
from bot.store.lease import Lease

_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3)  # seconds; Slack's timeout is three
_WEEK = timedelta(days=7)
_HOST = "127.0.0.1"
_OWN_HOST = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:[0-9]+)?", re.IGNORECASE)
_OWN_SITES = ("none", "same-origin")  # who types the address, and whoever follows a link of ours
_ADVICE = "choose another with --metrics-port, or 0 for none"
_THREADS = 2  # one for a scrape, and one for a health check

log = structlog.get_logger(__name__)


class Stored(NamedTuple):
    """What the figures over all processes are read from."""

    store: Store
    mailbox: Mailbox
    executors: Executors
    flows: FlowTables


class Metrics:
    """Metrics of one process: counters, with what is called on their events, and gauges read from the database on each scrape.

    `failures` returns how many uses of the database failed so far for a reason that passes.
    """

    def __init__(self, stored: Stored, lease: Lease, failures: Callable[[], int], now: Clock) -> None:
        self.registry = CollectorRegistry()
        self._requests = self._counter("requests", "What Slack sent, by kind.", "kind")
        self._acknowledged = Histogram(
            "vllm_digest_acknowledgement_seconds",
            "How soon it was acknowledged.",
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.refused = self._counter("refused_signatures", "Requests that Slack did not sign.").inc
        self._mcp_calls = self._counter("mcp_calls", "Calls of MCP tools, by outcome.", "tool", "outcome")
        self.mcp_refused = self._counter("mcp_refused", "MCP requests without the token.").inc
        self.taken_over = self._counter("takeovers", "Dead processes whose unfinished work this one took over.").inc
        build = Info("vllm_digest_build", "The program.", registry=self.registry)
        build.info({"version": version("vllm-digest")})
        held = Gauge("vllm_digest_lease_held", "Whether this process may write to Slack.", registry=self.registry)
        held.set_function(lease.is_held)
        self.registry.register(_StoredCollector(stored, failures, now))
        ProcessCollector(registry=self.registry)

    def _counter(self, name: str, description: str, *labels: str) -> Counter:
        return Counter(f"vllm_digest_{name}", description, labels, registry=self.registry)

    def acknowledged(self, kind: str, seconds: float) -> None:
        """Count a request of a kind and the seconds until its ack."""
        self._requests.labels(kind).inc()
        self._acknowledged.observe(seconds)

    def mcp_called(self, tool: str, outcome: str) -> None:
        """Count a call of an MCP tool: done, refused or failed."""
        self._mcp_calls.labels(tool, outcome).inc()


class _StoredCollector(Collector):
    """Collector of gauges from the database, those that cannot be read left out, and of this process's failures there."""

    def __init__(self, stored: Stored, failures: Callable[[], int], now: Clock) -> None:
        self._stored = stored
        self._failures = failures
        self._now = now

    def collect(self) -> Iterator[Metric]:
        found: list[Metric] = []
        well = True
        for read in (self._work, self._processes, self._flows):
            try:
                found += read()
            except (StoreUnusable, SQLAlchemyError) as exc:  # the latter if the pool has no connection left
                log.warning("not all figures", why=str(exc))
                well = False
        yield _gauge("store_up", "Whether the database answers all that is asked here.", int(well))
        yield from found
        failed = "Statements that failed because the database was away or overloaded."
        yield CounterMetricFamily("vllm_digest_database_failures", failed, value=self._failures())

    def _work(self) -> list[Metric]:
        now, (store, mailbox, *_) = self._now(), self._stored
        counts = mailbox.counts()
        states = {(state.value,): counts.get(state.value, 0) for state in State}
        since = mailbox.waiting_since()
        age = (now - since).total_seconds() if since else 0
        failed = len(store.publications.failed(now - _WEEK))
        twice = len(mailbox.duplicates())
        return [
            _gauges("messages", "Messages by how far they are.", ("state",), states.items()),
            _gauge("duplicates", "Messages that Slack may have twice, to be deleted there.", twice),
            _gauge("oldest_request_age_seconds", "Age of the oldest request that is not answered.", age),
            _gauge("spent_usd", "What models cost today (UTC).", store.spending.spent(now.date())),
            _gauge("publications_failed", "Reports of the last seven days' tries that are not published.", failed),
        ]

    def _processes(self) -> list[Metric]:
        """Return the figures of the processes on PostgreSQL; SQLite has no list of them, since there is one."""
        living = self._stored.executors.living()
        kinds = Tally((each.command, each.version) for each in living)
        known = "Processes that are not known to have ended."
        oldest = min((each.seen_at for each in living), default=None)
        age = (self._stored.executors.time() - oldest).total_seconds() if oldest else 0
        processes = _gauges("processes", known, ("command", "version"), kinds.items())
        return [processes, _gauge("heartbeat_age_seconds", "Age of the oldest heartbeat of a process.", max(0, age))]

    def _flows(self) -> list[Metric]:
        in_flight = self._stored.flows.in_flight()
        numbers = {(each.name, each.status, each.queue): each.number for each in in_flight}
        enqueued = sorted((each for each in in_flight if each.status == ENQUEUED), key=lambda each: each.oldest)
        ages = {(each.queue,): each.oldest.total_seconds() for each in enqueued}
        failed = {(name,): number for name, number in self._stored.flows.failed(_WEEK).items()}
        waiting = "Age of the oldest flow that waits, by queue."
        return [
            _gauges("flows", "Flows that wait or run, by queue.", ("name", "status", "queue"), numbers.items()),
            _gauges("oldest_enqueued_age_seconds", waiting, ("queue",), ages.items()),
            _gauges("flows_failed", "Flows of the last seven days that were given up.", ("name",), failed.items()),
        ]


def _gauges(
    name: str, description: str, labels: Sequence[str], values: Iterable[tuple[Sequence[str], float]]
) -> GaugeMetricFamily:
    """Return the gauges of a name, one for each of the values, which go by their labels."""
    family = GaugeMetricFamily(f"vllm_digest_{name}", description, labels=labels)
    for labelled, value in values:
        family.add_metric(labelled, value)
    return family


def _gauge(name: str, description: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"vllm_digest_{name}", description, value=value)


@contextmanager
def metrics_port(port: int, *, needed: bool = False) -> Iterator[Callable[[CollectorRegistry, Health], None]]:
    """Hold a loopback port, 0 for none, for the duration of the block; yield the function that serves metrics and health there.

    If the port is taken, raise `Misuse` if it is `needed`; else that function logs a warning and serves nothing.
    """
    with ExitStack() as stack:
        try:
            place = stack.enter_context(bound(_HOST, port, _ADVICE)) if port else None
        except Misuse as exc:
            if needed:
                raise
            why = str(exc)
            yield lambda _registry, _health: log.warning("no metrics", why=why)
            return

        def serve(registry: CollectorRegistry, health: Health) -> None:
            if place:
                stack.enter_context(served(_application(registry, health), place, threads=_THREADS))

        yield serve


def _application(registry: CollectorRegistry, health: Health) -> WSGIApplication:
    """Refuse requests that come from a page in a browser, which says so, and those for other hosts, which a page reaches under a
    name that it had point here.
    """
    metrics: WSGIApplication = make_wsgi_app(registry)

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if not _OWN_HOST.fullmatch(environ.get("HTTP_HOST", _HOST)) or _is_of_page(environ):
            return reply_json(start_response, HTTPStatus.FORBIDDEN)
        if environ["PATH_INFO"] == "/healthz":
            return reply_health(start_response, health)
        return metrics(environ, start_response)

    return answer


def _is_of_page(environ: WSGIEnvironment) -> bool:
    """Return whether a request was made by a page of another origin."""
    return "HTTP_ORIGIN" in environ or environ.get("HTTP_SEC_FETCH_SITE", "none") not in _OWN_SITES
