"""The only access to Slack's Web API: takes our messages, returns timestamps and ids, translates Slack's errors into ours.

    SlackFailure             exit code 3: the call failed
    ├── Unanswered           no response, or one that leaves the outcome unknown
    └── Refused              an error code from Slack
        ├── MissingScope     the app was installed without a scope of the manifest
        ├── ChannelClosed    the channel is archived or gone, or the bot is not in it
        ├── TooLong          the message exceeds a limit that Slack does not document
        └── StreamRefused    the workspace or the channel does not support streamed messages

Posts are retried here only after a 429, when Slack has accepted nothing. The outbox handles the other failures.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from itertools import islice
from typing import Any, NamedTuple
from urllib.request import Request, urlopen

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.http_retry.builtin_handlers import (
    ConnectionErrorRetryHandler,
    RateLimitErrorRetryHandler,
    ServerErrorRetryHandler,
)
from slack_sdk.webhook import WebhookClient

from analysis.errors import OutsideFailure
from analysis.locale import Phrase, mark
from bot.slack.manifest import manifest

TIMEOUT = 6  # seconds per request; Slack usually answers in far less than one
_EVENT = "vllm_digest"  # the type of our messages' metadata
_RETRIES = 4
_PAGES = 5  # maximum pages of a lookup or of a thread
_REPLIES = 200  # messages per page of a thread

_CODE = re.compile(
    r"[a-z0-9_.:,]{1,100}"
)  # format of Slack's error codes and scopes; nothing else of a response is shown
_CLOSED = frozenset({"is_archived", "channel_not_found", "not_in_channel", "channel_is_archived", "is_inactive"})
_ARCHIVED = mark("the channel is archived ({code}); unarchive it, or cancel its subscriptions")
_NO_CHANNEL = mark("Slack shows the bot no such channel ({code}); if it is private, invite the bot to it")
_POSTING_RESTRICTED = mark("the workspace restricts who may post there ({code}); ask an admin to allow the app")
_ERROR_MESSAGES = {  # error code -> sentence for people; other errors show their code
    **dict.fromkeys(("is_archived", "channel_is_archived"), _ARCHIVED),
    **dict.fromkeys(("channel_not_found", "is_inactive"), _NO_CHANNEL),
    "not_in_channel": mark("the bot is not in the channel (not_in_channel); invite it there"),
}
_REFUSED = mark("Slack refuses: {code}")
_RESTRICTED = re.compile(r"restricted_action\w*|posting_to_(general_)?channel_denied|no_permission|user_is_restricted")
_LONG = frozenset({"msg_blocks_too_long", "msg_too_long", "markdown_text_too_long"})
_NO_STREAM = frozenset(
    {
        "unknown_method",
        "feature_not_enabled",
        "method_not_supported_for_channel_type",
        "channel_type_not_supported",
        "messages_tab_disabled",
        "missing_recipient_team_id",
        "missing_recipient_user_id",
        "team_not_found",
        "user_not_found",
    }
)
_ADDRESS = re.compile(r"https?://[^\s<>|]+")
_TRANSIENT = frozenset(
    {
        "internal_error",
        "fatal_error",
        "service_unavailable",
        "request_timeout",
        "ratelimited",
        "rate_limited",
        "team_added_to_org",
    }
)


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


class Installation(NamedTuple):
    """The owner and scopes of a bot token (scopes None if not reported), and the time of Slack's server."""

    user: str
    team: str
    whole_organisation: bool
    scopes: frozenset[str] | None
    at: datetime | None


class Place(NamedTuple):
    """The bot's membership of a channel, and whether the channel is archived."""

    is_member: bool
    is_archived: bool


