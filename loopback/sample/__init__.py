"""The sample day: a small invented repository with a commit of every kind, and a plug-in that it breaks."""

import json
from datetime import date
from importlib.resources import files

from loopback.github import RecordedRepository

SAMPLE_REPOSITORY = "lantern/lantern-serve"
SAMPLE_PLUGIN = "acme/lantern-npu"
SAMPLE_DAY = date(2026, 2, 5)


def sample_repository() -> RecordedRepository:
    """Return the repository of the sample day's recorded commits."""
    return _recorded("commits.jsonl")


def sample_repositories() -> dict[str, RecordedRepository]:
    """Return the repository of the sample day and its plug-in, by name."""
    return {SAMPLE_REPOSITORY: sample_repository(), SAMPLE_PLUGIN: _recorded("plugin.jsonl")}


def _recorded(name: str) -> RecordedRepository:
    text = files("loopback.sample").joinpath(name).read_text("utf-8")
    return RecordedRepository(json.loads(line) for line in text.split("\n") if line)
