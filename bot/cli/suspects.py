"""The command `suspects`: the commits that most likely caused a failure."""

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from analysis.errors import Misuse
from bot.cli import options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.models import Repository
    from analysis.models.suspects import SuspectReport
    from bot.services.suspects import SuspectTerms
    from bot.settings import Settings

_MOST_BYTES = 100_000_000


def suspects(
    file: Annotated[
        str,
        typer.Argument(
            metavar="[FILE|-]",
            help="A traceback or a log, a sentence in quotes, or - for standard input (the default).",
        ),
    ] = "-",
    until: Annotated[
        str | None,
        typer.Option("--until", metavar="DATE", help="The last day to search; by default today."),
    ] = None,
    days: Annotated[int, typer.Option("--days", min=1, max=365, metavar="N", help="Number of days to search.")] = 90,
    downstream: options.Downstream = None,
    repo: options.Repo = None,
    lang: options.Lang = None,
    timezone: options.Zone = None,
    format: options.Format = "terminal",
    out: options.Out = None,
) -> None:
    """Find the commits that most likely caused a failure. It reads a traceback, a log or a description, and says why."""
    from analysis.window import zone
    from bot.cli.output import print_reports
    from bot.services.configured_repositories import choose_repositories
    from bot.services.impact import parse_downstream
    from bot.services.suspects import SuspectTerms, end_of_search

    settings, now = options.command_settings(), datetime.now(UTC)
    tz = zone(timezone or settings.digest_timezone)
    text = _read(file)
    trees = [parse_downstream(each) for each in downstream or settings.digest_downstream]
    terms = SuspectTerms(trees, end_of_search(until, tz, now), days, lang or settings.digest_language, tz, now)
    reports = _reports(settings, choose_repositories(repo, settings.digest_repos), text, terms)
    print_reports(reports, format, out)
    if format == "json":
        from analysis.report.impacts import suspects_summary

        for each in reports:
            if not each.suspects:
                sys.stderr.write(f"{suspects_summary(each)}\n")


def _read(file: str) -> str:
    """Return the text of a file, of standard input, or the sentence itself. Raise `Misuse` for what is no text."""
    from analysis.search.reports import decoded

    if file == "-" and sys.stdin.isatty():
        raise Misuse("give a file, a sentence in quotes, or pipe a traceback in; see vllm-digest suspects --help")
    if file != "-" and " " in file.strip() and not os.path.exists(file):  # noqa: PTH110 (Path.exists raises for a long name)
        return file
    name = "standard input" if file == "-" else file
    try:
        with sys.stdin.buffer if file == "-" else Path(file).open("rb") as source:
            content = source.read(_MOST_BYTES + 1)
    except OSError as exc:
        raise Misuse(f"{file} cannot be read ({exc.strerror})") from exc
    if len(content) > _MOST_BYTES:
        raise Misuse(f"{name} is larger than {_MOST_BYTES // 1_000_000} MB; pass only the part with the failure")
    return decoded(content, name)


def _reports(
    settings: "Settings", repositories: "Sequence[Repository]", text: str, terms: "SuspectTerms"
) -> "list[SuspectReport]":
    from bot.cli.progress import TerminalProgress
    from bot.cli.search import complete_index
    from bot.services import factory
    from bot.services.suspects import SuspectService

    with (
        TerminalProgress() as progress,
        factory.command_services(settings, progress, mirrored=lambda _: bool(terms.downstreams)) as services,
    ):
        complete_index(services.store, progress)
        service = SuspectService(services.store, services.commits, services.impacts)
        return [service.find(each, text, terms) for each in repositories]
