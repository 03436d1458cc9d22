"""Targets of publications: a branch of a repository on GitHub, or a folder; and which repositories are published where."""

import re
from pathlib import Path
from typing import NamedTuple

from analysis.errors import Misuse
from analysis.models import Repository

# As a browser or `git clone` has it; the name is None if it does not end in owner/name.
_ADDRESS = re.compile(
    r"(?:\w+://[^/]+/|git@[\w.-]+:|github\.com/)(?:(?P<name>[\w.-]+/[\w.-]+?)(?:\.git)?/?$)?", re.ASCII | re.IGNORECASE
)


class PublishTarget(NamedTuple):
    """A repository, whose default branch is meant unless it names one, or a folder."""

    place: Repository | Path

    def __str__(self) -> str:
        return str(self.place)


class PublishRule(NamedTuple):
    """A target for one repository, or for every public one if that is None."""

    repository: Repository | None
    target: PublishTarget


def parse_target(text: str) -> PublishTarget:
    """Parse `owner/name[@branch]`, or else a folder: a path that begins with `/`, `.` or `~`, or has not exactly one slash."""
    word = text.strip()
    if not word:
        raise Misuse("a target is missing; use owner/name[@branch] or a folder")
    if address := _ADDRESS.match(word):
        raise Misuse(f"a target is no web address; use {address['name'] or 'owner/name[@branch]'}")
    try:
        repository = None if word[0] in "/.~" else Repository.parse(word)
    except Misuse:
        repository = None
    return PublishTarget(repository or Path(word).expanduser().absolute())


def parse_rule(text: str) -> PublishRule:
    """Parse `TARGET`, for every public repository, or `owner/name[@branch]=TARGET`."""
    name, equals, target = text.partition("=")
    if not equals:
        return PublishRule(None, parse_target(text))
    return PublishRule(Repository.parse(name), parse_target(target))
