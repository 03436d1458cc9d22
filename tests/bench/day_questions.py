"""Questions about days, answered without a model from the commits of a clone."""

import json
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from analysis.facts import facts
from analysis.models import Commit, Language, Repository
from analysis.questions.question import parse_question
from analysis.sources.github import GitHub
from bot.services.factory import Services
from bot.services.lookup import Located
from bot.services.period_wording import PeriodQuestion
from bot.services.recorded_commits import recorded_commits
from bot.store import Store, open_engine
from tests.bench.figures import Row, duration, percentile
from tests.bench.real_diffs import shown_commit

_RIGHT = 0.95
_SHA = 40  # digits


def is_about_days(row: Mapping[str, Any]) -> bool:
    """Return whether a question of the exam is about a day or days, not about a commit."""
    return "about" in row and len(row["about"]) != _SHA


def questions_about_days(rows: Sequence[Mapping[str, Any]], clones: Sequence[str]) -> Iterator[Row]:
    """Right is an answer that names one of the commits that answer, or none where none does."""
    if not rows:
        return
    answered = [_answered(row, clones) for row in rows]
    right = sum(each.right for each in answered)
    yield Row(
        "questions about days, right",
        f"{right / len(rows):.2f}",
        f"{right} of {len(rows)}",
        aim=f">= {_RIGHT:.2f}",
        met=right / len(rows) >= _RIGHT,
        measured=True,
    )
    yield Row("  time, p95", duration(percentile([each.seconds for each in answered], 0.95)))


class _Answered(NamedTuple):
    right: bool
    seconds: float


def _answered(row: Mapping[str, Any], clones: Sequence[str]) -> _Answered:
    repository = Repository.parse(row["repo"])
    language: Language = "zh" if row["lang"] == "zh" else "en"
    asked = PeriodQuestion(parse_question(row["question"]), repository, (), ZoneInfo("UTC"), language)
    with (
        TemporaryDirectory() as folder,
        closing(GitHub("http://127.0.0.1:9", None)) as github,
        closing(Store(open_engine(f"sqlite:///{folder}/digest.db"))) as store,
    ):
        services = Services(github, store)
        entries = []
        for commit in _commits(_clone_of(repository, clones), row["about"]):
            commit_id = store.save_commit(repository, commit, facts(commit))
            entries.append(services.commits.entry(Located(repository, commit_id), language))
        began = perf_counter()
        statements = list(services.period_questions.answer_from(asked, entries))
        seconds = perf_counter() - began
    named = " ".join(
        place.url or "" for each in statements for place in each.citations if "/commit/" in (place.url or "")
    )
    expected = row["places"] if row["answer"] is not None else ()
    return _Answered(any(sha in named for sha in expected) if expected else not named, seconds)


def _clone_of(repository: Repository, clones: Sequence[str]) -> str:
    """Return the clone (a path, with @REF if not its head) whose path has the repository's name."""
    return next(each for each in clones if repository.name in re.split(r"[+/@]", each))


def _commits(clone: str, about: str) -> Iterator[Commit]:
    """Yield the commits of a day or of days (UTC) by committer date, with the addresses that GitHub gives them."""
    path, _, ref = clone.partition("@")
    first, _, last = about.partition("..")
    span = (f"--since-as-filter={first}T00:00:00Z", f"--until={last or first}T23:59:59Z")
    command = ["git", "-C", path, "log", *span, "--format=%H %aI %cI", "--end-of-options", ref or "HEAD", "--"]
    listed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    for sha, authored, committed in map(str.split, listed.splitlines()):
        recorded = shown_commit(Path(path), sha)
        recorded["author"]["date"], recorded["committer"]["date"] = authored, committed
        (commit,) = recorded_commits([json.dumps(recorded).encode()])
        yield commit.model_copy(update={"url": f"https://github.example/o/n/commit/{sha}"})