class Web:
    """Client for Slack's Web API; thread-safe. Failed reads are retried `retries` times."""

    def __init__(self, token: str, url: str, *, retries: int = _RETRIES) -> None:
        patient = RateLimitErrorRetryHandler(max_retry_count=retries)
        self.client = WebClient(token, base_url=url, timeout=TIMEOUT, retry_handlers=[patient])
        again = [ConnectionErrorRetryHandler(max_retry_count=retries), ServerErrorRetryHandler(retries), patient]
        self._reader = WebClient(token, base_url=url, timeout=TIMEOUT, retry_handlers=again)
        self._me: Mapping[str, str] | None = None

    @property
    def me(self) -> Mapping[str, str]:
        """The bot's user_id, bot_id, team_id, team and user; cached after the first call."""
        if self._me is None:
            with translated():
                found = self._reader.auth_test()
            self._me = {name: str(found.get(name) or "") for name in ("user_id", "bot_id", "team_id", "team", "user")}
        return self._me

    def socket_address(self, app_token: str) -> str:
        """Return a WebSocket URL for one Socket Mode connection."""
        with translated():
            return str(self.client.apps_connections_open(app_token=app_token)["url"])

    def installation(self) -> Installation:
        """Return the owner and scopes of the bot token."""
        with translated():
            found = self._reader.auth_test()
            headers = {name.lower(): value for name, value in found.headers.items()}
            scopes, at = headers.get("x-oauth-scopes"), headers.get("date")
            return Installation(
                user=str(found["user"]),
                team=str(found["team"]),
                whole_organisation=bool(found.get("is_enterprise_install")),
                scopes=None if scopes is None else _scopes(scopes),
                at=parsedate_to_datetime(at) if at else None,
            )

    # Posting

    def post(self, channel: str, message: Mapping[str, Any], key: str, thread_ts: str | None) -> str:
        """Post a message {text, blocks} with its key in the metadata; return its ts."""
        with translated():
            answer = self.client.chat_postMessage(
                channel=channel,
                text=message["text"],
                blocks=message.get("blocks") or None,
                thread_ts=thread_ts,
                metadata=_metadata(key, message),
                unfurl_links=False,
                unfurl_media=False,
            )
        return _ts(answer)

    def update(self, channel: str, ts: str, message: Mapping[str, Any], key: str) -> None:
        """Replace the content of one of our messages."""
        with translated():
            self.client.chat_update(
                channel=channel,
                ts=ts,
                text=message["text"],
                blocks=message.get("blocks") or [],
                metadata=_metadata(key, message),
            )

    def post_ephemeral(self, channel: str, user: str, message: Mapping[str, Any], thread_ts: str | None) -> None:
        """Post an ephemeral message to one person."""
        with translated():
            self.client.chat_postEphemeral(
                channel=channel,
                user=user,
                text=message["text"],
                blocks=message.get("blocks") or None,
                thread_ts=thread_ts,
            )

    def respond(self, address: str, message: Mapping[str, Any], *, replace: bool) -> None:
        """Reply privately at a request's response_url; with `replace`, in place of the original message."""
        with translated():
            answer = WebhookClient(address, timeout=TIMEOUT).send(
                text=message["text"],
                blocks=message.get("blocks") or None,
                response_type="ephemeral",
                replace_original=replace,
                unfurl_links=False,
                unfurl_media=False,
            )
        if answer.status_code != 200:  # noqa: PLR2004
            raise Refused(f"Slack takes no more answers ({answer.status_code})", answer.body.strip()[:60])

    # Streams

    def start_stream(self, channel: str, thread_ts: str, user: str, team: str, text: str) -> str:
        """Start a streamed message in a thread; return its ts."""
        with translated():
            return _ts(
                self.client.chat_startStream(
                    channel=channel,
                    thread_ts=thread_ts,
                    recipient_user_id=user,
                    recipient_team_id=team,
                    markdown_text=text or None,
                )
            )

    def append_stream(self, channel: str, ts: str, text: str) -> None:
        """Append Markdown to a streamed message."""
        with translated():
            self.client.chat_appendStream(channel=channel, ts=ts, markdown_text=text)

    def stop_stream(self, channel: str, ts: str, key: str | None = None) -> None:
        """Stop a streamed message and set its key, if given, in the metadata."""
        with translated():
            self.client.chat_stopStream(
                channel=channel, ts=ts, metadata={"event_type": _EVENT, "event_payload": {"key": key}} if key else None
            )

    # Files

    def upload(self, name: str, data: str) -> str:
        """Upload a file without sharing it; return its id."""
        content = data.encode()
        with translated():
            place = self.client.files_getUploadURLExternal(filename=name, length=len(content))
            address = Request(place["upload_url"], data=content)  # noqa: S310 (a URL from Slack)
            with urlopen(address, timeout=TIMEOUT * 5) as answer:  # noqa: S310
                answer.read()
        return str(place["file_id"])

    def share(self, file_id: str, title: str, channel: str, thread_ts: str | None) -> None:
        """Share an uploaded file in a channel or thread."""
        with translated():
            self.client.files_completeUploadExternal(
                files=[{"id": file_id, "title": title}], channel_id=channel, thread_ts=thread_ts
            )

    def share_of(self, file_id: str, channel: str) -> str | None:
        """Return the ts of the message that shares a file in a channel; None if there is none yet."""
        with translated():
            file = self._reader.files_info(file=file_id)["file"]
        for where in (file.get("shares") or {}).values():
            for share in where.get(channel, ()):
                return str(share["ts"])
        return None

    # Looking up

    def find(
        self,
        channel: str,
        thread_ts: str | None,
        oldest: datetime,
        latest: datetime,
        wanted: Callable[[dict[str, Any]], bool],
    ) -> str | None:
        """Return the ts of the first of our messages between two instants in a channel or thread that satisfies `wanted`, or None."""
        for message in self._messages(channel, thread_ts, oldest, latest):
            mine = message.get("bot_id") == self.me["bot_id"] or message.get("user") == self.me["user_id"]
            if mine and wanted(message):
                return str(message["ts"])
        return None

    def thread(self, channel: str, thread_ts: str) -> list[dict[str, Any]]:
        """Return the messages of a thread with metadata, oldest first, truncated if very long."""
        with translated():
            pages = self._reader.conversations_replies(
                channel=channel, ts=thread_ts, limit=_REPLIES, include_all_metadata=True
            )
            # Every page may start with the thread's parent message.
            found = {str(each["ts"]): each for page in islice(pages, _PAGES) for each in page["messages"]}
            return list(found.values())

    def direct(self, user: str) -> str:
        """Return the id of the direct message channel with a person."""
        with translated():
            return str(self._reader.conversations_open(users=[user])["channel"]["id"])

    def permalink(self, channel: str, ts: str) -> str | None:
        """Return the permalink of a message; None if it was deleted or is no longer visible."""
        try:
            with translated():
                address = str(self._reader.chat_getPermalink(channel=channel, message_ts=ts)["permalink"])
        except Refused:
            return None
        return address if _ADDRESS.fullmatch(address) and not self._is_tombstone(channel, ts) else None

    def _is_tombstone(self, channel: str, ts: str) -> bool:
        """Return whether a message was deleted but remains as a placeholder because of its replies; False if unknown."""
        try:
            with translated():
                found = self._reader.conversations_replies(channel=channel, ts=ts, limit=1)["messages"]
                return not found or found[0].get("subtype") == "tombstone"
        except MissingScope:
            return False
        except Refused:
            return True

    def is_member(self, channel: str, user: str) -> bool:
        """Return whether the bot may post in a channel, or in a direct message channel if it is its own with `user`."""
        if channel.startswith("D"):
            return channel == self.direct(user)
        try:
            with translated():
                return bool(self._reader.conversations_info(channel=channel)["channel"].get("is_member"))
        except MissingScope:
            raise
        except Refused:
            return False  # channels without the bot may be invisible to it, or of a kind outside its scopes

    def place(self, channel: str) -> Place:
        """Return the bot's membership of a channel. Raise `ChannelClosed` if the channel is not visible to it."""
        with translated():
            found = self._reader.conversations_info(channel=channel)["channel"]
            return Place(bool(found.get("is_member")), bool(found.get("is_archived")))

    def has_member(self, channel: str, user: str) -> bool:
        """Return whether a person is in a channel; False if unknown."""
        if channel.startswith("D"):
            return True  # only its participants know the channel's id
        cursor: str | None = None
        for _ in range(_PAGES):
            try:
                with translated():
                    answer = self._reader.conversations_members(channel=channel, limit=1000, cursor=cursor)
            except MissingScope:
                raise
            except Refused:
                return False
            if user in answer["members"]:
                return True
            cursor = (answer.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                return False
        return False

    def name_of(self, user: str) -> str:
        """Return a person's display name; empty if Slack does not provide one."""
        try:
            with translated():
                found = self._reader.users_info(user=user)["user"]
        except SlackFailure:
            return ""
        profile = found.get("profile") or {}
        return str(profile.get("display_name") or profile.get("real_name") or found.get("name") or "")

    def is_operator(self, user: str) -> bool:
        """Return whether a person is an admin or owner of the workspace; False if unknown."""
        try:
            with translated():
                found = self._reader.users_info(user=user)["user"]
        except SlackFailure:
            return False
        return bool(found.get("is_admin") or found.get("is_owner"))

    def is_stranger(self, user: str) -> bool:
        """Return whether a person belongs to another organisation (Slack Connect); True for people unknown to Slack here."""
        try:
            with translated():
                found = self._reader.users_info(user=user)["user"]
        except MissingScope:
            raise
        except Refused:
            return True
        # In an Enterprise organisation a person's home may be another of its workspaces.
        teams = {found.get("team_id"), *((found.get("enterprise_user") or {}).get("teams") or ())}
        return bool(found.get("is_stranger")) or self.me["team_id"] not in teams

    def publish_home(self, user: str, view: Mapping[str, Any]) -> None:
        """Publish the bot's App Home tab for a person."""
        with translated():
            self.client.views_publish(user_id=user, view=dict(view))

    def open_view(self, trigger_id: str, view: Mapping[str, Any]) -> None:
        """Open a modal with the trigger of a button click, which is valid for three seconds."""
        with translated():
            self.client.views_open(trigger_id=trigger_id, view=dict(view))

    def _messages(
        self, channel: str, thread_ts: str | None, oldest: datetime, latest: datetime
    ) -> Iterator[dict[str, Any]]:
        since, until = (f"{each.timestamp():.6f}" for each in (oldest, latest))
        cursor: str | None = None
        for _ in range(_PAGES):
            with translated():
                if thread_ts:
                    answer = self._reader.conversations_replies(
                        channel=channel,
                        ts=thread_ts,
                        oldest=since,
                        latest=until,
                        limit=100,
                        cursor=cursor,
                        include_all_metadata=True,
                    )
                else:
                    answer = self._reader.conversations_history(
                        channel=channel,
                        oldest=since,
                        latest=until,
                        limit=100,
                        cursor=cursor,
                        include_all_metadata=True,
                    )
            yield from answer["messages"]
            cursor = (answer.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                return
        # Too many messages around the attempt: ours may be on a later page.
        raise Unanswered("too many messages to look through")


def has_key(key: str) -> Callable[[dict[str, Any]], bool]:
    """Return a predicate for messages that carry this key."""
    return lambda message: key_of(message) == key


def key_of(message: Mapping[str, Any]) -> str:
    """Return the key in the metadata of one of our messages; empty if there is none."""
    return str(_payload(message).get("key") or "")


def about_of(message: Mapping[str, Any]) -> str:
    """Return the thread's subject in the metadata of one of our messages; empty if there is none."""
    return str(_payload(message).get("about") or "")


def _payload(message: Mapping[str, Any]) -> Mapping[str, Any]:
    payload = (message.get("metadata") or {}).get("event_payload") or {}
    return payload if isinstance(payload, Mapping) else json.loads(payload)


def _metadata(key: str, message: Mapping[str, Any]) -> dict[str, Any]:
    about = {"about": message["about"]} if message.get("about") else {}
    return {"event_type": _EVENT, "event_payload": {"key": key, **about}}


def _ts(answer: Any) -> str:
    if not isinstance(answer.get("ts"), str):
        raise Unanswered("Slack's answer made no sense")
    return str(answer["ts"])


@contextmanager
def translated() -> Iterator[None]:
    """Translate the SDK's exceptions into our errors; the only place that does."""
    try:
        yield
    except SlackApiError as exc:
        raise _translate_api_error(exc) from exc
    except (SlackClientError, HTTPException, OSError, ValueError, KeyError, TypeError, AttributeError) as exc:
        raise Unanswered(Phrase("Slack did not answer, or its answer made no sense")) from exc


def _translate_api_error(exc: SlackApiError) -> SlackFailure:
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
    needed = _scopes(answer.get("needed"))
    if code == "missing_scope" and needed:
        lacking = needed - _scopes(answer.get("provided")) or needed
        of_manifest = lacking & manifest().scopes
        scopes = ", ".join(sorted(of_manifest or lacking))
        return (MissingScope if of_manifest else Refused)(
            Phrase(
                "the app lacks the Slack scope {scopes} (missing_scope); ask a workspace admin to update the app with manifest.json and reinstall it",
                scopes=scopes,
            ),
            code,
        )
    restricted = _POSTING_RESTRICTED if _RESTRICTED.fullmatch(code) else None
    phrase = Phrase(restricted or _ERROR_MESSAGES.get(code, _REFUSED), code=code)
    for kind, codes in ((ChannelClosed, _CLOSED), (TooLong, _LONG), (StreamRefused, _NO_STREAM)):
        if code in codes:
            return kind(phrase, code)
    return Refused(phrase, code)


def _scopes(listed: object) -> frozenset[str]:
    """Return the scopes in Slack's comma-separated list, ignoring malformed ones."""
    return frozenset(filter(_CODE.fullmatch, re.split(r"[,\s]+", str(listed or ""))))
