"""The questions of a text that asks several."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.questions.question import questions_in


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("What removed a flag, and which commits touch LoRA?", ["What removed a flag", "which commits touch LoRA?"]),
        ("Which touch ROCm? And did any default change?", ["Which touch ROCm?", "did any default change?"]),
        (
            "Does anything affect CUDA and was something reverted?",
            ["Does anything affect CUDA", "was something reverted?"],
        ),
        ("哪些提交动了 LoRA，有没有环境变量被删除？", ["哪些提交动了 LoRA", "有没有环境变量被删除？"]),
        ("Hi! We use LoRA. Did any default change?\nWhat was reverted?", None),
    ],
)
def test_independent_questions_are_told_apart(text: str, parts: list[str] | None) -> None:
    """At marks, lines, commas and words that join, with what is said around a question."""
    assert list(questions_in(text)) == (parts or ["Hi! We use LoRA. Did any default change?", "What was reverted?"])


@pytest.mark.parametrize(
    "text",
    [
        "Which commits touch Mamba and Whisper?",
        "What changed in LoRA and who changed it?",
        "What removed --foo and why?",
        "Which flags were removed and are they documented?",
        "What is said of `a ? b, and what is LoRA`?",
        "哪些提交动了 LoRA 以及 FlashInfer？",
        "What removed A1? " * 5,
    ],
)
def test_what_belongs_together_is_one_question(text: str) -> None:
    """Names of one question, what refers back, what is quoted, and a flood of questions."""
    assert questions_in(text) == (text,)


def test_of_a_commit_it_is_the_commit() -> None:
    """What would refer back among many commits needs no other question where there is one."""
    text = "Did a default change, and does it touch ROCm?"
    assert questions_in(text) == (text,)
    assert questions_in(text, of_commit=True) == ("Did a default change", "does it touch ROCm?")


@given(
    st.lists(
        st.sampled_from(["what removed LoRA", "?", " and ", "，", "哪些提交动了 CUDA", "`", "\n", "it", ". "])
    ).map("".join)
)
def test_a_part_is_not_parted_again(text: str) -> None:
    """What a part asks is one question, so that answers do not nest."""
    for part in questions_in(text):
        assert questions_in(part) == (part,)
