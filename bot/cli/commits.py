"""The commands `commit` and `ask`: one commit, and questions about it."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli import options

if TYPE_CHECKING:
    from bot.cli.progress import TerminalProgress
    from bot.services.factory import Services
    from bot.settings import Settings

RefArgument = Annotated[str, typer.Argument(metavar="REF", help="A SHA or a prefix of it, #123, or a URL.")]


def commit(
    ref: RefArgument,
    repo: options.Repo = None,
    lang: options.Lang = None,
    timezone: options.Zone = None,
    format: options.Format = "terminal",
    out: options.Out = None,
    no_model: options.NoModel = False,
) -> None:
    """Show one commit with its analysis."""
    from analysis.report.markdown import CommitReport
    from analysis.window import zone
    from bot.cli.output import print_reports
    from bot.models.reference import parse_reference
    from bot.services.configured_repositories import choose_repositories

    reference = parse_reference(ref)
    settings = options.command_settings()
    language, tz = lang or settings.digest_language, zone(timezone or settings.digest_timezone)
    with _services(settings, no_model=no_model) as (services, _):
        repository, entry = services.commits.look_up(
            reference, choose_repositories(repo, settings.digest_repos), language
        )

    print_reports([CommitReport(repository, entry, language, tz.key)], format, out)


def ask(
    about: Annotated[
        str,
        typer.Argument(
            metavar="REF|DATE|FROM..TO|OWNER/NAME", help="A commit, a day, days, or a repository's last week."
        ),
    ],
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What you want to know, in Chinese or English.")],
    repo: options.Repo = None,
    lang: options.Lang = None,
    timezone: options.Zone = None,
    no_model: options.NoModel = False,
) -> None:
    """Answer a question about commits. It quotes the lines that prove the answer."""
    from analysis.questions.days_asked import QuestionScope, last_days
    from analysis.questions.intent import language_of
    from analysis.report.terminal import print_answer
    from analysis.window import zone
    from bot.cli.impact import impact
    from bot.cli.output import deliver
    from bot.services.configured_repositories import choose_repositories
    from bot.services.downstream import asked_for
    from bot.services.impact import repositories_named
    from bot.services.question_subjects import SubjectQuestions, question_subject

    settings = options.command_settings()
    language, tz = lang or language_of(question, settings.digest_language), zone(timezone or settings.digest_timezone)
    now = datetime.now(UTC)
    choose = partial(choose_repositories, configured=settings.digest_repos)
    subject = question_subject(about, question, choose, repo, now.astimezone(tz).date())
    if named := asked_for(question, repositories_named(settings.digest_downstream)):
        over = subject.about if isinstance(subject.about, QuestionScope) else None
        days = (over.days or last_days(now.astimezone(tz).date())) if over else ()
        period, chosen = (f"{days[0]}..{days[-1]}", str(subject.repositories[0])) if days else (about, repo)
        impact([period], [str(each) for each in named], chosen, language, tz.key)
        return
    with _services(settings, no_model=no_model) as (services, progress):
        questions = SubjectQuestions(services.commits, services.answers, services.period_questions)
        read = partial(services.digests.report, now=now, ask=False)
        statements = questions.answer(subject, question, language, tz, read)
        deliver(lambda console: print_answer(console, progress.ended_by(statements)), None)


@contextmanager
def _services(settings: "Settings", *, no_model: bool) -> Iterator[tuple["Services", "TerminalProgress"]]:
    """Open the services for one command, with progress bars."""
    from bot.cli.progress import TerminalProgress
    from bot.services import factory

    now = options.budget_time(datetime.now(UTC), no_model)
    with TerminalProgress() as progress, factory.command_services(settings, progress, now=now) as services:
        yield services, progress
