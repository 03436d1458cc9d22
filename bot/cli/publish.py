"""The command `publish`: reports of days as files, with an index and feeds, in a repository on GitHub or a folder."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from analysis.errors import BadSetting, Misuse, OutsideFailure, RateLimited
from bot.cli import options

if TYPE_CHECKING:
    from analysis.models import DayReport, Repository
    from bot.cli.progress import TerminalProgress
    from bot.models.publish_target import PublishTarget
    from bot.models.subjects import DayRef
    from bot.publishing.publications import Publications
    from bot.services.digest import DigestService
    from bot.settings import Settings


def publish(
    days: Annotated[
        str, typer.Argument(metavar="[DATE|FROM..TO]", help="A day, yesterday by default, or both ends of a range.")
    ] = "yesterday",
    repo: options.Repo = None,
    to: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="OWNER/NAME[@BRANCH]|FOLDER", help="Where to; ./reports is a folder. (DIGEST_PUBLISH)"
        ),
    ] = None,
    lang: options.Lang = None,
    timezone: options.Zone = None,
    no_model: options.NoModel = False,
) -> None:
    """Publish days as Markdown, a web page and Atom feeds. One commit a day, none if nothing changed."""
    from analysis.window import zone
    from bot.cli.progress import TerminalProgress
    from bot.models.publish_target import parse_target
    from bot.models.subjects import DayRef
    from bot.publishing.publications import opened_publications
    from bot.services import factory
    from bot.services.configured_repositories import choose_repositories

    settings = options.command_settings()
    language, tz, now = lang or settings.digest_language, zone(timezone or settings.digest_timezone), datetime.now(UTC)
    dates = options.parse_days(days, now.astimezone(tz).date())
    repositories = choose_repositories(repo, settings.digest_repos)
    target = parse_target(to) if to else None
    with (
        TerminalProgress(days=len(dates) * len(repositories)) as progress,
        factory.command_services(settings, progress, now=options.budget_time(now, no_model)) as services,
        opened_publications(settings, services.github.is_public, _token(settings)) as publications,
    ):
        missing: list[str] = []
        for each in repositories:
            targets = _checked_targets(publications, each, target)
            if len(dates) > 1:
                services.digests.prepare(each, dates, tz, now)
            refs = [DayRef(each, day, tz.key, language) for day in dates]
            missing += _publish_days(services.digests, publications, refs, targets, now, progress)
    if missing:
        raise options.IncompleteResult(f"{'; '.join(missing[:3])}; run it again to complete what is missing")


def _checked_targets(
    publications: "Publications", repository: "Repository", target: "PublishTarget | None"
) -> "list[PublishTarget]":
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


def _publish_days(
    digests: "DigestService",
    publications: "Publications",
    refs: "Sequence[DayRef]",
    targets: "Sequence[PublishTarget]",
    now: datetime,
    progress: "TerminalProgress",
) -> list[str]:
    """Publish days, oldest first, and print a line for each; return what is missing. Raise `Misuse` for what no retry helps."""
    missing = []
    for ref in refs:
        progress.day(ref.repository, ref.day)
        try:
            report = digests.report(ref, now, progress)
            for target in targets:
                typer.echo(f"{ref.repository} {ref.day}: {_publish_day(publications, target, report, now)}")
        except (Misuse, RateLimited):
            raise
        except OutsideFailure as exc:
            missing.append(f"{ref.repository} {ref.day}: {exc}")
        else:
            if report.failed:
                commits = "1 commit" if len(report.failed) == 1 else f"{len(report.failed)} commits"
                missing.append(f"{ref.repository} {ref.day}: {commits} could not be read ({report.failed[0].reason})")
        progress.day_done()
    return missing


def _publish_day(publications: "Publications", target: "PublishTarget", report: "DayReport", now: datetime) -> str:
    """Publish a day and return what became of it there."""
    from bot.publishing.publisher import MoreCompleteError

    try:
        return f"{'published to' if publications.publish(target, report, now) else 'unchanged in'} {target}"
    except MoreCompleteError:
        return f"left unchanged in {target}, where it is more complete"


def _token(settings: "Settings") -> str | None:
    """Return the token for writing: DIGEST_PUBLISH_TOKEN, or GITHUB_TOKEN, since a person named the target just now."""
    return settings.publish_token or settings.token
