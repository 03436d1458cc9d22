"""What lies between two versions: the seconds that the newest commits take from a mirror, the first time and when they are stored."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from zoneinfo import ZoneInfo

from analysis.models import Repository
from analysis.sources.github import GitHub
from analysis.sources.mirrors import Mirrors
from bot.services.commit_sources import CommitSources
from bot.services.factory import Services
from bot.services.versions.upgrade import UpgradeRequest
from bot.store import Store, open_engine
from tests.bench.figures import MB, Row, duration, timed
from tests.bench.plugins import Plugins, plugins
from tests.bench.processes import PYTHON, run

_ROOT = Path(__file__).resolve().parents[2]
_COMMITS = 1_000
_FIRST, _AGAIN = 60.0, 30.0  # seconds for 1,000 commits
_PEAK = 500 * MB


def upgrading(*, commits: int = _COMMITS, settings: Mapping[str, str] = os.environ) -> Iterator[Row]:
    """The newest commits of the clones that the settings name, or of a made-up pair, in a process of their own."""
    with TemporaryDirectory() as name, plugins(Path(name), settings) as served:
        folder, start = Path(name), _start(served, commits)
        github = GitHub(served.server.url, None)
        for each in served.bare:
            Mirrors(folder / "mirrors", github, None).updated(Repository.parse(each), create=True)
        github.close()
        for label, aim in (("the first time", _FIRST), ("again, read before", _AGAIN)):
            arguments = [served.server.url, name, served.upstream, served.downstream[0], start]
            done = run([PYTHON, "-m", "tests.bench.upgrades", *arguments], folder, {"PYTHONPATH": str(_ROOT)})
            told = json.loads((folder / "upgrade.json").read_text("utf-8"))
            yield Row(
                f"{told['commits']:,} commits up to the head, {label}",
                duration(told["seconds"]),
                f"{told['breaks_you']} break {served.downstream[0]}; {served.told}",
                aim=f"<= {duration(aim)}",
                met=told["seconds"] <= aim,
                measured=True,
            )
            yield Row(
                "  peak memory",
                f"{done.peak / MB:.0f} MB",
                aim=f"< {_PEAK // MB} MB",
                met=done.peak < _PEAK,
                measured=True,
            )


def _start(served: Plugins, commits: int) -> str:
    """Return the commit that so many lie after, or the first."""
    newest = ("rev-list", "--first-parent", f"--max-count={commits + 1}", "refs/heads/main")
    return served.bare[served.upstream].git(*newest).split()[-1]


def main() -> None:
    url, name, upstream, downstream, start = sys.argv[1:]
    folder, now = Path(name), datetime.now(UTC)
    github, store = GitHub(url, None), Store(open_engine(f"sqlite:///{folder / 'upgrade.db'}"))
    services = Services(github, store, None, CommitSources(github, Mirrors(folder / "mirrors", github, None)))
    parsed = Repository.parse(upstream), (Repository.parse(downstream),)
    asked = UpgradeRequest(parsed[0], start, "", parsed[1], "en", ZoneInfo("UTC"), now)
    reports = []
    seconds = timed(lambda: reports.append(services.upgrades.report(asked)))
    found = {group.value: len(rows) for group, rows in reports[0].groups.items()}
    result = {"seconds": seconds, "commits": reports[0].commits, **found}
    (folder / "upgrade.json").write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main()
