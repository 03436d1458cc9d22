"""The sample day: a small invented repository with a commit of every kind, including hostile ones."""

import json
from datetime import date
from importlib.resources import files

from loopback.github import RecordedRepository

SAMPLE_REPOSITORY = "lantern/lantern-serve"
SAMPLE_DAY = date(2026, 2, 5)


def sample_repository() -> RecordedRepository:
    """Return the repository of the sample day's recorded commits."""
    text = files("loopback.sample").joinpath("commits.jsonl").read_text("utf-8")
    return RecordedRepository(json.loads(line) for line in text.split("\n") if line)
