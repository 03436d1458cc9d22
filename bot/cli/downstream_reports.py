"""The reports of what breaks downstream code: of days, versions and failures, made and printed as the others are."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from analysis.errors import Misuse
from analysis.models import Repository
from analysis.report.compatibility import annotations
from analysis.report.impacts import comparison, omissions, suspects_summary
from analysis.search.reports import decoded
from bot.cli.options import CommandOptions, complete_index
from bot.cli.output import open_input
from bot.cli.progress import TerminalProgress
from bot.cli.reports import CommandResult, unread
from bot.models.reference import days_or_commit
from bot.services.digest import reports_of
from bot.services.impact import ReportTerms
from bot.services.suspects import end_of_search
from bot.services.versions.compatibility import CompatibilityRequest
from bot.services.versions.upgrade import UpgradeRequest

_NO_DOWNSTREAM = "name the code that may break: --downstream owner/name or a folder, or set DIGEST_DOWNSTREAM"
_MOST_BYTES = 100_000_000  # of a file with a failure


def report_impacts(options: CommandOptions, what: str, downstreams: Sequence[Repository | Path]) -> CommandResult:
    """Compare days or a commit with downstream trees."""
    if not downstreams:
        raise Misuse(_NO_DOWNSTREAM)
    subject, terms = (
        days_or_commit(what, options.today),
        ReportTerms(downstreams, options.language, options.tz, options.now),
    )
    days = len(subject) * len(options.repositories) if isinstance(subject, list) else 0
    with (
        TerminalProgress(days=days if days > 1 else 0) as progress,
        options.services(progress, mirrored=True) as services,
    ):
        if isinstance(subject, list):
            reports = [services.impacts.of_days(each, subject, terms, progress) for each in options.repositories]
        else:
            reports = [services.impacts.of_commit(subject, options.repositories, terms)]
    missing = [row for report in reports for row in unread(report.failed)]
    missing += [f"{each.date} could not be read ({each.reason})" for report in reports for each in report.unlisted]
    compared = [
        line
        for report in reports
        for each in report.downstreams
        for line in (comparison(each, report.language), *omissions(each, report.language))
    ]
    return CommandResult(reports, missing, remarks=compared)


def report_compatibility(
    options: CommandOptions, downstreams: Sequence[Repository | Path], *, candidates: bool, fail_on_break: bool
) -> CommandResult:
    """Compare downstream trees with the releases."""
    if not downstreams:
        raise Misuse(_NO_DOWNSTREAM)
    upstream = options.only_repository("compat {repository}")
    with TerminalProgress() as progress, options.services(progress, mirrored=True) as services:
        asked = (
            CompatibilityRequest(upstream, each, options.language, options.now, candidates) for each in downstreams
        )
        reports = [services.compatibility.report(each, progress) for each in asked]
    found = [line for each in reports for line in annotations(each)] if fail_on_break else []
    return CommandResult(reports, annotations=found)


def report_upgrade(
    options: CommandOptions, command: str, start: str, end: str, downstreams: Sequence[Repository | Path]
) -> CommandResult:
    """Read what lies between two versions, or what a release brings if so asked, and group it by its consequences."""
    upstream = options.only_repository(command)
    asked = UpgradeRequest(upstream, start, end, downstreams, options.language, options.tz, options.now)
    with TerminalProgress() as progress, options.services(progress, mirrored=True) as services:
        service = services.release_digests if command.startswith("release") else services.upgrades
        report = service.report(asked, progress)
    return CommandResult([report], unread(report.failed))


def report_suspects(
    options: CommandOptions, file: str, until: str | None, days: int, downstreams: Sequence[Repository | Path]
) -> CommandResult:
    """Search the stored commits of each repository for those that caused a failure."""
    text, end = _read_failure(file), end_of_search(until, options.tz, options.now)
    terms = ReportTerms(downstreams, options.language, options.tz, options.now)
    with TerminalProgress() as progress, options.services(progress, mirrored=bool(downstreams)) as services:
        complete_index(services.store, progress)
        reports, failures = reports_of(
            options.repositories, lambda each: services.suspects.find(each, text, terms, end, days)
        )
    return CommandResult(reports, (), failures, [suspects_summary(each) for each in reports if not each.suspects])


def _read_failure(file: str) -> str:
    """Return the text of a file, of standard input, or the sentence itself. Raise `Misuse` for what is no text."""
    if not file.strip() or (file == "-" and sys.stdin.isatty()):
        raise Misuse("give a file, a sentence in quotes, or pipe a traceback in; see vllm-digest suspects --help")
    if file != "-" and " " in file.strip() and not os.path.exists(file):  # noqa: PTH110 (Path.exists raises for a long name)
        return file
    with open_input(file) as source:
        content = source.read(_MOST_BYTES + 1)
    name = "standard input" if file == "-" else file
    if len(content) > _MOST_BYTES:
        raise Misuse(f"{name} is larger than {_MOST_BYTES // 1_000_000} MB; pass only the part with the failure")
    return decoded(content, name)
