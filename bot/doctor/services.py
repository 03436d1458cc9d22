"""Checks of what the bot reads from, writes to and asks: mirrors, GitHub with its repositories, targets, the model, MCP."""

import os
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

from analysis.errors import BadSetting, ModelFailure
from analysis.llm import ChatModel
from analysis.models import Repository
from analysis.sources.github import GitHub
from analysis.sources.mirrors import Mirrors
from bot.doctor.finding import SILENCE, Finding, check, check_all, not_set
from bot.models.publish_target import PublishTarget
from bot.publishing.folder import FolderTarget
from bot.publishing.publications import Publications, opened_publications
from bot.settings import Settings

_MAX_WAIT = 2  # seconds, for GitHub's rate limit
_MB = 1_000_000
_TOKENS = 1000  # tokens, to find out whether a price is known


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
        GitHub(settings.github_api_url, settings.token, max_wait=_MAX_WAIT, timeout=SILENCE // 2, retries=1)
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


def model(settings: Settings) -> Iterator[Finding]:
    """Check that the model answers, with a single token."""
    if settings.digest_model:
        yield check("model", partial(_answering, settings, settings.digest_model))
    else:
        yield not_set(
            "model", "DIGEST_MODEL chooses the model for analyses and answers; without it they come from rules"
        )


def _answering(settings: Settings, name: str) -> str:
    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else None
    base_url = settings.openai_base_url
    with closing(ChatModel(name, base_url=base_url, api_key=key, timeout=SILENCE, retries=0)) as chat:
        try:
            chat.try_out()
        except ModelFailure as exc:
            kind = BadSetting if exc.lasting else ModelFailure
            raise kind(f"{name}: {exc}") from exc
        known = chat.cost(_TOKENS, _TOKENS) is not None
    usd = f"{settings.digest_daily_budget_usd:.2f} USD a day"
    return f"{name} answers; " + (
        f"at most {usd}" if known else "its prices are unknown, so the budget does not limit it"
    )


def mcp(settings: Settings) -> Iterator[Finding]:
    """Say who reaches the MCP server."""
    if settings.digest_mcp_token is None:
        yield not_set("MCP token", "DIGEST_MCP_TOKEN lets agents call /mcp of serve; the command mcp needs none")
    else:
        names = ", ".join(["this machine", *settings.digest_mcp_hosts])
        private = "with" if settings.digest_mcp_private else "without"
        yield Finding("MCP token", f"/mcp of serve answers under the names of {names}, {private} private repositories")
