"""The targets of publications, and who may go there: a private repository only where DIGEST_PUBLISH names it, to a target
that is private too. Published is the stored report, the same for every channel.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from analysis.errors import AccessDenied, UnknownRepository
from analysis.models import DayReport, Repository
from analysis.sources.github_files import GitHubFiles
from bot.models.publish_target import PublishRule, PublishTarget
from bot.publishing.folder import FolderTarget
from bot.publishing.github import GitHubTarget
from bot.publishing.publisher import publish
from bot.settings import Settings


class Publications:
    """The targets of an operator. `private` holds the lower-case full names of DIGEST_PRIVATE; `is_public` asks GitHub."""

    def __init__(
        self,
        rules: Sequence[PublishRule],
        github: GitHubFiles,
        private: Collection[str],
        is_public: Callable[[Repository], bool],
    ) -> None:
        self._rules = rules
        self._github = github
        self._private = private
        self._is_public = is_public

    def targets(self, repository: Repository) -> list[PublishTarget]:
        """Return where a repository is published if it is public, and those that name it otherwise; makes no request."""
        return list(
            dict.fromkeys(each.target for each in self._rules if _names(each, repository) or not each.repository)
        )

    def publish(self, target: PublishTarget, report: DayReport, now: datetime) -> bool:
        """Publish a day and return whether that changed anything. Raise the errors of `check`, and of what is in the way."""
        return publish(self.check(target, report.repository), report, now)

    def check(self, target: PublishTarget, repository: Repository) -> FolderTarget | GitHubTarget:
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

    def open(self, target: PublishTarget) -> FolderTarget | GitHubTarget:
        """Return the target; makes no request."""
        place = target.place
        return FolderTarget(place) if isinstance(place, Path) else GitHubTarget(self._github, place)

    def _is_private(self, repository: Repository) -> bool:
        if repository.full_name.lower() in self._private:
            return True
        try:
            return not self._is_public(repository)
        except UnknownRepository:
            return True

    def _is_named(self, repository: Repository, target: PublishTarget) -> bool:
        return any(each.target == target and _names(each, repository) for each in self._rules)


@contextmanager
def opened_publications(
    settings: Settings, is_public: Callable[[Repository], bool], token: str | None, *, patient: bool = True
) -> Iterator[Publications]:
    """Open the publications of the settings with a token that may write; a check is not `patient`."""
    waits = {} if patient else {"max_wait": 2, "timeout": 4, "retries": 1}
    github = GitHubFiles(settings.github_api_url, token, **waits)
    try:
        yield Publications(settings.digest_publish, github, settings.digest_private, is_public)
    finally:
        github.close()


def _names(rule: PublishRule, repository: Repository) -> bool:
    """Return whether a rule names the repository, with that branch if it names one."""
    named = rule.repository
    if named is None:
        return False
    return named.key == repository.key if named.branch else named.full_name.lower() == repository.full_name.lower()
