"""The reference's analyses, which nobody checked, checked against their commits: the paths that they name."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import pytest

from analysis.grounding.code_names import find_paths
from analysis.grounding.corpus import Corpus, plain
from analysis.grounding.finders import Section
from analysis.grounding.plain_text import sentences
from analysis.models import Analysis, Commit, FileChange, Insight, Risk, Severity
from tests.data import reference_reports

DAYS = {"2026-01-21": 33, "2026-01-29": 45, "2026-02-03": 40, "2026-02-05": 36}


class Counted(NamedTuple):
    """Path mentions of analyses: how many are true and false, and how many analyses have one, or a false one."""

    true: int
    false: int
    analyses: int
    wrong: int


def analyses(day: str) -> Iterator[tuple[str, Analysis]]:
    """The short SHA and the analysis of each commit of a day's report: what it names, without its prose."""
    for sha, told in reference_reports()[day]["analyses"].items():
        risks = [Risk(risk=risk, severity=Severity.LOW, mitigation=mitigation) for risk, mitigation in told["risks"]]
        yield (
            sha,
            Analysis(
                by="model",
                summary=told["summary"],
                scope=told["scope"],
                insight=Insight(**told["insight"]),
                risks=tuple(risks),
                advice=told["advice"],
            ),
        )


@pytest.fixture(scope="module")
def commits(vllm_commits: list[dict[str, Any]]) -> dict[str, Commit]:
    """The recorded commits by short SHA, without patches."""
    return {
        each["sha"][:7]: Commit(
            sha=each["sha"],
            url=f"https://github.com/vllm-project/vllm/commit/{each['sha']}",
            parents=tuple(each["parents"]),
            author=each["author"]["name"],
            authored_at=each["author"]["date"],
            committed_at=each["committer"]["date"],
            message=each["message"],
            files=tuple(
                FileChange(path=file["filename"], previous_path=file.get("previous_filename"), status=file["status"])
                for file in each["files"]
            ),
        )
        for each in vllm_commits
    }


def texts(analysis: Analysis) -> list[str]:
    risks = [text for each in analysis.risks for text in (each.risk, each.mitigation)]
    return [analysis.summary, *analysis.scope, *(text for _, text in analysis.insight), *risks, *analysis.advice]


def mentions(told: Iterable[str], commit: Commit) -> tuple[int, int]:
    """How many true and false paths some texts name."""
    evidence = Corpus([commit])
    found = [each for text in told for each in find_paths(plain(text), Section.CHANGE, evidence)]
    return sum(each.is_supported for each in found), sum(not each.is_supported for each in found)


def counted(pairs: Iterable[tuple[Iterable[str], Commit]]) -> Counted:
    counts = [mentions(told, commit) for told, commit in pairs]
    return Counted(
        true=sum(true for true, _ in counts),
        false=sum(false for _, false in counts),
        analyses=sum(true + false > 0 for true, false in counts),
        wrong=sum(false > 0 for _, false in counts),
    )


def test_the_false_paths_of_the_reference_are_found(commits: dict[str, Commit]) -> None:
    """About one in twelve paths is false, in about one analysis in six, as was found when they were counted by hand."""
    pairs = [(texts(analysis), commits[sha]) for day in DAYS for sha, analysis in analyses(day)]
    assert [len(list(analyses(day))) for day in DAYS] == list(DAYS.values())
    before = counted(pairs)
    print(before)
    assert 380 <= before.true + before.false <= 500
    assert 25 <= before.false <= 45
    assert 100 <= before.analyses <= 130
    assert 15 <= before.wrong <= 27


@pytest.mark.parametrize("day", DAYS)
def test_most_true_paths_are_left(day: str, commits: dict[str, Commit]) -> None:
    """Without the sentences that name a false path at least nine in ten true ones are still named."""
    before = [(texts(analysis), commits[sha]) for sha, analysis in analyses(day)]
    pieces = [([piece for text in told for piece in sentences(text)], commit) for told, commit in before]
    after = [([piece for piece in told if not mentions([piece], commit)[1]], commit) for told, commit in pieces]
    print(day, counted(before), counted(after))
    assert counted(after).true >= 0.9 * counted(before).true
