"""Commits and days of a size that nobody makes by hand: their time and memory are bounded."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.bench.figures import MB, Row, duration
from tests.bench.generated import Writer
from tests.bench.processes import COMMAND, Run, run, settings
from tests.bench.served import NAME, served

_DAY = date(2026, 2, 5)
_SECONDS, _PEAK = 20.0, 500 * MB  # for one commit, whatever its size
_SECONDS_A_COMMIT = 0.1  # of a busy day
_SIZE = 1_000_000  # characters in a megabyte, about


def huge(*, size: int = _SIZE, files: int = 3_000, day: int = 1_000) -> Iterator[Row]:
    """Commits with a patch of 20 `size`, a line of 5, a message and a title of 1, 8 in all their `files`; a day of many commits."""
    writer = Writer(7)
    usual = writer.days(_DAY, 1, 1)[0]
    long = {
        f"a patch of {20 * size / MB:g} MB": _changing(writer, [writer.patch(20 * size)]),
        f"a line of {5 * size / MB:g} MB": _changing(writer, [f"@@ -1 +1 @@\n-x\n+{'x = 1; ' * (5 * size // 7)}"]),
        f"a message of {size / MB:g} MB": {
            **_changing(writer, [writer.patch(4_000)]),
            "message": f"{writer.title(3)}\n\n" + "It was slow and is not.\n" * (size // 24),
        },
        f"a title of {size / MB:g} MB": {**_changing(writer, [writer.patch(4_000)]), "message": "slow " * (size // 5)},
        f"{files:,} files with {8 * size / MB:g} MB": _changing(writer, [writer.patch(8 * size // files)] * files),
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
    busy = writer.days(_DAY, 1, day)
    with TemporaryDirectory() as name, served({NAME: busy}) as server:
        folder = Path(name)
        command = [COMMAND, "digest", str(_DAY), "--repo", NAME, "--no-model"]
        yield _row(
            f"a day of {day:,} commits",
            run(command, folder, settings(folder, server.url) | {"GITHUB_TOKEN": "t"}),
            floor,
            day * _SECONDS_A_COMMIT,
        )


def _changing(writer: Writer, patches: list[str]) -> dict[str, Any]:
    """A commit with a file for each patch."""
    commit = writer.commit([writer.sha()], datetime(2026, 2, 5, 12, tzinfo=UTC), 1)
    files = [writer.file(path, patch) for path, patch in zip(writer.paths(len(patches)), patches, strict=True)]
    return {**commit, "files": files}


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
