"""The command line: parses arguments and settings, calls the services, and reports errors by exit code and one line.

Exit codes: 0 done, 1 our bug, 2 usage or configuration, 3 an outside service failed and the result is incomplete.
A reader that closes the pipe early, such as `head`, does not change them.
Heavy imports are local to the commands, so that `--help` is fast.
"""

import errno
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from analysis.errors import DigestError, Misuse
from analysis.locale import Language
from bot.cli.pipes import reopen
from bot.cli.process import METRICS_PORT, run_until_ended, show_until_ended

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from analysis.models import Commit, DayReport, Repository
    from bot.services.backfill import BackfilledDay

_MOST_WORDS = 50  # in a search
_UNFINISHED = 3
_INTERRUPTED = 130

app = typer.Typer(
    name="vllm-digest",
    help="Reads a day's commits of fast GitHub repositories, says which matter and why.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Format = Literal["terminal", "markdown", "json", "slack"]
CommitFormat = Literal["terminal", "markdown", "json"]
RepoOption = Annotated[
    str | None, typer.Option("--repo", metavar="OWNER/NAME", help="One repository instead of DIGEST_REPOS.")
]
LangOption = Annotated[Language | None, typer.Option("--lang", help="Language of the report (DIGEST_LANGUAGE).")]
ZoneOption = Annotated[
    str | None, typer.Option("--timezone", metavar="ZONE", help="Time zone of the days (DIGEST_TIMEZONE).")
]
FormatOption = Annotated[Format, typer.Option("--format", help="How the result is written.")]
CommitFormatOption = Annotated[CommitFormat, typer.Option("--format", help="How the result is written.")]
NoModelOption = Annotated[bool, typer.Option("--no-model", help="Analyse by rules alone.")]
OutOption = Annotated[
    Path | None, typer.Option("--out", metavar="PATH", help="Write to a file instead of the terminal.")
]


MetricsOption = Annotated[
    int | None,
    typer.Option(
        "--metrics-port",
        min=0,
        max=65535,
        help="Loopback port of /metrics, for Prometheus; 0 for none.",
        show_default=str(METRICS_PORT),
    ),
]


@app.callback(invoke_without_command=True)
def _start(
    context: typer.Context, version: Annotated[bool, typer.Option("--version", help="Say the version and end.")] = False
) -> None:
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"vllm-digest {installed('vllm-digest')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command(context_settings={"ignore_unknown_options": True})
def digest(
    day: Annotated[str, typer.Argument(metavar="[DATE]", help="2026-02-05, today, yesterday, -3 or mon.")] = "",
    repo: RepoOption = None,
    lang: LangOption = None,
    timezone: ZoneOption = None,
    format: FormatOption = "terminal",
    out: OutOption = None,
    no_model: NoModelOption = False,
    watch: Annotated[
        str, typer.Option("--watch", metavar="TERM,...", help="Paths, names or flags: what touches one is high.")
    ] = "",
    sample: Annotated[bool, typer.Option("--sample", help="The sample day, offline and without a token.")] = False,
) -> None:
    """Report one day's commits, ranked and analysed."""
    from analysis.impact.watch import parse_watch
    from analysis.window import parse_day, zone
    from bot import bootstrap
    from bot.cli.output import deliver, print_reports
    from bot.cli.progress import TerminalProgress
    from bot.models.subjects import DayRef
    from bot.services.configured import choose_repositories
    from bot.services.selection import Selection, selected, touched
    from bot.settings import Settings

    settings = Settings.load()
    language, tz, now = lang or settings.digest_language, zone(timezone or settings.digest_timezone), datetime.now(UTC)
    if sample:
        from bot.local_workspace import SAMPLE_DAY, SAMPLE_REPOSITORY, sample_services

        day, repo = day or SAMPLE_DAY.isoformat(), SAMPLE_REPOSITORY
    wanted = parse_day(day or "yesterday", now.astimezone(tz).date())
    repositories = choose_repositories(repo, settings.digest_repos)
    selection = Selection(watch=parse_watch(watch))
    reports: list[DayReport] = []
    failures: dict[str, DigestError] = {}
    with (
        TerminalProgress() as watcher,
        sample_services()
        if sample
        else bootstrap.command_services(settings, watcher.wait, now=_budget_time(now, no_model)) as services,
    ):
        for repository in repositories:
            watcher.day(repository, wanted)
            try:
                report = services.digests.report(DayRef(repository, wanted, tz.key, language), now, watcher)
                reports.append(selected(report, selection, watch, touched(report, selection.watch, services.store)))
            except DigestError as exc:
                if len(repositories) == 1:
                    raise
                failures[str(repository)] = exc
    if reports:
        deliver(lambda console: print_reports(console, reports, format), out)
    missing = [_missing(report) for report in reports if report.failed or _late_unknown(report)]
    if failures or missing:
        told = "; ".join([*(f"{name}: {exc}" for name, exc in failures.items()), *missing])
        wrong = not missing and all(isinstance(exc, Misuse) for exc in failures.values())
        raise Misuse(told) if wrong else _Unfinished(told)


@app.command()
def commit(
    ref: Annotated[str, typer.Argument(metavar="REF", help="A SHA or its beginning, #123, or an address.")],
    repo: RepoOption = None,
    lang: LangOption = None,
    timezone: ZoneOption = None,
    format: CommitFormatOption = "terminal",
    out: OutOption = None,
    no_model: NoModelOption = False,
) -> None:
    """Show one commit with its analysis."""
    from analysis.report.as_json import commit_json
    from analysis.report.markdown import commit_markdown
    from analysis.report.terminal import print_commit
    from analysis.window import zone
    from bot import bootstrap
    from bot.cli.output import deliver, raw
    from bot.cli.progress import TerminalProgress
    from bot.models.reference import parse_reference
    from bot.services.configured import choose_repositories
    from bot.settings import Settings

    reference = parse_reference(ref)
    settings = Settings.load()
    language, tz = lang or settings.digest_language, zone(timezone or settings.digest_timezone)
    with (
        TerminalProgress() as watcher,
        bootstrap.command_services(settings, watcher.wait, now=_budget_time(datetime.now(UTC), no_model)) as services,
    ):
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


@app.command()
def ask(
    ref: Annotated[str, typer.Argument(metavar="REF", help="A SHA or its beginning, #123, or an address.")],
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What you want to know, in Chinese or English.")],
    repo: RepoOption = None,
    lang: LangOption = None,
    no_model: NoModelOption = False,
) -> None:
    """Answer a question about a commit, with the places that say so."""
    from analysis.models import Question
    from analysis.questions.intent import language_of
    from analysis.report.terminal import print_answer
    from bot import bootstrap
    from bot.cli.output import deliver
    from bot.cli.progress import TerminalProgress
    from bot.models.reference import parse_reference
    from bot.services.configured import choose_repositories
    from bot.settings import Settings

    reference = parse_reference(ref)
    if not question.strip():
        raise Misuse('the question is empty; ask something, such as "does this touch ROCm?"')
    settings = Settings.load()
    language = lang or language_of(question, settings.digest_language)
    with (
        TerminalProgress() as watcher,
        bootstrap.command_services(settings, watcher.wait, now=_budget_time(datetime.now(UTC), no_model)) as services,
    ):
        located = services.commits.locate(reference, choose_repositories(repo, settings.digest_repos))
        entry = services.commits.entry(located, language, patches=True)
        asked = Question(question, located.repository, (entry,))
        deliver(lambda console: print_answer(console, services.answers.answer(asked, language)), None)


@app.command("run")
def run_bot(metrics_port: MetricsOption = None) -> None:
    """Run the bot: Slack over Socket Mode, the daily digests, answers. Ends with Ctrl+C or SIGTERM.

    Without Slack's tokens it is a local workspace in the browser.
    """
    from bot.settings import Settings

    settings = Settings.load()
    if settings.slack_bot_token or settings.slack_app_token:
        run_until_ended(settings, None, metrics_port)
    else:
        show_until_ended(settings)


@app.command()
def serve(
    host: Annotated[str, typer.Option("--host", help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Port to listen at.")] = 3000,
    metrics_port: MetricsOption = None,
) -> None:
    """Run the bot where Slack reaches it over HTTP: /slack/events and /healthz. Ends with Ctrl+C or SIGTERM."""
    from bot.settings import Settings

    run_until_ended(Settings.load(), (host, port), metrics_port)


@app.command()
def backfill(
    days: Annotated[str, typer.Argument(metavar="FROM..TO", help="Days, both ends included: 2026-01-01..2026-01-31.")],
    repo: RepoOption = None,
    lang: LangOption = None,
    timezone: ZoneOption = None,
    no_model: NoModelOption = False,
) -> None:
    """Read many days into the store; a killed run goes on where it was."""
    from analysis.window import parse_range, zone
    from bot import bootstrap
    from bot.cli.progress import TerminalProgress
    from bot.services.backfill import backfill as fill
    from bot.services.configured import choose_repositories
    from bot.settings import Settings

    settings = Settings.load()
    language, tz, now = lang or settings.digest_language, zone(timezone or settings.digest_timezone), datetime.now(UTC)
    wanted = parse_range(days, now.astimezone(tz).date())
    repositories = choose_repositories(repo, settings.digest_repos)
    done: list[BackfilledDay] = []
    with (
        TerminalProgress(days=len(wanted) * len(repositories)) as watcher,
        bootstrap.command_services(settings, watcher.wait, now=_budget_time(now, no_model)) as services,
    ):
        try:
            done.extend(fill(services.digests, repositories, wanted, tz, language, now=now, progress=watcher))
        except DigestError as exc:
            _say_filled(repositories, done)
            raise type(exc)(str(exc)) from exc
    _say_filled(repositories, done)
    missing = [each for each in done if each.reason]
    if missing:
        first = missing[0]
        raise _Unfinished(
            f"{len(missing)} of {len(done)} days are incomplete (first {first.day}: {first.reason}); run it again to go on"
        )


@app.command()
def search(
    words: Annotated[
        list[str], typer.Argument(metavar="WORDS", help="Each must begin a word of the title, a path or the summary.")
    ],
    repo: RepoOption = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="At most so many commits.")] = 20,
    timezone: ZoneOption = None,
    format: Annotated[
        Literal["terminal", "json"], typer.Option("--format", help="How the result is written.")
    ] = "terminal",
) -> None:
    """Find commits in the store."""
    from analysis.report.terminal import print_found
    from analysis.window import zone
    from bot import bootstrap
    from bot.cli.output import deliver, raw
    from bot.services.configured import choose_repositories
    from bot.settings import Settings

    settings = Settings.load()
    tz = zone(timezone or settings.digest_timezone)
    among = choose_repositories(repo, settings.digest_repos) if repo else []
    if len(words) > _MOST_WORDS:
        raise Misuse(f"a search is for at most {_MOST_WORDS} words; give the most telling ones")
    with bootstrap.command_services(settings) as services:
        found = services.store.search(" ".join(words), among, limit)
        empty = not found and services.store.is_empty()
    if empty:
        raise Misuse("the store is empty; fill it with: vllm-digest backfill 2026-01-01..2026-01-31")

    def show(console: "Console") -> None:
        if format == "json":
            raw(console, "".join(_found_line(each.repository, each.commit) for each in found))
        elif found:
            print_found(console, [(each.repository, each.commit) for each in found], tz)
        else:
            raw(console, f"no stored commit holds {' '.join(words)!r}\n")

    deliver(show, None)


@app.command()
def rank(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE.jsonl", help="Recorded commits, one JSON object a line; - reads standard input."),
    ],
    repo: Annotated[
        str | None,
        typer.Option(
            "--repo", metavar="OWNER/NAME", help="Whose weights are used; by default the first of DIGEST_REPOS."
        ),
    ] = None,
) -> None:
    """Rank recorded commits: a JSON object a line."""
    from bot.services.configured import choose_repositories, stored_weights
    from bot.services.recorded_commits import as_line, rank_lines
    from bot.settings import Settings

    settings = Settings.load()
    weights = stored_weights(
        settings.database_url.get_secret_value(), choose_repositories(repo, settings.digest_repos)[0]
    )
    try:
        with sys.stdin.buffer if file == "-" else Path(file).open("rb") as lines:
            # Rank all lines before writing any: a malformed line leaves no partial output.
            ranked = [as_line(each) for each in rank_lines(lines, weights)]
    except OSError as exc:
        raise Misuse(f"{file} cannot be read ({exc.strerror})") from exc
    sys.stdout.writelines(f"{line}\n" for line in ranked)


