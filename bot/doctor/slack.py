"""Checks of the Slack app: its tokens, scopes, channels and command."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial

from analysis.errors import BadSetting, DigestError, Misuse
from bot.doctor.finding import Finding, check, check_all, not_set
from bot.models.clock import Clock
from bot.settings import Settings
from bot.slack.manifest import OPTIONAL_SCOPES, manifest
from bot.slack.parsing.subscription_options import default_options
from bot.slack.web import Installation, Web
from bot.slack.web_errors import ChannelClosed, Refused, Unanswered

_SKEW = timedelta(seconds=60)


def slack(settings: Settings, now: Clock) -> tuple[Iterator[Finding], ...]:
    """Return the checks of the Slack app; fewer if no secret is set, when `run` starts a local workspace."""
    if not (settings.slack_bot_token or settings.slack_app_token or settings.slack_signing_secret):
        return _without_slack(settings), _defaults(settings)
    command = check_all(("slash command", partial(_command, settings)))
    return _app(settings, now), _connection_modes(settings), command, _defaults(settings)


def _defaults(settings: Settings) -> Iterator[Finding]:
    """Check the options of new subscriptions, if there are any."""
    if text := settings.digest_subscribe:
        yield check("new subscriptions", lambda: text if default_options(text) else "")


def _without_slack(settings: Settings) -> Iterator[Finding]:
    ways = "SLACK_APP_TOKEN, for `run`, or SLACK_SIGNING_SECRET, for `serve`"
    yield not_set("Slack", f"SLACK_BOT_TOKEN with {ways}, brings the bot into Slack")
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
        yield check("Slack bot token", partial(_installed, installation))
        yield check("scopes", partial(_scopes, installation))
        yield check("clock", partial(_clock, installation, at))
        channels = settings.digest_channel
        if not channels:
            yield not_set("channel", "those in DIGEST_CHANNEL get the digests without a subscription")
        yield from check_all(
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
        place = web.directory.place(channel)
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
        yield check("Slack app token", partial(_app_token, settings))
    else:
        yield not_set("Slack app token", "SLACK_APP_TOKEN lets `run` connect over Socket Mode")
    if settings.slack_signing_secret:
        yield Finding("Slack signing secret", "is set, for `serve`; Slack's first request shows whether it is valid")
    else:
        yield not_set("Slack signing secret", "SLACK_SIGNING_SECRET lets `serve` be reached over HTTP")


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
