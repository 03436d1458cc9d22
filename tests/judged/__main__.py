"""Draw facts to be judged: `python -m tests.judged OWNER/NAME SINCE UNTIL COUNT SEED`, from a mirror of GITHUB_API_URL.

Drawn are the facts that a digest's head or a reader's upgrade depends on: what breaks, defaults, types and dependencies. Each
is one line of the output, without a verdict; commit the list before anybody reads it.
"""

import json
import os
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from analysis.facts import facts
from analysis.models import FactKind, Repository
from analysis.sources.github import GitHub
from analysis.sources.mirrors import Mirrors
from analysis.window import Window
from tests.servers.mirrored import read_commits

_DRAWN = {
    FactKind.DEFAULT_CHANGED,
    FactKind.DEPENDENCY_ADDED,
    FactKind.DEPENDENCY_REMOVED,
    FactKind.DEPENDENCY_MOVED,
    FactKind.RETYPED,
}


def found_facts(github: GitHub, repository: Repository, window: Window, folder: Path) -> list[dict[str, Any]]:
    """Return the facts of a window's commits, in an order that depends on nothing but them."""
    mirror = Mirrors(folder, github, None).updated(repository, create=True)
    assert mirror
    rows = []
    shas = [commit.sha for commit in mirror.list_commits(window)]
    for sha, commit in read_commits(mirror, shas):
        if isinstance(commit, Exception):
            sys.stderr.write(f"{sha}: {commit}\n")
            continue
        for fact in facts(commit, mirror.trees(commit)):
            if fact.breaking or fact.kind in _DRAWN:
                told = fact.model_dump(mode="json", exclude_none=True)
                rows.append({"repository": repository.full_name, "sha": sha, **told})
    return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))


def main(name: str, since: str, until: str, count: str, seed: str) -> None:
    start, end = (datetime.fromisoformat(text).replace(tzinfo=UTC) for text in (since, until))
    with closing(GitHub(os.environ["GITHUB_API_URL"])) as github, TemporaryDirectory() as folder:
        rows = found_facts(github, Repository.parse(name), Window(start, end), Path(folder))
    for row in Random(int(seed)).sample(rows, min(int(count), len(rows))):
        sys.stdout.write(f"{json.dumps(row, ensure_ascii=False)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
