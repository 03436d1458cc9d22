"""Commits and days of a size that nobody makes by hand: their time and memory are bounded."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from random import getrandbits
from tempfile import TemporaryDirectory
from typing import Any

from tests.bench.figures import MB, Row, duration
from tests.bench.processes import COMMAND, Run, run, settings
from tests.bench.real_diffs import real_day
from tests.bench.served import NAME, served

_DAY = date(2026, 2, 5)
_SECONDS, _PEAK = 20.0, 500 * MB  # for one commit, whatever its size
_SECONDS_A_COMMIT = 0.1  # of a busy day
_SIZE = 1_000_000  # characters in a megabyte, about


def huge(*, size: int = _SIZE, files: int = 3_000, day: int = 1_000) -> Iterator[Row]:
    """Commits with a patch of 20 `size`, a line of 5, a message and a title of 1, 8 in all their `files`; a day of many commits."""
    (usual,) = real_day(_DAY, 1, {}).commits
    long = {
        f"a patch of {20 * size / MB:g} MB": _changing(usual, [_patch(20 * size)]),
        f"a line of {5 * size / MB:g} MB": _changing(usual, [f"@@ -1 +1 @@\n-x\n+{'x = 1; ' * (5 * size // 7)}"]),
        f"a message of {size / MB:g} MB": {
            **_changing(usual, [_patch(4_000)]),
            "message": "[Core] Make it faster (#3)\n\n" + "It was slow and is not.\n" * (size // 24),
        },
        f"a title of {size / MB:g} MB": {**_changing(usual, [_patch(4_000)]), "message": "slow " * (size // 5)},
        f"{files:,} files with {8 * size / MB:g} MB": _changing(usual, [_patch(8 * size // files)] * files),
    }
    with TemporaryDirectory() as name, served({NAME: [usual, *long.values()]}) as server:
        folder = Path(name)

        def shown(commit: dict[str, Any]) -> Run:
            chosen = settings(folder, server.url)
            return run([COMMAND, "commit", commit["sha"], "--repo", NAME, "--no-model"], folder, chosen)

        shown(usual)  # the store is made
        floor = shown(usual)
        for what, commit in long.items():
            yield _row(what, shown(commit), floor, _SECONDS)
    busy = real_day(_DAY, day, {}).commits
    with TemporaryDirectory() as name, served({NAME: busy}) as server:
        folder = Path(name)
        command = [COMMAND, "digest", str(_DAY), "--repo", NAME, "--no-model"]
        yield _row(
            f"a day of {day:,} commits",
            run(command, folder, settings(folder, server.url) | {"GITHUB_TOKEN": "t"}),
            floor,
            day * _SECONDS_A_COMMIT,
        )


def _changing(usual: dict[str, Any], patches: list[str]) -> dict[str, Any]:
    """Return a commit of its own with a file for each patch."""
    counts = {"status": "modified", "additions": 1, "deletions": 1, "changes": 2}
    files = [
        {"filename": f"lantern/part_{number}.py", "patch": patch, **counts} for number, patch in enumerate(patches)
    ]
    return {**usual, "sha": f"{getrandbits(160):040x}", "files": files}


def _patch(size: int) -> str:
    """Return hunks of code that changes, about `size` characters of them."""
    hunks, written = [], 0
    while written < size:
        line = f"        self.step_{written} = queue.take({written % 97}, name='lane {written % 7}')"
        hunks.append(
            f"@@ -{written + 1},3 +{written + 1},3 @@ class Engine:\n {line}\n-{line}\n+{line[:-1]}, wait=True)\n {line}"
        )
        written += len(hunks[-1])
    return "\n".join(hunks)


def _row(what: str, ours: Run, floor: Run, aim: float) -> Row:
    return Row(
        what,
        f"{duration(ours.seconds)}, {ours.peak / MB:.0f} MB",
        "a stored commit of usual size",
        f"{duration(floor.seconds)}, {floor.peak / MB:.0f} MB",
        f"<= {duration(aim)}, {_PEAK / MB:.0f} MB",
        ours.seconds <= aim and ours.peak <= _PEAK,
        measured=True,
    )