@app.command()
def calibrate(
    repo: RepoOption = None,
    releases: Annotated[
        int, typer.Option("--releases", min=2, max=50, metavar="N", help="Learn from the newest so many.")
    ] = 4,
) -> None:
    """Fit the ranking to a repository's own release notes; a run that was ended goes on where it was."""
    from bot import bootstrap
    from bot.cli.progress import TerminalProgress
    from bot.services.calibration import as_lines
    from bot.services.calibration import calibrate as fit
    from bot.services.configured import choose_repositories, stored_corrections
    from bot.settings import Settings

    settings = Settings.load()
    repository, now = choose_repositories(repo, settings.digest_repos)[0], datetime.now(UTC)
    corrections = stored_corrections(settings.database_url.get_secret_value(), repository)
    with TerminalProgress() as watcher, bootstrap.command_services(settings, watcher.wait) as services:
        done = fit(
            services.github,
            services.store,
            repository,
            settings.tz,
            most=releases,
            corrections=corrections,
            now=now,
            progress=watcher,
        )
    sys.stdout.writelines(f"{line}\n" for line in as_lines(done))


@app.command()
def doctor() -> None:
    """Try every token, scope, channel, model and database, and say what to do about each."""
    from rich.text import Text

    from analysis.report.wrapping import Line, print_line
    from analysis.text import one_line
    from bot.cli.output import standard_console
    from bot.doctor import findings

    console = standard_console()
    found = []
    for each in findings(lambda: datetime.now(UTC)):
        found.append(each)
        mark = ("✗", "red") if each.exit_code else ("✓", "green") if each.exit_code == 0 else ("–", "yellow")
        print_line(console, Line(Text(f"{each.name}: {one_line(each.told)}"), Text.assemble(mark, " ")))
    wrong = [each.exit_code for each in found if each.exit_code]
    if wrong:
        told = f"{len(wrong)} of {len(found)} are wrong; each line with ✗ says what to do"
        raise Misuse(told) if Misuse.exit_code in wrong else _Unfinished(told)


