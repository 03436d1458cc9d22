"""The commands `commit` and `ask`: one commit, and questions about it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from analysis.errors import Misuse
from bot.cli.command_settings import command_settings
from bot.cli.options import LangOption, NoModelOption, OutOption, RepoOption, ZoneOption, budget_time

if TYPE_CHECKING:
    from rich.console import Console

    from analysis.models import Repository
    from analysis.questions.scope import Scope
    from bot.models.reference import Reference
    from bot.services.factory import Services
    from bot.settings import Settings

_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+(?:@\S+)?")

Format = Literal["terminal", "markdown", "json"]
RefArgument = Annotated[str, typer.Argument(metavar="REF", help="A SHA or a prefix of it, #123, or a URL.")]


def commit(
    ref: RefArgument,
    repo: RepoOption = None,
    lang: LangOption = None,
    timezone: ZoneOption = None,
    format: Annotated[Format, typer.Option("--format", help="Output format.")] = "terminal",
    out: OutOption = None,
    no_model: NoModelOption = False,
) -> None:
    """Show one commit with its analysis."""
    from analysis.report.as_json import commit_json
    from analysis.report.markdown import commit_markdown
    from analysis.report.terminal import print_commit
    from analysis.window import zone
    from bot.cli.output import deliver, raw
    from bot.models.reference import parse_reference
    from bot.services.configured_repositories import choose_repositories

    reference = parse_reference(ref)
    settings = command_settings()
    language, tz = lang or settings.digest_language, zone(timezone or settings.digest_timezone)
    with _services(settings, no_model=no_model) as services:
        repository, entry = services.commits.look_up(
            reference, choose_repositories(repo, settings.digest_repos), language
        )

    def show(console: "Console") -> None:
        if format == "json":
            raw(console, commit_json(repository, entry) + "\n")
        elif format == "markdown":
            raw(console, commit_markdown(repository, entry, language))
        else:
            print_commit(console, repository, entry, language, tz)

    deliver(show, out)


def ask(
    about: Annotated[
        str,
        typer.Argument(
            metavar="REF|DATE|FROM..TO|OWNER/NAME", help="A commit, a day, days, or a repository's last week."
        ),
    ],
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What you want to know, in Chinese or English.")],
    repo: RepoOption = None,
    lang: LangOption = None,
    timezone: ZoneOption = None,
    no_model: NoModelOption = False,
) -> None:
    """Answer a question about a commit, a day, a range or a repository, with the lines that prove it."""
    from analysis.models import Question
    from analysis.questions.intent import language_of
    from analysis.questions.scope import Scope
    from analysis.report.terminal import print_answer
    from analysis.window import zone
    from bot.cli.output import deliver
    from bot.services.period_questions import PeriodQuestion, scope_statement

    if not question.strip():
        raise Misuse('the question is empty; ask something, such as "does this touch ROCm?"')
    settings = command_settings()
    language, tz = lang or language_of(question, settings.digest_language), zone(timezone or settings.digest_timezone)
    now = datetime.now(UTC)
    subject, repositories = _subject(about, question, repo, settings, now.astimezone(tz).date())
    with _services(settings, no_model=no_model) as services:
        if isinstance(subject, Scope):
            asked = PeriodQuestion(subject.text, repositories[0], subject.days, tz, language)
            statements = services.period_questions.answer(asked, partial(services.digests.report, now=now, ask=False))
            if _REPOSITORY.fullmatch(about):
                statements = chain([scope_statement(asked)], statements)
        else:
            located = services.commits.locate(subject, repositories)
            entry = services.commits.entry(located, language, patches=True)
            statements = services.answers.answer(Question(question, located.repository, (entry,)), language)
        deliver(lambda console: print_answer(console, statements), None)


def _subject(
    about: str, question: str, repo: str | None, settings: "Settings", today: date
) -> "tuple[Scope | Reference, list[Repository]]":
    """Return the commit or the days that a question is about, and the repository."""
    from analysis.questions.scope import Scope, scope_of
    from bot.cli.subjects import days_or_commit
    from bot.services.configured_repositories import choose_repositories

    if _REPOSITORY.fullmatch(about):
        return scope_of(question, today), choose_repositories(about, settings.digest_repos)
    repositories = choose_repositories(repo, settings.digest_repos)
    subject = days_or_commit(about, today)
    if not isinstance(subject, list):
        return subject, repositories
    if len(repositories) > 1:
        raise Misuse("several repositories are configured; choose one with --repo")
    return Scope(question, tuple(subject)), repositories


@contextmanager
def _services(settings: "Settings", *, no_model: bool) -> Iterator["Services"]:
    """Open the services for one command, with progress bars."""
    from bot.cli.progress import TerminalProgress
    from bot.services import factory

    now = budget_time(datetime.now(UTC), no_model)
    with TerminalProgress() as progress, factory.command_services(settings, progress, now=now) as services:
        yield services
