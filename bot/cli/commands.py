"""The options of the commands that read, report and search. What they do is imported when they run, so that `--help` is fast."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from analysis.errors import Misuse
from analysis.locale import Language

if TYPE_CHECKING:
    from bot.cli.options import CommandOptions

Repo = Annotated[
    str | None, typer.Option("--repo", metavar="OWNER/NAME", help="One repository instead of DIGEST_REPOS.")
]
Lang = Annotated[
    Language | None, typer.Option("--lang", help="Language of the report; otherwise DIGEST_LANGUAGE, or the locale's.")
]
Zone = Annotated[
    str | None, typer.Option("--timezone", metavar="ZONE", help="Time zone of the days (DIGEST_TIMEZONE).")
]
NoModel = Annotated[bool, typer.Option("--no-model", help="Rule-based analyses only.")]
Downstream = Annotated[
    list[str] | None,
    typer.Option(
        "--downstream",
        metavar="OWNER/NAME[@REF]|FOLDER",
        help="The code that may break; . is the current folder. May be repeated. (DIGEST_DOWNSTREAM)",
    ),
]
_FORMAT_HELP = "Output format; by default that of the file's name (.md, .json), else terminal."
Format = Annotated[Literal["terminal", "markdown", "json"] | None, typer.Option("--format", help=_FORMAT_HELP)]
FormatOrSlack = Annotated[
    Literal["terminal", "markdown", "json", "slack"] | None, typer.Option("--format", help=_FORMAT_HELP)
]
Out = Annotated[Path | None, typer.Option("--out", metavar="PATH", help="Write to a file instead of the terminal.")]


def _options(
    repo: str | None, lang: Language | None = None, timezone: str | None = None, *, model: bool = False
) -> "CommandOptions":
    from bot.cli.options import CommandOptions

    return CommandOptions(repo, lang, timezone, model=model)


def digest(
    day: Annotated[str, typer.Argument(metavar="[DATE]", help="2026-02-05, today, yesterday, -3 or mon.")] = "",
    repo: Repo = None,
    lang: Lang = None,
    timezone: Zone = None,
    format: FormatOrSlack = None,
    out: Out = None,
    no_model: NoModel = False,
    watch: Annotated[
        str, typer.Option("--watch", metavar="TERM,...", help="Paths, names or flags; commits that touch one are high.")
    ] = "",
    sample: Annotated[bool, typer.Option("--sample", help="The sample day, offline and without a token.")] = False,
) -> None:
    """Report one day's commits, ranked and analysed."""
    from bot.cli.reports import report_days

    if sample:
        if repo:
            raise Misuse("--sample has a repository of its own: leave out --repo")
        from bot.local import SAMPLE_DAY, SAMPLE_REPOSITORY

        day, repo = day or SAMPLE_DAY.isoformat(), SAMPLE_REPOSITORY
    options = _options(repo, lang, timezone, model=not no_model)
    report_days(options, day, watch, sample=sample).show(format, out)


def week(
    day: Annotated[
        str,
        typer.Argument(
            metavar="[DATE|-N]", help="The week of a day, or N weeks back; by default the last seven whole days."
        ),
    ] = "",
    repo: Repo = None,
    lang: Lang = None,
    timezone: Zone = None,
    format: FormatOrSlack = None,
    out: Out = None,
    chart: Annotated[
        Path | None, typer.Option("--chart", metavar="FILE.png", help="Also draw the commits a day and by folder.")
    ] = None,
) -> None:
    """Report a week by its consequences. It names what was reverted and what is announced to go."""
    from bot.cli.reports import report_weeks

    report_weeks(_options(repo, lang, timezone), day, chart).show(format, out)


def impact(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[REPO] [DATE|FROM..TO|REF]", help="A day (by default yesterday), a range of days, or one commit."
        ),
    ] = None,
    downstream: Downstream = None,
    repo: Repo = None,
    lang: Lang = None,
    timezone: Zone = None,
    format: Format = None,
    out: Out = None,
) -> None:
    """Show which commits break downstream code. It shows both places and, where known, what to write instead."""
    from bot.cli.downstream_reports import report_impacts

    repo, subject = _split_repository(what or ["yesterday"], repo, "impact")
    options = _options(repo, lang, timezone)
    report_impacts(options, subject, options.downstreams(downstream)).show(format, out)


