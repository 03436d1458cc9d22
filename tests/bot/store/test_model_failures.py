"""Failures of a model, of which every process tells."""

from datetime import UTC, datetime

from analysis.locale import Phrase
from bot.store import ModelFailures, open_engine

NOON = datetime(2026, 2, 5, 12, tzinfo=UTC)


def test_the_failure_of_the_latest_call_is_known_to_every_process(database_url: str) -> None:
    """In each language, until a call succeeds in any process; another model has failures of its own."""
    engines = [open_engine(database_url) for _ in range(2)]
    one, other = (ModelFailures(engine) for engine in engines)
    one.save("large", "not reached", NOON)
    one.save("large", Phrase("Limit: 10 questions a minute. Try again shortly"), NOON)
    failure = other.latest("large")
    assert failure is not None
    assert failure.at == NOON
    assert failure.reasons["en"] == "Limit: 10 questions a minute. Try again shortly"
    assert failure.reasons["zh"] != failure.reasons["en"]
    assert other.latest("small") is None
    other.remove("large")
    assert one.latest("large") is None
    for engine in engines:
        engine.dispose()