def _budget_time(now: datetime, no_model: bool) -> datetime | None:  # noqa: FBT001 (the option)
    """Return the time (UTC) that determines the model's daily budget; None to use no model."""
    return None if no_model else now


class _Unfinished(DigestError):
    exit_code = _UNFINISHED


def _found_line(repository: str, commit: "Commit") -> str:
    import json

    row = {"repo": repository, "sha": commit.sha, "title": commit.title, "author": commit.author, "url": commit.url}
    return (
        json.dumps({**row, "committed_at": commit.committed_at.strftime("%Y-%m-%dT%H:%M:%SZ")}, ensure_ascii=False)
        + "\n"
    )


def _late_unknown(report: "DayReport") -> bool:
    from analysis.models import Remark

    return Remark.LATE_UNKNOWN in report.remarks


def _missing(report: "DayReport") -> str:
    if not report.failed:
        return f"{report.repository}: GitHub could not be asked what landed late; run it again to complete the report"
    read = f"{len(report.failed)} of {report.coverage.listed} commits could not be read"
    return f"{report.repository}: {read} ({report.failed[0].reason}); run it again to complete the report"


def _say_filled(repositories: "Sequence[Repository]", done: "Sequence[BackfilledDay]") -> None:
    from analysis.text import quantity

    for repository in repositories:
        days = [each for each in done if each.repository == repository]
        if days:
            commits, failed = sum(each.commits for each in days), sum(each.failed for each in days)
            typer.echo(f"{repository}: {quantity(len(days), 'day')}, {quantity(commits, 'commit')}, {failed:,} failed")


