"""A day's report as everybody may see it, and what its index and feeds need of it."""

from collections.abc import Iterable
from datetime import datetime

from analysis.consequences.period import breaking_lines, shown_lines
from analysis.locale import Phrase
from analysis.models import DayReport, Failure, PublishedBreak, PublishedDay

_LINES = 5  # headlines of a day


def published_form(report: DayReport) -> DayReport:
    """Return the report with general words for what failed: the reasons name the operator's hosts and settings."""
    return report.model_copy(
        update={
            "failed": _in_general(report.failed, Phrase("its changes were not available")),
            "replaced": _in_general(report.replaced, Phrase("the model did not analyse it")),
        }
    )


def _in_general(failures: Iterable[Failure], reason: Phrase) -> tuple[Failure, ...]:
    return tuple(each.model_copy(update={"reason": reason}) for each in failures)


def published_day(report: DayReport, now: datetime, before: PublishedDay | None = None) -> PublishedDay:
    """Return a day as published at `now`; what is unchanged since `before` keeps the time of its last change."""
    known = {each.sha: each for each in before.breaking} if before else {}
    breaking = []
    for each in breaking_lines(report):
        commit = each.entry.commit
        found = PublishedBreak(
            sha=commit.sha,
            url=commit.url,
            pr=commit.pr,
            committed_at=commit.committed_at,
            line=each.headline,
            updated=now,
        )
        same = known.get(commit.sha)
        breaking.append(same if same and same == found.model_copy(update={"updated": same.updated}) else found)
    lines = [each.headline for group in shown_lines(report) for each in group.lines]
    return PublishedDay(
        date=report.date,
        updated=now,
        stats=report.stats,
        failed=len(report.failed),
        lines=tuple(lines[:_LINES]),
        breaking=tuple(breaking),
    )
