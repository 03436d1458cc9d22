"""The command `digest`: the report of a day."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from analysis.errors import DigestError, Misuse
from bot.cli import options

if TYPE_CHECKING:
    from analysis.models import DayReport
    from bot.cli.progress import TerminalProgress
    from bot.models.subjects import DayRef
    from bot.services.factory import Services
    from bot.settings import Settings


def digest(
    day: Annotated[str, typer.Argument(metavar="[DATE]", help="2026-02-05, today, yesterday, -3 or mon.")] = "",
    repo: options.Repo = None,
    lang: options.Lang = None,
    timezone: options.Zone = None,
    format: options.FormatOrSlack = "terminal",
    out: options.Out = None,
    no_model: options.NoModel = False,
    watch: Annotated[
        str, typer.Option("--watch", metavar="TERM,...", help="Paths, names or flags; commits that touch one are high.")
    ] = "",
    sample: Annotated[bool, typer.Option("--sample", help="The sample day, offline and without a token.")] = False,
) -> None:
    """Report one day's commits, ranked and analysed."""
    from analysis.window import parse_day, zone
    from bot.cli.output import print_reports
    from bot.models.subjects import DayRef
    from bot.services.configured_repositories import choose_repositories

    settings = options.command_settings()
    language, tz, now = lang or settings.digest_language, zone(timezone or settings.digest_timezone), datetime.now(UTC)
    if sample:
        from bot.local.sample import SAMPLE_DAY, SAMPLE_REPOSITORY

        day, repo = day or SAMPLE_DAY.isoformat(), SAMPLE_REPOSITORY
    date = parse_day(day or "yesterday", now.astimezone(tz).date())
    days = [DayRef(each, date, tz.key, language) for each in choose_repositories(repo, settings.digest_repos)]
    reports, failures = _read_days(settings, days, watch, now, no_model=no_model, sample=sample)
    if reports:
        print_reports(reports, format, out)
    _check_complete(reports, failures)


def _read_days(
    settings: "Settings", days: "Sequence[DayRef]", watch: str, now: datetime, *, no_model: bool, sample: bool
) -> tuple[list["DayReport"], dict[str, DigestError]]:
    """Return the reports, and the error of each other repository. If there is only one repository, its error is raised."""
    from analysis.impact.watch import parse_watch
    from bot.cli.progress import TerminalProgress
    from bot.services.selection import Selection, selected, touched

    selection = Selection(watch=parse_watch(watch))
    reports: list[DayReport] = []
    failures: dict[str, DigestError] = {}
    with (
        TerminalProgress() as progress,
        _services(settings, progress, options.budget_time(now, no_model), sample=sample) as services,
    ):
        for each in days:
            progress.day(each.repository, each.day)
            try:
                report = services.digests.report(each, now, progress)
                reports.append(selected(report, selection, watch, touched(report, selection.watch, services.store)))
            except DigestError as exc:
                if len(days) == 1:
                    raise
                failures[str(each.repository)] = exc
    return reports, failures


def _services(
    settings: "Settings", progress: "TerminalProgress", now: datetime | None, *, sample: bool
) -> "AbstractContextManager[Services]":
    if sample:
        from bot.local.sample import sample_services

        return sample_services()
    from bot.services import factory

    return factory.command_services(settings, progress, now=now)


def _check_complete(reports: "Sequence[DayReport]", failures: dict[str, DigestError]) -> None:
    """Raise `IncompleteResult` if a repository or a commit is missing; `Misuse` if the input is to blame for all of it."""
    missing = [_missing(report) for report in reports if report.failed or _late_unknown(report)]
    if failures or missing:
        message = "; ".join([*(f"{name}: {exc}" for name, exc in failures.items()), *missing])
        misused = not missing and all(isinstance(exc, Misuse) for exc in failures.values())
        raise Misuse(message) if misused else options.IncompleteResult(message)


def _late_unknown(report: "DayReport") -> bool:
    from analysis.models import Remark

    return Remark.LATE_UNKNOWN in report.remarks


def _missing(report: "DayReport") -> str:
    if not report.failed:
        return f"{report.repository}: GitHub could not be asked what landed late; run it again to complete the report"
    read = f"{len(report.failed)} of {report.coverage.listed} commits could not be read"
    return f"{report.repository}: {read} ({report.failed[0].reason}); run it again to complete the report"
