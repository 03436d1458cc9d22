"""The command `week`: seven days of a repository by what they change in sum."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from analysis.errors import Misuse, OutsideFailure
from bot.cli.command_settings import command_settings
from bot.cli.options import IncompleteResult, LangOption, OutOption, RepoOption, ZoneOption

if TYPE_CHECKING:
    from rich.console import Console

    from analysis.models.weeks import WeekReport
    from bot.models.subjects import WeekRef
    from bot.settings import Settings

Format = Literal["terminal", "markdown", "json", "slack"]


def week(
    day: Annotated[
        str,
        typer.Argument(
            metavar="[DATE|-N]", help="The week of a day, or N weeks back; by default the last seven whole days."
        ),
    ] = "",
    repo: RepoOption = None,
    lang: LangOption = None,
    timezone: ZoneOption = None,
    format: Annotated[Format, typer.Option("--format", help="How the result is written.")] = "terminal",
    out: OutOption = None,
    chart: Annotated[
        Path | None, typer.Option("--chart", metavar="FILE.png", help="Also draw the commits a day and by folder.")
    ] = None,
) -> None:
    """Report a week by its consequences. It names what was reverted and what is announced to go."""
    from analysis.window import parse_week, zone
    from bot.cli.output import deliver
    from bot.models.subjects import WeekRef
    from bot.services.configured_repositories import choose_repositories

    settings = command_settings()
    language, tz, now = lang or settings.digest_language, zone(timezone or settings.digest_timezone), datetime.now(UTC)
    first = parse_week(day, now.astimezone(tz).date())
    chosen = choose_repositories(repo, settings.digest_repos)
    if chart and len(chosen) > 1:
        raise Misuse("--chart draws one repository; choose one with --repo")
    weeks = [WeekRef(each, first, tz.key, language) for each in chosen]
    reports, failures = _read_weeks(settings, weeks, now)
    deliver(lambda console: _print(console, reports, format), out)
    if chart:
        _draw(reports[0], chart)
    if failures:
        raise IncompleteResult("; ".join(failures) + "; run it again to complete the week")


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


def _print(console: "Console", reports: "Sequence[WeekReport]", form: Format) -> None:
    from bot.cli.output import raw

    if form == "json":
        from analysis.report.as_json import week_json

        raw(console, "".join(week_json(each) + "\n" for each in reports))
    elif form == "markdown":
        from analysis.report.weeks_markdown import week_markdown

        raw(console, "\n".join(map(week_markdown, reports)))
    elif form == "slack":
        from bot.slack.messages.week import weeks_slack

        raw(console, weeks_slack(reports) + "\n")
    else:
        from analysis.report.weeks_terminal import print_week

        for report in reports:
            print_week(console, report)


def _draw(report: "WeekReport", path: Path) -> None:
    from analysis.report.chart import week_chart

    try:
        path.write_bytes(week_chart(report))
    except OSError as exc:
        raise Misuse(f"{str(path)[:100]!r} cannot be written ({exc.strerror})") from exc
