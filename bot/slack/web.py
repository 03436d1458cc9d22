"""The only door to Slack's Web API: our messages go in, timestamps and ids come out, its errors become ours.

    SlackFailure             3: Slack did not do what was asked
    ├── Unanswered           no answer, or one that leaves open whether it was done
    └── Refused              an error that Slack names
        ├── MissingScope     the app was installed without a scope of the manifest
        ├── ChannelClosed    the channel is archived, gone, or the bot is not in it
        ├── TooLong          the message is over a limit that Slack does not document
        └── StreamRefused    this workspace or this place has no streamed messages

Posts are never repeated here: only 429 is, since then nothing was accepted. The outbox knows what to do about the rest.
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
from analysis.phrases import Phrase
from bot.slack.manifest import manifest

TIMEOUT = 6  # seconds for one request; Slack answers in far less than one
_EVENT = "vllm_digest"  # the type of our messages' metadata
_RETRIES = 4
_PAGES = 5  # that a look-up, or the reading of a thread, goes through
_REPLIES = 200  # messages of a thread a page

_CODE = re.compile(r"[a-z0-9_.:,]{1,100}")  # how Slack names errors and scopes; nothing else of its answers is told
_CLOSED = frozenset({"is_archived", "channel_not_found", "not_in_channel", "channel_is_archived", "is_inactive"})
_SAID = {  # what people are told of an error; of any other, its name
    **dict.fromkeys(("is_archived", "channel_is_archived"), "slack_archived"),
    **dict.fromkeys(("channel_not_found", "is_inactive"), "slack_no_channel"),
    "not_in_channel": "slack_not_in_channel",
}
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
_PASSING = frozenset(
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
    """`code` is Slack's name of the error."""

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
    """What Slack says of a bot token: whose it is, the app's scopes (None where it does not say), and what time it is there."""

    user: str
    team: str
    whole_organisation: bool
    scopes: frozenset[str] | None
    at: datetime | None


class Place(NamedTuple):
    """How the bot stands to a channel."""

    is_member: bool
    is_archived: bool


