"""The health of a process answers in time, whatever its database does."""

from threading import Event
from time import monotonic

import pytest

from analysis.errors import StoreUnusable
from bot.health import HealthChecks

WITHIN = 2  # seconds


def test_a_check_that_hangs_is_told_in_time() -> None:
    """The reply comes within two seconds with the reason, also to whoever asks meanwhile, and is well again once it ends."""
    back, calls = Event(), []

    def store() -> bool:
        calls.append(1)
        return back.wait(60)

    health = HealthChecks({"store": store, "lease": lambda: True})
    for _ in range(2):
        begun = monotonic()
        assert health.found() == {"store": False, "lease": True, "why": "store did not answer within 1.5 s"}
        assert monotonic() - begun < WITHIN
    assert calls == [1]
    back.set()
    assert health.found() == {"store": True, "lease": True}


@pytest.mark.parametrize(("error", "reason"), [(StoreUnusable("postgresql://h/x is away"), "failed"), (None, "is not")])
def test_the_reason_names_no_address(error: Exception | None, reason: str) -> None:
    """Anybody may ask: what the database said is in the log alone."""

    def store() -> bool:
        if error:
            raise error
        return False

    found = HealthChecks({"store": store}).found()
    assert found["store"] is False
    assert str(found["why"]).startswith(f"store {reason}")
    assert "postgresql" not in str(found)
