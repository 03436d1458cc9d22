"""Questions about the commits of a period: which match, and what none mentions."""

import pytest

from analysis.models import FactKind
from analysis.questions.matches import PeriodCommit, PeriodMatches, match_period
from analysis.questions.question import parse_question
from analysis.search.words import commit_words
from tests.factories import commit, entry, file, patch

COMMITS = {
    "flag": ("[CLI] Tidy options", "pkg/cli.py", '-    parser.add_argument("--old-flag")'),
    "rocm": ("[ROCm] Speed up attention", "pkg/ops/rocm.py", "+    x = fast(x)"),
    "docs": ("Explain deployment", "docs/deploy.md", "+Deploy it on ROCm."),
    "revert": ('Revert "Speed up sampling (#12)"', "pkg/sample.py", "-    x = faster(x)"),
    "deadlock": ("修复调度器在抢占时的死锁", "pkg/sch.py", "+    lock()"),
    "kana": ("スケジューラのデッドロックを直す", "pkg/b.py", "+    b()"),
    "wide": ("Support ＦＰ８ kernels", "pkg/k.py", "+    k()"),
    "cache": ("Split KVCacheManager", "pkg/cache.py", "+class BlockPool:"),
}


def matches(question: str) -> PeriodMatches:
    commits = []
    for title, path, line in COMMITS.values():
        whole = commit(title, [file(path, patch(line))])
        commits.append(PeriodCommit(entry(whole), commit_words(whole)))
    return match_period(parse_question(question), commits)


def matched(question: str) -> tuple[list[str], list[str]]:
    """The names of the commits that match a question, best first, and the terms that none mentions."""
    found = matches(question)
    titles = {title: name for name, (title, *_) in COMMITS.items()}
    return [titles[each.commit.title] for each in found.found], [term.text for term in found.absent]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("what removed --old-flag?", ["flag"]),
        ("anything for ROCm?", ["rocm", "docs"]),
        ("which commits touch kv_cache_manager?", ["cache"]),
        ("who changed docs/deploy.md?", ["docs"]),
        ("what was reverted?", ["revert"]),
        ("what reverted #12?", ["revert"]),
        ("was the faster sampling reverted?", ["revert"]),
        ("哪些提交被回滚了？", ["revert"]),
        ("哪个提交修复了死锁?", ["deadlock"]),
        ("有没有提到抢占？", ["deadlock"]),
        ("does anything mention デッドロック?", ["kana"]),
        ("anything about FP8?", ["wide"]),
        ("what touches KVCacheManager, FP8 or ROCm?", ["cache", "wide", "rocm"]),
    ],
)
def test_the_commits_that_match_come_first(question: str, names: list[str]) -> None:
    """By names in changed lines, titles, paths, and what is a revert."""
    assert matched(question)[0][: len(names)] == names


@pytest.mark.parametrize(
    ("question", "absent"),
    [("does anything mention CUTLASS?", ["CUTLASS"]), ("what reverted #99?", []), ("was SamplingPlan reverted?", [])],
)
def test_what_no_commit_mentions_is_no_match(question: str, absent: list[str]) -> None:
    """A name that occurs nowhere proves the denial, and is told."""
    assert matched(question) == ([], absent)


def test_a_question_that_says_nothing_asks_nothing() -> None:
    """A greeting is no question that a commit could match."""
    assert matched("🚀?") == ([], [])


@pytest.mark.parametrize(
    "question",
    [
        "which flags were removed?",
        "what removed a CLI flag?",
        "were command-line flags dropped?",
        "哪些命令行参数被删除了？",
    ],
)
def test_what_happened_is_answered_by_facts(question: str) -> None:
    """Commits that merely use the words are left out, and the words that say what is asked for need not be there."""
    assert matched(question) == (["flag"], [])


@pytest.mark.parametrize(
    ("question", "unproven"),
    [
        ("which environment variables were removed?", True),
        ("which flags were removed?", False),
        ("what touches environment variables?", False),
        ("was the flag --zyzzyva removed?", False),
    ],
)
def test_what_no_fact_proves_is_told(question: str, unproven: bool) -> None:
    """If facts would answer a question that names nothing else, and there is none."""
    assert matches(question).unproven is unproven


def test_what_is_new_is_not_what_is_removed() -> None:
    """Who asks what was added is not shown what was removed of that kind."""
    assert facts_of("which flags were added?") == {FactKind.NEW_SETTING, FactKind.SETTING_ON}
    assert FactKind.REQUIRED_PARAMETER in facts_of("which new parameters are there?")
    assert FactKind.REMOVED_FLAG in facts_of("which flags are gone?")


def facts_of(question: str) -> frozenset[FactKind]:
    return parse_question(question).facts.kinds
