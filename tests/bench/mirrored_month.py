"""Commits of a mirror listed and read, with their facts, in a process whose memory is nobody else's.

`python -m tests.bench.mirrored_month URL FOLDER FIRST LAST COUNT`: the newest COUNT commits between two instants
(seconds, both included) of the mirror in FOLDER. A `Month` is written as JSON to FOLDER/month.json.
"""

import json
import sys
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from analysis.errors import DigestError
from analysis.facts import facts
from analysis.models import Repository
from analysis.sources.github import GitHub
from analysis.sources.mirrors import Mirrors
from analysis.window import Window
from tests.bench.figures import timed
from tests.bench.served import NAME
from tests.servers.mirrored import read_commits

RESULT = "month.json"


class Month(NamedTuple):
    """The seconds that a month took: to list it, to fetch its files, to read it; and of each commit its facts.

    `failed` commits are those whose files the source lacks.
    """

    listed: float
    fetched: float
    read: float
    facts: list[float]
    failed: list[str]


def read_month(url: str, folder: Path, window: Window, count: int) -> Month:
    """Read the newest commits of a window, and throw them away."""
    github = GitHub(url, None)
    mirror = Mirrors(folder, github, None).existing(Repository.parse(NAME))
    if mirror is None:
        raise RuntimeError("there is no mirror")
    of_facts, failed = list[float](), list[str]()
    with mirror:
        began = perf_counter()
        shas = [commit.sha for commit in mirror.list_commits(window)[:count]]
        listed = perf_counter()
        mirror.fetch_blobs(shas)
        fetched = perf_counter()
        for sha, commit in read_commits(mirror, shas):
            if isinstance(commit, DigestError):
                failed.append(sha)
            else:
                of_facts.append(timed(partial(facts, commit, mirror.trees(commit))))
        read = perf_counter() - fetched - sum(of_facts)
    github.close()
    if len(shas) < count:
        raise RuntimeError(f"{len(shas)} commits are listed")
    return Month(listed - began, fetched - listed, read, of_facts, failed)


def main() -> None:
    url, folder, first, last, count = sys.argv[1:]
    window = Window(
        datetime.fromtimestamp(int(first), UTC), datetime.fromtimestamp(int(last), UTC) + timedelta(seconds=1)
    )
    found = read_month(url, Path(folder), window, int(count))
    Path(folder, RESULT).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main()
