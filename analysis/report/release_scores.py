"""Scores of releases in sentences: one for a digest or a status, and those of the whole report."""

from collections.abc import Iterator, Sequence

from analysis.locale import Phrase, mark
from analysis.models import Importance
from analysis.models.release_scores import RankedCommit, ReleaseScore
from analysis.text import one_line, shorten

_TAG = 60  # characters of a release's tag
_TIERS = {
    Importance.HIGH: mark("Ranked high: {commits}, of which the notes name {named} ({share})"),
    Importance.MEDIUM: mark("Ranked medium: {commits}, of which the notes name {named} ({share})"),
    Importance.LOW: mark("Ranked low: {commits}, of which the notes name {named} ({share})"),
}


def release_name(score: ReleaseScore) -> str:
    """Return the release's tag, which anybody may have chosen, on one line."""
    return shorten(one_line(score.release), _TAG)


def score_sentence(score: ReleaseScore) -> Phrase:
    """Return in a sentence how right the ranks were, how many were given too late, and how many commits had none."""
    sentence = Phrase(
        "The notes of {release} name {high_named} of {high} commits ranked high; "
        "of {named} named commits {medium} were ranked high or medium",
        release=release_name(score),
        high_named=score.high.named,
        high=score.high.commits,
        medium=score.at_least_medium_named,
        named=score.ranked_named,
    )
    if score.afterwards:
        sentence = Phrase(
            "{sentence}; ranked only after the release: {count}", sentence=sentence, count=score.afterwards
        )
    if not score.unranked:
        return sentence
    return Phrase(
        "{sentence}; not ranked: {unranked} of its {commits} commits",
        sentence=sentence,
        unranked=score.unranked,
        commits=score.commits,
    )


def score_lines(score: ReleaseScore) -> Iterator[Phrase]:
    """Yield the figures of a score, a sentence each."""
    yield Phrase(
        "Published on {day}: {commits} commits, {ranked} of them ranked; the notes name {named}",
        day=f"{score.published_at:%Y-%m-%d}",
        commits=score.commits,
        ranked=score.ranked,
        named=score.named,
    )
    for tier, count in score.tiers.items():
        share = _share(count.named, count.commits)
        yield Phrase(_TIERS[tier], commits=count.commits, named=count.named, share=share)
    named, medium = score.ranked_named, score.at_least_medium_named
    yield Phrase(
        "Of {named} ranked commits that the notes name {high} were high ({high_share}), "
        "{medium} high or medium ({medium_share})",
        named=named,
        high=score.high.named,
        high_share=_share(score.high.named, named),
        medium=medium,
        medium_share=_share(medium, named),
    )
    if score.auc is not None:
        yield Phrase("ROC AUC {auc}", auc=f"{score.auc:.3f}")
    yield Phrase(
        "Ranked commits that the notes list as breaking: {breaking}, {low} of them low",
        breaking=score.breaking,
        low=len(score.breaking_low),
    )
    said = score.corrections
    if said.commits:
        yield Phrase(
            "Commits whose rank people corrected: {commits} ({raised} up, {lowered} down)", **said.model_dump()
        )


def score_remarks(score: ReleaseScore) -> Iterator[Phrase]:
    """Yield what limits a score."""
    if score.unranked:
        yield Phrase("Commits without a rank when the release was scored: {count}", count=score.unranked)
    if score.left_out:
        yield Phrase(
            "Commits ranked only after the release was published, which are in no figure above: {count}",
            count=score.left_out,
        )
    elif score.afterwards:
        yield Phrase("Commits ranked only after the release was published: {count}", count=score.afterwards)
    if score.by_date:
        yield Phrase("A tag is missing on GitHub, so the commits were taken by date")


def commit_lists(score: ReleaseScore) -> Iterator[tuple[Phrase, Sequence[RankedCommit]]]:
    """Yield headings with the commits that were ranked too low, and those that may have been ranked too high."""
    if score.breaking_low:
        yield Phrase("Listed as breaking, but ranked low"), score.breaking_low
    if score.missed:
        yield Phrase("Ranked highest of those that the notes do not name"), score.missed


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "–"
