"""What is known of a commit besides its diff, and the questions that it answers."""

from datetime import timedelta

import pytest

from analysis.models import Commit, Entry, Language, Links, Released, ReleaseState, Series, Statement
from analysis.questions.kinds import METADATA, QuestionKind, kinds_of_question, without_metadata
from analysis.questions.metadata import records
from tests.factories import NOON, SHA, answered, commit, file, new_file, patch
from tests.factories import entry as analysed

CORE = file("engine/core.py", patch("-    return first()", "+    return best_of(window)"))
TEST = new_file("tests/test_core.py", "def test_it():")
FIX, REVERT, OLDER = "b1" * 20, "c2" * 20, "d3" * 20
MADE = commit("[Core] Pick the best (#12)", [CORE, TEST], author="Ada Lovelace").model_copy(
    update={"committed_at": NOON + timedelta(days=1, hours=2)}
)
LINKS = Links(reverted_by=REVERT, fixes=(OLDER,), fixed_by=(FIX,), series=Series(part=1, of=None, commits=(SHA, OLDER)))


def entry(made: Commit = MADE, links: Links = LINKS) -> Entry:
    return analysed(made, links=links)


def asked(question: str, *entries: Entry, language: Language = "en") -> list[Statement]:
    return answered(question, *(entries or (entry(),)), language=language)


AUTHOR = "who wrote this?|Who is the author?|who made this change|谁写的？|这是谁改的|作者是谁"
DATE = "when?|when did it land?|when was this merged?|what is the commit date|什么时候合入的？|何时提交的|合入时间是？"
PULL = "which PR?|what's the PR number|Which pull request is it?|哪个 PR？|对应的 PR 是哪个|PR 号是多少"
LINKS_ASKED = "what does this revert?|was it undone?|is it still in main?|was this reverted?|has it been reverted since|is there a follow-up fix?|was it fixed later|被回退了吗？|后来修复了吗|有相关提交吗"
RANK = "why is it ranked high?|why is this high?|why is it important|how was this ranked|为什么排得高？|重要度为什么是高|为什么重要"
TESTS = "has it tests?|are there any tests for this|does it come with tests|is it tested?|有测试吗？|带测试了吗|测试覆盖怎么样"
RELEASE = "which release has this?|is it released yet?|is this in v0.15.1?|what version has it|is it in a release?|is #12 in v0.15.1?|Is abc1234 in release 1.2rc1?|does v0.15.1 have it?|#123 在 v1.2 里吗？|v1.2 包含它吗？|1.2 版里有 #123 吗？|哪个版本包含它？|发布了吗？|在 v0.15.1 里吗？|进了哪个版本"
ASKED = [
    (topic, question)
    for topic, questions in zip(METADATA, (AUTHOR, DATE, PULL, LINKS_ASKED, RANK, TESTS, RELEASE), strict=True)
    for question in questions.split("|")
]


@pytest.mark.parametrize(("kind", "question"), ASKED)
def test_a_question_about_a_commits_metadata_is_told(kind: QuestionKind, question: str) -> None:
    """Who, when, which pull request, reverts, rank, tests and release are asked for in English and in Chinese."""
    assert kinds_of_question(question) & {*METADATA} == {kind}
    assert without_metadata(question) == ""


@pytest.mark.parametrize(
    "question",
    [
        "does this touch ROCm?",
        "who calls this function?",
        "when does the cache fail?",
        "why is the latency high?",
        "what changed in the scheduler",
        "does it break our tests?",
        "which flags were removed",
        "is prefix caching affected?",
        "does it work with Python in 3.12 mode?",
        "这会影响 ROCm 吗",
        "什么时候会触发这个分支",
        "为什么延迟高",
        "要不要改启动脚本",
        "会让测试失败吗",
        "谁会调用它",
        "why did the author remove it?",
        "how do I revert this?",
        "can we revert to the old behaviour?",
        "has the test timeout changed?",
        "作者为什么删掉它",
        "怎么回退到旧版本",
    ],
)
def test_a_question_about_the_diff_asks_for_no_metadata(question: str) -> None:
    """Callers, conditions, figures and other people's tests are looked for in the diff."""
    assert kinds_of_question(question).isdisjoint(METADATA)
    assert without_metadata(question).strip("? ") == question.strip("? ")


@pytest.mark.parametrize(
    ("question", "english", "chinese", "labels"),
    [
        ("who wrote this?", "Written by Ada Lovelace.", "作者是 Ada Lovelace。", [SHA[:7]]),
        (
            "when did it land?",
            "Written on 2026-02-05 12:00 UTC, landed on 2026-02-06 14:00 UTC.",
            "编写于 2026-02-05 12:00 UTC，合入于 2026-02-06 14:00 UTC。",
            [SHA[:7]],
        ),
        ("which PR?", "It is pull request #12.", "对应 PR #12。", ["#12"]),
        (
            "was this reverted?",
            "Reverted by `c2c2c2c`. Fixes `d3d3d3d`. Fixed by `b1b1b1b`. Part 1 of a series of N.",
            "已被 `c2c2c2c` 回退。修复 `d3d3d3d`。后由 `b1b1b1b` 修复。系列第 1 部分，共 N 部分。",
            ["c2c2c2c", "d3d3d3d", "b1b1b1b"],
        ),
        (
            "has it tests?",
            "Comes with tests: `tests/test_core.py`.",
            "附带测试改动：`tests/test_core.py`。",
            ["tests/test_core.py"],
        ),
    ],
)
def test_metadata_answers_by_itself(question: str, english: str, chinese: str, labels: list[str]) -> None:
    """A question about metadata gets its record and nothing of the diff, in either language, with where people see it."""
    told: list[tuple[Language, str]] = [("en", english), ("zh", chinese)]
    for language, text in told:
        (said,) = asked(question, language=language)
        assert (said.text, [each.label for each in said.citations]) == (text, labels)


