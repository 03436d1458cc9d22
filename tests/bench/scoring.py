"""`score` of vLLM's v0.16.0, whose commits are read from a loopback GitHub and ranked by the packaged weights (`judge` has others)."""

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from analysis.models import Ranked, Repository
from analysis.models.release_scores import ReleaseScore
from analysis.ranking import packaged_weights
from analysis.sources.github import GitHub
from bot.services.factory import Services
from bot.store import Store, open_engine
from loopback.github import LoopbackGitHub, RecordedRepository
from tests.bench.figures import Row, duration, timed
from tests.bench.judging import releases
from tests.data import commit_lines, release_notes
from tools.evaluation import evaluate, rank_all

_VLLM = Repository(owner="vllm-project", name="vllm")
_OLDER, _NEWER = "v0.15.0", "v0.16.0"
_NOW = datetime(2026, 2, 14, tzinfo=UTC)
_PUBLISHED = {_OLDER: "2026-01-29T00:00:00Z", _NEWER: "2026-02-13T00:00:00Z"}
_AIM = 0.85  # ROC AUC, as of `judge`


def scoring(*, commits: int = 459) -> Iterator[Row]:
    """So many of the release's commits, the last ones; beside what `judge` says of the same ranks."""
    _, newer = releases()
    last = newer[-commits:]
    ranked: Sequence[Ranked] = rank_all(packaged_weights(_VLLM), last)
    judged = evaluate(last, ranked)
    found: list[ReleaseScore] = []
    seconds = timed(lambda: found.append(_scored(commits)))
    score = found[0]
    auc = score.auc or 0.0
    title = f"{_NEWER} by the packaged weights: {score.ranked} of {score.commits} commits, {score.ranked_named} named"
    yield Row(title, duration(seconds), "read, ranked and scored", "", f"all {commits}", score.ranked == commits)
    yield Row(
        "  ROC AUC", f"{auc:.3f}", f"judge, by both notes: {judged.auc}", "", f">= {_AIM}", auc >= _AIM, measured=True
    )
    for tier, count in score.tiers.items():
        ours = sum(each.importance is tier for each in ranked)
        yield Row(
            f"  {tier.value}",
            f"{count.commits}, {count.named} named",
            f"judge: {ours}",
            "",
            "equal",
            count.commits == ours,
        )
    yield Row("  named, at least medium", f"{score.at_least_medium_named} of {score.ranked_named}")
    low = len(score.breaking_low)
    yield Row("  listed as breaking", f"{score.breaking}, {low} low", "", "", "none low", not low, measured=True)


def _scored(commits: int) -> ReleaseScore:
    """Score the release as `score --read` does, with an empty store."""
    history = [json.loads(line) for line in commit_lines().splitlines()]
    end = release_notes()[_NEWER]["end_commit_index"]
    tags = {_OLDER: history[end - commits - 1]["sha"], _NEWER: history[end - 1]["sha"]}
    notes = [{"tag_name": tag, "body": _notes(tag), "published_at": _PUBLISHED[tag]} for tag in (_NEWER, _OLDER)]
    repository = RecordedRepository(history, tags=tags, releases=notes)
    with (
        TemporaryDirectory() as name,
        LoopbackGitHub({_VLLM.full_name: repository}) as server,
        closing(GitHub(server.url)) as github,
        closing(Store(open_engine(f"sqlite:///{Path(name, 'digest.db')}"))) as store,
    ):
        return Services(github, store).releases.score(_VLLM, _NEWER, _NOW, read=True).score


def _notes(tag: str) -> str:
    """Return notes that name what the release's own notes name."""
    found: dict[str, Any] = release_notes()[tag]
    lines = {name: "\n".join(f"* #{number}" for number in found[name]) for name in ("prs", "breaking")}
    return f"## Highlights\n{lines['prs']}\n## Breaking changes\n{lines['breaking']}\n"
