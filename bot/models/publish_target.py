"""Targets of publications: a branch of a repository on GitHub, or a folder; and which repositories are published where."""

from pathlib import Path
from typing import NamedTuple

from analysis.errors import Misuse
from analysis.models import Repository

PublishTarget = Repository | Path  # a repository's default branch is meant unless it names one


class PublishRule(NamedTuple):
    """A target for one repository, or for every public one if that is None."""

    repository: Repository | None
    target: PublishTarget


def parse_target(text: str) -> PublishTarget:
    """Parse `owner/name[@branch]`, or else a folder: a path that begins with `/`, `.` or `~`, or has not exactly one slash."""
    word = text.strip()
    if not word or "://" in word:  # a pasted address, which may hold a password
        raise Misuse("a target is missing; use owner/name[@branch] or a folder")
    try:
        return Path(word).expanduser().absolute() if word[0] in "/.~" else Repository.parse(word)
    except Misuse:
        return Path(word).absolute()


def parse_rule(text: str) -> PublishRule:
    """Parse `TARGET`, for every public repository, or `owner/name[@branch]=TARGET`."""
    name, equals, target = text.partition("=")
    if not equals:
        return PublishRule(None, parse_target(text))
    return PublishRule(Repository.parse(name), parse_target(target))