def test_a_rank_is_told_with_its_reasons() -> None:
    """Why a commit is ranked as it is comes from the ranking's own reasons."""
    ranked = entry().ranked
    (said,) = asked("why is it ranked high?")
    assert said.text.startswith(f"Ranked {ranked.importance}: ")
    assert "source line" in said.text
    (said,) = asked("为什么排得高", language="zh")
    assert "行源码" in said.text


def test_the_rest_of_a_question_is_answered_from_the_diff() -> None:
    """What else is asked in the same breath is looked for in the diff, and said not to be there if it is not."""
    assert [each.text for each in asked("who wrote it, and what of best_of?")][:3] == [
        "Written by Ada Lovelace.",
        "changes `return first()` to `return best_of(window)`",
    ]
    assert [each.text for each in asked("who wrote it and does it touch the tokenizer?")] == [
        "Written by Ada Lovelace.",
        "Neither the diff (2 files) nor the message mentions `tokenizer`.",
    ]


def test_a_commit_that_was_only_listed_has_its_metadata() -> None:
    """Author, dates and pull request are known before a commit was read; its tests are not."""
    listed = commit("Do it (#7)", read=False)
    assert asked("who wrote this?", entry(listed))[0].text == "Written by Ada."
    assert QuestionKind.TESTS not in {each.kind for each in records(entry(listed), "en")}


def test_a_days_commits_are_told_with_what_was_asked_of_them() -> None:
    """Of a day, who wrote a matching commit stands behind its title."""
    other = entry(commit("[Docs] Fix a typo (#13)", [file("docs/a.md", patch("-a b", "+c d"))], sha="1a" * 20), Links())
    said = asked("who wrote the best pick?", entry(), other)
    assert [each.text for each in said if "Written by Ada Lovelace." in each.text] == [said[1].text]


RELEASED = Released(
    state=ReleaseState.RELEASED,
    tag="v1.1.0",
    date=NOON,
    having=("v1.1.0", "v1.2rc1", "v1.2"),
    lacking=("v1.0", "v1.0.1"),
)
UNRELEASED = Released(state=ReleaseState.UNRELEASED, having=("v1.3rc1",), lacking=("v1.2",))


@pytest.mark.parametrize(
    ("released", "question", "english", "chinese"),
    [
        (RELEASED, "v1.2", "Yes, `v1.2` has it. First released in `v1.1.0` (2026-02-05).", "有，`v1.2` 包含它。"),
        (RELEASED, "1.1", "Yes, `v1.1.0` has it. First released in `v1.1.0` (2026-02-05).", "有，`v1.1.0` 包含它。"),
        (
            RELEASED,
            "1.0.1",
            "No, `v1.0.1` does not have it. First released in `v1.1.0` (2026-02-05).",
            "没有，`v1.0.1` 不包含它。",
        ),
        (
            RELEASED,
            "v9.9",
            "No release `v9.9` is known. First released in `v1.1.0` (2026-02-05).",
            "没有已知的版本 `v9.9`。",
        ),
        (UNRELEASED, "v1.2", "No, `v1.2` does not have it. No release has it yet.", "没有，`v1.2` 不包含它。"),
        (UNRELEASED, "v1.3rc1", "Yes, `v1.3rc1` has it. No release has it yet.", "有，`v1.3rc1` 包含它。"),
        (Released(), "v1.2", "No release tags of this repository are known.", "没有已知的该仓库版本标签。"),
    ],
)
def test_a_release_that_is_named_has_a_commit_or_not(
    released: Released, question: str, english: str, chinese: str
) -> None:
    """Whether a release has a commit is answered yes or no, with the first that has it; without tags it is unknown."""
    known = entry().model_copy(update={"released": released})
    (said,) = asked(f"is #12 in {question}?", known)
    assert said.text == english
    (said,) = asked(f"#12 在 {question} 里吗？", known, language="zh")
    assert said.text.startswith(chinese)


BARE = commit("Do it", [CORE]).model_copy(update={"not_on": "main"})
UNTESTED = commit("Do it", [CORE, file("tests/test_core.py", patch("-def test_it():"), status="removed")])


@pytest.mark.parametrize(
    ("made", "kind", "text"),
    [
        (BARE, QuestionKind.PULL, "No pull request is known."),
        (BARE, QuestionKind.LINKS, "No stored commit reverts it."),
        (BARE, QuestionKind.RELEASE, "No release tags of this repository are known."),
        (BARE, QuestionKind.TESTS, "None of the changed files (1 file) is a test."),
        (BARE, QuestionKind.DATE, "Committed on 2026-02-05 12:00 UTC. It is not on main."),
        (
            commit("[Core] Restore x (reverts #12) (#34)"),
            QuestionKind.LINKS,
            "Reverts `#12`. No stored commit reverts it.",
        ),
        (
            UNTESTED,
            QuestionKind.TESTS,
            "Only removes tests: `tests/test_core.py`. Removes or skips test `test_it`.",
        ),
    ],
)
def test_what_is_not_known_is_said_not_to_be(made: Commit, kind: QuestionKind, text: str) -> None:
    """Without a pull request, a stored revert, a test that stays or a place on the branch the answer says so."""
    assert {each.kind: each.text for each in records(entry(made, Links()), "en")}[kind] == text