def upgrade(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[REPO] [FROM[..TO]]",
            help="Tags, SHAs or days. Without FROM the version that the downstream code pins, without TO the branch's head.",
        ),
    ] = None,
    downstream: Downstream = None,
    repo: Repo = None,
    lang: Lang = None,
    timezone: Zone = None,
    format: Format = None,
    out: Out = None,
) -> None:
    """Show what lies between two versions. What breaks downstream code comes first."""
    from bot.cli.downstream_reports import report_upgrade
    from bot.services.versions.upgrade import parse_span

    repo, span = _split_repository(what or [""], repo, "upgrade")
    options, command = _options(repo, lang, timezone), "upgrade {repository} FROM..TO"
    report_upgrade(options, command, *parse_span(span), options.downstreams(downstream)).show(format, out)


def compat(
    repo: Annotated[str, typer.Argument(metavar="[REPO]", help="The upstream repository, as for --repo.")] = "",
    downstream: Downstream = None,
    candidates: Annotated[bool, typer.Option("--candidates", help="Look at release candidates, too.")] = False,
    fail_on_break: Annotated[
        bool,
        typer.Option(
            "--fail-on-break",
            help="Exit with 4 if the code breaks with the newest release, with an annotation of GitHub's kind a line.",
        ),
    ] = False,
    lang: Lang = None,
    format: Annotated[
        Literal["terminal", "markdown", "json", "badge"] | None,
        typer.Option("--format", help=f"{_FORMAT_HELP} A badge is what shields.io's endpoint takes."),
    ] = None,
    out: Out = None,
) -> None:
    """Show with which releases downstream code has no proven break. It names the nearest break before and after."""
    from bot.cli.downstream_reports import report_compatibility

    options = _options(repo or None, lang)
    report_compatibility(
        options, options.downstreams(downstream), candidates=candidates, fail_on_break=fail_on_break
    ).show(format, out)


def release(
    tag: Annotated[str, typer.Argument(help="A release's tag.")],
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="TAG", help="The release to compare with; by default the one before."),
    ] = None,
    downstream: Downstream = None,
    repo: Repo = None,
    lang: Lang = None,
    timezone: Zone = None,
    format: Format = None,
    out: Out = None,
) -> None:
    """Show what a release brings. What breaks downstream code since the version that it pins comes first."""
    from bot.cli.downstream_reports import report_upgrade

    options, command = _options(repo, lang, timezone), "release {repository} TAG"
    report_upgrade(options, command, since or "", tag, options.downstreams(downstream)).show(format, out)


def publish(
    days: Annotated[
        str, typer.Argument(metavar="[DATE|FROM..TO]", help="A day, yesterday by default, or both ends of a range.")
    ] = "yesterday",
    repo: Repo = None,
    to: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="OWNER/NAME[@BRANCH]|FOLDER", help="Where to; ./reports is a folder. (DIGEST_PUBLISH)"
        ),
    ] = None,
    lang: Lang = None,
    timezone: Zone = None,
    no_model: NoModel = False,
) -> None:
    """Publish days as Markdown, a web page and Atom feeds. One commit a day, none if nothing changed."""
    from bot.cli.actions import publish_days

    publish_days(_options(repo, lang, timezone, model=not no_model), days, to)


def commit(
    ref: Annotated[str, typer.Argument(metavar="REF", help="A SHA or a prefix of it, #123, or a URL.")],
    repo: Repo = None,
    lang: Lang = None,
    timezone: Zone = None,
    format: Format = None,
    out: Out = None,
    no_model: NoModel = False,
) -> None:
    """Show one commit with its analysis."""
    from bot.cli.reports import report_commit

    report_commit(_options(repo, lang, timezone, model=not no_model), ref).show(format, out)


