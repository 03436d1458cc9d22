"""Metrics for Prometheus, at /metrics on a separate port, without names of repositories, people or channels."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from importlib.metadata import version

import structlog
from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, start_http_server
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from analysis.errors import Misuse, StoreUnusable
from bot.models.clock import Clock
from bot.store import Mailbox, State, Store, Subscriptions

_HOST = "127.0.0.1"
_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3)  # seconds; Slack's timeout is three

_PUBLISHED = timedelta(days=7)

log = structlog.get_logger(__name__)


class Metrics:
    """Metrics of one bot: counters updated on events, and gauges read from the store on each scrape."""

    def __init__(self, store: Store, mailbox: Mailbox, subscriptions: Subscriptions, now: Clock) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter("vllm_digest_requests", "What Slack sent, by kind.", ["kind"], registry=self.registry)
        self._acknowledged = Histogram(
            "vllm_digest_acknowledgement_seconds",
            "How soon it was acknowledged.",
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self._refused = Counter(
            "vllm_digest_refused_signatures", "Requests that Slack did not sign.", registry=self.registry
        )
        self._mcp_calls = Counter(
            "vllm_digest_mcp_calls", "Calls of MCP tools, by outcome.", ["tool", "outcome"], registry=self.registry
        )
        self._mcp_refused = Counter(
            "vllm_digest_mcp_refused", "MCP requests without the token.", registry=self.registry
        )
        self._not_scored = Counter(
            "vllm_digest_release_score_failures",
            "Checks for new releases that failed, to be repeated the next day.",
            registry=self.registry,
        )
        self.registry.register(_Stored(store, mailbox, subscriptions, now))
        ProcessCollector(registry=self.registry)

    def acknowledged(self, kind: str, seconds: float) -> None:
        """Count a request of a kind and the seconds until its ack."""
        self._requests.labels(kind).inc()
        self._acknowledged.observe(seconds)

    def refused(self) -> None:
        """Count a request without Slack's signature."""
        self._refused.inc()

    def mcp_called(self, tool: str, outcome: str) -> None:
        """Count a call of an MCP tool: done, refused or failed."""
        self._mcp_calls.labels(tool, outcome).inc()

    def mcp_refused(self) -> None:
        """Count an MCP request without the token."""
        self._mcp_refused.inc()

    def release_not_scored(self) -> None:
        """Count a repository whose new releases could not be scored."""
        self._not_scored.inc()


class _Stored(Collector):
    """Collector of gauges from the store."""

    def __init__(self, store: Store, mailbox: Mailbox, subscriptions: Subscriptions, now: Clock) -> None:
        self._store = store
        self._mailbox = mailbox
        self._subscriptions = subscriptions
        self._now = now

    def collect(self) -> Iterator[Metric]:
        yield InfoMetricFamily("vllm_digest_build", "The program.", {"version": version("vllm-digest")})
        try:
            found = list(self._read())
        except StoreUnusable as exc:
            log.warning("no figures", why=str(exc))
            found = []
        yield _gauge("store_up", "Whether the store answers.", 1 if found else 0)
        yield from found

    def _read(self) -> Iterator[Metric]:
        now = self._now()
        counts = self._mailbox.counts()
        messages = GaugeMetricFamily("vllm_digest_messages", "Messages by how far they are.", labels=["state"])
        for state in State:
            messages.add_metric([state.value], counts.get(state.value, 0))
        yield messages
        since = self._mailbox.waiting_since()
        age = (now - since).total_seconds() if since else 0
        yield _gauge("oldest_request_age_seconds", "Age of the oldest request that is not answered.", age)
        yield _gauge("spent_usd", "What models cost today (UTC).", self._store.spending.spent(now.date()))
        notes = [bool(each.note) for each in self._subscriptions.all()]
        failed = len(self._store.publications.failed(now - _PUBLISHED))
        yield _gauge("publications_failed", "Reports of the last seven days' tries that are not published.", failed)
        yield _gauge("subscriptions", "Subscriptions.", len(notes))
        yield _gauge("subscriptions_noted", "Subscriptions whose last digest met with trouble.", sum(notes))


@contextmanager
def served(metrics: Metrics, port: int, *, needed: bool = False) -> Iterator[None]:
    """Serve metrics on a loopback port, 0 for none, for the duration of the block.

    If the port is taken, raise `Misuse` if they are `needed`, else log a warning and serve none.
    """
    try:
        server, thread = start_http_server(port, _HOST, metrics.registry) if port else (None, None)
    except OSError as exc:
        if needed:
            raise Misuse(
                f"port {port} of {_HOST} is in use; choose another with --metrics-port, or 0 for none"
            ) from exc
        log.warning(
            "no metrics", port=port, why=exc.strerror, advice="choose another with --metrics-port, or 0 for none"
        )
        server, thread = None, None
    try:
        yield
    finally:
        if server and thread:
            server.shutdown()
            server.server_close()
            thread.join()


def _gauge(name: str, description: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"vllm_digest_{name}", description, value=value)
