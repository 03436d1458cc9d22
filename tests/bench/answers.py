"""Answers without a model, judged by questions that were written from the commits with the places that answer them.

A file of questions has an object a line: repository, sha, language, question; `places`, each `path:line` (the old number of
a removed line) or `message`, none where the commit has no answer; `key`, expressions of which each must be readable. Or, as
they were written for the exam: repo, about (a SHA, a day or days), lang, question; `places`, with the old number as `path:-line`,
or the SHAs of the commits that answer a question about days; `answer`, null where there is none; `key`, a text or null.
"""

import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from analysis.facts import facts
from analysis.locale import catalogue
from analysis.models import Commit, Entry, Language, Repository, Trees
from analysis.questions.answering import Answering
from analysis.questions.by_rules import DENIALS
from analysis.questions.question import Question, parse_question
from analysis.ranking import rank
from analysis.writing.by_rules import analyse_by_rules
from bot.services.recorded_commits import recorded_commits
from tests.bench.day_questions import is_about_days, questions_about_days
from tests.bench.figures import Row, duration, percentile
from tests.bench.real_diffs import CLONE, real_day, shown_commit

QUESTIONS = "BENCH_QUESTIONS"  # the variable that names files of questions, separated by commas

_TUNING = Path(__file__).parents[1] / "data" / "questions-tuning.jsonl"
_IN_FIVE, _READABLE, _REFUSALS, _SECONDS = 0.90, 0.81, 0.88, 1.0
_CITED = 5
_FILES = 50
_NEAR = 3  # lines from a place that are quoted with it


class Judged(NamedTuple):
    """An answer: the rank of the evidence (from 0; None if it is not there), and the seconds taken."""

    answerable: bool
    evidence: int | None
    readable: bool
    denied: bool
    seconds: float


def answers(*, settings: Mapping[str, str] = os.environ) -> Iterator[Row]:
    """The questions of the named files about commits of the named clones, or made-up ones about the sample's commits."""
    judged = [_judge(row, entry) for row, entry in (_read(settings) if settings.get(CLONE) else _made_up())]
    answerable = [each for each in judged if each.answerable]
    without = [each for each in judged if not each.answerable]
    yield Row(f"{len(answerable)} questions with an answer, {len(without)} without", "")
    yield _share("evidence first", sum(each.evidence == 0 for each in answerable), len(answerable))
    in_five = sum(each.evidence is not None for each in answerable)
    yield _share("evidence in five", in_five, len(answerable), _IN_FIVE)
    yield _share("key fact readable", sum(each.readable for each in answerable), len(answerable), _READABLE)
    yield _share("right refusals", sum(each.denied for each in without), len(without), _REFUSALS)
    wrong = sum(each.denied and each.evidence is None for each in answerable)
    yield Row("  wrong refusals", str(wrong), f"of {len(answerable)}", aim="0", met=wrong == 0, measured=True)
    if settings.get(CLONE):
        yield from questions_about_days(list(filter(is_about_days, _rows(settings))), settings[CLONE].split(","))
    for name, seconds in (("time, p95", [each.seconds for each in judged]), (f"of {_FILES} files", _on_many_files())):
        p95 = percentile(seconds, 0.95)
        yield Row(f"  {name}", duration(p95), aim=f"< {_SECONDS:.0f} s", met=p95 < _SECONDS, measured=True)


def _share(name: str, count: int, among: int, aim: float | None = None) -> Row:
    share = count / max(1, among)
    met = None if aim is None else share >= aim
    told = f">= {aim:.2f}" if aim else ""
    return Row(f"  {name}", f"{share:.2f}", f"{count} of {among}", aim=told, met=met, measured=True)


def _judge(row: Mapping[str, object], entry: Entry) -> Judged:
    language: Language = "zh" if row["language"] == "zh" else "en"
    question = Question(parse_question(str(row["question"])), Repository.parse(str(row["repository"])), (entry,))
    began = perf_counter()
    statements = list(Answering(question, language))
    taken = perf_counter() - began
    places, keys = _texts(row["places"]), _texts(row["key"])
    cited = [each for each in statements if each.citations][:_CITED]
    labels = [[place.label for place in each.citations] for each in cited]
    found = (rank for rank, each in enumerate(labels) if any(_is_near(label, places, entry.commit) for label in each))
    text = " ".join(each.text for each in cited)
    return Judged(
        bool(places),
        next(found, None),
        all(re.search(key, text) for key in keys),
        any(denies(each.text, language) for each in statements),
        taken,
    )


def denies(text: str, language: Language) -> bool:
    """Return whether a statement of the rules says that a commit does not answer the question."""
    patterns = (re.sub(r"\\\{\w+\\\}", ".*", re.escape(catalogue(language)(each))) for each in DENIALS)
    return any(re.fullmatch(pattern, text) for pattern in patterns)


