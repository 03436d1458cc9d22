"""Commits, days and histories of a size that nobody makes by hand: their time and memory are bounded."""

import subprocess
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from analysis.models import Repository
from analysis.sources.github import GitHub
from analysis.sources.mirrors import Mirrors
from analysis.window import Window
from tests.bench.figures import MB, Row, duration, timed
from tests.bench.generated import Writer
from tests.bench.processes import COMMAND, Run, run, settings
from tests.bench.served import NAME, served
from tests.servers.bare import BareRepository, GitServer

_DAY = date(2026, 2, 5)
_SECONDS, _PEAK = 20.0, 500 * MB  # for one commit, whatever its size
_SECONDS_A_COMMIT = 0.1  # of a busy day
_SIZE = 1_000_000  # characters in a megabyte, about
_MINUTES_APART = 5  # of the commits of a long history
_DAY_OF_HISTORY = 20.0  # seconds for a day of a long history


def huge(*, size: int = _SIZE, files: int = 3_000, day: int = 1_000, history: int = 1_000_000) -> Iterator[Row]:
    """Commits with a patch of 20 `size`, a line of 5, a message and a title of 1, 8 in all their `files`; a day of many commits; a
    mirror with a long history.
    """
    yield from _commits(size, files, day)
    yield from _mirror(history)


def _commits(size: int, files: int, day: int) -> Iterator[Row]:
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


def _mirror(commits: int) -> Iterator[Row]:
    """The first clone of a long history, and its last day read from the mirror."""
    with TemporaryDirectory() as name:
        folder, first = Path(name), datetime(2016, 1, 1, tzinfo=UTC)
        bare = BareRepository(folder / "served.git")
        subprocess.run(
            ["git", "-C", str(bare.folder), "fast-import", "--quiet"],
            input=b"".join(_history(commits, first)),
            check=True,
        )
        end = first + timedelta(minutes=commits * _MINUTES_APART)
        with GitServer({NAME: bare}) as server:
            github, plain = GitHub(server.url, None), folder / "plain.git"
            clone = ["git", "clone", "--quiet", "--bare", "--filter=blob:none", f"{server.url}/{NAME}.git", str(plain)]
            floor = timed(lambda: subprocess.run(clone, check=True, capture_output=True))
            mirrors, repository = Mirrors(folder / "mirrors", github, None), Repository.parse(NAME)
            cloned = timed(lambda: mirrors.updated(repository, create=True))
            yield Row(f"a history of {commits:,} commits cloned", duration(cloned), f"git clone: {duration(floor)}")
            mirror = mirrors.existing(repository)
            if mirror is None:
                raise RuntimeError("there is no mirror")
            window = Window(start=end - timedelta(days=1), end=end)
            found: list[object] = []
            with mirror:
                listed = timed(lambda: found.extend(mirror.list_commits(window)))
            github.close()
        # All that is reachable is looked through: a commit of that day may have come with any merge.
        walk = timed(
            lambda: subprocess.run(
                ["git", "-C", str(plain), "log", "--format=%ct", "main"], check=True, capture_output=True
            )
        )
        yield Row(
            f"  its last day, {len(found)} commits, listed",
            duration(listed),
            f"git log of all: {duration(walk)}",
            aim=f"<= {duration(_DAY_OF_HISTORY)}",
            met=listed <= _DAY_OF_HISTORY and bool(found),
            measured=True,
        )


def _history(commits: int, first: datetime) -> Iterator[bytes]:
    """What git imports: commits on main, of which each tenth changes one of a hundred files."""
    for number in range(1, commits + 1):
        when = int((first + timedelta(minutes=number * _MINUTES_APART)).timestamp())
        message = f"Change part {number} (#{number})"
        yield f"commit refs/heads/main\ncommitter core <core@example.com> {when} +0000\n".encode()
        yield f"data {len(message)}\n{message}\n".encode()
        if number % 10 == 1:
            content = f"x = {number}\n"
            yield f"M 100644 inline pkg/part{number // 10 % 100}.py\ndata {len(content)}\n{content}\n".encode()