def ask(
    about: Annotated[
        str,
        typer.Argument(
            metavar="REF|DATE|FROM..TO|OWNER/NAME", help="A commit, a day, days, or a repository's last week."
        ),
    ],
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What you want to know, in Chinese or English.")],
    downstream: Downstream = None,
    repo: Repo = None,
    lang: Lang = None,
    timezone: Zone = None,
    no_model: NoModel = False,
) -> None:
    """Answer a question about commits. It quotes the lines that prove the answer."""
    from bot.cli.actions import answer

    answer(_options(repo, lang, timezone, model=not no_model), about, question, repo, lang, downstream)


def backfill(
    days: Annotated[
        str, typer.Argument(metavar="DATE|FROM..TO", help="A day, or both ends of a range: 2026-01-01..2026-01-31.")
    ],
    repo: Repo = None,
    lang: Lang = None,
    timezone: Zone = None,
    no_model: NoModel = False,
) -> None:
    """Read many days into the store. An interrupted run resumes where it stopped."""
    from bot.cli.actions import fill_store

    fill_store(_options(repo, lang, timezone, model=not no_model), days)


def search(
    words: Annotated[
        list[str], typer.Argument(metavar="WORDS", help='Matches any word; +word and "quoted words" are required.')
    ],
    repo: Repo = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="Maximum number of commits.")] = 20,
    timezone: Zone = None,
    format: Annotated[Literal["terminal", "json"], typer.Option("--format", help="Output format.")] = "terminal",
) -> None:
    """Find commits in the store."""
    from bot.cli.actions import search_store

    options = _options(repo, timezone=timezone)
    search_store(options, words, limit, format, among=options.repositories if repo else ())


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
    downstream: Downstream = None,
    repo: Repo = None,
    lang: Lang = None,
    timezone: Zone = None,
    format: Format = None,
    out: Out = None,
) -> None:
    """Find the commits that most likely caused a failure. It reads a traceback, a log or a description, and says why."""
    from bot.cli.downstream_reports import report_suspects

    options = _options(repo, lang, timezone)
    report_suspects(options, file, until, days, options.downstreams(downstream)).show(format, out)


def rank(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE.jsonl", help="Recorded commits, one JSON object a line; - reads standard input."),
    ],
    repo: Repo = None,
) -> None:
    """Rank recorded commits: a JSON object a line."""
    from bot.cli.actions import rank_lines

    rank_lines(_options(repo), file)


def score(
    release: Annotated[
        str | None, typer.Argument(metavar="[RELEASE]", help="The tag of a release; by default the newest.")
    ] = None,
    repo: Repo = None,
    read: Annotated[
        bool, typer.Option("--read", help="Read and rank the commits that have no rank, which are counted apart.")
    ] = False,
    lang: Lang = None,
    format: Format = None,
    out: Out = None,
) -> None:
    """Show how right the ranks of a release's commits were. It compares them with what the notes name."""
    from bot.cli.reports import report_score

    report_score(_options(repo, lang), release, read=read).show(format, out)


def move(
    source: Annotated[str, typer.Argument(metavar="FROM", help="The DATABASE_URL until now: sqlite:///data/digest.db")],
    target: Annotated[
        str,
        typer.Argument(metavar="TO", help="That of a new database: postgresql+psycopg://user:password@host/database"),
    ],
) -> None:
    """Copy everything stored to another database. Stop the bot first; an interrupted run can be repeated.

    Messages and requests under way are carried too, and finished by the bot that is started next, with TO as its
    DATABASE_URL. FROM stays as it is.
    """
    from bot.cli.actions import move_database

    move_database(source, target)


def doctor() -> None:
    """Check the settings. Tries every token, scope, channel, model and database, and says how to fix what fails."""
    from bot.cli.actions import check_settings

    check_settings()


def _split_repository(words: list[str], repo: str | None, command: str) -> tuple[str | None, str]:
    """Return the repository, which is the first of two words or else `repo`, and the last word. Raise `Misuse` for more."""
    *first, last = words
    if len(first) > 1:
        raise Misuse(f"{words[2]!r} is unexpected; see vllm-digest {command} --help")
    return first[0] if first else repo, last
