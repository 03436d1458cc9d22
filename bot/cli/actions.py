"""Commands that make no report: answer, publish, rank, and fill and search the store."""

import sys
from collections.abc import Sequence
from datetime import datetime
from functools import partial

import typer
from rich.console import Console

from analysis.errors import BadSetting, Misuse, OutsideFailure, RateLimited
from analysis.models import Language, Repository
from analysis.questions.days_asked import QuestionScope, last_days
from analysis.questions.intent import language_of
from analysis.ranking import packaged_weights
from analysis.report.as_json import found_json
from analysis.report.terminal import print_answer, print_found
from analysis.text import quantity
from bot.cli.downstream_reports import report_impacts
from bot.cli.options import CommandOptions, IncompleteResult, complete_index
from bot.cli.output import deliver, open_input, raw
from bot.cli.progress import TerminalProgress
from bot.models.progress import Progress
from bot.models.publish_target import PublishTarget, parse_target
from bot.models.subjects import DayRef
from bot.publishing.publications import Publications, opened_publications
from bot.publishing.publisher import MoreCompleteError
from bot.services.digest import BackfilledDay, DigestService, backfill
from bot.services.downstream import asked_for
from bot.services.question_subjects import QuestionSubject, SubjectQuestions, question_subject
from bot.services.recorded_commits import ranked_lines
from bot.services.surfaces import repositories_named
from bot.settings import choose_repositories

_MOST_WORDS = 50  # in a search
_MOST_NAMED = 3  # days that could not be published


def answer(options: CommandOptions, about: str, question: str, repo: str | None, language: Language | None) -> None:
    """Print the answer to a question; if it asks what breaks downstream code, the report of the impacts."""
    settings = options.settings
    options.language = language or language_of(question, settings.digest_language)
    choose = partial(choose_repositories, configured=settings.digest_repos)
    subject = question_subject(about, question, choose, repo, options.today)
    if named := asked_for(question, repositories_named(settings.digest_downstream)):
        _show_impacts(options, about, subject, named)
        return
    with TerminalProgress() as progress, options.services(progress) as services:
        questions = SubjectQuestions(services.commits, services.answers, services.period_questions)
        read = partial(services.digests.report, now=options.now, ask=False)
        statements = questions.answer(subject, question, options.language, options.tz, read)
        deliver(lambda console: print_answer(console, progress.ended_by(statements)), None)


def _show_impacts(
    options: CommandOptions, about: str, subject: QuestionSubject, downstreams: Sequence[Repository]
) -> None:
    if isinstance(subject.about, QuestionScope):
        days = subject.about.days or last_days(options.today)
        about, options.repositories = f"{days[0]}..{days[-1]}", list(subject.repositories[:1])
    report_impacts(options, about, downstreams).show("terminal", None)


def fill_store(options: CommandOptions, days: str) -> None:
    """Read days of every repository into the store, and print the totals, also of a run that ends early."""
    dates, repositories = options.parse_days(days), options.repositories
    done: list[BackfilledDay] = []
    try:
        with (
            TerminalProgress(days=len(dates) * len(repositories)) as progress,
            options.services(progress, mirrored=True) as services,
        ):
            done.extend(
                backfill(services.digests, repositories, dates, options.tz, options.language, options.now, progress)
            )
    finally:
        for repository in repositories:
            if read := [each for each in done if each.repository == repository]:
                commits, failed = sum(each.commits for each in read), sum(each.failed for each in read)
                typer.echo(
                    f"{repository}: {quantity(len(read), 'day')}, {quantity(commits, 'commit')}, {failed:,} failed"
                )
    if missing := [each for each in done if each.reason]:
        days_missing = f"{len(missing)} of {len(done)} days are incomplete"
        first = f"first {missing[0].day}: {missing[0].reason}"
        raise IncompleteResult(f"{days_missing} ({first}); run it again to continue")


def search_store(
    options: CommandOptions, words: Sequence[str], limit: int, form: str, among: Sequence[Repository]
) -> None:
    """Print the stored commits that match, the best first."""
    if len(words) > _MOST_WORDS:
        raise Misuse(f"a search takes at most {_MOST_WORDS} words")
    with TerminalProgress() as progress, options.services(progress) as services:
        complete_index(services.store, progress)
        found = services.store.search_index.search(" ".join(words), among, limit)
        empty = not found and services.store.is_empty()
    if empty:
        raise Misuse("the store is empty; fill it with: vllm-digest backfill 2026-01-01..2026-01-31")

    def show(console: Console) -> None:
        if form == "json":
            raw(console, "".join(found_json(each.repository, each.commit) + "\n" for each in found))
        elif found:
            print_found(console, [(each.repository, each.commit) for each in found], options.tz)
        else:
            raw(console, f"no stored commit holds {' '.join(words)!r}\n")

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
        opened_publications(settings, services.github.is_public, token) as publications,
    ):
        for each in options.repositories:
            targets = _checked_targets(publications, each, target)
            if len(dates) > 1:
                services.digests.prepare(each, dates, options.tz, options.now)
            for day in dates:
                ref = DayRef(each, day, options.tz.key, options.language)
                progress.day(each, day)
                missing += _publish_day(services.digests, publications, ref, targets, options.now, progress)
                progress.day_done()
    if missing:
        raise IncompleteResult(f"{'; '.join(missing[:_MOST_NAMED])}; run it again to complete what is missing")


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
    digests: DigestService,
    publications: Publications,
    ref: DayRef,
    targets: Sequence[PublishTarget],
    now: datetime,
    progress: Progress,
) -> list[str]:
    """Publish a day and print what became of it; return what is missing. Raise `Misuse` for what no retry helps."""
    name = f"{ref.repository} {ref.day}"
    try:
        report = digests.report(ref, now, progress)
        for target in targets:
            try:
                result = f"{'published to' if publications.publish(target, report, now) else 'unchanged in'} {target}"
            except MoreCompleteError:
                result = f"left unchanged in {target}, where it is more complete"
            typer.echo(f"{name}: {result}")
    except (Misuse, RateLimited):
        raise
    except OutsideFailure as exc:
        return [f"{name}: {exc}"]
    if not report.failed:
        return []
    commits = quantity(len(report.failed), "commit")
    return [f"{name}: {commits} could not be read ({report.failed[0].reason})"]
