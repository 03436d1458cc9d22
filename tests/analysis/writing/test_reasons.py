"""Why a commit is ranked where it is, in words."""

import pytest

from analysis.locale import LANGUAGES
from analysis.models import Importance, Language, Ranked, Reason, Repository
from analysis.ranking import packaged_weights
from analysis.ranking.vocabulary import AREAS, TAGS, TITLE_WORDS
from analysis.writing.reasons import strongest_reasons

VLLM = packaged_weights(Repository(owner="vllm-project", name="vllm"))


def ranked(importance: Importance, **points: float) -> Ranked:
    reasons = [Reason(signal=f"tag: {name}", points=each, evidence=name) for name, each in points.items()]
    return Ranked(score=0, importance=importance, reasons=tuple(reasons))


@pytest.mark.parametrize(
    ("importance", "shown"),
    [
        (Importance.HIGH, ["tagged “b”", "tagged “d”", "tagged “e”"]),
        (Importance.MEDIUM, ["tagged “b”", "tagged “d”", "tagged “e”"]),
        (Importance.LOW, ["tagged “a”", "tagged “c”", "tagged “g”"]),
    ],
)
def test_the_reasons_that_pull_a_commit_to_its_tier_are_told(importance: Importance, shown: list[str]) -> None:
    """A high or medium commit is told by what raises it, a low one by what lowers it, three reasons at most."""
    reasons = {"a": -3.0, "b": 2.0, "c": -1.5, "d": 1.0, "e": 0.5, "f": 0.3, "g": -0.1}
    assert strongest_reasons(ranked(importance, **reasons), "en") == shown


def test_without_a_reason_for_the_tier_the_strongest_are_told() -> None:
    """A commit that its floor lifted is told by what it has, and one without reasons by nothing."""
    assert strongest_reasons(ranked(Importance.MEDIUM, a=-2.0, b=-1.0), "en") == ["tagged “a”", "tagged “b”"]
    assert strongest_reasons(ranked(Importance.LOW), "en") == []


@pytest.mark.parametrize(
    ("signal", "evidence", "zh", "en"),
    [
        ("tag: core", "Core", "标签“Core”", "tagged “Core”"),
        ("words: upgrade", "bump", "标题含“bump”", "title says “bump”"),
        ("removed flag", "--x", "移除命令行参数 --x", "removes flag --x"),
        ("comes with tests", "tests/a.py", "附带测试", "comes with tests"),
        ("changed source lines", "1,204", "改动 1,204 行源码", "1,204 source lines changed"),
        ("removed flag", "{0} {x} %s", "移除命令行参数 {0} {x} %s", "removes flag {0} {x} %s"),
        ("a signal of tomorrow", "x", "a signal of tomorrow", "a signal of tomorrow"),
    ],
)
def test_a_reason_is_told_in_both_languages(signal: str, evidence: str, zh: str, en: str) -> None:
    """A reason quotes its evidence as it is, and one without a phrase goes by its name."""
    only = Ranked(score=1, importance=Importance.HIGH, reasons=(Reason(signal=signal, points=1, evidence=evidence),))
    assert (strongest_reasons(only, "zh"), strongest_reasons(only, "en")) == ([zh], [en])


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_signal_has_a_phrase(language: Language) -> None:
    """No reason that the ranking may give is told by its bare name in Chinese, and none leaves a blank unfilled."""
    for signal in sorted({*VLLM.points, *TAGS, *TITLE_WORDS, *AREAS}):
        reason = Reason(signal=signal, points=1, evidence="EVIDENCE")
        (phrase,) = strongest_reasons(Ranked(score=1, importance=Importance.HIGH, reasons=(reason,)), language)
        assert "{" not in phrase
        assert language == "en" or phrase != signal
