"""The commands `backfill` and `calibrate`, which read much of a repository's history and can be resumed."""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from analysis.errors import DigestError
from bot.cli.command_settings import command_settings, load_settings
from bot.cli.options import IncompleteResult, LangOption, NoModelOption, RepoOption, ZoneOption, budget_time, parse_days

if TYPE_CHECKING:
    from analysis.models import Repository
    from bot.services.backfill import BackfilledDay


def backfill(
    days: Annotated[
        str, typer.Argument(metavar="DATE|FROM..TO", help="A day, or both ends of a range: 2026-01-01..2026-01-31.")
    ],
    repo: RepoOption = None,
    lang: LangOption = None,
    timezone: ZoneOption = None,
    no_model: NoModelOption = False,
) -> None:
    """Read many days into the store. An interrupted run resumes where it stopped."""
    from analysis.window import zone
    from bot.cli.progress import TerminalProgress
    from bot.services import backfill as service
    from bot.services import factory
    from bot.services.configured_repositories import choose_repositories

    settings = command_settings()
    language, tz, now = lang or settings.digest_language, zone(timezone or settings.digest_timezone), datetime.now(UTC)
    dates = parse_days(days, now.astimezone(tz).date())
    repositories = choose_repositories(repo, settings.digest_repos)
    done: list[BackfilledDay] = []
    with (
        TerminalProgress(days=len(dates) * len(repositories)) as progress,
        factory.command_services(
            settings, progress, now=budget_time(now, no_model), mirrored=lambda _: True
        ) as services,
    ):
        try:
            done.extend(
                service.backfill(services.digests, repositories, dates, tz, language, now=now, progress=progress)
            )
        except DigestError as exc:
            _print_totals(repositories, done)
            raise type(exc)(str(exc)) from exc
    _print_totals(repositories, done)
    missing = [each for each in done if each.reason]
    if missing:
        first = missing[0]
        raise IncompleteResult(
            f"{len(missing)} of {len(done)} days are incomplete (first {first.day}: {first.reason}); run it again to continue"
        )


def calibrate(
    repo: RepoOption = None,
    releases: Annotated[
        int, typer.Option("--releases", min=2, max=50, metavar="N", help="Number of newest releases to learn from.")
    ] = 4,
) -> None:
    """Fit the ranking to a repository's release notes. An interrupted run resumes where it stopped."""
    from bot.cli.progress import TerminalProgress
    from bot.services import factory
    from bot.services.calibration import as_lines
    from bot.services.calibration import calibrate as fit
    from bot.services.configured_repositories import choose_repositories, stored_corrections

    settings = load_settings()
    repository, now = choose_repositories(repo, settings.digest_repos)[0], datetime.now(UTC)
    corrections = stored_corrections(settings.database_url.get_secret_value(), repository)
    with (
        TerminalProgress() as progress,
        factory.command_services(settings, progress, mirrored=lambda _: True) as services,
    ):
        done = fit(
            services.github,
            services.sources,
            services.store,
            repository,
            settings.tz,
            most=releases,
            corrections=corrections,
            now=now,
            progress=progress,
        )
    sys.stdout.writelines(f"{line}\n" for line in as_lines(done))


def _print_totals(repositories: "Sequence[Repository]", done: "Sequence[BackfilledDay]") -> None:
    from analysis.text import quantity

    for repository in repositories:
        days = [each for each in done if each.repository == repository]
        if days:
            commits, failed = sum(each.commits for each in days), sum(each.failed for each in days)
            typer.echo(f"{repository}: {quantity(len(days), 'day')}, {quantity(commits, 'commit')}, {failed:,} failed")
