"""`python -m tests.bench [NAME...]`: runs those named at their full size, and prints one table of their figures.

Without a name it runs what belongs to each change, which takes less than 15 minutes on two idle cores: the largest are then
smaller, and those that take longer still are left out. Each row is told on standard error as soon as it is there.

One that fails is told in the table, and the others go on; the exit code is then 1. An aim that is not met fails nothing:
figures depend on what else the machine does.
"""

import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from time import perf_counter
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tests.bench.acknowledging import acknowledging
from tests.bench.answers import answers
from tests.bench.asking_a_model import asking_a_model
from tests.bench.figures import Row, duration
from tests.bench.huge import huge
from tests.bench.impacts import impact
from tests.bench.judging import judging
from tests.bench.killed import killed
from tests.bench.mirroring import mirroring
from tests.bench.morning import morning, morning_together
from tests.bench.scale import scale
from tests.bench.starting import starting
from tests.bench.stored_commits import stored_commits
from tests.bench.suspects import suspects
from tests.bench.upgrades import upgrading
from tests.bench.year import year


class Benchmark(NamedTuple):
    """A function that yields rows, and its arguments to see in a second or two that it runs, and in `make bench` (None: not there)."""

    run: Callable[..., Iterable[Row]]
    small: Mapping[str, Any]
    brief: Mapping[str, Any] | None = {}


# A new benchmark is a module with such a function, and a line here.
BENCHMARKS: dict[str, Benchmark] = {
    "model": Benchmark(asking_a_model, {"commits": 3, "call": 0.1, "runs": 1}),
    "mirror": Benchmark(mirroring, {"commits": 10, "a_day": 3}),
    "store": Benchmark(stored_commits, {"commits": 300, "real": 60, "calls": 3, "settings": {}}, {"commits": 20_000}),
    "huge": Benchmark(huge, {"size": 2_000, "files": 4, "day": 3}, {"day": 200}),
    "judge": Benchmark(judging, {"every": 20}),
    "answers": Benchmark(answers, {"settings": {}}),
    "impact": Benchmark(impact, {"settings": {}}),
    "suspects": Benchmark(suspects, {"settings": {}}),
    "start": Benchmark(starting, {"commits": 2, "runs": 1, "starts": 0}),
    "ack": Benchmark(acknowledging, {"at_once": 5, "rounds": 1, "commits": 3, "answers": 2}),
    "killed": Benchmark(killed, {"settings": {"BENCH_KILLS": "1", "BENCH_SEEDS": "100"}}, None),
    "year": Benchmark(year, {"commits": 300, "subscriptions": 6, "replayed_ones": 3, "days": 2, "real": 60}, None),
    "scale": Benchmark(scale, {"workspace": 20, "channels": 3, "processes": 2, "commits": 3}, None),
    "upgrade": Benchmark(upgrading, {"commits": 2, "settings": {}}),
    "morning": Benchmark(morning, {"repositories": 2, "commits": 1, "channels": 2, "subscriptions": 2}),
    "together": Benchmark(
        morning_together,
        {
            "processes": [2],
            "repositories": 2,
            "commits": 1,
            "channels": 2,
            "subscriptions": 2,
            "analysed": 0,
            "call": 0.1,
        },
        {"processes": [], "repositories": 8, "analysed": 40, "at_once": 32},
    ),
}

_FAILED = "failed"
_WIDTH = 160  # columns where the output is no terminal


def main(names: Sequence[str], benchmarks: Mapping[str, Benchmark] = BENCHMARKS) -> int:
    """Run those named, or the brief ones. Gives 1 where one failed, 2 for a name that none has."""
    unknown = [name for name in names if name not in benchmarks]
    if unknown:
        sys.stderr.write(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(benchmarks)}\n")
        return 2
    brief = {name: each.brief for name, each in benchmarks.items() if each.brief is not None}
    chosen: Mapping[str, Mapping[str, Any]] = {name: {} for name in names} or brief
    table, failed = Table("", "figure", "compared with", "limit", "aim", "met"), False
    for place, (name, arguments) in enumerate(chosen.items(), 1):
        sys.stderr.write(f"{name}, {place} of {len(chosen)}\n")
        began = perf_counter()
        rows = list(_rows(benchmarks[name], arguments))
        _add(table, f"{name} ({duration(perf_counter() - began)})", rows)
        failed = failed or any(row.figure == _FAILED for row in rows)
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _WIDTH
    console.print(table)
    return int(failed)


def _rows(benchmark: Benchmark, arguments: Mapping[str, Any]) -> Iterator[Row]:
    """The rows of a benchmark, and where it fails one that says why."""
    try:
        for row in benchmark.run(**arguments):
            sys.stderr.write(f"  {row.name}: {row.figure}\n")
            yield row
    except Exception as exc:  # noqa: BLE001 (the others go on)
        traceback.print_exc()
        yield Row(f"{type(exc).__name__}: {exc}"[:300], _FAILED, met=False)


def _add(table: Table, title: str, rows: Iterable[Row]) -> None:
    table.add_section()
    table.add_row(Text(title, style="bold"))
    for row in rows:
        met = "" if row.met is None else "yes" if row.met else "NO"
        cells = map(Text, (row.name, row.figure, row.compared, row.limit, row.aim, met))
        table.add_row(*cells, style="red" if met == "NO" else None)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
