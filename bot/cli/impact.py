"""The command `impact`: the commits that break downstream code."""

import sys
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from analysis.errors import Misuse
from bot.cli import options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.models import Repository
    from analysis.models.impacts import ImpactReport
    from bot.models.reference import Reference
    from bot.services.impact_reports import Terms
    from bot.settings import Settings

_MOST_WORDS = 2  # a repository, and what of it


def impact(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[REPO] [DATE|FROM..TO|REF]", help="A day (by default yesterday), a range of days, or one commit."
        ),
    ] = None,
    downstream: options.Downstream = None,
    repo: options.Repo = None,
    lang: options.Lang = None,
    timezone: options.Zone = None,
    format: options.Format = "terminal",
    out: options.Out = None,
) -> None:
    """Show which commits break downstream code. It shows both places and, where known, what to write instead."""
    from analysis.window import zone
    from bot.cli.output import print_reports
    from bot.models.reference import days_or_commit
    from bot.services.configured_repositories import choose_repositories
    from bot.services.impact import parse_downstream
    from bot.services.impact_reports import Terms

    settings, now = options.command_settings(), datetime.now(UTC)
    tz = zone(timezone or settings.digest_timezone)
    *first, period = _words(what)
    subject = days_or_commit(period, now.astimezone(tz).date())
    repositories = choose_repositories(first[0] if first else repo, settings.digest_repos)
    downstreams = [parse_downstream(each) for each in downstream or settings.digest_downstream]
    if not downstreams:
        raise Misuse("name the code that may break: --downstream owner/name or a folder, or set DIGEST_DOWNSTREAM")
    terms = Terms(downstreams, lang or settings.digest_language, tz, now)
    reports = _reports(settings, repositories, subject, terms)
    print_reports(reports, format, out)
    if format == "json":
        _print_comparisons(reports)
    _check_complete(reports)


def _words(what: "Sequence[str] | None") -> list[str]:
    words = list(what or ["yesterday"])
    if len(words) > _MOST_WORDS:
        raise Misuse(f"{words[_MOST_WORDS]!r} is unexpected; see vllm-digest impact --help")
    return words


def _reports(
    settings: "Settings", repositories: "Sequence[Repository]", subject: "list[date] | Reference", terms: "Terms"
) -> "list[ImpactReport]":
    from bot.cli.progress import TerminalProgress
    from bot.services import factory
    from bot.services.impact_reports import ImpactReports

    days = len(subject) * len(repositories) if isinstance(subject, list) else 0
    with (
        TerminalProgress(days=days if days > 1 else 0) as progress,
        factory.command_services(settings, progress, mirrored=lambda _: True) as services,
    ):
        impacts = ImpactReports(services.sources, services.digests, services.commits, services.impacts)
        if isinstance(subject, list):
            return [impacts.of_days(each, subject, terms, progress) for each in repositories]
        return [impacts.of_commit(subject, repositories, terms)]


def _print_comparisons(reports: "Sequence[ImpactReport]") -> None:
    """Print what was compared, which rows of JSON do not say, to standard error."""
    from analysis.report.impacts import comparison, omissions
    from analysis.text import one_line

    for report in reports:
        for downstream in report.downstreams:
            for line in (comparison(downstream, report.language), *omissions(downstream, report.language)):
                sys.stderr.write(f"{one_line(line)}\n")


def _check_complete(reports: "Sequence[ImpactReport]") -> None:
    """Raise `IncompleteResult` if a commit or a day is missing."""
    missing = [
        *(f"{each.sha[:7]} ({each.reason})" for report in reports for each in report.failed),
        *(f"{each.date} ({each.reason})" for report in reports for each in report.unlisted),
    ]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise options.IncompleteResult(f"not compared: {missing[0]}{more}; run it again to complete the result")