def run(arguments: "Sequence[str]") -> int:
    """Run a command line and return its exit code. Errors are one line on standard error; our own bugs add a traceback."""
    try:
        result = app(args=list(arguments), prog_name="vllm-digest", standalone_mode=False)
        sys.stdout.flush()
    except DigestError as exc:
        return _complain(str(exc), exc.exit_code)
    except typer.TyperException as exc:
        return _complain(f"{exc.format_message()}; see vllm-digest --help", 2)
    except (KeyboardInterrupt, typer.Abort):
        return _complain("interrupted; run it again to go on", _INTERRUPTED)
    except Exception as exc:  # noqa: BLE001 (the outermost handler: one traceback and a message)
        if isinstance(exc, OSError) and exc.errno == errno.ENOSPC:
            sys.stdout = open("/dev/null", "w", encoding="utf-8")  # noqa: SIM115, PTH123 (discard the buffer)
            return _complain("standard output cannot be written: no space is left on it", 2)
        from bot.logs import traceback_of

        sys.stderr.write(f"{traceback_of(exc)}\n")
        return _complain("this is a bug in vllm-digest; please report it with the lines above", 1)
    return result if isinstance(result, int) else 0


def _complain(message: str, code: int) -> int:
    from analysis.text import one_line

    sys.stderr.write(f"vllm-digest: {one_line(message)}\n")
    return code


def main() -> None:
    """Entry point of the command `vllm-digest`."""
    from bot import logs

    # A stream that the parent process closed is None.
    sys.stdin = sys.stdin or open("/dev/null", encoding="utf-8")  # noqa: SIM115, PTH123
    sys.stdout, sys.stderr = reopen(sys.stdout), reopen(sys.stderr)
    logs.take_over()
    sys.exit(run(sys.argv[1:]))
