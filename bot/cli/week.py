"""The command `week`: seven days of a repository by what they change in sum."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from analysis.errors import Misuse, OutsideFailure
from bot.cli import options

if TYPE_CHECKING:
    from analysis.models.weeks import WeekReport
    from bot.models.subjects import WeekRef
    from bot.settings import Settings


def week(
    day: Annotated[
        str,
        typer.Argument(
            metavar="[DATE|-N]", help="The week of a day, or N weeks back; by default the last seven whole days."
        ),
    ] = "",
    repo: options.Repo = None,
    lang: options.Lang = None,
    timezone: options.Zone = None,
    format: options.FormatOrSlack = "terminal",
    out: options.Out = None,
    chart: Annotated[
        Path | None, typer.Option("--chart", metavar="FILE.png", help="Also draw the commits a day and by folder.")
    ] = None,
) -> None:
    """Report a week by its consequences. It names what was reverted and what is announced to go."""
    from analysis.window import parse_week, zone
    from bot.cli.output import print_reports
    from bot.models.subjects import WeekRef
    from bot.services.configured_repositories import choose_repositories

    settings = options.command_settings()
    language, tz, now = lang or settings.digest_language, zone(timezone or settings.digest_timezone), datetime.now(UTC)
    first = parse_week(day, now.astimezone(tz).date())
    chosen = choose_repositories(repo, settings.digest_repos)
    if chart and len(chosen) > 1:
        raise Misuse("--chart draws one repository; choose one with --repo")
    weeks = [WeekRef(each, first, tz.key, language) for each in chosen]
    reports, failures = _read_weeks(settings, weeks, now)
    print_reports(reports, format, out)
    if chart:
        _draw(reports[0], chart)
    if failures:
        raise options.IncompleteResult("; ".join(failures) + "; run it again to complete the week")


def _read_weeks(
    settings: "Settings", weeks: "Sequence[WeekRef]", now: datetime
) -> tuple[list["WeekReport"], list[str]]:
    """Read what is missing, without a model. Return the reports, and what could not be read."""
    from bot.cli.progress import TerminalProgress
    from bot.services import factory

    reports: list[WeekReport] = []
    failures: list[str] = []
    with TerminalProgress() as progress, factory.command_services(settings, progress) as services:
        for ref in weeks:
            today = now.astimezone(ref.tz).date()
            past = [each.day for each in ref.days if each.day < today]
            try:
                services.digests.prepare(ref.repository, past, ref.tz, now)
            except OutsideFailure as exc:
                failures.append(f"{ref.repository}: {exc}")

            read = services.weeks.read(
                ref, today, lambda each: services.digests.report(each, now, progress, ask=False), whole=True
            )
            reports.append(services.weeks.report(ref, read.days, today))
            unread = [failure.reason for each in read.days for failure in each.failed]
            failures += [f"{ref.repository}: {why}" for why in [read.failure or next(iter(unread), None)] if why]
    return reports, failures


def _draw(report: "WeekReport", path: Path) -> None:
    from analysis.report.chart import week_chart

    try:
        path.write_bytes(week_chart(report))
    except OSError as exc:
        raise Misuse(f"{str(path)[:100]!r} cannot be written ({exc.strerror})") from exc
