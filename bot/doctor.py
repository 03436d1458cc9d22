"""Checks of everything the bot needs, each reported separately with its state, or with the problem and its remedy.

The checks change nothing: the database is only read, nothing is posted, and the model generates a single token. Services
are checked in parallel with short timeouts, so that a silent one does not delay the others.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import NamedTuple

from analysis.errors import BadSetting, DigestError, Misuse, ModelFailure, StoreUnusable
from analysis.llm import ChatModel
from analysis.models import Repository
from analysis.sources.github import GitHub
from analysis.sources.mirrors import Mirrors
from bot import logs
from bot.models.clock import Clock
from bot.models.publish_target import PublishTarget
from bot.publishing.folder import FolderTarget
from bot.publishing.publications import Publications, opened_publications
from bot.settings import Settings, WrongSettings
from bot.slack.manifest import OPTIONAL_SCOPES, manifest
from bot.slack.web import Installation, Web
from bot.slack.web_errors import ChannelClosed, Refused, Unanswered
from bot.store.database import Condition, condition, display_name
from bot.store.lock import flows_url

_PATIENCE = 2  # maximum seconds to wait for GitHub's rate limit
_SILENCE = 8  # timeout in seconds
_AT_ONCE = 8  # concurrent checks of repositories or channels
_SKEW = timedelta(seconds=60)
_MB = 1_000_000
_TOKENS = 1000  # tokens, to find out whether a price is known


class Finding(NamedTuple):
    """Result of a check: `exit_code` is 0 for success, 2 for a configuration error, 3 for an outside failure.

    It is None for checks not made, and for optional settings that are not set.
    """

    name: str
    message: str
    exit_code: int | None = 0


def findings(now: Clock) -> Iterator[Finding]:
    """Run all checks and yield their results. `now` returns the time, aware and in UTC."""
    try:
        settings = Settings.load()
    except WrongSettings as exc:
        yield from (Finding("settings", each, exc.exit_code) for each in exc.wrong)
        yield Finding("all else", "not checked until the settings are valid", None)
        return
    logs.set_up(settings.log_level or "WARNING", settings.log_format)
    yield Finding("settings", f"{settings.digest_time:%H:%M} {settings.digest_timezone}, {settings.digest_language}")
    with ThreadPoolExecutor() as threads:
        groups: tuple[Iterator[Finding], ...] = (
            _check_all(("database", partial(_database, settings))),
            _mirrors(settings),
            _github(settings),
            _publishing(settings),
            *_slack(settings, now),
            _model(settings),
            _mcp(settings),
        )
        for found in threads.map(_whole, groups):
            yield from found


def _whole(group: Iterator[Finding]) -> list[Finding]:
    return list(group)


def _check_all(*attempts: tuple[str, Callable[[], str]]) -> Iterator[Finding]:
    """Run named checks in parallel and yield their results in order."""
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        yield from threads.map(lambda attempt: _check(*attempt), attempts)


def _check(name: str, attempt: Callable[[], str]) -> Finding:
    try:
        return Finding(name, attempt())
    except Refused as exc:
        return Finding(name, str(exc), Misuse.exit_code)  # Slack works but refuses
    except Unanswered as exc:
        return Finding(name, f"{exc}; check the network and SLACK_API_URL", exc.exit_code)
    except DigestError as exc:
        return Finding(name, str(exc), exc.exit_code)


def _not_set(name: str, gain: str) -> Finding:
    """Return the result for an unset optional setting, with its benefit."""
    return Finding(name, f"not set (optional): {gain}", None)


def _database(settings: Settings) -> str:
    url = settings.database_url.get_secret_value()
    flows_url(url)  # the bot needs more than commands do
    found, name = condition(url), display_name(url)
    if found is Condition.BEHIND:
        raise StoreUnusable(f"{name} was written by an earlier vllm-digest; start the bot once to upgrade it")
    return f"{name} is {'not set up yet; the first start does that' if found is Condition.NEW else 'up to date'}"


def _mirrors(settings: Settings) -> Iterator[Finding]:
    folder = settings.digest_mirrors
    if folder is None:
        yield Finding("mirrors", "disabled by an empty DIGEST_MIRRORS: everything is read through GitHub's API", None)
    else:
        yield _check("mirrors", partial(_mirror_folder, folder, settings))


def _mirror_folder(folder: Path, settings: Settings) -> str:
    with closing(GitHub(settings.github_api_url)) as github:
        sizes = Mirrors(folder, github, None).check()
    existing = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        raise BadSetting(f"DIGEST_MIRRORS: {existing} is not a writable folder; choose another")
    if not sizes:
        return f"none yet; those of the configured and subscribed repositories will be in {folder}"
    return ", ".join(f"{name} {size / _MB:,.0f} MB" for name, size in sizes.items())


def _mcp(settings: Settings) -> Iterator[Finding]:
    if settings.digest_mcp_token is None:
        yield _not_set("MCP token", "DIGEST_MCP_TOKEN lets agents call /mcp of serve; the command mcp needs none")
    else:
        names = ", ".join(["this machine", *settings.digest_mcp_hosts])
        private = "with" if settings.digest_mcp_private else "without"
        yield Finding("MCP token", f"/mcp of serve answers under the names of {names}, {private} private repositories")


# GitHub


def _github(settings: Settings) -> Iterator[Finding]:
    with closing(
        GitHub(settings.github_api_url, settings.token, max_wait=_PATIENCE, timeout=_SILENCE // 2, retries=1)
    ) as github:
        server = _check("GitHub", partial(_allowance, github))
        yield server
        if not settings.token:
            yield _not_set(
                "GitHub token",
                "GITHUB_TOKEN allows 5,000 requests an hour, and shows pull requests and private repositories",
            )
        private = [Repository.parse(name) for name in settings.digest_private]
        named = {each.key: each for each in (*private, *settings.digest_repos)}.values()
        if server.exit_code:
            yield from (Finding(f"repository {each}", "not checked, since GitHub failed", None) for each in named)
            return
        yield from _check_all(*((f"repository {each}", partial(_repository, github, each, settings)) for each in named))


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


# Publishing


def _publishing(settings: Settings) -> Iterator[Finding]:
    """Check each target of DIGEST_PUBLISH; nothing is written."""
    targets = list(dict.fromkeys(each.target for each in settings.digest_publish))
    with (
        closing(GitHub(settings.github_api_url)) as github,
        opened_publications(settings, github.is_public, settings.publish_token, patient=False) as publications,
    ):
        checks = ((f"publishing to {each}", partial(_target, publications, each, settings)) for each in targets)
        yield from _check_all(*checks)


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


# Slack


def _slack(settings: Settings, now: Clock) -> tuple[Iterator[Finding], ...]:
    """Return the checks of the Slack app; fewer if no secret is set, when `run` starts a local workspace."""
    if not (settings.slack_bot_token or settings.slack_app_token or settings.slack_signing_secret):
        return (_without_slack(settings),)
    command = _check_all(("slash command", partial(_command, settings)))
    return _app(settings, now), _connection_modes(settings), command


def _without_slack(settings: Settings) -> Iterator[Finding]:
    ways = "SLACK_APP_TOKEN, for `run`, or SLACK_SIGNING_SECRET, for `serve`"
    yield _not_set("Slack", f"SLACK_BOT_TOKEN with {ways}, brings the bot into Slack")
    for channel in settings.digest_channel:
        yield Finding(f"channel {channel}", "not checked, since Slack is not configured", None)


def _app(settings: Settings, now: Clock) -> Iterator[Finding]:
    try:
        web = Web(settings.slack_secret("SLACK_BOT_TOKEN"), settings.slack_api_url, retries=0)
        installation = web.installation()
        at = now()
    except DigestError as exc:
        if isinstance(exc, Refused):
            exc = BadSetting(f"SLACK_BOT_TOKEN: {exc}; copy the Bot User OAuth Token of the installed app again")
        message = f"{exc}; check the network and SLACK_API_URL" if isinstance(exc, Unanswered) else str(exc)
        yield Finding("Slack bot token", message, exc.exit_code)
    else:
        yield _check("Slack bot token", partial(_installed, installation))
        yield _check("scopes", partial(_scopes, installation))
        yield _check("clock", partial(_clock, installation, at))
        channels = settings.digest_channel
        if not channels:
            yield _not_set("channel", "those in DIGEST_CHANNEL get the digests without a subscription")
        yield from _check_all(
            *((f"channel {each}", partial(_channel, web, each, installation.user)) for each in channels)
        )


def _installed(installation: Installation) -> str:
    if installation.whole_organisation:
        raise BadSetting("belongs to a whole organisation, which is not supported; install the app into one workspace")
    return f"{installation.user} in {installation.team}"


def _scopes(installation: Installation) -> str:
    required = manifest().scopes
    if installation.scopes is None:
        return "Slack did not list the app's scopes"
    missing = sorted(required - OPTIONAL_SCOPES - installation.scopes)
    if missing:
        raise BadSetting(
            f"the app lacks {', '.join(missing)}; paste manifest.json into its App Manifest, and install it again"
        )
    without = sorted(OPTIONAL_SCOPES - installation.scopes)
    if without:
        return f"all that it needs; without {', '.join(without)}, so no stop button, suggested prompts or ratings"
    return f"all {len(required)} of the manifest"


def _clock(installation: Installation, now: datetime) -> str:
    if installation.at is None:
        return "Slack did not tell the time"
    ahead = now - installation.at
    if abs(ahead) > _SKEW:
        which = "ahead of" if ahead > timedelta() else "behind"
        raise Misuse(
            f"{abs(ahead).total_seconds():.0f} s {which} Slack's; set this machine's clock, or digests are late and requests are rejected"
        )
    return "agrees with Slack's"


def _channel(web: Web, channel: str, user: str) -> str:
    try:
        place = web.place(channel)
    except ChannelClosed as exc:
        raise BadSetting(
            "the bot cannot see this channel; if it is private, invite the bot, otherwise correct DIGEST_CHANNEL"
        ) from exc
    if place.is_archived:
        raise BadSetting("is archived; unarchive it, or take it out of DIGEST_CHANNEL")
    if not place.is_member:
        raise BadSetting(f"the bot is not in the channel; type there: /invite @{user}")
    return "the bot is in it"


def _connection_modes(settings: Settings) -> Iterator[Finding]:
    """Check Socket Mode and HTTP; one of them is enough."""
    if settings.slack_app_token or not settings.slack_signing_secret:
        yield _check("Slack app token", partial(_app_token, settings))
    else:
        yield _not_set("Slack app token", "SLACK_APP_TOKEN lets `run` connect over Socket Mode")
    if settings.slack_signing_secret:
        yield Finding("Slack signing secret", "is set, for `serve`; Slack's first request shows whether it is valid")
    else:
        yield _not_set("Slack signing secret", "SLACK_SIGNING_SECRET lets `serve` be reached over HTTP")


def _app_token(settings: Settings) -> str:
    token = settings.slack_secret("SLACK_APP_TOKEN")
    try:
        Web("", settings.slack_api_url, retries=0).socket_address(token)
    except Refused as exc:
        raise BadSetting(
            f"SLACK_APP_TOKEN: {exc}; generate an app-level token with the scope connections:write under Basic Information"
        ) from exc
    return "opens Socket Mode"


def _command(settings: Settings) -> str:
    commands = manifest().commands
    if settings.digest_command not in commands:
        raise BadSetting(
            f"{settings.digest_command} is not in the manifest ({', '.join(commands)}); give the app that command, or correct DIGEST_COMMAND"
        )
    return settings.digest_command


# The model


def _model(settings: Settings) -> Iterator[Finding]:
    if settings.digest_model:
        yield _check("model", partial(_answering, settings, settings.digest_model))
    else:
        yield _not_set(
            "model", "DIGEST_MODEL chooses the model for analyses and answers; without it they come from rules"
        )


def _answering(settings: Settings, name: str) -> str:
    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else None
    base_url = settings.openai_base_url
    with closing(ChatModel(name, base_url=base_url, api_key=key, timeout=_SILENCE, retries=0)) as model:
        try:
            model.try_out()
        except ModelFailure as exc:
            kind = BadSetting if exc.lasting else ModelFailure
            raise kind(f"{name}: {exc}") from exc
        known = model.cost(_TOKENS, _TOKENS) is not None
    usd = f"{settings.digest_daily_budget_usd:.2f} USD a day"
    return f"{name} answers; " + (
        f"at most {usd}" if known else "its prices are unknown, so the budget does not limit it"
    )
