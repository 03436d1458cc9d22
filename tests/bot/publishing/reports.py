"""A report of a day for publications: the sample's, and what surrounds it."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from functools import cache

from analysis.models import DayReport, Entry, Failure, Language, Repository
from analysis.sources.github_client import Client
from bot.local import SAMPLE_DAY, SAMPLE_REPOSITORY, sample_services
from bot.models.subjects import DayRef
from bot.publishing.github import GitHubTarget
from tests.servers.writable import NAME, PublishingGitHub, WritableRepository

NOW = datetime(2026, 2, 6, 1, tzinfo=UTC)
LATER = datetime(2026, 2, 7, 1, tzinfo=UTC)
HOME = "reports/2026/lantern-serve"


@cache
def sample_report(language: Language = "en") -> DayReport:
    """The report of the sample day."""
    with sample_services() as services:
        ref = DayRef(Repository.parse(SAMPLE_REPOSITORY), SAMPLE_DAY, "Asia/Shanghai", language)
        return services.digests.report(ref, NOW)


def on(day: date, report: DayReport | None = None, *, entries: tuple[Entry, ...] | None = None) -> DayReport:
    """The report as of another day, with other commits if given."""
    report = report or sample_report()
    return report.model_copy(update={"date": day, "entries": report.entries if entries is None else entries})


def unread(report: DayReport, number: int) -> DayReport:
    """The report as if its first `number` commits could not be read."""
    entries = tuple(
        each.model_copy(update={"analysis": None}) if i < number else each for i, each in enumerate(report.entries)
    )
    why = "127.0.0.1:18719 did not respond; check GITHUB_API_URL"
    failed = tuple(Failure(sha=each.commit.sha, stage="read", reason=why) for each in entries[:number])
    return report.model_copy(update={"entries": entries, "failed": failed})


@contextmanager
def github_target(repository: WritableRepository, branch: str | None = None) -> Iterator[GitHubTarget]:
    """A branch of the repository, served by a GitHub on loopback."""
    with PublishingGitHub({}, repository) as server:
        yield target_at(server, branch)


def target_at(server: PublishingGitHub, branch: str | None = None) -> GitHubTarget:
    """A branch of a server's repository."""
    place = Repository.parse(NAME).model_copy(update={"branch": branch})
    return GitHubTarget(Client(server.url, "writer", max_wait=1, retries=1, publishing=True), place)
