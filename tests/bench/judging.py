"""The ranking judged by vLLM's own release notes, beside the baseline's formula and changed lines."""

from collections.abc import Iterator, Sequence

from analysis.facts import facts
from analysis.models import Importance, Ranked, Repository
from analysis.ranking import general_weights, packaged_weights
from bot.services.recorded_commits import recorded_commits
from tests.bench.figures import Row
from tests.data import commit_lines, release_notes
from tools.evaluation import AtTier, Example, Reliability, cross_validate, evaluate, rank_all, train

_AIM = 0.85  # ROC AUC
_PRECISE = 0.80  # of high
_HIGH = (0.05, 0.15)  # of the commits


def judging(*, every: int = 1) -> Iterator[Row]:
    """The commits of two releases, or of `every` so many one."""
    older, newer = (found[::every] for found in releases())
    both = [*older, *newer]
    yield from _judged("v0.15.0 -> v0.16.0", newer, rank_all(train(older), newer))
    yield from _judged("v0.16.0 -> v0.15.0", older, rank_all(train(newer), older))
    yield from _judged("cross-validated", both, cross_validate(both))
    # These have seen the labels: their figures say what is shipped, not how good it is on what it has not seen.
    vllm = packaged_weights(Repository(owner="vllm-project", name="vllm"))
    yield from _judged("the package's for vLLM (seen)", both, rank_all(vllm, both))
    yield from _judged("the package's general ones (seen)", both, rank_all(general_weights(), both))


def releases() -> tuple[list[Example], list[Example]]:
    """The commits of v0.15.0 and of v0.16.0, named where either's notes name them."""
    notes = release_notes()
    every, breaking = ({number for each in notes.values() for number in each[key]} for key in ("prs", "breaking"))
    commits = list(recorded_commits(commit_lines().splitlines()))
    examples = [
        Example(commit, facts(commit), commit.pr in every | breaking, commit.pr in breaking) for commit in commits
    ]
    older, newer = (
        examples[each["first_commit_index"] : each["end_commit_index"]] for each in (notes["v0.15.0"], notes["v0.16.0"])
    )
    return older, newer


def _judged(name: str, examples: Sequence[Example], ranked: Sequence[Ranked]) -> Iterator[Row]:
    told = evaluate(examples, ranked)
    named = sum(example.named for example in examples)
    yield Row(f"{name}: {len(examples)} commits, {named} named", "")
    yield Row("  ROC AUC", str(told.auc), "", "", f">= {_AIM}", told.auc.value >= _AIM, measured=True)
    yield Row("    gain over the baseline's formula", str(told.over_baseline), f"baseline {told.baseline}")
    yield Row("    gain over changed lines", str(told.over_lines), f"lines {told.lines}")
    met = told.high.precision >= _PRECISE and _HIGH[0] <= told.high.share <= _HIGH[1]
    aim = f"precision >= {_PRECISE:.2f} at {_HIGH[0]:.0%} to {_HIGH[1]:.0%}"
    yield Row("  high", _at(told.high), f"baseline {_at(told.baseline_high)}", "", aim, met, measured=True)
    yield Row("  medium or high", _at(told.at_least_medium), f"baseline {_at(told.baseline_at_least_medium)}")
    yield Row("  expected calibration error", f"{told.calibration_error:.3f}")
    yield Row("    named of a tenth, said -> true", _table(told.reliability[::2] + told.reliability[-1:]))
    tiers = ", ".join(f"{told.breaking.get(tier, 0)} {tier.value}" for tier in Importance)
    yield Row("  listed as breaking", tiers, "", "", "none low", not told.breaking.get(Importance.LOW), measured=True)


def _table(groups: Sequence[Reliability]) -> str:
    return ", ".join(f"{group.chance:.2f} -> {group.named:.2f}" for group in groups)


def _at(each: AtTier) -> str:
    return f"{each.share:.1%} of all, precision {each.precision:.2f}, recall {each.recall:.2f}"
