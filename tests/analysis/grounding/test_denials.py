"""Denials in general of what rules proved: they contradict the facts of the commit or of the day, and exceptions do not."""

import time

import pytest

from analysis.facts import facts
from analysis.grounding.check import check_analysis
from analysis.grounding.corpus import Corpus
from analysis.grounding.denials import denial
from analysis.models import Analysis, Commit, Entry, Insight, Language, Repository
from analysis.questions.answer_check import AnswerChecker
from analysis.questions.prompt import chunks_of
from analysis.questions.question import Question, parse_question
from analysis.questions.segmenter import Segment
from analysis.ranking import rank
from tests.factories import commit, file, patch

FLAG = commit(
    "Clean", [file("cli.py", patch(" p = ArgumentParser()", '-p.add_argument("--fast-path")', " p.parse_args()"))]
)
DOCS = commit("[Doc] Tell more", [file("docs/start.md", patch(" # Start", "+Read on."))], sha="d0" * 20)
DENIALS = [
    "There is no removed flag.",
    "No flag was removed.",
    "This commit does not remove any flag.",
    "Every flag is kept.",
    "All flags of the command line still work.",
    "Nothing was removed by this commit.",
    "This commit removes nothing and is safe to upgrade.",
    "There are no breaking changes today.",
    "It does not introduce any breaking change.",
    "This doesn't break anything.",
    "Users can safely upgrade.",
    "It is fully backward compatible.",
    "Nobody needs to act.",
    "No action is required.",
    "It is only a documentation change; nobody needs to act.",
    "这个提交没有破坏性变更。",
    "它什么都没有移除。",
    "没有移除任何标志。",
    "仅修改了文档。",
    "无需采取任何行动。",
    "No flag was removed, so if you upgrade nothing breaks.",
    "There are no breaking changes for users who read the notes.",
    "Nothing was removed; the other commits only update the documentation.",
    "Nothing was removed, and another flag, if you set it, works.",
    "如果升级，没有破坏性变更。",
]
TRUE = [
    "It is not safe to upgrade without changing scripts.",
    "This is not a documentation-only change.",
    "There are no other breaking changes.",
    "Nothing else was removed.",
    "No action is needed unless you pass `--fast-path`.",
    "Nothing breaks if you don't pass the flag.",
    "Nobody who leaves the default needs to act.",
    "Users who never set the flag can safely upgrade.",
    "Apart from `--fast-path`, nothing was removed.",
    "The message does not mention any breaking change.",
    "No environment variable was removed.",
    "Only the documentation mentions it.",
    "It does not remove `--slow-path`.",
    "不向后兼容。",
    "除了 `--fast-path` 外没有破坏性变更。",
    "如果不使用该标志，无需采取任何行动。",
    "只要未使用 `--fast-path`，可以安全升级。",
]


def entry(told: Commit) -> Entry:
    found = facts(told)
    return Entry(commit=told, facts=found, ranked=rank(told, found))


def is_kept(text: str, *commits: Commit) -> bool:
    """Whether an answer about some commits keeps a sentence."""
    question = Question(
        parse_question("what is it?"), Repository(owner="acme", name="engine"), tuple(map(entry, commits))
    )
    chunks = [piece for each in commits for piece in chunks_of(each)]
    language: Language = "en" if text.isascii() else "zh"
    checker = AnswerChecker(question, chunks, language, lambda: "")
    return checker.check(Segment(text, "sentence", new_paragraph=True, line=0)) is not None


@pytest.mark.parametrize("text", DENIALS)
def test_a_general_denial_contradicts_what_is_proven(text: str) -> None:
    """Of a commit that removes a flag no answer says, with or without a citation, that it removes or breaks nothing."""
    assert not is_kept(text, FLAG)
    assert not is_kept(f"{text} [cli.py:1]", FLAG)


@pytest.mark.parametrize("text", DENIALS)
def test_where_nothing_breaks_a_denial_stays(text: str) -> None:
    """A commit without a breaking fact may be said to break nothing."""
    assert is_kept(text, DOCS)


@pytest.mark.parametrize("text", TRUE)
def test_an_exception_or_another_kind_denies_nothing_proven(text: str) -> None:
    """What is said of the rest, of other kinds, of the message, or is itself denied, leaves the facts standing."""
    assert denial(text, facts(FLAG)) is None


def test_a_day_that_breaks_something_is_not_said_to_break_nothing() -> None:
    """A denial about the day is judged by all its commits, whatever it cites; one about a single commit by that commit."""
    assert not is_kept(f"There are no breaking changes today [{DOCS.short_sha}].", FLAG, DOCS)
    assert not is_kept("There are no breaking changes [docs/start.md:2].", FLAG, DOCS)
    assert not is_kept(f"This commit removes nothing [{FLAG.short_sha}].", FLAG, DOCS)
    assert is_kept(f"This commit only updates the documentation [{DOCS.short_sha}].", FLAG, DOCS)


def test_an_analysis_does_not_deny_the_facts_above_it() -> None:
    """The sentences and items of an analysis that deny a proven break are removed, and the others stay."""
    analysis = Analysis(
        by="model",
        summary="Cleans `cli.py`. There are no breaking changes.",
        insight=Insight(compatibility="Fully compatible: nothing was removed."),
        advice=("Nobody needs to act.", "Remove `--fast-path` from scripts."),
    )
    checked, _ = check_analysis(analysis, Corpus([FLAG], facts=facts(FLAG)))
    assert checked.summary == "Cleans `cli.py`."
    assert checked.insight.compatibility == ""
    assert checked.advice == ("Remove `--fast-path` from scripts.",)


def test_a_sentence_of_many_conditions_costs_no_more_than_its_length() -> None:
    """A condition that begins thousands of times and never tells of a use is read in seconds, and limits nothing."""
    begun = time.perf_counter()
    assert denial("Nothing breaks " + "if " * 7_000, facts(FLAG))
    assert time.perf_counter() - begun < 5  # seconds
