"""Composition root: puts the objects of the running bot together, each given what it uses."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import structlog

from bot import logs
from bot.bootstrap.bot import new_bot, scheduled, subscribe_configured_channels
from bot.bootstrap.entrances import entrance
from bot.bootstrap.parts import opened_parts
from bot.bootstrap.start import Start
from bot.flows import Flows
from bot.metrics_server import metrics_port
from bot.models.clock import Clock
from bot.settings import Settings
from bot.slack.app import sign_in
from bot.slack.web import Web
from bot.store.database import condition
from bot.store.lease import flows_url, new_lease

__all__ = ["Start", "running_bot"]

log = structlog.get_logger(__name__)


@contextmanager
def running_bot(settings: Settings, now: Clock, start: Start) -> Iterator[Flows]:
    """Run the bot for the duration of the block: resume interrupted flows, then listen to Slack and the scheduler.

    Yield its flows. Raise `BadSetting` for tokens that are missing or rejected, `StoreUnusable` if another bot uses a store
    on SQLite, `Misuse` for an address or a port in use.
    """
    logs.set_up(settings.log_level or "INFO", settings.log_format)
    url = settings.database_url.get_secret_value()
    condition(url)  # a database that cannot be used is told before Slack is asked anything
    lease = new_lease(url, start.command, start.timing, start.on_lease_lost)
    web = Web(settings.slack_secret("SLACK_BOT_TOKEN"), settings.slack_api_url, before_write=lease.check)
    with ExitStack() as stack:
        # Whatever may be refused comes before the lease, by which others know of this process.
        listen = stack.enter_context(entrance(settings, start, web))
        serve_metrics = stack.enter_context(metrics_port(start.metrics_port, needed=start.metrics_needed))
        sign_in(web)
        bot = new_bot(stack.enter_context(opened_parts(settings, now, start, lease, web)), start)
        log.info("connecting", user=web.me["user"], team=web.me["team"])
        subscribe_configured_channels(bot)
        stack.enter_context(bot.flows.running(flows_url(url)))
        stack.enter_context(scheduled(bot))
        serve_metrics(bot.figures.registry, bot.health.found)
        stack.enter_context(listen(bot))
        yield bot.flows
