"""The health of a process, for /healthz: checks that answer in time, however long the database takes."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from threading import Lock, Thread

import structlog

from bot.logs import described

_TIMEOUT = 1.5  # seconds; whoever asks gives up after a few

Check = Callable[[], bool]
log = structlog.get_logger(__name__)


class HealthChecks:
    """Named checks, each in a thread of its own: one that hangs delays neither the others nor the reply. Thread-safe."""

    def __init__(self, checks: Mapping[str, Check]) -> None:
        self._checks = checks
        self._ongoing: dict[str, Future[bool]] = {}
        self._guard = Lock()

    def found(self) -> dict[str, bool | str]:
        """Return whether each check is well within the time, and `why` not all are, without naming any address."""
        ongoing = {name: self._begun(name) for name in self._checks}
        wait(ongoing.values(), _TIMEOUT)
        reasons = {name: _trouble(check) for name, check in ongoing.items()}
        why = "; ".join(f"{name} {reason}" for name, reason in reasons.items() if reason)
        well: dict[str, bool | str] = {name: not reason for name, reason in reasons.items()}
        return {**well, "why": why} if why else well

    def _begun(self, name: str) -> Future[bool]:
        """Return the check that is under way, or begin it."""
        with self._guard:
            last = self._ongoing.get(name)
            if last is None or last.done():
                last = self._ongoing[name] = Future()
                Thread(target=_run, args=(self._checks[name], last), name=f"health {name}", daemon=True).start()
            return last


def _run(check: Check, result: Future[bool]) -> None:
    try:
        result.set_result(check())
    except Exception as exc:  # noqa: BLE001 (any error means that it is not well)
        log.warning("not well", why=described(exc))
        result.set_exception(exc)


def _trouble(check: Future[bool]) -> str:
    """Return why a check is not well; empty if it is."""
    if not check.done():
        return f"did not answer within {_TIMEOUT} s"
    if check.exception():
        return "failed; the log says why"
    return "" if check.result() else "is not well"
