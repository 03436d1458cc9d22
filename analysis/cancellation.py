"""Cooperative cancellation of work whose requester no longer waits for it.

The caller makes its context (`contextvars`) cancellable; code that may take long checks it from time to time.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_is_cancelled: ContextVar[Callable[[], bool]] = ContextVar("is_cancelled", default=lambda: False)


class Cancelled(Exception):
    """Nobody waits for the result any more."""


@contextmanager
def cancellable(is_cancelled: Callable[[], bool]) -> Iterator[None]:
    """Let `check_cancelled` raise `Cancelled` within the block, in this context, once `is_cancelled` returns True."""
    token = _is_cancelled.set(is_cancelled)
    try:
        yield
    finally:
        _is_cancelled.reset(token)


def check_cancelled() -> None:
    """Raise `Cancelled` if this context was cancelled."""
    if _is_cancelled.get()():
        raise Cancelled
