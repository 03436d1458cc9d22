"""The errors of Slack's Web API: a table from what the SDK and the HTTP client below it raise to ours.

    SlackFailure             exit code 3: the call failed
    ├── Unanswered           no response, or one that leaves the outcome unknown
    └── Refused              an error code from Slack
        ├── MissingScope     the app was installed without a scope of the manifest
        ├── ChannelClosed    the channel is archived or gone, or the bot is not in it
        ├── TooLong          the message exceeds a limit that Slack does not document
        └── StreamRefused    the workspace or the channel does not support streamed messages

The table is applied around the call of the SDK, the most specific type first. An exception that is not in it is raised as it
is: it is a bug.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from http.client import HTTPException
from typing import Any

from slack_sdk.errors import SlackApiError, SlackClientError

from analysis.errors import OutsideFailure, translated_by
from analysis.locale import Phrase, mark
from bot.slack.manifest import manifest

_CODE = re.compile(
    r"[a-z0-9_.:,]{1,100}"
)  # format of Slack's error codes and scopes; nothing else of a response is shown


class SlackFailure(OutsideFailure):
    pass


class Unanswered(SlackFailure):
    pass


class Refused(SlackFailure):
    """An error that Slack reports with `code`."""

    def __init__(self, message: str | Phrase, code: str) -> None:
        super().__init__(message)
        self.code = code


class MissingScope(Refused):
    pass


class ChannelClosed(Refused):
    pass


class TooLong(Refused):
    pass


class StreamRefused(Refused):
    pass


_REFUSED = mark("Slack rejected the request: {code}")
_ARCHIVED = mark("the channel is archived ({code}); unarchive it, or cancel its subscriptions")
_NO_CHANNEL = mark("the bot cannot see this channel ({code}); if it is private, invite the bot")
_NOT_IN_CHANNEL = mark("the bot is not in the channel (not_in_channel); invite it")
_POSTING_RESTRICTED = mark("the workspace restricts who may post there ({code}); ask an admin to allow the app")
_RESTRICTED = re.compile(r"restricted_action\w*|posting_to_(general_)?channel_denied|no_permission|user_is_restricted")
_LACKING_SCOPE = mark(
    "the app lacks the Slack scope {scopes} (missing_scope); ask a workspace admin to update the app with manifest.json and reinstall it"
)
_TOO_LONG = ("msg_blocks_too_long", "msg_too_long", "markdown_text_too_long")
_NO_STREAM = (
    *("unknown_method", "feature_not_enabled", "method_not_supported_for_channel_type", "channel_type_not_supported"),
    *("messages_tab_disabled", "missing_recipient_team_id", "missing_recipient_user_id"),
    *("team_not_found", "user_not_found"),
)
_TRANSIENT = frozenset(
    {
        *("internal_error", "fatal_error", "service_unavailable", "request_timeout"),
        *("ratelimited", "rate_limited", "team_added_to_org"),
    }
)
# Error code -> our error, and the sentence for people; of others it shows the code.
_REFUSALS: Mapping[str, tuple[type[Refused], str]] = {
    **dict.fromkeys(("is_archived", "channel_is_archived"), (ChannelClosed, _ARCHIVED)),
    **dict.fromkeys(("channel_not_found", "is_inactive"), (ChannelClosed, _NO_CHANNEL)),
    "not_in_channel": (ChannelClosed, _NOT_IN_CHANNEL),
    **dict.fromkeys(_TOO_LONG, (TooLong, _REFUSED)),
    **dict.fromkeys(_NO_STREAM, (StreamRefused, _REFUSED)),
}


def translated_errors() -> AbstractContextManager[None]:
    """Raise the SDK's exceptions as our errors."""
    return translated_by(_TABLE)


def silent(_: Exception) -> SlackFailure:
    return Unanswered(Phrase("Slack did not respond, or its response was malformed"))


def scopes_in(listed: object) -> frozenset[str]:
    """Return the scopes in Slack's comma-separated list, ignoring malformed ones."""
    return frozenset(filter(_CODE.fullmatch, re.split(r"[,\s]+", str(listed or ""))))


def _refusal(exc: SlackApiError) -> SlackFailure:
    answer: Any = exc.response
    status = getattr(answer, "status_code", 200)
    try:
        code = str(answer.get("error") or "")
    except (AttributeError, ValueError):
        code = ""
    if not _CODE.fullmatch(code):
        code = ""  # for a response that is not JSON the SDK puts a sentence here
    if not code or status >= 500 or code in _TRANSIENT:  # noqa: PLR2004
        what = code or "its answer made no sense"
        return Unanswered(f"Slack answered with status {status}" if status != 200 else f"Slack failed ({what})")  # noqa: PLR2004
    needed = scopes_in(answer.get("needed"))
    if code == "missing_scope" and needed:
        lacking = needed - scopes_in(answer.get("provided")) or needed
        of_manifest = lacking & manifest().scopes
        scopes = ", ".join(sorted(of_manifest or lacking))
        return (MissingScope if of_manifest else Refused)(Phrase(_LACKING_SCOPE, scopes=scopes), code)
    if _RESTRICTED.fullmatch(code):
        return Refused(Phrase(_POSTING_RESTRICTED, code=code), code)
    kind, sentence = _REFUSALS.get(code, (Refused, _REFUSED))
    return kind(Phrase(sentence, code=code), code)


_TABLE: Mapping[type[Exception], Callable[[Any], SlackFailure]] = {
    SlackApiError: _refusal,
    SlackClientError: silent,
    HTTPException: silent,
    OSError: silent,
    # What the SDK runs into when a body is not in UTF-8, not JSON, or JSON but no object.
    ValueError: silent,
    AttributeError: silent,
}
