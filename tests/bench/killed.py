"""Processes of the bot killed (SIGKILL) while days go to two channels: what came twice, what was lost, what was paid again.

BENCH_DATABASE is `sqlite` (the default) or `postgresql`, whose server is restarted BENCH_RESTARTS times in each round;
BENCH_PROCESSES are at work there, and take over from each other after a tenth of the usual time. A round of BENCH_KILLS kills, of
which BENCH_PAUSES only stop a process (SIGSTOP) until another took over, has a seed, and BENCH_SEEDS are those of the first round and
of the last, `100-102`.
"""

import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from tests.bench.figures import Row
from tests.servers.postgresql_server import PostgresqlServer, own_postgresql
from tests.servers.two_days import TENTH, Delivered, Trial, delivered

# Several processes: most listen to Slack, and at least one does not.
_COMMANDS = ("run", "worker", "run", "worker")


def killed(*, settings: Mapping[str, str] = os.environ) -> Iterator[Row]:
    """Run the rounds that the settings, by default the environment, ask for, and sum them up."""
    first, _, last = settings.get("BENCH_SEEDS", "100-102").partition("-")
    with ExitStack() as stack:
        on_postgresql = settings.get("BENCH_DATABASE") == "postgresql"
        server = stack.enter_context(own_postgresql()) if on_postgresql else None
        rounds = {seed: _run(settings, seed, server) for seed in range(int(first), int(last or first) + 1)}
    yield from _summary(rounds)


def _run(settings: Mapping[str, str], seed: int, server: PostgresqlServer | None) -> Delivered:
    random = Random(seed)

    def restart() -> None:
        if server:
            server.restart(random.choice(("fast", "immediate")))

    def asked(name: str, usual: int) -> int:
        return int(settings.get(name, usual))

    kills = asked("BENCH_KILLS", 10)
    trial = Trial(
        seed,
        kills,
        _days(kills),
        server.new_database(f"round_{seed}") if server else "",
        _COMMANDS[: asked("BENCH_PROCESSES", 1)],
        restart,
        asked("BENCH_RESTARTS", 0),
        asked("BENCH_PAUSES", 0),
        TENTH,
    )
    with TemporaryDirectory() as folder:
        return delivered(Path(folder), trial)


def _days(kills: int) -> int:
    """Days that keep the bot busy for so many kills: one for five; it catches up on three at most."""
    return min(3, math.ceil(kills / 5))


def _summary(rounds: Mapping[int, Delivered]) -> Iterator[Row]:
    ended = list(rounds.values())
    deaths = [death for each in ended for death in each.deaths]
    expected, duplicated, lost, again = (
        sum(getattr(each, name) for each in ended) for name in ("expected", "duplicated", "lost", "paid_again")
    )
    restarts = sum(len(each.restarts) for each in ended)
    yield Row(
        f"{len(deaths)} kills and pauses, {restarts} restarts of the database: of {expected} messages",
        f"{duplicated} duplicated, {lost} lost",
        "without an outbox: 4 in 40 duplicated",
        aim="0, 0",
        met=not duplicated and not lost,
    )
    in_order = sum(each.posted == each.wanted for each in ended)
    yield Row(
        "  rounds with all in order, word for word", str(in_order), aim=str(len(ended)), met=in_order == len(ended)
    )
    calls, in_flight = (
        sum((getattr(each, name) for each in ended), Counter[int]()).total() for name in ("calls", "in_flight")
    )
    yield Row(
        "  model calls",
        f"{calls}, {again} not explained",
        limit=f"{sum(each.commits for each in ended)} commits + {in_flight} in flight at kills",
        aim="0 not explained",
        met=not again,
    )
    wrong = [f"{seed}: {line}" for seed, each in rounds.items() for line in each.wrong]
    yield Row("  refusals, breaches, errors", "; ".join(wrong)[:200] or "0", aim="0", met=not wrong)
    came = Counter(death.moment for death in deaths if death.came)
    yield Row(
        "  killed at the moment that was meant", str(came.total()), ", ".join(f"{name} {n}" for name, n in came.items())
    )
    yield Row("  killed with a message on its way or in doubt", str(sum(bool(death.sending) for death in deaths)))
