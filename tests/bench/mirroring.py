"""A repository cloned, fetched, and a month of it read from its mirror with facts, beside what git alone takes."""

import json
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from analysis.models import Repository
from analysis.sources.github import GitHub
from analysis.sources.mirrors import Mirrors
from tests.bench.figures import MB, Row, duration, tails, timed
from tests.bench.git_source import GitSource, git_source
from tests.bench.mirrored_month import RESULT, Month
from tests.bench.processes import PYTHON, Run, run
from tests.bench.served import NAME

_REPOSITORY = Repository.parse(NAME)
_ROOT = Path(__file__).resolve().parents[2]
_READ, _WITH_FACTS = 20.0, 60.0  # seconds for a month
_PEAK = 300 * MB


def mirroring(*, commits: int = 1000, a_day: int = 45) -> Iterator[Row]:
    """The first clone and the next day's fetch; then `commits` listed and read, with facts from files."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        with git_source(folder) as source:
            yield from _fetching(source, folder, a_day)
            yield from _month(source, folder, commits)


def _fetching(source: GitSource, folder: Path, a_day: int) -> Iterator[Row]:
    *today, yesterday = source.shas(a_day + 1)
    source.publish(yesterday)
    plain = folder / "plain.git"
    url = f"{source.server.url}/{NAME}.git"
    clone = ["git", "clone", "--quiet", "--bare", "--filter=blob:none", "--single-branch", url, str(plain)]
    floor = timed(lambda: subprocess.run(clone, check=True, capture_output=True))
    github = GitHub(source.server.url, None)
    mirrors = Mirrors(folder / "mirrors", github, None)
    cloned = timed(lambda: mirrors.updated(_REPOSITORY, create=True))
    yield Row(
        f"first clone without files; {source.told}",
        f"{duration(cloned)}, {_size(folder / 'mirrors') / MB:.0f} MB",
        f"git clone --filter=blob:none: {duration(floor)}, {_size(plain) / MB:.0f} MB",
    )
    source.publish(source.head)
    fetch = ["git", "-C", str(plain), "fetch", "--quiet", "origin", "+refs/heads/main:refs/heads/main"]
    floor = timed(lambda: subprocess.run(fetch, check=True, capture_output=True))
    asked = len(source.server.requests)
    fetched = timed(lambda: mirrors.updated(_REPOSITORY, create=False))
    mirror = mirrors.existing(_REPOSITORY)
    if mirror is None or mirror.head() != source.head:
        raise RuntimeError("the mirror has not the newest commit")
    with mirror:
        files = timed(lambda: mirror.fetch_blobs(today))
    github.close()
    yield Row(
        f"  the next {a_day} commits, and their files before and after",
        f"{duration(fetched)} and {duration(files)}",
        f"git fetch: {duration(floor)}, without files; {len(source.server.requests) - asked} requests",
    )


def _month(source: GitSource, folder: Path, commits: int) -> Iterator[Row]:
    found, done = _in_process(source, folder, commits)
    readable = [sha for sha in source.shas(commits) if sha not in found.failed]
    floor = timed(lambda: _git_log(folder, readable))
    seconds = found.listed + found.fetched + found.read
    listed = f"list {duration(found.listed)}, fetch files {duration(found.fetched)}, read {duration(found.read)}"
    lacking = f", {len(found.failed)} of which the source lacks files" if found.failed else ""
    yield Row(
        f"{commits:,} commits listed and read{lacking}",
        f"{duration(seconds)}: {listed}",
        f"{seconds / commits * 1000:.1f} ms a commit",
        f"{duration(floor)}: git log -p, the files at hand",
        f"<= {duration(_READ)}",
        seconds <= _READ,
        measured=True,
    )
    with_facts = seconds + sum(found.facts)
    yield Row(
        "  with facts from whole files",
        duration(with_facts),
        f"a commit: {tails(found.facts)}",
        duration(seconds),
        f"<= {duration(_WITH_FACTS)}",
        with_facts <= _WITH_FACTS,
        measured=True,
    )
    imports = run([PYTHON, "-c", "import tests.bench.mirrored_month"], folder, {"PYTHONPATH": str(_ROOT)})
    yield Row(
        "  peak memory",
        f"{done.peak / MB:.0f} MB",
        f"its imports alone: {imports.peak / MB:.0f} MB",
        aim=f"< {_PEAK // MB} MB",
        met=done.peak < _PEAK,
        measured=True,
    )


def _in_process(source: GitSource, folder: Path, commits: int) -> tuple[Month, Run]:
    """Read the newest commits in a process of their own."""
    mirrors = folder / "mirrors"
    shas = source.shas(commits)
    first, last = (source.committed_at(sha) for sha in (shas[-1], shas[0]))
    arguments = [source.server.url, str(mirrors), str(first), str(last), str(len(shas))]
    done = run([PYTHON, "-m", "tests.bench.mirrored_month", *arguments], folder, {"PYTHONPATH": str(_ROOT)})
    return Month(*json.loads((mirrors / RESULT).read_text(encoding="utf-8"))), done


def _git_log(folder: Path, shas: Sequence[str]) -> None:
    """Let git write the diffs of these commits, whose files the mirror has."""
    (mirror,) = (folder / "mirrors").glob("*.git")
    how = ["-p", "-m", "--first-parent", "-M50%", "--no-walk=unsorted", "--stdin"]
    subprocess.run(
        ["git", "-C", str(mirror), "log", *how], input="\n".join(shas).encode(), check=True, stdout=subprocess.DEVNULL
    )


def _size(folder: Path) -> int:
    return sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())
