"""The reports of commands: each is made with progress, then printed, with an error for what is missing."""

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

from analysis.errors import DigestError, Misuse, OutsideFailure
from analysis.models import SHORT_SHA, DayReport, Remark
from analysis.models.weeks import WeekReport
from analysis.report.markdown import CommitReport, Report, ScoreReport
from analysis.text import one_line, quantity
from analysis.watch import parse_watch
from analysis.window import parse_day, parse_week
from bot.cli.options import CommandOptions, IncompleteResult
from bot.cli.output import print_reports
from bot.cli.progress import TerminalProgress
from bot.models.reference import parse_reference
from bot.models.subjects import DayRef, WeekRef
from bot.services.factory import Services
from bot.services.selection import Selection, selected, touched


class CommandResult(NamedTuple):
    """The reports that a command made, and the error that tells what is missing, if anything is.

    The `remarks` are what JSON does not say.
    """

    reports: Sequence[Report]
    error: DigestError | None = None
    remarks: Sequence[str] = ()

    def show(self, form: str, out: Path | None) -> None:
        """Print the reports in a format, or write them to a file; the remarks of JSON go to standard error. Raise the error."""
        if self.reports:
            print_reports(self.reports, form, out)
        if form == "json":
            sys.stderr.writelines(f"{one_line(each)}\n" for each in self.remarks)
        if self.error:
            raise self.error


def report_days(options: CommandOptions, day: str, watch: str, *, sample: bool = False) -> CommandResult:
    """Read a day of each repository, or the sample's. The error of a repository is raised if there is no other."""
    date, selection = parse_day(day or "yesterday", options.today), Selection(watch=parse_watch(watch))
    reports: list[DayReport] = []
    failures: dict[str, DigestError] = {}
    with (
        TerminalProgress() as progress,
        _sample_services() if sample else options.services(progress) as services,
    ):
        for each in options.repositories:
            progress.day(each, date)
            try:
                ref = DayRef(each, date, options.tz.key, options.language)
                report = services.digests.report(ref, options.now, progress)
                reports.append(selected(report, selection, watch, touched(report, selection.watch, services.store)))
            except DigestError as exc:
                if len(options.repositories) == 1:
                    raise
                failures[str(each)] = exc
    return CommandResult(reports, _missing_of_days(reports, failures))


def _sample_services() -> AbstractContextManager[Services]:
    from bot.local import sample_services

    return sample_services()


def _missing_of_days(reports: Sequence[DayReport], failures: dict[str, DigestError]) -> DigestError | None:
    """Return what is missing of the days; `Misuse` if the input is to blame for all of it."""
    missing = [_missing_of_day(each) for each in reports if each.failed or Remark.LATE_UNKNOWN in each.remarks]
    if not failures and not missing:
        return None
    message = "; ".join([*(f"{name}: {exc}" for name, exc in failures.items()), *missing])
    misused = not missing and all(isinstance(exc, Misuse) for exc in failures.values())
    return Misuse(message) if misused else IncompleteResult(message)


def _missing_of_day(report: DayReport) -> str:
    if not report.failed:
        return f"{report.repository}: GitHub could not be asked what landed late; run it again to complete the report"
    read = f"{len(report.failed)} of {report.coverage.listed} commits could not be read"
    return f"{report.repository}: {read} ({report.failed[0].reason}); run it again to complete the report"


def report_commit(options: CommandOptions, ref: str) -> CommandResult:
    """Look up a commit, and analyse it."""
    reference = parse_reference(ref)
    with TerminalProgress() as progress, options.services(progress) as services:
        repository, entry = services.commits.look_up(reference, options.repositories, options.language)
    return CommandResult([CommitReport(repository, entry, options.language, options.tz.key)])


def report_weeks(options: CommandOptions, day: str, chart: Path | None) -> CommandResult:
    """Read a week of each repository, without a model, and draw the chart."""
    first = parse_week(day, options.today)
    if chart and len(options.repositories) > 1:
        raise Misuse("--chart draws one repository; choose one with --repo")
    reports: list[WeekReport] = []
    failures: list[str] = []
    with TerminalProgress() as progress, options.services(progress) as services:
        for repository in options.repositories:
            ref = WeekRef(repository, first, options.tz.key, options.language)
            past = [each.day for each in ref.days if each.day < options.today]
            try:
                services.digests.prepare(repository, past, ref.tz, options.now)
            except OutsideFailure as exc:
                failures.append(f"{repository}: {exc}")

            def read_day(each: DayRef) -> DayReport:
                return services.digests.report(each, options.now, progress, ask=False)

            read = services.weeks.read(ref, options.today, read_day, whole=True)
            reports.append(services.weeks.report(ref, read.days, options.today))
            unread = [failure.reason for each in read.days for failure in each.failed]
            failures += [f"{repository}: {why}" for why in [read.failure or next(iter(unread), None)] if why]
    if chart:
        _draw(reports[0], chart)
    missing = "; ".join(failures) + "; run it again to complete the week"
    return CommandResult(reports, IncompleteResult(missing) if failures else None)


def _draw(report: WeekReport, path: Path) -> None:
    from analysis.report.chart import week_chart

    try:
        path.write_bytes(week_chart(report))
    except OSError as exc:
        raise Misuse(f"{str(path)[:100]!r} cannot be written ({exc.strerror})") from exc


def report_score(options: CommandOptions, release: str | None, *, read: bool) -> CommandResult:
    """Compare the ranks of a release's commits with its notes; with `read`, rank first those that have no rank."""
    repository = options.only_repository("score --repo {repository}")
    with TerminalProgress() as progress, options.services(progress, mirrored=True) as services:
        scored = services.releases.score(repository, release, options.now, read=read, tz=options.tz, progress=progress)
    report = ScoreReport(scored.score, options.language)
    if not scored.failed:
        return CommandResult([report])
    first = scored.failed[0]
    missing = (
        f"{quantity(len(scored.failed), 'commit')} could not be read (first {first.sha[:SHORT_SHA]}: {first.reason})"
    )
    return CommandResult([report], IncompleteResult(f"{missing}; run it again to complete the result"))
