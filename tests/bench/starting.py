"""How long the command takes until it says something, and the local workspace until it shows the day."""

from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic

from tests.bench.figures import Row, duration
from tests.bench.processes import COMMAND, PYTHON, run, settings
from tests.bench.real_diffs import real_day
from tests.bench.served import NAME, served
from tests.servers.own_machine import both_digests, started

_DAY = date(2026, 2, 5)
_HELP_AIM, _DAY_AIM, _PAGE_AIM = 0.4, 1.0, 10.0  # seconds
_NOWHERE = "http://127.0.0.1:9"  # a stored day asks nobody


def starting(*, commits: int = 45, runs: int = 7, starts: int = 3) -> Iterator[Row]:
    """The medians of so many runs of a command, and of so many starts of the local workspace, if any."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        digest = [COMMAND, "digest", str(_DAY), "--repo", NAME]
        with served({NAME: real_day(_DAY, commits, {}).commits}) as server:
            run(digest, folder, settings(folder, server.url))

        def seconds(command: Sequence[str]) -> float:
            return median(run(command, folder, settings(folder, _NOWHERE)).seconds for _ in range(runs))

        bare = seconds([PYTHON, "-c", "pass"])
        imports = seconds([PYTHON, "-c", "import sqlalchemy, pydantic"])
        for told, command, floor, limit, aim in (
            ("vllm-digest --help", [COMMAND, "--help"], bare, "python -c pass", _HELP_AIM),
            (
                f"vllm-digest digest of a stored day of {commits}",
                digest,
                imports,
                "import sqlalchemy, pydantic",
                _DAY_AIM,
            ),
        ):
            ours = seconds(command)
            yield Row(
                told,
                duration(ours),
                f"x {ours / floor:.1f} of {limit} (medians of {runs})",
                duration(floor),
                f"< {aim:.1f} s",
                ours < aim,
                measured=True,
            )
        if starts:
            yield _workspace(starts)


def _workspace(starts: int) -> Row:
    ours, floor = (median(measure() for _ in range(starts)) for measure in (_until_shown, _until_imported))
    return Row(
        "vllm-digest run until both digests are on the page",
        duration(ours),
        f"x {ours / floor:.1f} of its imports (medians of {starts})",
        duration(floor),
        f"< {_PAGE_AIM:.0f} s",
        ours < _PAGE_AIM,
        measured=True,
    )


def _until_shown() -> float:
    with TemporaryDirectory() as name:
        begun = monotonic()
        with started(Path(name)) as process:
            both_digests(process)
            return monotonic() - begun


def _until_imported() -> float:
    with TemporaryDirectory() as name:
        return run([PYTHON, "-c", "import dbos, github, openai, slack_bolt, waitress"], Path(name)).seconds
