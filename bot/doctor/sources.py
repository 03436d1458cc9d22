"""Checks of what commits are read from: mirrors, and GitHub with its repositories."""

import os
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

from analysis.errors import BadSetting
from analysis.models import Repository
from analysis.sources.github import GitHub
from analysis.sources.mirrors import Mirrors
from bot.doctor.finding import SILENCE, Finding, check, check_all, not_set
from bot.settings import Settings

_PATIENCE = 2  # maximum seconds to wait for GitHub's rate limit
_MB = 1_000_000


def mirrors(settings: Settings) -> Iterator[Finding]:
    """Check the folder of the mirrors."""
    folder = settings.digest_mirrors
    if folder is None:
        yield Finding("mirrors", "disabled by an empty DIGEST_MIRRORS: everything is read through GitHub's API", None)
    else:
        yield check("mirrors", partial(_mirror_folder, folder, settings))


def _mirror_folder(folder: Path, settings: Settings) -> str:
    with closing(GitHub(settings.github_api_url)) as server:
        sizes = Mirrors(folder, server, None).check()
    existing = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        raise BadSetting(f"DIGEST_MIRRORS: {existing} is not a writable folder; choose another")
    if not sizes:
        return f"none yet; those of the configured and subscribed repositories will be in {folder}"
    return ", ".join(f"{name} {size / _MB:,.0f} MB" for name, size in sizes.items())


def github(settings: Settings) -> Iterator[Finding]:
    """Check GitHub's token, and the configured repositories."""
    with closing(
        GitHub(settings.github_api_url, settings.token, max_wait=_PATIENCE, timeout=SILENCE // 2, retries=1)
    ) as server:
        answer = check("GitHub", partial(_allowance, server))
        yield answer
        if not settings.token:
            yield not_set(
                "GitHub token",
                "GITHUB_TOKEN allows 5,000 requests an hour, and shows pull requests and private repositories",
            )
        private = [Repository.parse(name) for name in settings.digest_private]
        named = {each.key: each for each in (*private, *settings.digest_repos)}.values()
        if answer.exit_code:
            yield from (Finding(f"repository {each}", "not checked, since GitHub failed", None) for each in named)
            return
        yield from check_all(*((f"repository {each}", partial(_repository, server, each, settings)) for each in named))


def _allowance(github: GitHub) -> str:
    allowance = github.allowance()
    return f"{allowance.remaining:,} of {allowance.limit:,} requests left this hour" if allowance else "no limit"


def _repository(github: GitHub, repository: Repository, settings: Settings) -> str:
    public = github.is_public(repository)
    github.head(repository)
    channels = settings.digest_private.get(repository.full_name.lower())
    if channels is not None and repository.key in {each.key for each in settings.digest_repos}:
        blind = [each for each in settings.digest_channel if each not in channels]
        if blind:
            raise BadSetting(
                f"is kept from {', '.join(blind)} of DIGEST_CHANNEL, which will not get its digests; "
                f"add them to DIGEST_PRIVATE, or take it out of DIGEST_REPOS and subscribe it where it may be seen"
            )
    if channels is not None:
        return f"{'public, but' if public else 'private,'} seen in {', '.join(sorted(channels)) or 'no channel'} only"
    if not public:
        raise BadSetting(
            f"is private, and no channel may see it; list those that may: DIGEST_PRIVATE={repository.full_name}=C0123456789"
        )
    return "public"
