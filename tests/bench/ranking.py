"""Recorded commits ranked by the command, beside reading the same lines as JSON and nothing else."""

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from tests.bench.figures import MB, Row, duration
from tests.bench.generated import Writer
from tests.bench.processes import COMMAND, PYTHON, Run, run
from tests.data import commit_lines

_JSON_ALONE = "import json, sys\nfor line in open(sys.argv[1], 'rb'): json.loads(line)"


_AIM, _AIM_WITH_PATCHES = 8 / 100_000, 6 / 2_000  # seconds a commit


def ranking(*, commits: int = 20_000, with_patches: int = 500) -> Iterator[Row]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        yield from _ranked(folder, _recorded(), commits, "commits", _AIM)
        # Patches are what facts are found in; vLLM's recorded history holds none.
        generated = Writer(3).days(date(2026, 1, 1), 20, 20)
        yield from _ranked(
            folder, _repeated(generated, Random(4)), with_patches, "commits with patches", _AIM_WITH_PATCHES
        )


def _ranked(folder: Path, commits: Iterator[dict[str, Any]], count: int, what: str, aim: float) -> Iterator[Row]:
    """Rank so many commits; the aim is in seconds for each."""
    file = folder / "commits.jsonl"
    with file.open("w", encoding="utf-8") as lines:
        for _ in range(count):
            lines.write(json.dumps(next(commits), ensure_ascii=False) + "\n")
    ours = run([COMMAND, "rank", str(file)], folder)
    alone = run([PYTHON, "-c", _JSON_ALONE, str(file)], folder)
    size = file.stat().st_size
    yield Row(
        f"{count:,} {what} ranked",
        f"{duration(ours.seconds)}, {count / ours.seconds:,.0f} a second",
        f"json.loads of the {size / MB:.0f} MB alone: x {ours.seconds / alone.seconds:.1f}",
        duration(alone.seconds),
        f"<= {duration(aim * count)}",
        ours.seconds <= aim * count,
        measured=True,
    )
    yield Row("  peak memory", _megabytes(ours), "json.loads alone", _megabytes(alone))


def _megabytes(each: Run) -> str:
    return f"{each.peak / MB:.0f} MB"


def _recorded() -> Iterator[dict[str, Any]]:
    """vLLM's recorded history."""
    commits = [json.loads(line) for line in commit_lines().splitlines()]
    return _repeated(commits, Random(4))


def _repeated(commits: list[dict[str, Any]], random: Random) -> Iterator[dict[str, Any]]:
    """The commits again and again, under other SHAs and numbers; one path in ten is a new one, as a growing history has it."""
    number = 0
    while True:
        for commit in commits:
            number += 1
            files = [
                {**file, "filename": f"{number}_".join(file["filename"].rpartition("/")[::2]).replace("_", "/", 1)}
                if random.random() < 0.1
                else file
                for file in commit["files"]
            ]
            title, _, rest = commit["message"].partition("\n")
            message = f"{title.partition(' (#')[0]} (#{number})\n{rest}"
            yield {**commit, "sha": f"{random.getrandbits(160):040x}", "message": message, "files": files}