class Web:
    """Slack as the bot uses it. Threads may share it. What is only read is read again where that failed, `retries` times."""

    def __init__(self, token: str, url: str, *, retries: int = _RETRIES) -> None:
        patient = RateLimitErrorRetryHandler(max_retry_count=retries)
        self.client = WebClient(token, base_url=url, timeout=TIMEOUT, retry_handlers=[patient])
        again = [ConnectionErrorRetryHandler(max_retry_count=retries), ServerErrorRetryHandler(retries), patient]
        self._reader = WebClient(token, base_url=url, timeout=TIMEOUT, retry_handlers=again)
        self._me: Mapping[str, str] | None = None

    @property
    def me(self) -> Mapping[str, str]:
        """Who the bot is: user_id, bot_id and team_id."""
        if self._me is None:
            with translated():
                found = self._reader.auth_test()
            self._me = {name: str(found.get(name) or "") for name in ("user_id", "bot_id", "team_id", "team", "user")}
        return self._me

    def socket_address(self, app_token: str) -> str:
        """An address that serves for one connection of Socket Mode."""
        with translated():
            return str(self.client.apps_connections_open(app_token=app_token)["url"])

    def installation(self) -> Installation:
        """What the token is good for."""
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
        """Posts a message {text, blocks} with its key. Gives its ts."""
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
        """Puts other words into a message of ours."""
        with translated():
            self.client.chat_update(
                channel=channel,
                ts=ts,
                text=message["text"],
                blocks=message.get("blocks") or [],
                metadata=_metadata(key, message),
            )

    def whisper(self, channel: str, user: str, message: Mapping[str, Any], thread_ts: str | None) -> None:
        """Posts what only one person sees."""
        with translated():
            self.client.chat_postEphemeral(
                channel=channel,
                user=user,
                text=message["text"],
                blocks=message.get("blocks") or None,
                thread_ts=thread_ts,
            )

    def respond(self, address: str, message: Mapping[str, Any], *, replace: bool) -> None:
        """Answers privately at the address that came with a command or a button, instead of what was there."""
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
        """Begins a message that grows in a thread. Gives its ts."""
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
        """Lets it grow by some Markdown."""
        with translated():
            self.client.chat_appendStream(channel=channel, ts=ts, markdown_text=text)

    def stop_stream(self, channel: str, ts: str, key: str | None = None) -> None:
        """Ends its growth, and leaves its key on it."""
        with translated():
            self.client.chat_stopStream(
                channel=channel, ts=ts, metadata={"event_type": _EVENT, "event_payload": {"key": key}} if key else None
            )

    # Files

    def upload(self, name: str, data: str) -> str:
        """Uploads a file that nobody sees yet. Gives its id."""
        content = data.encode()
        with translated():
            place = self.client.files_getUploadURLExternal(filename=name, length=len(content))
            address = Request(place["upload_url"], data=content)  # noqa: S310 (Slack names it)
            with urlopen(address, timeout=TIMEOUT * 5) as answer:  # noqa: S310
                answer.read()
        return str(place["file_id"])

    def share(self, file_id: str, title: str, channel: str, thread_ts: str | None) -> None:
        """Shows an uploaded file in a channel or thread."""
        with translated():
            self.client.files_completeUploadExternal(
                files=[{"id": file_id, "title": title}], channel_id=channel, thread_ts=thread_ts
            )

    def share_of(self, file_id: str, channel: str) -> str | None:
        """The ts of the message that shows a file in a channel; None where none does yet."""
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
        """The ts of the message of ours that is `wanted`, among those between two instants in a channel or thread."""
        for message in self._messages(channel, thread_ts, oldest, latest):
            mine = message.get("bot_id") == self.me["bot_id"] or message.get("user") == self.me["user_id"]
            if mine and wanted(message):
                return str(message["ts"])
        return None

    def thread(self, channel: str, thread_ts: str) -> list[dict[str, Any]]:
        """The messages of a thread, oldest first, with their metadata; of a very long one its beginning."""
        with translated():
            pages = self._reader.conversations_replies(
                channel=channel, ts=thread_ts, limit=_REPLIES, include_all_metadata=True
            )
            # Every page may begin with the thread's first message.
            found = {str(each["ts"]): each for page in islice(pages, _PAGES) for each in page["messages"]}
            return list(found.values())

    def direct(self, user: str) -> str:
        """The id of the direct messages with a person."""
        with translated():
            return str(self._reader.conversations_open(users=[user])["channel"]["id"])

    def permalink(self, channel: str, ts: str) -> str | None:
        """The address of a message; None where it was deleted, or where Slack does not show it any more."""
        try:
            with translated():
                address = str(self._reader.chat_getPermalink(channel=channel, message_ts=ts)["permalink"])
        except Refused:
            return None
        return address if _ADDRESS.fullmatch(address) and not self._is_tombstone(channel, ts) else None

    def _is_tombstone(self, channel: str, ts: str) -> bool:
        """Whether a message was deleted, and its place is kept because it has replies; not known is no."""
        try:
            with translated():
                found = self._reader.conversations_replies(channel=channel, ts=ts, limit=1)["messages"]
                return not found or found[0].get("subtype") == "tombstone"
        except MissingScope:
            return False
        except Refused:
            return True

    def is_member(self, channel: str, user: str) -> bool:
        """Whether the bot may post where `user` is: in a channel, or in direct messages, which may be those of two people."""
        if channel.startswith("D"):
            return channel == self.direct(user)
        try:
            with translated():
                return bool(self._reader.conversations_info(channel=channel)["channel"].get("is_member"))
        except MissingScope:
            raise
        except Refused:
            return False  # what the bot is not in may be unknown to it, or of a kind that it has no scope for

    def place(self, channel: str) -> Place:
        """How the bot stands to a channel; `ChannelClosed` for one that it cannot know of."""
        with translated():
            found = self._reader.conversations_info(channel=channel)["channel"]
            return Place(bool(found.get("is_member")), bool(found.get("is_archived")))

    def has_member(self, channel: str, user: str) -> bool:
        """Whether a person is in a channel; not known is no."""
        if channel.startswith("D"):
            return True  # nobody else can name it
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
        """What a person is called; empty where Slack does not say."""
        try:
            with translated():
                found = self._reader.users_info(user=user)["user"]
        except SlackFailure:
            return ""
        profile = found.get("profile") or {}
        return str(profile.get("display_name") or profile.get("real_name") or found.get("name") or "")

    def is_operator(self, user: str) -> bool:
        """Whether a person runs the workspace."""
        try:
            with translated():
                found = self._reader.users_info(user=user)["user"]
        except SlackFailure:
            return False
        return bool(found.get("is_admin") or found.get("is_owner"))

    def is_stranger(self, user: str) -> bool:
        """Whether a person is of another organisation (Slack Connect); one whom Slack does not know here is."""
        try:
            with translated():
                found = self._reader.users_info(user=user)["user"]
        except MissingScope:
            raise
        except Refused:
            return True
        # In an Enterprise organisation a person may be at home in another of its workspaces.
        teams = {found.get("team_id"), *((found.get("enterprise_user") or {}).get("teams") or ())}
        return bool(found.get("is_stranger")) or self.me["team_id"] not in teams

    def publish_home(self, user: str, view: Mapping[str, Any]) -> None:
        """Shows somebody the bot's home."""
        with translated():
            self.client.views_publish(user_id=user, view=dict(view))

    def open_view(self, trigger_id: str, view: Mapping[str, Any]) -> None:
        """Opens a modal for whoever pressed a button within the last three seconds."""
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
        # More than this around the attempt: whether ours is further on is not known.
        raise Unanswered("too many messages to look through")


