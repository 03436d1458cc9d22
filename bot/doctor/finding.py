"""Results of checks, and running checks so that each failure is one."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import NamedTuple

from analysis.errors import DigestError, Misuse
from bot.slack.web_errors import Refused, Unanswered

SILENCE = 8  # timeout of a service in seconds
_AT_ONCE = 8  # concurrent checks of repositories or channels


class Finding(NamedTuple):
    """Result of a check: `exit_code` is 0 for success, 2 for a configuration error, 3 for an outside failure.

    It is None for checks not made, for optional settings that are not set, and for what an operator should look at although
    everything is set up well.
    """

    name: str
    message: str
    exit_code: int | None = 0


def check_all(*attempts: tuple[str, Callable[[], str]]) -> Iterator[Finding]:
    """Run named checks in parallel and yield their results in order."""
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        yield from threads.map(lambda attempt: check(*attempt), attempts)


def check(name: str, attempt: Callable[[], str]) -> Finding:
    """Run a check, which returns what is well and raises what is not."""
    try:
        return Finding(name, attempt())
    except Refused as exc:
        return Finding(name, str(exc), Misuse.exit_code)  # Slack works but refuses
    except Unanswered as exc:
        return Finding(name, f"{exc}; check the network and SLACK_API_URL", exc.exit_code)
    except DigestError as exc:
        return Finding(name, str(exc), exc.exit_code)


def not_set(name: str, gain: str) -> Finding:
    """Return the result for an unset optional setting, with its benefit."""
    return Finding(name, f"not set (optional): {gain}", None)


def age(period: timedelta) -> str:
    """Return a period in the largest unit that it fills."""
    seconds = max(0, int(period.total_seconds()))
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds // length} {unit}"
    return f"{seconds} s"
