"""Checks of everything the bot needs, each reported separately with its state, or with the problem and its remedy.

The checks change nothing: the database is only read, nothing is posted, and the model generates a single token. Services
are checked in parallel with short timeouts, so that a silent one does not delay the others.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from bot import logs
from bot.doctor.database import database
from bot.doctor.finding import Finding
from bot.doctor.services import github, mcp, mirrors, model, publishing
from bot.doctor.slack import slack
from bot.models.clock import Clock
from bot.settings import Settings, WrongSettings

__all__ = ["Finding", "findings"]


def findings(now: Clock) -> Iterator[Finding]:
    """Run all checks and yield their results. `now` returns the time, aware and in UTC."""
    try:
        settings = Settings.load()
    except WrongSettings as exc:
        yield from (Finding("settings", each, exc.exit_code) for each in exc.wrong)
        yield Finding("all else", "not checked until the settings are valid", None)
        return
    logs.set_up(settings.log_level or "WARNING", settings.log_format)
    yield Finding("settings", f"{settings.digest_time:%H:%M} {settings.digest_timezone}, {settings.digest_language}")
    yield from (Finding("settings", each, None) for each in Settings.unknown())
    with ThreadPoolExecutor() as threads:
        groups: tuple[Iterator[Finding], ...] = (
            database(settings, now),
            mirrors(settings),
            github(settings),
            publishing(settings),
            *slack(settings, now),
            model(settings),
            mcp(settings),
        )
        for found in threads.map(list[Finding], groups):
            yield from found
