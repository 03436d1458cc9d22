"""Questions about the commits of a period: which match, and what none mentions."""

import pytest

from analysis.facts import facts
from analysis.models import Entry, Question, Repository
from analysis.questions.period import PeriodCommit, match_period
from analysis.questions.query import parse_query
from analysis.ranking import rank
from analysis.search.commit_words import commit_words
from tests.factories import commit, file, patch

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


def matched(question: str) -> tuple[list[str], list[str]]:
    """The names of the commits that match a question, best first, and the terms that none mentions."""
    commits = []
    for title, path, line in COMMITS.values():
        whole = commit(title, [file(path, patch(line))])
        found = facts(whole)
        entry = Entry(commit=whole, facts=found, ranked=rank(whole, found))
        commits.append(PeriodCommit(entry, commit_words(whole)))
    query = parse_query(Question(question, Repository.parse("o/n"), ()))
    matches = match_period(question, query, commits)
    titles = {title: name for name, (title, *_) in COMMITS.items()}
    return [titles[each.commit.title] for each in matches.found], [term.text for term in matches.absent]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("what removed --old-flag?", ["flag"]),
        ("anything for ROCm?", ["rocm", "docs"]),
        ("which commits touch kv_cache_manager?", ["cache"]),
        ("who changed docs/deploy.md?", ["docs"]),
        ("what was reverted?", ["revert"]),
        ("what reverted #12?", ["revert"]),
        ("哪些提交被回滚了？", ["revert"]),
        ("哪个提交修复了死锁?", ["deadlock"]),
        ("有没有提到抢占？", ["deadlock"]),
        ("does anything mention デッドロック?", ["kana"]),
        ("anything about FP8?", ["wide"]),
    ],
)
def test_the_commits_that_match_come_first(question: str, names: list[str]) -> None:
    """By names in changed lines, titles, paths, and what is a revert."""
    assert matched(question)[0][: len(names)] == names


@pytest.mark.parametrize(
    ("question", "absent"),
    [("does anything mention CUTLASS?", ["CUTLASS"]), ("what reverted #99?", [])],
)
def test_what_no_commit_mentions_is_no_match(question: str, absent: list[str]) -> None:
    """A name that occurs nowhere proves the denial, and is told."""
    assert matched(question) == ([], absent)


def test_a_question_that_says_nothing_asks_nothing() -> None:
    """A greeting is no question that a commit could match."""
    assert matched("🚀?") == ([], [])
