"""What a model says to be removed, renamed or added, against the lines that a commit changes."""

import pytest

from analysis.facts import facts
from analysis.grounding.check import check_analysis
from analysis.grounding.corpus import Corpus
from analysis.models import Analysis, Commit
from tests.factories import commit, file, patch

FLAGS = commit(
    "Tidy the command line",
    [
        file(
            "engine/cli.py",
            patch(
                " def parser(p):",
                '     p.add_argument("--slow-path")',
                '-    p.add_argument("--fast-path")',
                '+    p.add_argument("--quick-path", type=PathKind)',
                "     return p.finish()",
            ),
        )
    ],
    body="`--old-path` goes next.",
)
UNREAD = FLAGS.model_copy(update={"files": (*FLAGS.files, file("engine/core.py", additions=9))})
TRUE = [
    "`--fast-path` was removed.",
    "It removes the command line flag `--fast_path` and adds `--quick-path`.",
    "Renames `--fast-path` to `--quick-path`.",
    "`--old-path` is removed next.",
    "It adds `PathKind` and `engine.cli.PathKind`.",
    "`cli.py` was added.",
    "`--slow-path` was not removed.",
    "`--slow-path` was removed in an earlier release.",
    "If `--slow-path` is removed one day, scripts break.",
    "It adds a flag to `parser`.",
    "It adds `PathKind` to `parser`.",
    "It adds `parser` support for types.",
    "移除了 `--fast-path`，新增 `--quick-path` 参数。",
    "新增 `parser` 的类型支持。",
    "没有移除 `--slow-path`。",
]
FALSE = [
    "`--slow-path` was removed.",
    "--slow-path was removed.",
    "It removes the flag `--slow-path`.",
    "It removes `--fast-path` and `--slow-path` from the command line.",
    "The `--slow-path` option has been renamed.",
    "Adds `finish()`.",
    "The deprecated `parser` function is now gone.",
    "移除了 `--slow-path`。",
    "`--slow-path` 参数已被移除。",
    "新增 `--slow-path` 选项。",
]


def summary(text: str, told: Commit) -> str:
    """What is left of a summary after the check."""
    return check_analysis(Analysis(by="model", summary=text), Corpus([told], facts=facts(told))).analysis.summary


@pytest.mark.parametrize("text", FALSE)
def test_a_change_of_a_line_that_stays_is_a_false_claim(text: str) -> None:
    """A name that stands only on unchanged lines of a patch is not said to be removed, renamed or added."""
    assert summary(text, FLAGS) == ""


@pytest.mark.parametrize("text", TRUE)
def test_a_change_with_a_trace_is_told(text: str) -> None:
    """What a changed line, the message or a path has may be told; so may another time, a condition and a denial."""
    assert summary(text, FLAGS) == text


@pytest.mark.parametrize("text", FALSE)
def test_without_every_patch_no_change_is_judged(text: str) -> None:
    """A file without its patch may have changed the name."""
    assert summary(text, UNREAD) == text
