"""The command `backfill`."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from analysis.errors import DigestError
from bot.cli import options

if TYPE_CHECKING:
    from analysis.models import Repository
    from bot.services.backfill import BackfilledDay


def backfill(
    days: Annotated[
        str, typer.Argument(metavar="DATE|FROM..TO", help="A day, or both ends of a range: 2026-01-01..2026-01-31.")
    ],
    repo: options.Repo = None,
    lang: options.Lang = None,
    timezone: options.Zone = None,
    no_model: options.NoModel = False,
) -> None:
    """Read many days into the store. An interrupted run resumes where it stopped."""
    from analysis.window import zone
    from bot.cli.progress import TerminalProgress
    from bot.services import backfill as service
    from bot.services import factory
    from bot.services.configured_repositories import choose_repositories

    settings = options.command_settings()
    language, tz, now = lang or settings.digest_language, zone(timezone or settings.digest_timezone), datetime.now(UTC)
    dates = options.parse_days(days, now.astimezone(tz).date())
    repositories = choose_repositories(repo, settings.digest_repos)
    done: list[BackfilledDay] = []
    with (
        TerminalProgress(days=len(dates) * len(repositories)) as progress,
        factory.command_services(
            settings, progress, now=options.budget_time(now, no_model), mirrored=lambda _: True
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
        raise options.IncompleteResult(
            f"{len(missing)} of {len(done)} days are incomplete (first {first.day}: {first.reason}); run it again to continue"
        )


def _print_totals(repositories: "Sequence[Repository]", done: "Sequence[BackfilledDay]") -> None:
    from analysis.text import quantity

    for repository in repositories:
        days = [each for each in done if each.repository == repository]
        if days:
            commits, failed = sum(each.commits for each in days), sum(each.failed for each in days)
            typer.echo(f"{repository}: {quantity(len(days), 'day')}, {quantity(commits, 'commit')}, {failed:,} failed")
