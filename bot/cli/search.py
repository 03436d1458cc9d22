"""The commands `search`, in the store, and `rank`, of recorded commits."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from analysis.errors import Misuse
from bot.cli import options

if TYPE_CHECKING:
    from rich.console import Console

    from bot.cli.progress import TerminalProgress
    from bot.store import Store

_MOST_WORDS = 50  # in a search


def search(
    words: Annotated[
        list[str], typer.Argument(metavar="WORDS", help='Matches any word; +word and "quoted words" are required.')
    ],
    repo: options.Repo = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="Maximum number of commits.")] = 20,
    timezone: options.Zone = None,
    format: Annotated[Literal["terminal", "json"], typer.Option("--format", help="Output format.")] = "terminal",
) -> None:
    """Find commits in the store."""
    from analysis.report.as_json import found_json
    from analysis.report.terminal import print_found
    from analysis.window import zone
    from bot.cli.output import deliver, raw
    from bot.cli.progress import TerminalProgress
    from bot.services import factory
    from bot.services.configured_repositories import choose_repositories

    settings = options.load_settings()
    tz = zone(timezone or settings.digest_timezone)
    among = choose_repositories(repo, settings.digest_repos) if repo else []
    if len(words) > _MOST_WORDS:
        raise Misuse(f"a search takes at most {_MOST_WORDS} words")
    with TerminalProgress() as progress, factory.command_services(settings) as services:
        complete_index(services.store, progress)
        found = services.store.search_index.search(" ".join(words), among, limit)
        empty = not found and services.store.is_empty()
    if empty:
        raise Misuse("the store is empty; fill it with: vllm-digest backfill 2026-01-01..2026-01-31")

    def show(console: "Console") -> None:
        if format == "json":
            raw(console, "".join(found_json(each.repository, each.commit) + "\n" for each in found))
        elif found:
            print_found(console, [(each.repository, each.commit) for each in found], tz)
        else:
            raw(console, f"no stored commit holds {' '.join(words)!r}\n")

    deliver(show, None)


def rank(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE.jsonl", help="Recorded commits, one JSON object a line; - reads standard input."),
    ],
    repo: Annotated[
        str | None,
        typer.Option(
            "--repo",
            metavar="OWNER/NAME",
            help="The repository whose weights are used; by default the first of DIGEST_REPOS.",
        ),
    ] = None,
) -> None:
    """Rank recorded commits: a JSON object a line."""
    from analysis.ranking import packaged_weights
    from bot.services.configured_repositories import choose_repositories
    from bot.services.recorded_commits import ranked_lines

    settings = options.load_settings()
    weights = packaged_weights(choose_repositories(repo, settings.digest_repos)[0])
    try:
        with sys.stdin.buffer if file == "-" else Path(file).open("rb") as lines:
            # Rank all lines before writing any: a malformed line leaves no partial output.
            ranked = list(ranked_lines(lines, weights))
    except OSError as exc:
        raise Misuse(f"{file} cannot be read ({exc.strerror})") from exc
    sys.stdout.writelines(f"{line}\n" for line in ranked)


def complete_index(store: "Store", progress: "TerminalProgress") -> None:
    """Index what an earlier program stored, with progress."""
    if outdated := store.search_index.outdated():
        progress.expect(outdated)
        for done in store.search_index.update():
            progress.advance(done)
