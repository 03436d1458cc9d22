"""The reports of days, weeks, commits and releases: each is made with progress, then printed, with an error for what is missing."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from analysis.errors import DigestError, Misuse
from analysis.models import SHORT_SHA, DayReport, Failure, Repository
from analysis.models.weeks import WeekReport
from analysis.report.markdown import CommitReport, Report, ScoreReport
from analysis.text import one_line, quantity
from analysis.watch import parse_watch
from analysis.window import parse_day, parse_week
from bot.cli.options import BreakFound, CommandOptions, check_complete
from bot.cli.output import print_reports
from bot.cli.progress import TerminalProgress
from bot.models.reference import parse_reference
from bot.models.subjects import DayRef, WeekRef
from bot.services.digest import missing_of, reports_of
from bot.services.schedule import Selection, selected, touched

_FORMATS = {".md": "markdown", ".json": "json"}  # of files


class CommandResult(NamedTuple):
    """The reports that a command made, what is missing from them, and the errors of repositories that have none.

    The `remarks` are what JSON does not say. `annotations` are commands of GitHub's workflows, and go to standard error.
    """

    reports: Sequence[Report]
    missing: Sequence[str] = ()
    failures: Mapping[str, DigestError] = MappingProxyType({})
    remarks: Sequence[str] = ()
    annotations: Sequence[str] = ()

    def show(self, form: str | None, out: Path | None) -> None:
        """Print the reports in a format, or write them to a file; the remarks of JSON go to standard error.

        Without a format it is that of the file's name, or else the terminal's. Raise `IncompleteResult` if something is missing,
        `BreakFound` if there are annotations.
        """
        form = form or _FORMATS.get(out.suffix if out else "", "terminal")
        print_reports(self.reports, form, out)
        if form == "json":
            sys.stderr.writelines(f"{one_line(each)}\n" for each in self.remarks)
        check_complete(self.missing, self.failures)
        sys.stderr.writelines(f"{each}\n" for each in self.annotations)
        if self.annotations:
            raise BreakFound(f"{quantity(len(self.annotations), 'break')} with the newest release")


def report_days(options: CommandOptions, day: str, watch: str, *, sample: bool = False) -> CommandResult:
    """Read a day of each repository, or the sample's."""
    date, selection = parse_day(day or "yesterday", options.today), Selection(watch=parse_watch(watch))
    missing: list[str] = []
    with TerminalProgress() as progress, options.services(progress, sample=sample) as services:

        def read(repository: Repository) -> DayReport:
            progress.day(repository, date)
            ref = DayRef(repository, date, options.tz.key, options.language)
            report = services.digests.report(ref, options.now, progress)
            missing.extend(f"{repository}: {what}" for what in [missing_of(report)] if what)
            return selected(report, selection, watch, touched(report, selection.watch, services.store))

        reports, failures = reports_of(options.repositories, read)
    return CommandResult(reports, missing, failures)


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
    missing: list[str] = []
    with TerminalProgress() as progress, options.services(progress) as services:

        def read_day(ref: DayRef) -> DayReport:
            return services.digests.report(ref, options.now, progress, ask=False)

        def read(repository: Repository) -> WeekReport:
            ref = WeekRef(repository, first, options.tz.key, options.language)
            past = [each.day for each in ref.days if each.day < options.today]
            services.digests.prepare(repository, past, ref.tz, options.now)
            week = services.weeks.read(ref, options.today, read_day, whole=True)
            unread = [failure.reason for each in week.days for failure in each.failed]
            missing.extend(f"{repository}: {why}" for why in (week.failure, *unread) if why)
            return services.weeks.report(ref, week.days, options.today)

        reports, failures = reports_of(options.repositories, read)
    if chart:
        _draw(reports[0], chart)
    return CommandResult(reports, missing, failures)


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
    return CommandResult([ScoreReport(scored.score, options.language)], unread(scored.failed))


def unread(failed: Sequence[Failure]) -> list[str]:
    """Return what could not be read of commits, with the reasons."""
    return [f"{each.sha[:SHORT_SHA]} could not be read ({each.reason})" for each in failed]
