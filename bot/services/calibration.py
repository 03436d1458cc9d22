"""Ranking weights fitted to a repository: the pull requests its release notes name, and people's tier corrections.

They start from the packaged weights, and take their place only if they are better on releases that they were not fitted to.

Resumable: commits already read are stored, so a run stopped by GitHub's rate limit resumes where it ended.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple
from zoneinfo import ZoneInfo

from analysis.errors import Misuse, OutsideFailure
from analysis.models import Commit, Importance, Repository
from analysis.ranking import Weights, packaged_weights
from analysis.ranking.evaluation import (
    AtTier,
    Evaluation,
    Example,
    auc,
    cross_validate,
    evaluate,
    rank_all,
    train,
)
from analysis.sources.github import GitHub, Release
from bot.services.commit_reader import CommitReader, Progress, current_commits
from bot.services.commit_sources import CommitSource, CommitSources
from bot.services.release_commits import LEAST_IN_NOTES, Noted, between_named, gained_commits, noted
from bot.store import Store

_LEAST_RELEASES = 2  # whose notes name pull requests
_LEAST_COMMITS = 200
_LEAST_NAMED = 40
_MOST_UNREAD = 0.02  # share of the commits; this few make no difference to the figures
_CORRECTION_WEIGHT = 5  # weight of a person's correction, in release-note examples


class Covered(NamedTuple):
    """The commits that releases cover, oldest first; the tag of each one's release, by SHA; the tags of releases that had to be delimited by date."""

    commits: tuple[Commit, ...]
    tags: Mapping[str, str]
    by_date: tuple[str, ...]


class Trial(NamedTuple):
    """The ROC AUC on the newest releases of weights fitted to the older ones, and that of the packaged weights."""

    releases: tuple[str, ...]
    fitted: float
    packaged: float

    @property
    def better(self) -> bool:
        return self.fitted > self.packaged


class Calibration(NamedTuple):
    """Result of a calibration: the training data, its cross-validated quality, and the trial that decides if it is stored."""

    repository: Repository
    releases: tuple[str, ...]
    by_date: tuple[str, ...]
    examples: tuple[Example, ...]
    corrections: int
    judgement: Evaluation
    trial: Trial


def calibrate(
    github: GitHub,
    sources: CommitSources,
    store: Store,
    repository: Repository,
    tz: ZoneInfo,
    *,
    most: int,
    corrections: Mapping[str, bool],
    now: datetime,
    progress: Progress,
) -> Calibration:
    """Fit weights to the newest `most` releases. `corrections`: SHA -> whether a person marked it important.

    They are stored if they pass the trial; otherwise the packaged ones apply, and earlier ones are removed.

    Raise `Misuse` if there is too little training data, `OutsideFailure` if too many commits could not be read.
    """
    notes = _notes(github, repository, most)
    covered = _covered(github, repository, notes)
    found = [commit for commit in covered.commits if commit.pr in notes.every]
    if len(covered.commits) < _LEAST_COMMITS or len(found) < _LEAST_NAMED:
        raise Misuse(
            f"calibrating {repository} needs {_LEAST_COMMITS} commits, {_LEAST_NAMED} of them named in release notes; "
            f"its releases {', '.join(notes.tags)} cover {len(covered.commits)}, with {len(found)} named"
        )
    _read(sources.current(repository, now, now), store, repository, covered.commits, tz, progress)
    examples = _examples(store, repository, covered.commits, notes, corrections)
    prior = packaged_weights(repository)
    calibration = Calibration(
        repository,
        notes.tags,
        covered.by_date,
        examples,
        sum(each.weight > 1 for each in examples),
        evaluate(examples, cross_validate(examples, prior)),
        _trial(examples, notes.tags, covered.tags, prior),
    )
    if calibration.trial.better:
        store.weights.save(repository, train(examples, _provenance(calibration, now), prior), now)
    else:
        store.weights.remove(repository)
    return calibration


