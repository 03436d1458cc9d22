"""How long the command takes until it says something."""

from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from tests.bench.figures import Row, duration
from tests.bench.generated import Writer
from tests.bench.processes import COMMAND, PYTHON, run, settings
from tests.bench.served import NAME, served

_DAY = date(2026, 2, 5)
_RUNS = 7
_HELP_AIM, _DAY_AIM = 0.4, 1.0  # seconds
_NOWHERE = "http://127.0.0.1:9"  # a stored day asks nobody


def starting() -> Iterator[Row]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        digest = [COMMAND, "digest", str(_DAY), "--repo", NAME]
        with served({NAME: Writer(6).days(_DAY, 1, 45)}) as server:
            run(digest, folder, settings(folder, server.url))

        def seconds(command: Sequence[str]) -> float:
            return median(run(command, folder, settings(folder, _NOWHERE)).seconds for _ in range(_RUNS))

        bare = seconds([PYTHON, "-c", "pass"])
        imports = seconds([PYTHON, "-c", "import sqlalchemy, pydantic"])
        for told, command, floor, limit, aim in (
            ("vllm-digest --help", [COMMAND, "--help"], bare, "python -c pass", _HELP_AIM),
            ("vllm-digest digest of a stored day of 45", digest, imports, "import sqlalchemy, pydantic", _DAY_AIM),
        ):
            ours = seconds(command)
            yield Row(
                told,
                duration(ours),
                f"x {ours / floor:.1f} of {limit} (medians of {_RUNS})",
                duration(floor),
                f"< {aim:.1f} s",
                ours < aim,
            )
