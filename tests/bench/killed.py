"""Thirty kills (SIGKILL) while two days go to two channels, three times over: what came twice, what was lost, what was paid again."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.figures import Row
from tests.servers.two_days import Delivered, delivered


def killed(*, rounds: int = 3, kills: int = 10) -> Iterator[Row]:
    """So many rounds of so many kills."""
    ended = [_round(seed, kills) for seed in range(100, 100 + rounds)]
    deaths = [death for each in ended for death in each.deaths]
    duplicated, lost = (sum(getattr(each, name) for each in ended) for name in ("duplicated", "lost"))
    yield Row(
        f"{len(deaths)} kills: of {sum(each.expected for each in ended)} messages",
        f"{duplicated} duplicated, {lost} lost",
        "without an outbox: 4 in 40 duplicated",
        aim="0, 0",
        met=not duplicated and not lost,
    )
    in_order = sum(each.posted == each.wanted for each in ended)
    yield Row("  rounds with all in order, word for word", str(in_order), aim=str(rounds), met=in_order == rounds)
    calls, commits = sum(each.calls.total() for each in ended), sum(each.commits for each in ended)
    in_flight = sum(each.in_flight.total() for each in ended)
    yield Row(
        "  model calls",
        str(calls),
        limit=f"{commits} commits + {in_flight} in flight at kills",
        aim=f"<= {commits + in_flight}",
        met=calls <= commits + in_flight,
    )
    wrong = [line for each in ended for line in each.wrong]
    yield Row("  refusals, breaches, errors", "; ".join(wrong)[:200] or "0", aim="0", met=not wrong)
    came = Counter(death.moment for death in deaths if death.came)
    half = sum(bool(death.sending) for death in deaths)
    yield Row(
        "  killed at the moment that was meant", str(came.total()), ", ".join(f"{name} {n}" for name, n in came.items())
    )
    yield Row("  killed with a message on its way or in doubt", str(half))


def _round(seed: int, kills: int) -> Delivered:
    with TemporaryDirectory() as folder:
        return delivered(Path(folder), seed, kills)
