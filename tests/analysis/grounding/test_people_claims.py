"""Who is said to have had a part in a change, against its author, its trailers and its pull request."""

import pytest

from analysis.grounding.check import check_analysis
from analysis.grounding.corpus import Corpus
from analysis.models import Analysis, PullRequest
from tests.factories import commit, file, patch

TOLD = commit(
    "Speed up the queue",
    [file("queue.py", patch("-x = 1", "+x = 2  # Mallory"))],
    body="Co-authored-by: Grace Hopper <grace@example.org>",
    author="Ada Lovelace",
).model_copy(update={"pull": PullRequest(number=1, title="Speed up the queue", body="As @kay-s and Barbara said.")})
TRUE = [
    "Co-authored by Grace Hopper.",
    "It was suggested by Barbara.",
    "Ada Lovelace proposed this.",
    "Reviewed by @kay-s.",
    "Reviewed by kay-s.",
    "It was reviewed by the maintainers.",
    "It was approved by hand.",
    "Users reported crashes.",
    "This reported the wrong size.",
    "The crash was reported by CUDA.",
    "A value suggested by Torch is kept.",
    "由 Grace Hopper 审核。",
    "由维护者审核。",
]
FALSE = [
    "Alice approved this.",
    "It was reviewed by Alice.",
    "Reviewed-by: Alice Jones",
    "The change was suggested by Alice Jones.",
    "Approved by @alice.",
    "Reviewed by alice-j.",
    "Alice and Grace reviewed it.",
    "It has the approval from Alice.",
    "Mallory has also approved it.",
    "The reviewer was Alice.",
    "由 Alice 审核。",
    "由张三批准。",
    "Alice 批准了此改动。",
]


def summary(text: str) -> str:
    """What is left of a summary after the check."""
    return check_analysis(Analysis(by="model", summary=text), Corpus([TOLD])).analysis.summary


@pytest.mark.parametrize("text", TRUE)
def test_whom_the_author_names_may_be_told(text: str) -> None:
    """The author, those in trailers and in the pull request may have a part, and so may whoever is nobody in particular."""
    assert summary(text) == text


@pytest.mark.parametrize("text", FALSE)
def test_who_is_named_nowhere_had_no_part(text: str) -> None:
    """A sentence that lets somebody else approve, review or suggest a change is dropped; a name in the diff is no proof."""
    assert summary(text) == ""
