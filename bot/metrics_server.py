"""Server of /metrics and /healthz on a loopback port, for Prometheus and for whoever watches over the process on its machine."""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from http import HTTPStatus
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

import structlog
from prometheus_client import CollectorRegistry, make_wsgi_app

from analysis.errors import Misuse
from bot import http_server
from bot.http_server import Health

_HOST = "127.0.0.1"
_OWN_HOST = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:[0-9]+)?", re.IGNORECASE)
_OWN_SITES = ("none", "same-origin")  # who types the address, and whoever follows a link of ours
_ADVICE = "choose another with --metrics-port, or 0 for none"
_THREADS = 2  # one for a scrape, and one for a health check

log = structlog.get_logger(__name__)


@contextmanager
def metrics_port(port: int, *, needed: bool = False) -> Iterator[Callable[[CollectorRegistry, Health], None]]:
    """Hold a loopback port, 0 for none, for the duration of the block; yield the function that serves metrics and health there.

    If the port is taken, raise `Misuse` if it is `needed`; else that function logs a warning and serves nothing.
    """
    with ExitStack() as stack:
        try:
            place = stack.enter_context(http_server.bound(_HOST, port, _ADVICE)) if port else None
        except Misuse as exc:
            if needed:
                raise
            why = str(exc)
            yield lambda _registry, _health: log.warning("no metrics", why=why)
            return

        def serve(registry: CollectorRegistry, health: Health) -> None:
            if place:
                stack.enter_context(http_server.served(_application(registry, health), place, threads=_THREADS))

        yield serve


def _application(registry: CollectorRegistry, health: Health) -> WSGIApplication:
    """Refuse requests that come from a page in a browser, which says so, and those for other hosts, which a page reaches under a
    name that it had point here.
    """
    metrics: WSGIApplication = make_wsgi_app(registry)

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if not _OWN_HOST.fullmatch(environ.get("HTTP_HOST", _HOST)) or _is_of_page(environ):
            return http_server.reply_json(start_response, HTTPStatus.FORBIDDEN)
        if environ["PATH_INFO"] == "/healthz":
            return http_server.reply_health(start_response, health)
        return metrics(environ, start_response)

    return answer


def _is_of_page(environ: WSGIEnvironment) -> bool:
    """Return whether a request was made by a page of another origin."""
    return "HTTP_ORIGIN" in environ or environ.get("HTTP_SEC_FETCH_SITE", "none") not in _OWN_SITES
