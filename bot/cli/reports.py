"""The reports of commands: each is made with progress, then printed, with an error for what is missing."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from analysis.errors import DigestError, Misuse
from analysis.models import SHORT_SHA, DayReport, Failure, Repository
from analysis.models.weeks import WeekReport
from analysis.report.impacts import comparison, omissions, suspects_summary
from analysis.report.markdown import CommitReport, Report, ScoreReport
from analysis.search.reports import decoded
from analysis.text import one_line
from analysis.watch import parse_watch
from analysis.window import parse_day, parse_week
from bot.cli.options import CommandOptions, check_complete, complete_index
from bot.cli.output import open_input, print_reports
from bot.cli.progress import TerminalProgress
from bot.models.reference import days_or_commit, parse_reference
from bot.models.subjects import DayRef, WeekRef
from bot.services.digest import missing_of, reports_of
from bot.services.impact import ReportTerms
from bot.services.schedule import Selection, selected, touched
from bot.services.suspects import end_of_search
from bot.services.upgrade import UpgradeRequest, parse_span

_MOST_BYTES = 100_000_000  # of a file with a failure


_FORMATS = {".md": "markdown", ".json": "json"}  # of files


class CommandResult(NamedTuple):
    """The reports that a command made, what is missing from them, and the errors of repositories that have none.

    The `remarks` are what JSON does not say.
    """

    reports: Sequence[Report]
    missing: Sequence[str] = ()
    failures: Mapping[str, DigestError] = MappingProxyType({})
    remarks: Sequence[str] = ()

    def show(self, form: str | None, out: Path | None) -> None:
        """Print the reports in a format, or write them to a file; the remarks of JSON go to standard error.

        Without a format it is that of the file's name, or else the terminal's. Raise `IncompleteResult` if something is missing.
        """
        form = form or _FORMATS.get(out.suffix if out else "", "terminal")
        print_reports(self.reports, form, out)
        if form == "json":
            sys.stderr.writelines(f"{one_line(each)}\n" for each in self.remarks)
        check_complete(self.missing, self.failures)


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
    return CommandResult([ScoreReport(scored.score, options.language)], _unread(scored.failed))


def report_impacts(options: CommandOptions, what: str, downstreams: Sequence[Repository | Path]) -> CommandResult:
    """Compare days or a commit with downstream trees."""
    if not downstreams:
        raise Misuse("name the code that may break: --downstream owner/name or a folder, or set DIGEST_DOWNSTREAM")
    subject, terms = days_or_commit(what, options.today), _terms(options, downstreams)
    days = len(subject) * len(options.repositories) if isinstance(subject, list) else 0
    with (
        TerminalProgress(days=days if days > 1 else 0) as progress,
        options.services(progress, mirrored=True) as services,
    ):
        if isinstance(subject, list):
            reports = [services.impacts.of_days(each, subject, terms, progress) for each in options.repositories]
        else:
            reports = [services.impacts.of_commit(subject, options.repositories, terms)]
    missing = [row for report in reports for row in _unread(report.failed)]
    missing += [f"{each.date} could not be read ({each.reason})" for report in reports for each in report.unlisted]
    compared = [
        line
        for report in reports
        for each in report.downstreams
        for line in (comparison(each, report.language), *omissions(each, report.language))
    ]
    return CommandResult(reports, missing, remarks=compared)


def report_upgrade(options: CommandOptions, span: str, downstreams: Sequence[Repository | Path]) -> CommandResult:
    """Read what lies between two versions, and group it by its consequences."""
    upstream, (start, end) = options.only_repository("upgrade {repository} FROM..TO"), parse_span(span)
    asked = UpgradeRequest(upstream, start, end, downstreams, options.language, options.tz, options.now)
    with TerminalProgress() as progress, options.services(progress, mirrored=True) as services:
        report = services.upgrades.report(asked, progress)
    return CommandResult([report], _unread(report.failed))


def report_release(
    options: CommandOptions, tag: str, since: str, downstreams: Sequence[Repository | Path]
) -> CommandResult:
    """Read what a release brings, and group it by its consequences."""
    upstream = options.only_repository("release {repository} TAG")
    asked = UpgradeRequest(upstream, since, tag, downstreams, options.language, options.tz, options.now)
    with TerminalProgress() as progress, options.services(progress, mirrored=True) as services:
        report = services.release_digests.report(asked, progress)
    return CommandResult([report], _unread(report.failed))


def report_suspects(
    options: CommandOptions, file: str, until: str | None, days: int, downstreams: Sequence[Repository | Path]
) -> CommandResult:
    """Search the stored commits of each repository for those that caused a failure."""
    text, end = _read_failure(file), end_of_search(until, options.tz, options.now)
    terms = _terms(options, downstreams)
    with TerminalProgress() as progress, options.services(progress, mirrored=bool(downstreams)) as services:
        complete_index(services.store, progress)
        reports, failures = reports_of(
            options.repositories, lambda each: services.suspects.find(each, text, terms, end, days)
        )
    return CommandResult(reports, (), failures, [suspects_summary(each) for each in reports if not each.suspects])


def _read_failure(file: str) -> str:
    """Return the text of a file, of standard input, or the sentence itself. Raise `Misuse` for what is no text."""
    if file == "-" and sys.stdin.isatty():
        raise Misuse("give a file, a sentence in quotes, or pipe a traceback in; see vllm-digest suspects --help")
    if file != "-" and " " in file.strip() and not os.path.exists(file):  # noqa: PTH110 (Path.exists raises for a long name)
        return file
    with open_input(file) as source:
        content = source.read(_MOST_BYTES + 1)
    name = "standard input" if file == "-" else file
    if len(content) > _MOST_BYTES:
        raise Misuse(f"{name} is larger than {_MOST_BYTES // 1_000_000} MB; pass only the part with the failure")
    return decoded(content, name)


def _terms(options: CommandOptions, downstreams: Sequence[Repository | Path]) -> ReportTerms:
    return ReportTerms(downstreams, options.language, options.tz, options.now)


def _unread(failed: Sequence[Failure]) -> list[str]:
    return [f"{each.sha[:SHORT_SHA]} could not be read ({each.reason})" for each in failed]
