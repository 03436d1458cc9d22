"""The ranking, judged by the release notes of vLLM: trained on one release and looked at on the other."""

from typing import Any

import pytest

from analysis.models import ChangeType, Importance, Ranked, Repository
from analysis.ranking import general_weights, packaged_weights
from tests.bench.judging import releases
from tools.evaluation import Example, evaluate, rank_all, train

VLLM = packaged_weights(Repository(owner="vllm-project", name="vllm"))


@pytest.fixture(scope="module")
def both() -> tuple[list[Example], list[Example]]:
    return releases()


def test_a_ranking_learned_from_one_release_is_right_about_the_next(both: tuple[list[Example], list[Example]]) -> None:
    """ROC AUC .85, high right four times in five at 5 to 15% of the commits, and no listed breaking change low."""
    older, newer = both
    told = evaluate(newer, rank_all(train(older), newer))
    assert told.auc.value >= 0.85
    assert told.over_baseline.low > 0.1
    assert told.over_lines.low > 0.1
    assert told.high.precision >= 0.8
    assert 0.05 <= told.high.share <= 0.15
    assert not told.breaking[Importance.LOW]


@pytest.mark.parametrize("weights", [VLLM, general_weights()])
def test_a_double_free_and_a_hang_outrank_a_faster_ci(weights: Any, both: tuple[list[Example], list[Example]]) -> None:
    """Bug fixes that a deployment waits for stand above what it never sees, and are called bug fixes."""
    ranks: dict[int | None, Ranked] = {
        example.commit.pr: rank for example, rank in zip(both[1], rank_all(weights, both[1]), strict=True)
    }
    for number in (33377, 33699):
        assert ranks[number].score > ranks[33293].score
        assert ranks[number].change_types[0] is ChangeType.BUG_FIX
