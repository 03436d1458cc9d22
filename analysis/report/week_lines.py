"""The headings and sentences that every format of a week shares."""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from analysis.consequences import headline
from analysis.locale import Catalogue, catalogue
from analysis.locale.punctuation import join_clauses, join_items
from analysis.models.weeks import Announcement, Revert, WeekReport
from analysis.report.release_scores import score_sentence
from analysis.writing.labels import dated, weekday
from analysis.writing.titles import number_of

_ONE = timedelta(days=1)


def period(report: WeekReport) -> str:
    """Return the days of a week: `2026-02-02 – 2026-02-08`."""
    return f"{report.first} – {report.last}"


def statistics(report: WeekReport) -> str:
    """Return the week's commits by tier; `6 of 7` if a selection leaves some out."""
    say, counts = catalogue(report.language), report.stats.model_dump()
    left_out = report.chosen.unselected + report.chosen.unselected_late if report.chosen else 0
    if not left_out:
        return say.context("week", "Commits: {total} | 🔴 High {high} | 🟡 Medium {medium} | 🟢 Low {low}", **counts)
    counts["all"] = report.stats.total + left_out
    return say.context(
        "week", "Commits: {total} of {all} | 🔴 High {high} | 🟡 Medium {medium} | 🟢 Low {low}", **counts
    )


def nothing(report: WeekReport) -> str:
    """Return in one sentence why a week shows no commits."""
    say = catalogue(report.language)
    if not any(each.over for each in report.days):
        return say("No day of this week is over yet")
    if not report.stored:
        return say("None of these days is stored; a day is stored once its digest was posted or asked for")
    if report.chosen and report.chosen.unselected + report.chosen.unselected_late:
        count = report.chosen.unselected + report.chosen.unselected_late
        commits = say.plural("{count} commit", "{count} commits", count)
        return say("{commits} on these days, none in this channel's selection", commits=commits)
    return say("No commits on these days")


def introduction(report: WeekReport) -> Iterator[str]:
    """Yield the lines below the statistics: what is missing, how right the ranks were, the commits a day and by folder."""
    yield from notes(report)
    if report.chosen:
        yield report.chosen.description
    yield from rank_lines(report)
    if report.entries:
        yield from filter(None, (days_line(report), areas_line(report)))


def notes(report: WeekReport) -> Iterator[str]:
    """Yield what of the week is missing: days that are not stored, or not over, and commits that could not be read."""
    say, missing, stored = catalogue(report.language), report.missing, report.stored
    if stored and missing and missing == _days(report.first, stored[0] - _ONE):
        yield say("Only since {day}: the days before are not stored", day=dated(stored[0], say.language))
    elif stored and missing:
        yield say("Not stored: {days}", days=join_items([dated(each, say.language) for each in missing], say))
    if not all(each.over for each in report.days) and stored:
        yield say("The week is not over: up to {day}", day=dated(stored[-1], say.language))
    if report.failed:
        commits = say.plural("{count} commit", "{count} commits", len(report.failed))
        yield say("{commits} could not be read", commits=commits)


def reverts_heading(report: WeekReport) -> str:
    """Return the heading of the reverts."""
    return catalogue(report.language)("↩️ Reverted ({count})", count=len(report.reverts))


def revert_line(revert: Revert, say: Catalogue) -> str:
    """Return what was taken back, and whether it landed again."""
    if revert.landed_again is None:
        return revert.title
    return say("{title}; landed again in {commit}", title=revert.title, commit=number_of(revert.landed_again))


def announced_heading(report: WeekReport) -> str:
    """Return the heading of what was announced to go."""
    return catalogue(report.language)("📅 Announced to go ({count})", count=len(report.announced))


def announced_line(announcement: Announcement, say: Catalogue) -> str:
    """Return what is deprecated, what to use instead, and the version that removes it."""
    return headline(announcement.entry, say.language, announcement.facts)


def rank_lines(report: WeekReport) -> list[str]:
    """Return how right the ranks were: what people corrected during the week, and the latest release's notes."""
    say, corrected, lines = catalogue(report.language), report.corrections, []
    if corrected.commits:
        commits = say.plural("{count} commit", "{count} commits", corrected.commits)
        ways = [
            *([say("{count} ranked higher", count=corrected.raised)] if corrected.raised else []),
            *([say("{count} ranked lower", count=corrected.lowered)] if corrected.lowered else []),
        ]
        lines.append(say("🎯 People corrected {commits}: {ways}", commits=commits, ways=join_clauses(ways, say)))
    if report.score:
        lines.append(f"🎯 {score_sentence(report.score).translated(report.language)}")
    return lines


def areas_line(report: WeekReport) -> str:
    """Return the folders that most commits touch, numbered as in the chart."""
    areas = [f"{place} {each.path} ({each.commits})" for place, each in enumerate(report.areas, 1)]
    return catalogue(report.language)("Most touched: {areas}", areas=" · ".join(areas)) if areas else ""


def days_line(report: WeekReport) -> str:
    """Return how many commits each stored day has."""
    return " · ".join(
        f"{weekday(day, report.language)} {stats.total}" + (f" (🔴 {stats.high})" if stats.high else "")
        for day, stats in report.daily()
        if stats
    )


def _days(first: date, last: date) -> Sequence[date]:
    return tuple(first + _ONE * place for place in range((last - first).days + 1))
