"""Tests that come with a commit, and those that guard no more."""

import re
from collections.abc import Iterator, Sequence

from analysis.diff import DiffLine, hunks
from analysis.facts.change import Change
from analysis.models import Commit, Fact, FactKind, FileChange
from analysis.paths import Kind, kind

_TEST_DEFINITION = re.compile(r"^\s*(?:async\s+)?def\s+(?P<name>test_\w+)")
# A changed line without which there is nothing to tell; most patches have none, and need not be read.
_TOUCHED = re.compile(r"^(?:-[ \t]*(?:async[ \t]+)?def[ \t]+test_|\+[ \t]*@(?:pytest|unittest)\.)", re.MULTILINE)
_SKIPPED = re.compile(r"\s*@(?:pytest\.mark\.(?:skip|xfail)|unittest\.skip)\b")


def tests_added(commit: Commit) -> list[str]:
    """The paths of tests to which the commit adds lines; what it only takes from tests is no test."""
    return [file.path for file in commit.files if kind(file.path) is Kind.TEST and file.additions]


def tests(change: Change, file: FileChange) -> Iterator[Fact]:
    """Tests that the commit takes away or has skipped from now on; one that moved, or that is new, is neither."""
    if kind(file.path) is not Kind.TEST or file.status == "added" or not _TOUCHED.search(file.patch or ""):
        return
    for hunk in hunks(file.patch):
        renamed = any(line.sign == "+" and _TEST_DEFINITION.match(line.text) for line in hunk)
        for line in () if renamed else hunk:
            gone = _TEST_DEFINITION.match(line.text) if line.sign == "-" else None
            if gone and f"def {gone['name']}(" not in change.gained:
                yield Fact(kind=FactKind.TEST_REMOVED, name=gone["name"], path=file.path, line=line.old)
        yield from _skipped(file, hunk)


def _skipped(file: FileChange, hunk: Sequence[DiffLine]) -> Iterator[Fact]:
    """Tests that were there, and have a mark to be skipped that they did not have; another reason for it is none."""
    if any(line.sign == "-" and _SKIPPED.match(line.text) for line in hunk):
        return
    marked: DiffLine | None = None
    for line in hunk:
        test = _TEST_DEFINITION.match(line.text)
        if line.sign == "+" and _SKIPPED.match(line.text):
            marked = line
        elif test and line.sign == " " and marked:
            yield Fact(kind=FactKind.TEST_REMOVED, name=test["name"], path=file.path, line=marked.new)
            marked = None
        elif test or (line.text.strip() and not line.text.lstrip().startswith(("@", ")", "]", "reason", '"'))):
            marked = None
