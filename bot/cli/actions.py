"""Commands that make no report: answer, publish, rank, fill and search the store, and the operator's `move` and `doctor`."""

import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial

import typer
from rich.console import Console
from rich.text import Text

from analysis.errors import BadSetting, Misuse, OutsideFailure, RateLimited, StoreUnusable
from analysis.models import DayReport, Language, Repository
from analysis.questions.intent import language_of
from analysis.ranking import packaged_weights
from analysis.report.as_json import found_json
from analysis.report.terminal import Line, print_answer, print_found, print_line
from analysis.text import one_line, quantity, shorten
from bot.cli.options import CommandOptions, IncompleteResult, check_complete, complete_index
from bot.cli.output import deliver, open_input, raw, standard_console
from bot.cli.progress import TerminalProgress
from bot.models.publish_target import PublishTarget, parse_target
from bot.models.question_subject import question_subject
from bot.publishing.publications import Publications, opened_publications
from bot.publishing.publisher import MoreCompleteError
from bot.services.digest import DayRead
from bot.services.downstream import asked_for, check_trees
from bot.services.recorded_commits import ranked_lines
from bot.settings import choose_repositories

_MOST_WORDS = 50  # in a search
_LONGEST_ECHO = 200  # characters


def answer(
    options: CommandOptions,
    about: str,
    question: str,
    repo: str | None,
    language: Language | None,
    downstream: Sequence[str] | None,
) -> None:
    """Print the answer to a question; if it asks what breaks downstream code, from the impacts."""
    settings = options.settings
    options.language = language or language_of(question, settings.digest_language)
    choose = partial(choose_repositories, configured=settings.digest_repos)
    subject = question_subject(about, question, choose, repo, options.today)
    trees = options.downstreams(downstream) if downstream else asked_for(question, options.downstreams(None))
    with TerminalProgress() as progress, options.services(progress, mirrored=bool(trees)) as services:
        for each in trees if downstream else ():
            if isinstance(each, Repository):  # one that does not exist is refused, also where there are no commits
                services.impacts.mirror(each.model_copy(update={"branch": None}), options.now)
        read = partial(services.digests.report, now=options.now, ask=False)
        check = partial(check_trees, services.impacts, trees=trees, now=options.now, then=True) if trees else None
        statements = services.period_questions.answer_subject(
            subject, question, options.language, options.tz, read, check
        )
        deliver(lambda console: print_answer(console, progress.ended_by(statements)), None)


def fill_store(options: CommandOptions, days: str) -> None:
    """Read days of every repository into the store, and print the totals, also of a run that ends early."""
    dates, missing = options.parse_days(days), list[str]()
    with (
        TerminalProgress(days=len(dates) * len(options.repositories)) as progress,
        options.services(progress, mirrored=True) as services,
    ):
        for repository in options.repositories:
            done: list[DayRead] = []
            try:
                done.extend(
                    services.digests.reports(repository, dates, options.tz, options.language, options.now, progress)
                )
            finally:
                if done:
                    typer.echo(f"{repository}: {_totals(done)}")
            missing += [f"{repository} {each.day}: {each.missing}" for each in done if each.missing]
    check_complete(missing)


def _totals(done: Sequence[DayRead]) -> str:
    reports = [each.report for each in done if each.report]
    commits, failed = sum(each.stats.total for each in reports), sum(len(each.failed) for each in reports)
    return f"{quantity(len(done), 'day')}, {quantity(commits, 'commit')}, {failed:,} failed"


def search_store(
    options: CommandOptions, words: Sequence[str], limit: int, form: str, among: Sequence[Repository]
) -> None:
    """Print the stored commits that match, the best first."""
    if not any(map(str.strip, words)):
        raise Misuse("give the words to search for: vllm-digest search kv connector")
    if len(words) > _MOST_WORDS:
        raise Misuse(f"a search takes at most {_MOST_WORDS} words")
    with TerminalProgress() as progress, options.services(progress) as services:
        complete_index(services.store, progress)
        found = services.sources.with_releases(services.store.search_index.search(" ".join(words), among, limit))
        empty = not found and services.store.is_empty()
    if empty:
        raise Misuse("the store is empty; fill it with: vllm-digest backfill 2026-01-01..2026-01-31")

    def show(console: Console) -> None:
        if form == "json":
            raw(console, "".join(found_json(each) + "\n" for each in found))
        elif found:
            print_found(console, found, options.tz, options.language)
        else:
            raw(console, f"no stored commit holds {shorten(' '.join(words), _LONGEST_ECHO)!r}\n")

    deliver(show, None)


