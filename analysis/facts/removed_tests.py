"""Tests that a commit adds, removes or skips."""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from analysis.diff import DiffLine, hunks
from analysis.facts.change import Change
from analysis.models import Commit, Fact, FactKind, FileChange
from analysis.paths import Kind, kind

_TEST_DEFINITION = re.compile(r"^\s*(?:async\s+)?def\s+(?P<name>test_\w+)")
_SKIPPED = re.compile(r"\s*@(?:pytest\.mark\.(?:skip|xfail)|unittest\.skip)\b")


def tests_added(commit: Commit) -> list[str]:
    """Return the paths of the test files to which the commit adds lines."""
    return [file.path for file in commit.files if kind(file.path) is Kind.TEST and file.additions]


def removed_tests(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield tests that the commit removes or starts to skip; moved and new tests are neither."""
    if kind(file.path) is not Kind.TEST or file.status == "added":
        return
    for hunk in hunks(file.patch):
        renamed = any(line.sign == "+" and _TEST_DEFINITION.match(line.text) for line in hunk)
        before = [line for line in hunk if line.sign != "+"]
        for place, line in enumerate([] if renamed else before):
            test = _TEST_DEFINITION.match(line.text) if line.sign == "-" else None
            if test and f"def {test['name']}(" not in change.added_lines and not _is_added(change, before[place:]):
                yield Fact(kind=FactKind.TEST_REMOVED, name=test["name"], path=file.path, line=line.old)
        yield from _skipped(file, hunk)


def _is_added(change: Change, test: Sequence[DiffLine]) -> bool:
    """Return whether the commit adds most of a test's body, under whatever name; its head is the first of the lines."""
    indent = _indent(test[0].text)
    below = takewhile(
        lambda line: not line.text.strip() or _indent(line.text) > indent or line.text[indent] == ")", test[1:]
    )
    body = {line.text.strip() for line in below if line.sign == "-"} - {""}
    return 2 * len(body & {text.strip() for text in change.added_lines.split("\n")}) > len(body)


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _skipped(file: FileChange, hunk: Sequence[DiffLine]) -> Iterator[Fact]:
    """Yield existing tests that gained a skip mark; a changed reason does not count."""
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
