"""Recorded data of vllm-project/vllm and another project; README.md tells where it is from."""

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

from loopback.git.history import with_git_shas
from loopback.github import RecordedRepository
from loopback.sample import sample_repository

_HERE = Path(__file__).parent


@cache
def commit_lines() -> bytes:
    """1,488 commits without patches, oldest first, one JSON object a line."""
    return gzip.decompress((_HERE / "vllm-commits.jsonl.gz").read_bytes())


def release_notes() -> dict[str, Any]:
    """Version -> the pull requests that its release notes name, those they call breaking, and which commits it has."""
    found: dict[str, Any] = json.loads((_HERE / "vllm-release-notes.json").read_text("utf-8"))
    return found


def downstream_breaks() -> list[dict[str, Any]]:
    """The commits that maintainers of two plug-ins blamed for a break: one row a plug-in, commit and fix."""
    return [json.loads(line) for line in (_HERE / "downstream-breaks.jsonl").read_text("utf-8").splitlines()]


def tracebacks() -> list[dict[str, Any]]:
    """Tracebacks of modules that one version of Flask ran and a later one did not, each with the commit that did it."""
    return [json.loads(line) for line in (_HERE / "tracebacks.jsonl").read_text("utf-8").splitlines()]


def reference_reports() -> dict[str, Any]:
    """Date -> what the tests compare with that day's report of the system that this one replaces."""
    found: dict[str, Any] = json.loads((_HERE / "reference-reports.json").read_text("utf-8"))
    return found


def hostile_sample() -> RecordedRepository:
    """The repository of the sample day with three hostile commits among its own."""
    return RecordedRepository(_with_hostile_commits())


@cache
def _with_hostile_commits() -> list[dict[str, Any]]:
    commits = list(sample_repository().commits.values())
    for line in filter(None, (_HERE / "hostile-commits.jsonl").read_text("utf-8").split("\n")):
        hostile = json.loads(line)
        place = 1 + next(index for index, each in enumerate(commits) if [each["sha"]] == hostile["parents"])
        commits[place] = {**commits[place], "parents": [hostile["sha"]]}
        commits.insert(place, hostile)
    return with_git_shas(commits)
