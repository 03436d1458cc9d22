"""The command `score`: the ranks that a release's commits were given, compared with its notes."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from analysis.errors import Misuse
from bot.cli import options

if TYPE_CHECKING:
    from analysis.models import Repository
    from bot.services.release_scoring import ScoredRelease
    from bot.settings import Settings


def score(
    release: Annotated[
        str | None, typer.Argument(metavar="[RELEASE]", help="The tag of a release; by default the newest.")
    ] = None,
    repo: options.Repo = None,
    read: Annotated[
        bool, typer.Option("--read", help="Read and rank the commits that have no rank, which are counted apart.")
    ] = False,
    lang: options.Lang = None,
    format: options.Format = "terminal",
    out: options.Out = None,
) -> None:
    """Show how right the ranks of a release's commits were. It compares them with what the notes name."""
    from analysis.models import SHORT_SHA
    from analysis.report.markdown import ScoreReport
    from analysis.text import quantity
    from bot.cli.output import print_reports
    from bot.services.configured_repositories import choose_repositories

    settings = options.command_settings()
    repositories = choose_repositories(repo, settings.digest_repos)
    if len(repositories) > 1:
        raise Misuse(f"several repositories are configured; choose one: vllm-digest score --repo {repositories[0]}")
    scored = _score(settings, repositories[0], release, read=read)
    print_reports([ScoreReport(scored.score, lang or settings.digest_language)], format, out)
    if scored.failed:
        raise options.IncompleteResult(
            f"{quantity(len(scored.failed), 'commit')} could not be read (first {scored.failed[0].sha[:SHORT_SHA]}: "
            f"{scored.failed[0].reason}); run it again to complete the result"
        )


def _score(settings: "Settings", repository: "Repository", release: str | None, *, read: bool) -> "ScoredRelease":
    from bot.cli.progress import TerminalProgress
    from bot.services import factory
    from bot.services.release_scoring import Reading, ReleaseScoring

    with (
        TerminalProgress() as progress,
        factory.command_services(settings, progress, mirrored=lambda _: True) as services,
    ):
        scoring = ReleaseScoring(services.github, services.sources, services.store)
        reading = Reading(settings.tz, progress) if read else None
        return scoring.score(repository, release, datetime.now(UTC), reading)