def rank_lines(options: CommandOptions, file: str) -> None:
    """Print recorded commits with their ranks, by the weights of the first repository."""
    weights = packaged_weights(options.repositories[0])
    with open_input(file) as lines:
        # Rank all lines before writing any: a malformed line leaves no partial output.
        ranked = list(ranked_lines(lines, weights))
    sys.stdout.writelines(f"{line}\n" for line in ranked)


def publish_days(options: CommandOptions, days: str, to: str | None) -> None:
    """Publish days of each repository, and print a line for each."""
    dates, target = options.parse_days(days), parse_target(to) if to else None
    settings, missing = options.settings, list[str]()
    token = settings.publish_token or settings.token  # a person named the target just now
    with (
        TerminalProgress(days=len(dates) * len(options.repositories)) as progress,
        options.services(progress) as services,
        opened_publications(settings, services.github.is_public, token, services.compatibility) as publications,
    ):
        for repository in options.repositories:
            targets = _checked_targets(publications, repository, target)
            for day, report, why in services.digests.reports(
                repository, dates, options.tz, options.language, options.now, progress
            ):
                name = f"{repository} {day}"
                missing += [f"{name}: {why}"] if why else []
                if report:
                    missing += [f"{name}: {each}" for each in _publish_day(publications, report, targets, options.now)]
    check_complete(missing)


def _checked_targets(
    publications: Publications, repository: Repository, target: PublishTarget | None
) -> list[PublishTarget]:
    """Return the given target, or those of the settings; each can be written, which is known before a day is read."""
    if target:
        targets = [target]
    else:
        rules = publications.targets(repository)
        # If none is meant, the check of the first one tells why.
        targets = [each for each in rules if publications.is_meant(each, repository)] or rules[:1]
    if not targets:
        raise BadSetting(
            f"nothing says where to publish {repository}; use --to owner/name or --to ./folder, or set DIGEST_PUBLISH"
        )
    for each in targets:
        publications.check(each, repository)
    return targets


def _publish_day(
    publications: Publications, report: DayReport, targets: Sequence[PublishTarget], now: datetime
) -> Iterator[str]:
    """Publish a day, print what became of it, and yield what failed. Raise `Misuse` for what no retry helps."""
    for target in targets:
        try:
            result = f"{'published to' if publications.publish(target, report, now) else 'unchanged in'} {target}"
        except MoreCompleteError:
            result = f"left unchanged in {target}, where it is more complete"
        except RateLimited:
            raise
        except OutsideFailure as exc:
            yield str(exc)
            continue
        typer.echo(f"{report.repository} {report.date}: {result}")


def move_database(source: str, target: str) -> None:
    """Copy a database, and print the rows of each table and the deliveries that are under way."""
    from bot.move import move_store

    try:
        with TerminalProgress() as progress:
            tables, flows = move_store(source, target, progress)
    except (
        BadSetting,
        StoreUnusable,
    ) as exc:  # without advice about the setting, which is not where these URLs come from
        raise type(exc)(str(exc).replace(", or set DATABASE_URL", "").replace("DATABASE_URL", "the URL")) from exc
    widest = max(map(len, tables))
    for name, rows in tables.items():
        typer.echo(f"{name:{widest}} {rows:>13,} rows")
    if flows:
        typer.echo(f"deliveries under way: {flows:,}; the bot that is started next finishes them")


def check_settings() -> None:
    """Print a line for each check. Raise `Misuse` if the settings are wrong, `IncompleteResult` if a service fails."""
    from bot.doctor import findings

    console, codes = standard_console(), []
    for each in findings(lambda: datetime.now(UTC)):
        codes.append(each.exit_code)
        mark = ("✗", "red") if each.exit_code else ("✓", "green") if each.exit_code == 0 else ("–", "yellow")
        print_line(console, Line(Text(f"{each.name}: {one_line(each.message)}"), Text.assemble(mark, " ")))
    if wrong := list(filter(None, codes)):
        message = f"{len(wrong)} of {len(codes)} checks failed; each line with ✗ says what to do"
        raise Misuse(message) if Misuse.exit_code in wrong else IncompleteResult(message)
