"""Checks of where reports are published."""

from collections.abc import Iterator
from contextlib import closing
from functools import partial

from analysis.errors import BadSetting
from analysis.sources.github import GitHub
from bot.doctor.finding import Finding, check_all
from bot.models.publish_target import PublishTarget
from bot.publishing.folder import FolderTarget
from bot.publishing.publications import Publications, opened_publications
from bot.settings import Settings


def publishing(settings: Settings) -> Iterator[Finding]:
    """Check each target of DIGEST_PUBLISH; nothing is written."""
    targets = list(dict.fromkeys(each.target for each in settings.digest_publish))
    with (
        closing(GitHub(settings.github_api_url)) as github,
        opened_publications(settings, github.is_public, settings.publish_token, patient=False) as publications,
    ):
        checks = ((f"publishing to {each}", partial(_target, publications, each, settings)) for each in targets)
        yield from check_all(*checks)


def _target(publications: Publications, target: PublishTarget, settings: Settings) -> str:
    place = publications.open(target)
    if isinstance(place, FolderTarget):
        place.check()
        return "can be written"
    if not settings.publish_token:
        raise BadSetting("DIGEST_PUBLISH_TOKEN is not set; it needs write access to the contents of this repository")
    named = (each.repository for each in settings.digest_publish if each.target == target and each.repository)
    private = [each.full_name for each in named if each.full_name.lower() in settings.digest_private]
    if not place.is_private() and private:
        raise BadSetting(f"is public, and {', '.join(private)} is private; publish it to a private repository")
    seen = "private" if place.is_private() else "public"
    if place.is_protected():
        return f"{seen}; its branch is protected, so make sure that the owner of DIGEST_PUBLISH_TOKEN may push to it"
    return f"{seen}, can be written"
