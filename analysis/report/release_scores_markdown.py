"""Scores of releases as Markdown."""

from analysis.locale import Language, catalogue
from analysis.models.release_scores import ReleaseScore
from analysis.report.impacts_markdown import labelled_link
from analysis.report.markdown import render
from analysis.report.release_scores import commit_lists, score_lines, score_name, score_remarks


def release_score_markdown(score: ReleaseScore, language: Language) -> str:
    """Render how right the ranks of a release were."""
    return render(
        "release_score.md.j2",
        score=score,
        language=language,
        say=catalogue(language),
        name=labelled_link(score_name(score, language), score.url),
        lines=list(score_lines(score)),
        remarks=list(score_remarks(score)),
        lists=list(commit_lists(score)),
    )
