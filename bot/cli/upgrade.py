"""The command `upgrade`: the changes between two upstream versions, grouped by consequence for downstream code."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from analysis.errors import Misuse
from bot.cli import options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.models.upgrades import UpgradeReport
    from bot.services.upgrade_ends import UpgradeRequest
    from bot.settings import Settings

_MOST_WORDS = 2  # a repository, and a range


def upgrade(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[REPO] [FROM[..TO]]",
            help="Tags, SHAs or days. Without FROM the version that the downstream code pins, without TO the branch's head.",
        ),
    ] = None,
    downstream: Annotated[
        list[str] | None,
        typer.Option(
            "--downstream",
            metavar="OWNER/NAME[@REF]|FOLDER",
            help="The code to upgrade; . is the current folder. May be repeated. (DIGEST_DOWNSTREAM)",
        ),
    ] = None,
    repo: options.Repo = None,
    lang: options.Lang = None,
    timezone: options.Zone = None,
    format: options.Format = "terminal",
    out: options.Out = None,
) -> None:
    """Show what lies between two versions. What breaks downstream code comes first."""
    from analysis.window import zone
    from bot.cli.output import print_reports

    settings = options.command_settings()
    tz = zone(timezone or settings.digest_timezone)
    asked = _request(settings, what or [], downstream, repo)._replace(tz=tz, language=lang or settings.digest_language)
    report = _report(settings, asked)
    print_reports([report], format, out)
    _check_complete(report)


def _request(
    settings: "Settings", words: "Sequence[str]", downstream: "Sequence[str] | None", repo: str | None
) -> "UpgradeRequest":
    """Return what the words ask, in the language and time zone of the settings."""
    from bot.services.configured_repositories import choose_repositories
    from bot.services.impact import parse_downstream
    from bot.services.upgrade_ends import UpgradeRequest, parse_span

    if len(words) > _MOST_WORDS:
        raise Misuse(f"{words[_MOST_WORDS]!r} is unexpected; see vllm-digest upgrade --help")
    upstreams = choose_repositories(words[0] if len(words) == _MOST_WORDS else repo, settings.digest_repos)
    if len(upstreams) > 1:
        raise Misuse(f"several repositories are configured; choose one: vllm-digest upgrade {upstreams[0]} FROM..TO")
    start, end = parse_span(words[-1] if words else "")
    downstreams = [parse_downstream(each) for each in downstream or settings.digest_downstream]
    now = datetime.now(UTC)
    return UpgradeRequest(upstreams[0], start, end, downstreams, settings.digest_language, settings.tz, now)


def _report(settings: "Settings", asked: "UpgradeRequest") -> "UpgradeReport":
    from bot.cli.progress import TerminalProgress
    from bot.services import factory

    with (
        TerminalProgress() as progress,
        factory.command_services(settings, progress, mirrored=lambda _: True) as services,
    ):
        return services.upgrades.report(asked, progress)


def _check_complete(report: "UpgradeReport") -> None:
    """Raise `IncompleteResult` if a commit is missing."""
    if report.failed:
        first, more = report.failed[0], len(report.failed) - 1
        others = f" and {more} more" if more else ""
        raise options.IncompleteResult(
            f"not read: {first.sha[:7]} ({first.reason}){others}; run it again to complete the result"
        )
