"""A month read into an empty store by the command, and the memory it needs at most."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.figures import MB, Row, duration
from tests.bench.generated import Writer
from tests.bench.processes import COMMAND, PYTHON, run, settings
from tests.bench.served import NAME, served

_FIRST = date(2026, 1, 1)
_AIM = 300 * MB


def backfilling(*, days: int = 31, a_day: int = 30) -> Iterator[Row]:
    commits = Writer(5).days(_FIRST, days, a_day)
    size = sum(len(file["patch"]) for commit in commits for file in commit["files"])
    with TemporaryDirectory() as name, served({NAME: commits}) as server:
        folder = Path(name)
        ours = run(
            [COMMAND, "backfill", f"{_FIRST}..{_FIRST.replace(day=days)}", "--repo", NAME],
            folder,
            settings(folder, server.url),
        )
        asked = server.asked
        kept = sum(file.stat().st_size for file in folder.glob("digest.db*"))
        floor = run([PYTHON, "-c", "import bot.services.factory, bot.cli.app, bot.services.digest"], folder)
    yield Row(
        f"backfill of {days} days of {a_day} commits: peak memory",
        f"{ours.peak / MB:.0f} MB",
        f"its imports alone: {floor.peak / MB:.0f} MB",
        f"{size / MB:.0f} MB of patches",
        f"< {_AIM // MB} MB",
        ours.peak < _AIM,
        measured=True,
    )
    yield Row("  time, at no latency", duration(ours.seconds), f"{ours.seconds / len(commits) * 1000:.1f} ms a commit")
    yield Row("  requests", str(asked), limit=f"{len(commits) + days}: a commit, and a list a day")
    yield Row("  the store afterwards", f"{kept / MB:.1f} MB", f"patches: x {kept / size:.2f}")
