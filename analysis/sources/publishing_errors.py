"""GitHub's refusals of a publication, as our errors: by status, and where one means several things by its message."""

import re
from http import HTTPStatus

from analysis.errors import AccessDenied, BranchMoved, DigestError, Misuse, UnknownRepository
from analysis.models import Repository

# The branch is no longer what it was: seen as 409 and 422.
_MOVED = re.compile(
    r"fast.forward|reference (?:already exists|does not exist|cannot be updated)|is at \w+ but expected", re.IGNORECASE
)
# Branch protection and rulesets say so in many words, as 403, 409 and 422.
_PROTECTED = re.compile(
    r"protected|rule violation|required status check|through a pull request|not authorized to push|approving review"
    r"|signed commits|reference update failed|linear history|branch is locked|GH00[36]|GH013",
    re.IGNORECASE,
)
_ARCHIVED = re.compile(r"archived|read.only", re.IGNORECASE)
_REFUSED = (HTTPStatus.FORBIDDEN, HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.LOCKED)


def publishing_error(status: int, message: str, repository: Repository) -> DigestError | None:
    """Return what a status means to whoever publishes to a repository; None if it means the same to everybody."""
    if status == HTTPStatus.UNAUTHORIZED:
        return AccessDenied("GitHub rejected the token; check DIGEST_PUBLISH_TOKEN")
    if status in _REFUSED:
        return _refusal(status, message, repository)
    if status == HTTPStatus.NOT_FOUND:
        return UnknownRepository(
            f"{repository.full_name} does not exist, or the token may not write to it; "
            "check the spelling, and that DIGEST_PUBLISH_TOKEN has write access to its contents"
        )
    return None


def _refusal(status: int, message: str, repository: Repository) -> DigestError:
    if _ARCHIVED.search(message):
        return archived(repository)
    if _MOVED.search(message):
        return BranchMoved(f"{repository} moved while its commit was made")
    if _PROTECTED.search(message):
        branch = f"branch {repository.branch}" if repository.branch else "the default branch"
        return AccessDenied(
            f"{branch} of {repository.full_name} is protected; let the owner of DIGEST_PUBLISH_TOKEN push to it, or publish to another branch"
        )
    if status == HTTPStatus.FORBIDDEN:
        return no_write_access(repository)
    return Misuse(
        f"GitHub refused the commit to {repository}; check the rules of its branch, and that DIGEST_PUBLISH_TOKEN may write to it"
    )


def archived(repository: Repository) -> AccessDenied:
    return AccessDenied(f"{repository.full_name} is archived; unarchive it, or publish elsewhere")


def no_write_access(repository: Repository) -> AccessDenied:
    return AccessDenied(
        f"the token may not write to {repository.full_name}; give DIGEST_PUBLISH_TOKEN write access to its contents"
    )
