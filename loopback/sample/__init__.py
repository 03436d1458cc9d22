"""The sample day: a small repository of our own invention, with a commit of every kind and some hostile ones."""

import json
from datetime import date
from importlib.resources import files

from loopback.github import RecordedRepository

SAMPLE_REPOSITORY = "lantern/lantern-serve"
SAMPLE_DAY = date(2026, 2, 5)


def sample_repository() -> RecordedRepository:
    """The sample day's commits as recorded, one a line, oldest first."""
    text = files("loopback.sample").joinpath("commits.jsonl").read_text("utf-8")
    return RecordedRepository(json.loads(line) for line in text.split("\n") if line)
