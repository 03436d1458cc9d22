"""`python -m tests.bench [NAME...]`: runs the benchmarks, all or those named, and prints each as it finishes."""

import sys
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

from tests.bench.acknowledging import acknowledging
from tests.bench.asking_a_model import asking_a_model
from tests.bench.backfilling import backfilling
from tests.bench.commands import commands
from tests.bench.figures import Benchmark, Row, duration, timed
from tests.bench.judging import judging
from tests.bench.killed import killed
from tests.bench.morning import morning
from tests.bench.ranking import ranking
from tests.bench.reading_a_day import reading_a_day
from tests.bench.starting import starting
from tests.bench.stored_commits import stored_commits

# Name -> what it runs. A new benchmark is a module with a function that yields rows, and a line here.
BENCHMARKS: dict[str, Benchmark] = {
    "day": reading_a_day,
    "model": asking_a_model,
    "store": stored_commits,
    "rank": ranking,
    "judge": judging,
    "backfill": backfilling,
    "start": starting,
    "commands": commands,
    "ack": acknowledging,
    "killed": killed,
    "morning": morning,
}

_WIDTH = 160  # columns where the output is no terminal


def main(names: Sequence[str]) -> int:
    """Runs those named, all by default; 2 for a name that none has."""
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        sys.stderr.write(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}\n")
        return 2
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _WIDTH
    for name in names or BENCHMARKS:
        rows: list[Row] = []
        seconds = timed(lambda found=rows, run=BENCHMARKS[name]: found.extend(run()))  # type: ignore[misc]
        console.print(_table(f"{name} ({duration(seconds)})", rows))
    return 0


def _table(title: str, rows: Iterable[Row]) -> Table:
    table = Table("", "figure", "compared with", "limit", "aim", "met", title=title, title_justify="left")
    for row in rows:
        met = "" if row.met is None else "yes" if row.met else "NO"
        table.add_row(row.name, row.figure, row.compared, row.limit, row.aim, met, style="red" if met == "NO" else None)
    return table


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