def _trial(examples: Sequence[Example], releases: Sequence[str], tags: Mapping[str, str], prior: Weights) -> Trial:
    """Fit to the older half of the releases and judge by the newer one."""
    kept_out = tuple(releases[(len(releases) + 1) // 2 :])
    newer = [each for each in examples if tags.get(each.commit.sha) in kept_out]
    older = [each for each in examples if tags.get(each.commit.sha) not in kept_out]
    labels = [each.named for each in newer]
    fitted, packaged = (
        auc(labels, [ranked.score for ranked in rank_all(weights, newer)])
        for weights in (train(older, prior=prior), prior)
    )
    return Trial(kept_out, fitted, packaged)


class _Notes(NamedTuple):
    """The newest releases with usable notes, oldest first, and the release before them if any."""

    noted: tuple[Noted, ...]
    before: Release | None

    @property
    def every(self) -> frozenset[int]:
        return frozenset[int]().union(*(each.named.every for each in self.noted))

    @property
    def breaking(self) -> frozenset[int]:
        return frozenset[int]().union(*(each.named.breaking for each in self.noted))

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(each.release.tag for each in self.noted)


def _notes(github: GitHub, repository: Repository, most: int) -> _Notes:
    releases = github.releases(repository)
    every = [noted(release, repository) for release in releases]
    usable = [each for each in every if each.usable][:most]
    if len(usable) < _LEAST_RELEASES:
        raise Misuse(
            f"calibrating {repository} needs {_LEAST_RELEASES} releases whose notes name pull requests (#123), "
            f"{LEAST_IN_NOTES} each; {len(usable)} of its {len(every)} releases have such notes"
        )
    older = releases[releases.index(usable[-1].release) + 1 :]
    return _Notes(tuple(usable[::-1]), older[0] if older else None)


def _covered(github: GitHub, repository: Repository, notes: _Notes) -> Covered:
    """Return the commits between consecutive releases: by tags, or by dates if GitHub has no such tags."""
    commits: dict[str, Commit] = {}
    tags: dict[str, str] = {}
    by_date = []
    releases = [each.release for each in notes.noted]
    mean = (releases[-1].published_at - releases[0].published_at) / (len(releases) - 1)
    before = notes.before or Release(tag="", notes="", published_at=releases[0].published_at - mean)
    for older, newer in pairwise([before, *releases]):
        gained = gained_commits(github, repository, older, newer)
        if gained.by_date:
            by_date.append(newer.tag)
        commits |= {commit.sha: commit for commit in gained.commits}
        for commit in gained.commits:
            tags.setdefault(commit.sha, newer.tag)
    return Covered(tuple(between_named(commits.values(), notes.every)), tags, tuple(by_date))


def _read(
    source: CommitSource,
    store: Store,
    repository: Repository,
    commits: Sequence[Commit],
    tz: ZoneInfo,
    progress: Progress,
) -> None:
    known = store.read_ids(repository, [commit.sha for commit in commits])
    unread = [commit for commit in commits if commit.sha not in known]
    progress.expect(len(unread))
    unfinished = CommitReader(store).read(source, repository, unread, tz, progress)
    missing = len(unfinished.failures)
    if unfinished.resumes_at or missing > _MOST_UNREAD * len(commits):
        raise OutsideFailure(
            f"{missing} of {len(commits)} commits could not be read (first: {unfinished.failures[0].reason}); "
            "the others are stored; run it again to continue"
        )


def _examples(
    store: Store,
    repository: Repository,
    commits: Sequence[Commit],
    notes: _Notes,
    corrections: Mapping[str, bool],
) -> tuple[Example, ...]:
    shas = dict.fromkeys([commit.sha for commit in commits] + list(corrections))
    ids = store.read_ids(repository, list(shas))
    examples = []
    for each in current_commits(store, list(ids.values())):
        correction = corrections.get(each.commit.sha)
        label = each.commit.pr in notes.every if correction is None else correction
        weight = 1 if correction is None else _CORRECTION_WEIGHT
        examples.append(Example(each.commit, each.facts, label, each.commit.pr in notes.breaking, weight))
    return tuple(sorted(examples, key=lambda example: example.commit.committed_at))


def _provenance(calibration: Calibration, now: datetime) -> dict[str, object]:
    judgement = calibration.judgement
    return {
        "repository": calibration.repository.full_name,
        "releases": list(calibration.releases),
        "commits": len(calibration.examples),
        "named": sum(example.named for example in calibration.examples),
        "corrections": calibration.corrections,
        "fitted_on": f"{now:%Y-%m-%d}",
        "auc": round(judgement.auc.value, 3),
        "precision_of_high": round(judgement.high.precision, 2),
        "share_of_high": round(judgement.high.share, 2),
        "calibration_error": round(judgement.calibration_error, 3),
        "held_out": list(calibration.trial.releases),
        "held_out_auc": round(calibration.trial.fitted, 3),
    }


def as_lines(calibration: Calibration) -> list[str]:
    """Return the calibration's summary as lines of text."""
    judgement, examples = calibration.judgement, calibration.examples
    named_, breaking = (sum(getattr(each, name) for each in examples) for name in ("named", "breaking"))
    learned = f"{calibration.repository}: {len(examples)} commits of {', '.join(calibration.releases)}"
    lines = [
        f"{learned}; {named_} named, {breaking} of them as breaking; {calibration.corrections} corrected by people"
    ]
    if calibration.by_date:
        lines.append(f"the commits of {', '.join(calibration.by_date)} were taken by dates, for want of tags")
    lines += [
        "cross-validated, with 95% intervals:",
        f"  ROC AUC                {judgement.auc}",
        f"  the baseline's formula {judgement.baseline}, gain {judgement.over_baseline}",
        f"  changed lines          {judgement.lines}, gain {judgement.over_lines}",
    ]
    for name, ours, theirs in (
        ("high", judgement.high, judgement.baseline_high),
        ("medium or high", judgement.at_least_medium, judgement.baseline_at_least_medium),
    ):
        lines.append(f"  {name:<22} {_at(ours)}; the baseline: {_at(theirs)}")
    tiers = ", ".join(f"{judgement.breaking.get(tier, 0)} {tier.value}" for tier in Importance)
    lines.append(f"  calibration error      {judgement.calibration_error:.3f}")
    lines.append(f"  breaking changes       {tiers}")
    return [*lines, *_verdict(calibration.trial)]


def _verdict(trial: Trial) -> list[str]:
    """Return what came of the trial."""
    kept_out = f"on {', '.join(trial.releases)}, kept out: ROC AUC {trial.fitted:.3f}, the packaged weights {trial.packaged:.3f}"
    if trial.better:
        return [kept_out, "stored: the next digest ranks by it"]
    return [kept_out, "not stored, because it is no better there: the packaged weights go on to rank"]


def _at(each: AtTier) -> str:
    return f"{each.share:.0%} of the commits, precision {each.precision:.2f}, recall {each.recall:.2f}"
