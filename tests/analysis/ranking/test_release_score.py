"""The score of given ranks by a release's notes."""

from datetime import UTC, datetime, timedelta
from typing import Any

from analysis.models import Commit, Importance, Repository
from analysis.models.release_scores import Corrections, GivenRank, GivenVerdict, ReleaseScore, TierCount, Verdict
from analysis.ranking.release_score import ReleasedCommits, score_release
from analysis.report.as_json import json_lines
from analysis.report.markdown import ScoreReport, report_markdown
from analysis.report.release_scores import score_sentence
from analysis.sources.github import Release
from analysis.sources.release_notes import Named

AT = datetime(2026, 2, 13, tzinfo=UTC)
HIGH, MEDIUM, LOW = Importance
TIERS = (HIGH, HIGH, HIGH, MEDIUM, MEDIUM, LOW, LOW, LOW)
NAMED = Named(frozenset({1, 2, 4, 6, 9}), frozenset({6}))


VERDICTS: tuple[Verdict, ...] = ("too_low", "too_high")


def sha(number: int) -> str:
    return f"{number:02x}" * 20


def commit(number: int) -> Commit:
    message, url = f"Change part {number} (#{number})", f"https://github.example/o/n/commit/{sha(number)}"
    return Commit(sha=sha(number), url=url, author="Core Team", authored_at=AT, committed_at=AT, message=message)


def given(number: int, importance: Importance, **more: Any) -> GivenRank:
    return GivenRank(
        sha=sha(number),
        url=commit(number).url,
        title=commit(number).title,
        importance=importance,
        **{"pr": number} | more,
    )


def scored(*, corrections: tuple[GivenVerdict, ...] = (), with_scores: bool = True, late: int = 0) -> ReleaseScore:
    """Eight commits with ranks, the higher the number the lower the score, and two without, of which one is named."""
    ranks = {
        sha(number): given(
            number,
            tier,
            score=-float(number) if with_scores else None,
            given_at=AT + timedelta(hours=1 if number <= late else -1),
        )
        for number, tier in enumerate(TIERS, 1)
    }
    released = ReleasedCommits([commit(number) for number in range(1, 11)], ranks)
    release = Release(tag="v2", notes="", published_at=AT, url="https://github.example/o/n/releases/tag/v2")
    return score_release(Repository(owner="o", name="n"), release, NAMED, released, corrections)


def test_ranks_are_compared_with_what_the_notes_name() -> None:
    """Commits, ranked ones and named ones are counted a tier, with the AUC of the scores that were given."""
    score = scored()
    assert (score.commits, score.ranked, score.unranked) == (10, 8, 2)
    assert (score.named, score.ranked_named, score.afterwards) == (5, 4, 0)
    assert score.tiers == {
        HIGH: TierCount(commits=3, named=2),
        MEDIUM: TierCount(commits=2, named=1),
        LOW: TierCount(commits=3, named=1),
    }
    assert score.at_least_medium_named == 3
    assert score.auc == 13 / 16  # of the pairs of a named and another commit
    assert [each.sha for each in score.breaking_low] == [sha(6)]
    assert [each.sha for each in score.missed] == [sha(3)]


def test_ranks_given_after_the_release_are_counted_apart() -> None:
    """They are in no tier, share or AUC of those given before, and every form of the score says how many there are."""
    score = scored(late=2)
    assert (score.commits, score.named, score.ranked, score.afterwards, score.unranked) == (10, 5, 6, 2, 2)
    assert score.tiers == {
        HIGH: TierCount(commits=1),
        MEDIUM: TierCount(commits=2, named=1),
        LOW: TierCount(commits=3, named=1),
    }
    assert score.auc == 5 / 8
    assert str(score_sentence(score)).endswith("; ranked only after the release: 2; not ranked: 2 of its 10 commits")
    markdown = report_markdown(ScoreReport(score, "en"))
    assert "ranked only after the release was published, which are in no figure above: 2" in markdown


def test_ranks_all_given_after_the_release_are_said_to_be() -> None:
    """Without any given before, they are compared, and the report says what they are."""
    score = scored(late=8)
    assert (score.tiers, score.auc) == (scored().tiers, scored().auc)
    assert (score.ranked, score.unranked) == (8, 2)
    assert "Commits ranked only after the release was published: 8" in report_markdown(ScoreReport(score, "en"))


def test_without_scores_there_is_no_auc() -> None:
    """Ranks of earlier programs have a tier alone: the tiers are compared, and the AUC is unknown."""
    score = scored(with_scores=False)
    assert score.auc is None
    assert score.high == TierCount(commits=3, named=2)


def test_people_s_corrections_of_the_release_are_counted() -> None:
    """Commits are counted once, whoever corrected them; those of other releases are not."""
    corrected = {"too_low": (5, 7, 99), "too_high": (5,)}
    said = tuple(GivenVerdict(sha(number), verdict) for verdict in VERDICTS for number in corrected[verdict])
    assert scored(corrections=said).corrections == Corrections(commits=2, raised=2, lowered=1)


def test_a_picked_commit_counts_as_corrected_where_the_original_was() -> None:
    """A release branch has the commit under another SHA than the one that was ranked and corrected."""
    rank = given(1, HIGH, pr=3, score=1.0)
    released = ReleasedCommits([commit(3)], {sha(3): rank})
    release = Release(tag="v2", notes="", published_at=AT)
    said = [GivenVerdict(sha(1), "too_high")]
    score = score_release(Repository(owner="o", name="n"), release, NAMED, released, said)
    assert score.corrections == Corrections(commits=1, lowered=1)


def test_the_sentence_says_what_was_not_ranked() -> None:
    """One sentence, in both languages, for a status or a weekly digest."""
    sentence = score_sentence(scored())
    assert str(sentence) == (
        "The notes of v2 name 2 of 3 commits ranked high; of 4 named commits 3 were ranked high or medium; "
        "not ranked: 2 of its 10 commits"
    )
    assert "3 个高重要度提交中的 2 个" in sentence.translated("zh")


def test_hostile_tags_and_titles_stay_text() -> None:
    """Markdown escapes them, and JSON keeps no character that acts on a terminal."""
    score = scored()
    missed = score.missed[0].model_copy(update={"title": "<img src=x> [a](https://evil.example)\x1b[31m"})
    hostile = score.model_copy(update={"release": "v2](https://evil.example)\n# x\x1b", "missed": (missed,)})
    markdown = report_markdown(ScoreReport(hostile, "en"))
    assert "<img" not in markdown
    assert "](https://evil" not in markdown
    assert "\n# x" not in markdown
    assert "\x1b" not in markdown + "".join(json_lines(ScoreReport(hostile, "en")))
