"""The statistics and coverage lines of a day, with the commits that a channel's selection leaves out."""

from analysis.language import words
from analysis.models import DayReport


def statistics(report: DayReport) -> str:
    """Return the day's commits by tier; `6 of 7` if a selection leaves some out."""
    say, counts = words(report.language), report.stats.model_dump()
    unselected = report.chosen.unselected if report.chosen else 0
    if unselected:
        return say.label("statistics_of", all=report.stats.total + unselected, **counts)
    return say.label("statistics_line", **counts)


def nothing(report: DayReport) -> str:
    """Return why a report has no commits: the day has none, or none of them is selected."""
    say = words(report.language)
    if report.chosen and report.chosen.unselected:
        return say.label("none_chosen", commits=say.quantity("commit", report.chosen.unselected))
    return say.labels["no_commits"]


def coverage(report: DayReport) -> str:
    """Return how many commits were listed, ranked, analysed and failed."""
    say, counted = words(report.language), report.coverage
    counts = counted.model_dump(include={"listed", "ranked", "analysed", "by_rules"})
    line = say.label("coverage_line", **counts, failed=len(counted.failed))
    left_out = report.chosen.unselected + report.chosen.unselected_late if report.chosen else 0
    return line + say.label("unchosen", count=left_out) if left_out else line