def _is_near(label: str, places: Sequence[str], commit: Commit) -> bool:
    """Return whether a citation is one of the places, or so near that it is quoted with it."""
    path, _, line = label.rpartition(":")
    if not path:
        return label == commit.short_sha and "message" in places
    located = [place.rpartition(":") for place in places]
    return line.isdigit() and any(each[0] == path and abs(int(line) - int(each[2])) <= _NEAR for each in located)


def _texts(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else []


def _read(settings: Mapping[str, str]) -> Iterator[tuple[Mapping[str, object], Entry]]:
    """Yield each question about a commit with its commit, which is in one of the clones."""
    entries = cache(lambda sha: _entry_of_clone(sha, _clones(settings)))
    for row in _rows(settings):
        if "about" not in row:
            yield row, entries(row["sha"])
        elif not is_about_days(row):
            yield _as_tuned(row), entries(row["about"])


def _rows(settings: Mapping[str, str]) -> list[dict[str, Any]]:
    names = (settings.get(QUESTIONS) or str(_TUNING)).split(",")
    return [json.loads(line) for name in names for line in Path(name).read_text("utf-8").splitlines()]


def _clones(settings: Mapping[str, str]) -> list[Path]:
    return [Path(each.partition("@")[0]) for each in settings[CLONE].split(",")]


def _as_tuned(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a question of the exam in the form of those that the search was tuned with."""
    places = [re.sub(r":-(\d+)$", r":\1", place) for place in row["places"] or ()]
    return {
        "language": row["lang"],
        "repository": row["repo"],
        "question": row["question"],
        "places": places if row["answer"] is not None else [],
        "key": [re.escape(row["key"])] if row["key"] else [],
    }


def _entry_of_clone(sha: str, clones: Sequence[Path]) -> Entry:
    clone = next(each for each in clones if _git(each, "cat-file", "-e", sha) is not None)
    recorded = shown_commit(clone, sha)
    authored, committed = (_git(clone, "show", "-s", "--format=%aI %cI", sha) or "").split()
    recorded["author"]["date"], recorded["committer"]["date"] = authored, committed
    (commit,) = recorded_commits([json.dumps(recorded).encode()])
    return _entry(commit, Trees(_CloneTree(clone, f"{sha}^"), _CloneTree(clone, sha)))


def _entry(commit: Commit, trees: Trees | None = None) -> Entry:
    found = facts(commit, trees)
    ranked = rank(commit, found)
    return Entry(commit=commit, facts=found, ranked=ranked, analysis=analyse_by_rules(commit, found, ranked, "en"))


class _CloneTree:
    """The files of a revision in a clone."""

    def __init__(self, clone: Path, revision: str) -> None:
        self._clone, self._revision = clone, revision

    def read(self, path: str) -> str | None:
        return _git(self._clone, "show", f"{self._revision}:{path}")


def _git(clone: Path, *arguments: str) -> str | None:
    done = subprocess.run(["git", "-C", str(clone), *arguments], capture_output=True, check=False)
    return None if done.returncode else done.stdout.decode("utf-8", "replace")


def _on_many_files() -> list[float]:
    """Return the seconds of questions about a commit of 50 files with 100 changed lines each, the first time and again."""
    row = {"repository": "lantern/lantern-serve", "language": "en", "places": [], "key": []}
    asked = ("does it touch ROCm?", "what of part_41.step_7?", "is the size of the window changed?", "默认值变了吗？")
    return [_judge({**row, "question": question}, _entry(_commit_of_many_files())).seconds for question in asked]


def _commit_of_many_files() -> Commit:
    files = []
    for number in range(_FILES):
        lines = [f"+    part_{number}.step_{line}(window, size={line}, name='lane {line % 7}')" for line in range(100)]
        patch = "\n".join([f"@@ -0,0 +1,{len(lines)} @@ def run_{number}():", *lines])
        files.append({"filename": f"pkg/part{number}/core.py", "status": "modified", "patch": patch, "additions": 100})
    (recorded,) = real_day(date(2026, 2, 5), 1, {}).commits
    (commit,) = recorded_commits([json.dumps({**recorded, "files": files}).encode()])
    return commit


def _made_up() -> Iterator[tuple[Mapping[str, object], Entry]]:
    """Yield a question about a changed line of each of the sample's commits."""
    for recorded in real_day(date(2026, 2, 5), 12, {}).commits:
        (commit,) = recorded_commits([json.dumps(recorded).encode()])
        row = {"repository": "lantern/lantern-serve", "sha": commit.sha, "language": "en"}
        yield {**row, "question": f"what of {commit.title}?", "places": ["message"], "key": []}, _entry(commit)
        yield {**row, "question": "does this touch the Zyzzyva9000?", "places": [], "key": []}, _entry(commit)