def has_key(key: str) -> Callable[[dict[str, Any]], bool]:
    """Whether a message carries this key."""
    return lambda message: key_of(message) == key


def key_of(message: Mapping[str, Any]) -> str:
    """The key that a message of ours carries."""
    return str(_payload(message).get("key") or "")


def about_of(message: Mapping[str, Any]) -> str:
    """What the thread of a message of ours talks about, as the message itself says."""
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
    """Turns what the SDK raises into our errors: the one place where that is done."""
    try:
        yield
    except SlackApiError as exc:
        raise _named(exc) from exc
    except (SlackClientError, HTTPException, OSError, ValueError, KeyError, TypeError, AttributeError) as exc:
        raise Unanswered(Phrase("slack_silent")) from exc


def _named(exc: SlackApiError) -> SlackFailure:
    answer: Any = exc.response
    status = getattr(answer, "status_code", 200)
    try:
        code = str(answer.get("error") or "")
    except (AttributeError, ValueError):
        code = ""
    if not _CODE.fullmatch(code):
        code = ""  # what is no JSON is put there by the SDK in words
    if not code or status >= 500 or code in _PASSING:  # noqa: PLR2004
        what = code or "its answer made no sense"
        return Unanswered(f"Slack answered with status {status}" if status != 200 else f"Slack failed ({what})")  # noqa: PLR2004
    needed = _scopes(answer.get("needed"))
    if code == "missing_scope" and needed:
        lacking = needed - _scopes(answer.get("provided")) or needed
        of_manifest = lacking & manifest().scopes
        scopes = ", ".join(sorted(of_manifest or lacking))
        return (MissingScope if of_manifest else Refused)(Phrase("slack_scope", scopes=scopes), code)
    name = "slack_restricted" if _RESTRICTED.fullmatch(code) else _SAID.get(code, "slack_refuses")
    told = Phrase(name, code=code)
    for kind, codes in ((ChannelClosed, _CLOSED), (TooLong, _LONG), (StreamRefused, _NO_STREAM)):
        if code in codes:
            return kind(told, code)
    return Refused(told, code)


def _scopes(listed: object) -> frozenset[str]:
    """The scopes in Slack's comma-separated list; anything else in it is left out."""
    return frozenset(filter(_CODE.fullmatch, re.split(r"[,\s]+", str(listed or ""))))
