"""Scores of releases for a terminal."""

from rich.console import Console
from rich.text import Text

from analysis.locale import Language, Phrase
from analysis.models.release_scores import ReleaseScore
from analysis.report.release_scores import commit_lists, score_lines, score_name, score_remarks
from analysis.report.terminal import link_style, print_heading
from analysis.report.wrapping import Line, print_line
from analysis.text import one_line
from analysis.writing.labels import BADGE


def print_release_score(console: Console, score: ReleaseScore, language: Language) -> None:
    """Print how right the ranks of a release were."""

    def show(phrase: Phrase, style: str = "", lead: str = "") -> None:
        print_line(console, Line(Text(phrase.translated(language), style=style), Text(lead)))

    print_heading(console, f"{score.repository} · {score_name(score, language)}")
    for line in score_lines(score):
        show(line)
    for remark in score_remarks(score):
        show(remark, "yellow", "⚠️ ")
    for heading, commits in commit_lists(score):
        console.print()
        show(heading, "bold")
        for each in commits:
            lead = Text.assemble(f"{BADGE[each.importance]} ", (each.short_sha, link_style("cyan", each.url)), "  ")
            print_line(console, Line(Text(one_line(each.title)), lead))
