"""The suspects of tracebacks that really happened: ten modules that ran with one version of Flask and failed with a later one."""

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from analysis.models import Commit, FileChange
from analysis.search.reports import clues_of, parse_report
from analysis.search.suspects import rank_suspects
from analysis.search.words import IndexedCommit, commit_words
from tests.bench.figures import Row, tails
from tests.bench.real_diffs import shown_commit
from tests.data import tracebacks

FLASK = "BENCH_FLASK"  # the variable that names a clone of Flask

_DAYS = 90
_FIRST_FEW, _AIM = 3, 8


def traceback_suspects(settings: Mapping[str, str] = os.environ) -> Iterator[Row]:
    """Rows of how many have the commit that did it among the first three, and first.

    The commits are those of the 90 days before in a clone, or else the ten that did it.
    """
    clone = settings.get(FLASK)
    rows = tracebacks()
    ranks: list[int] = []
    taken: list[float] = []
    searched = 0
    for row in rows:
        until = datetime.fromisoformat(row["until"])
        documents, shas = _of_clone(Path(clone), row["new"], until) if clone else _recorded(rows, until)
        began = perf_counter()
        ranked = [shas[each.id] for each in rank_suspects(_clues(row["traceback"]), documents, until)]
        taken.append(perf_counter() - began)
        searched += len(documents)
        sha = row["commit"]["sha"]
        ranks.append(ranked.index(sha) + 1 if sha in ranked else 0)
    yield Row(
        f"{len(rows)} tracebacks of Flask",
        "",
        f"{searched / len(rows):,.0f} commits each; " + ("of a clone" if clone else f"{FLASK}=PATH takes a clone's"),
    )
    few = sum(0 < each <= _FIRST_FEW for each in ranks)
    told = "ranks " + ", ".join(str(each or "-") for each in ranks)
    yield Row("  in three", f"{few}", told, "", f">= {_AIM}", few >= _AIM, measured=bool(clone))
    yield Row("  first", f"{ranks.count(1)}")
    yield Row("  time", tails(taken), measured=True)


def _clues(text: str) -> Any:
    return clues_of(parse_report(text), ["flask"])


def _recorded(rows: Sequence[Mapping[str, Any]], until: datetime) -> tuple[list[IndexedCommit], list[str]]:
    """The commits that did it, as far as they are recorded, all an hour old."""
    documents = []
    for number, row in enumerate(rows):
        commit = row["commit"]
        first, *others = commit["files"]
        files = [{**first, "patch": "\n".join(["@@ -1,9 +1,9 @@", *commit["lines"]])}, *others]
        recorded = {"sha": commit["sha"], "message": commit["title"], "files": files}
        documents.append(document(number, recorded, until - timedelta(hours=1)))
    return documents, [row["commit"]["sha"] for row in rows]


def _of_clone(clone: Path, ref: str, until: datetime) -> tuple[list[IndexedCommit], list[str]]:
    """The commits that were reachable from a ref, of the 90 days before."""
    since = until - timedelta(days=_DAYS)
    command = ["git", "-C", str(clone), "log", "--format=%H %ct", f"--since={since.isoformat()}", ref, "--"]
    listed = subprocess.run(command, capture_output=True, check=True, text=True).stdout.splitlines()
    dated = [(sha, datetime.fromtimestamp(int(at), UTC)) for sha, at in map(str.split, listed)]
    with ThreadPoolExecutor(2) as pool:
        shown = list(pool.map(partial(shown_commit, clone), [sha for sha, _ in dated]))
    documents = [document(number, each, at) for number, (each, (_, at)) in enumerate(zip(shown, dated, strict=True))]
    return documents, [sha for sha, _ in dated]


def document(number: int, recorded: Mapping[str, Any], at: datetime) -> IndexedCommit:
    """A recorded commit as it is ranked."""
    files = tuple(
        FileChange(path=each["filename"], previous_path=each.get("previous_filename"), patch=each.get("patch"))
        for each in recorded["files"]
    )
    commit = Commit(
        sha=recorded["sha"],
        url="",
        author="",
        authored_at=at,
        committed_at=at,
        message=recorded["message"],
        files=files,
    )
    return IndexedCommit(number, at, *commit_words(commit))
