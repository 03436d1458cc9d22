"""The targets of publications, and who may go there: a private repository only where DIGEST_PUBLISH names it, to a target
that is private too. Published is the stored report, the same for every channel: by a command, or after the digest of a day.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any

import structlog

from analysis.errors import AccessDenied, DigestError, OutsideFailure, RateLimited, UnknownRepository
from analysis.models import Repository
from analysis.report.as_json import badge_json
from analysis.sources.github_client import Client
from bot.models.clock import Clock
from bot.models.deliveries import SOON, Delivery, Outcome, seconds_until
from bot.models.publish_target import PublishRule, PublishTarget, parse_target
from bot.models.subjects import DayRef, ReleaseRef, Subject, days_told, parse_value, value_of
from bot.publishing.folder import FolderTarget
from bot.publishing.github import GitHubTarget
from bot.publishing.publisher import MoreCompleteError, OtherTimezoneError, Published, Target, publish
from bot.services.digest import DigestService
from bot.services.surfaces import repositories_named
from bot.services.versions.compatibility import CompatibilityRequest, CompatibilityService
from bot.services.versions.release_digest import ReleaseDigests
from bot.services.versions.upgrade import UpgradeRequest
from bot.settings import Settings
from bot.store import Store

_TIMEOUT = 30  # seconds until a response begins; a tree holds whole pages
_WRITE_GAP = 1  # seconds, as GitHub's "Best practices for using the REST API" asks

log = structlog.get_logger(__name__)


@dataclass(eq=False)
class Publications:
    """The targets of an operator. `private` holds the lower-case full names of DIGEST_PRIVATE; `is_public` asks GitHub.

    With `compatibility`, a day comes with the badges of those `downstream` repositories that are public.
    """

    _rules: Sequence[PublishRule]
    _github: Client
    _private: Collection[str]
    _is_public: Callable[[Repository], bool]
    _downstream: Sequence[Repository] = ()
    _compatibility: CompatibilityService | None = None
    # Of the last day, by upstream repository.
    _badges: dict[tuple[str, date], dict[str, str]] = field(default_factory=dict, init=False)

    def targets(self, repository: Repository) -> list[PublishTarget]:
        """Return where a repository is published if it is public, and those that name it otherwise; makes no request."""
        return list(
            dict.fromkeys(each.target for each in self._rules if _names(each, repository) or not each.repository)
        )

    def publish(self, target: PublishTarget, report: Published, now: datetime) -> bool:
        """Publish a day or a release and return whether that changed anything. Raise the errors of `check`, and of what is in the way."""
        place = self.check(target, report.repository)
        return publish(place, report, now, badges=self._badges_of(report.repository, now))

    def check(self, target: PublishTarget, repository: Repository) -> Target:
        """Return a target that can be written. Raise `AccessDenied` if a private repository may not go there.

        Raise `UnknownRepository` for one that GitHub does not know, unless it is named for a private target.
        """
        place, name = self.open(target), repository.full_name
        place.check()
        is_named = self._is_named(repository, target)
        if is_named and place.is_private():
            return place
        if name.lower() in self._private or not self._is_public(repository):
            if is_named:
                raise AccessDenied(f"{name} is private, and {target} is public; publish it to a private repository")
            raise AccessDenied(f"{name} is private; to publish it there, name it: DIGEST_PUBLISH={name}={target}")
        return place

    def is_meant(self, target: PublishTarget, repository: Repository) -> bool:
        """Return whether the operator wants a repository there: a private one only where it is named."""
        return self._is_named(repository, target) or not self._is_private(repository)

    def open(self, target: PublishTarget) -> Target:
        """Return the target; makes no request."""
        return FolderTarget(target) if isinstance(target, Path) else GitHubTarget(self._github, target)

    def _badges_of(self, upstream: Repository, now: datetime) -> dict[str, str]:
        """Return the badge of each public downstream repository by its name; none of one that cannot be compared now."""
        key = upstream.key, now.date()
        if self._compatibility and key not in self._badges:
            found = {}
            for each in self._downstream:
                try:
                    if not self._is_private(each):
                        asked = CompatibilityRequest(upstream, each, "en", now)
                        found[str(each)] = badge_json(self._compatibility.report(asked))
                except DigestError as exc:
                    log.warning("no badge", repository=str(upstream), downstream=str(each), why=str(exc))
            self._badges = {key: found} | {old: each for old, each in self._badges.items() if old[1] == key[1]}
        return self._badges.get(key, {})

    def _is_private(self, repository: Repository) -> bool:
        if repository.full_name.lower() in self._private:
            return True
        try:
            return not self._is_public(repository)
        except UnknownRepository:
            return True

    def _is_named(self, repository: Repository, target: PublishTarget) -> bool:
        return any(each.target == target and _names(each, repository) for each in self._rules)


@dataclass(eq=False)
class ScheduledPublications:
    """Publishes the days and releases that subscriptions got, without anybody's downstream code."""

    _publications: Publications
    _digests: DigestService
    _releases: ReleaseDigests
    _store: Store
    _now: Clock

    def due(self, delivery: Delivery) -> list[tuple[str, str]]:
        """Return the days or the release and the target of each publication that follows a subscription's digest; none for other deliveries."""
        ref = parse_value(delivery.what)
        told = (ref._replace(since=""),) if isinstance(ref, ReleaseRef) else days_told(ref)
        shared = [value_of(each._replace(subscription=None)) for each in told if each.subscription is not None]
        return [(each, str(target)) for each in shared for target in self._publications.targets(ref.repository)]

    def publish(self, day: str, target: str) -> Outcome:
        """Publish a day and store how that ended; the outcome's pause asks for a retry."""
        try:
            outcome = self._publish(parse_value(day), target)
        except RateLimited as exc:
            outcome = Outcome(pause=seconds_until(exc.resets_at, self._now()) or SOON, failure=str(exc))
        except OutsideFailure as exc:
            outcome = Outcome(pause=SOON, failure=str(exc))
        except DigestError as exc:
            outcome = Outcome(failure=str(exc))
        except Exception:
            log.exception("this is a bug in vllm-digest")
            outcome = Outcome(failure="this is a bug in vllm-digest; its log has more")
        self._store.publications.note(day, target, outcome.failure, self._now())
        if outcome.failure:
            log.warning("not published", what=day, target=target, why=outcome.failure, retry=outcome.pause is not None)
        return outcome

    def _publish(self, ref: Subject, name: str) -> Outcome:
        target = parse_target(name)
        if not self._publications.is_meant(target, ref.repository):
            return Outcome()
        if isinstance(ref, ReleaseRef):
            asked = UpgradeRequest(ref.repository, "", ref.tag, (), ref.language, ref.tz, self._now())
            self._publications.publish(target, self._releases.report(asked), self._now())
            return Outcome()
        if not isinstance(ref, DayRef):
            raise TypeError(f"not published: {ref}")
        report = self._digests.report(ref, self._now(), ask=False)
        try:
            changed = self._publications.publish(target, report, self._now())
        except OtherTimezoneError as exc:
            # Channels choose their time zones; the first that was published stays that of the target.
            log.info("not published", what=value_of(ref), target=name, why=str(exc))
            return Outcome()
        except MoreCompleteError as exc:
            log.info("not published", what=value_of(ref), target=name, why=str(exc))
            return Outcome(pause=seconds_until(report.resumes_at, self._now()))
        log.info("published" if changed else "published before", what=value_of(ref), target=name)
        return Outcome(pause=seconds_until(report.resumes_at, self._now()))


@contextmanager
def opened_publications(
    settings: Settings,
    is_public: Callable[[Repository], bool],
    token: str | None,
    compatibility: CompatibilityService | None = None,
    *,
    patient: bool = True,
) -> Iterator[Publications]:
    """Open the publications of the settings with a token that may write; a check is not `patient`.

    `compatibility` makes the badges of DIGEST_DOWNSTREAM.
    """
    waits: dict[str, Any] = {"timeout": _TIMEOUT} if patient else {"max_wait": 2, "timeout": 4, "retries": 1}
    github = Client(settings.github_api_url, token, write_gap=_WRITE_GAP, publishing=True, **waits)
    try:
        downstream = repositories_named(settings.digest_downstream)
        yield Publications(
            settings.digest_publish, github, settings.digest_private, is_public, downstream, compatibility
        )
    finally:
        github.close()


def _names(rule: PublishRule, repository: Repository) -> bool:
    """Return whether a rule names the repository, with that branch if it names one."""
    named = rule.repository
    if named is None:
        return False
    return named.key == repository.key if named.branch else named.full_name.lower() == repository.full_name.lower()
