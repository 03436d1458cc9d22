"""Processes of the bot killed (SIGKILL) while days go to two channels: what came twice, what was lost, what was paid again.

BENCH_DATABASE is `sqlite` (the default) or `postgresql`, whose server is restarted BENCH_RESTARTS times in each round;
BENCH_PROCESSES are at work there, and take over from each other after a tenth of the usual time. A round of BENCH_KILLS kills, of
which BENCH_PAUSES only stop a process (SIGSTOP) until another took over, has a seed, and BENCH_SEEDS are those of the first round and
of the last, `100-102`. BENCH_RESULTS is a file to which each round adds a line: those found there are not run again, and
all of them are summed up.
"""

import json
import os
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import NamedTuple, Self

from tests.bench.figures import Row
from tests.servers.postgresql_server import PostgresqlServer, own_postgresql
from tests.servers.two_days import TENTH, Delivered, Trial, delivered

# Several processes: most listen to Slack, and at least one does not.
_COMMANDS = ("run", "worker", "run", "worker")


class _Round(NamedTuple):
    """What came of a round. `in_order` says that all is there in order, word for word; `paid_again`
    counts the model calls about commits that no kill explains, `moments` the kills that came when meant.
    """

    database: str
    processes: int
    seed: int
    commit: str
    kills: int
    pauses: int
    restarts: int
    expected: int
    duplicated: int
    lost: int
    in_order: bool
    calls: int
    commits: int
    in_flight: int
    paid_again: int
    half_sent: int
    moments: Mapping[str, int]
    wrong: Sequence[str]

    @classmethod
    def of(cls, ended: Delivered, plan: "_Plan", seed: int) -> Self:
        return cls(
            plan.database,
            plan.processes,
            seed,
            _commit(),
            len(ended.deaths) - plan.pauses,
            plan.pauses,
            len(ended.restarts),
            ended.expected,
            ended.duplicated,
            ended.lost,
            ended.posted == ended.wanted,
            ended.calls.total(),
            ended.commits,
            ended.in_flight.total(),
            ended.paid_again,
            sum(bool(death.sending) for death in ended.deaths),
            Counter(death.moment for death in ended.deaths if death.came),
            ended.wrong,
        )


class _Plan(NamedTuple):
    """The rounds to run."""

    database: str
    processes: int
    kills: int
    restarts: int
    pauses: int
    seeds: range
    results: Path | None

    @classmethod
    def of(cls, settings: Mapping[str, str]) -> Self:
        first, _, last = settings.get("BENCH_SEEDS", "100-102").partition("-")
        return cls(
            settings.get("BENCH_DATABASE", "sqlite"),
            int(settings.get("BENCH_PROCESSES", "1")),
            int(settings.get("BENCH_KILLS", "10")),
            int(settings.get("BENCH_RESTARTS", "0")),
            int(settings.get("BENCH_PAUSES", "0")),
            range(int(first), int(last or first) + 1),
            Path(file) if (file := settings.get("BENCH_RESULTS")) else None,
        )


def killed(*, settings: Mapping[str, str] = os.environ) -> Iterator[Row]:
    """Run the rounds that the settings, by default the environment, ask for, and sum up all of their kind."""
    plan = _Plan.of(settings)
    rounds = [each for each in _known(plan.results) if each[:2] == plan[:2]]
    with ExitStack() as stack:
        server = stack.enter_context(own_postgresql()) if plan.database == "postgresql" else None
        for seed in plan.seeds:
            if seed not in {each.seed for each in rounds}:
                rounds.append(_run(plan, seed, server))
                if plan.results:
                    with plan.results.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(rounds[-1]._asdict()) + "\n")
    yield from _summary(rounds)


def _known(results: Path | None) -> list[_Round]:
    lines = results.read_text("utf-8").splitlines() if results and results.exists() else []
    return [_Round(**json.loads(line)) for line in lines]


def _run(plan: _Plan, seed: int, server: PostgresqlServer | None) -> _Round:
    random = Random(seed)

    def restart() -> None:
        if server:
            server.restart(random.choice(("fast", "immediate")))

    trial = Trial(
        seed,
        plan.kills,
        _days(plan.kills),
        server.new_database(f"round_{seed}") if server else "",
        _COMMANDS[: plan.processes],
        restart,
        plan.restarts,
        plan.pauses,
        TENTH,
    )
    with TemporaryDirectory() as folder:
        return _Round.of(delivered(Path(folder), trial), plan, seed)


def _days(kills: int) -> int:
    """Days that keep the bot busy for so many kills; it catches up on three at most."""
    return 2 if kills <= 10 else 3


def _commit() -> str:
    """The commit that is measured."""
    found = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=Path(__file__).parent, capture_output=True, text=True, check=False
    )
    return found.stdout.strip()


def _summary(rounds: Sequence[_Round]) -> Iterator[Row]:
    def total(name: str) -> int:
        return sum(int(getattr(each, name)) for each in rounds)

    duplicated, lost, in_order = (total(name) for name in ("duplicated", "lost", "in_order"))
    yield Row(
        f"{total('kills')} kills, {total('pauses')} pauses, {total('restarts')} restarts of the database: of {total('expected')} messages",
        f"{duplicated} duplicated, {lost} lost",
        "without an outbox: 4 in 40 duplicated",
        aim="0, 0",
        met=not duplicated and not lost,
    )
    yield Row(
        "  rounds with all in order, word for word", str(in_order), aim=str(len(rounds)), met=in_order == len(rounds)
    )
    calls, commits, in_flight, again = (total(name) for name in ("calls", "commits", "in_flight", "paid_again"))
    yield Row(
        "  model calls",
        f"{calls}, {again} not explained",
        limit=f"{commits} commits + {in_flight} in flight at kills",
        aim="0 not explained",
        met=not again,
    )
    wrong = [f"{each.seed}: {line}" for each in rounds for line in each.wrong]
    yield Row("  refusals, breaches, errors", "; ".join(wrong)[:200] or "0", aim="0", met=not wrong)
    came = sum((Counter(each.moments) for each in rounds), Counter[str]())
    yield Row(
        "  killed at the moment that was meant", str(came.total()), ", ".join(f"{name} {n}" for name, n in came.items())
    )
    yield Row("  killed with a message on its way or in doubt", str(total("half_sent")))
    seeds = sorted(each.seed for each in rounds)
    yield Row(
        "  seeds", f"{seeds[0]} to {seeds[-1]}, {len(seeds)}", ", ".join(sorted({each.commit for each in rounds}))
    )
