"""The only access to Slack's Web API: takes our messages, returns timestamps and ids, raises our errors.

Posts are retried here only after a 429, when Slack has accepted nothing. The outbox handles the other failures.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal, NamedTuple
from urllib.request import Request, urlopen

from slack_sdk import WebClient
from slack_sdk.http_retry.builtin_handlers import (
    ConnectionErrorRetryHandler,
    RateLimitErrorRetryHandler,
    ServerErrorRetryHandler,
)
from slack_sdk.webhook import WebhookClient

from bot.slack.directory import Directory
from bot.slack.web_calls import File, Identity, MessagePage, call, metadata, pages, read
from bot.slack.web_errors import Refused, Unanswered, scopes_in, translated_errors
from bot.slack.web_files import download, is_slacks

TIMEOUT = 6  # seconds per request; Slack usually answers in far less than one
_RETRIES = 4
_HOOKS = ("https://hooks.slack.com", "https://hooks.slack-gov.com")  # of response_urls
_REPLIES = 200  # messages per page of a thread


class Installation(NamedTuple):
    """The owner and scopes of a bot token (scopes None if not reported), and the time of Slack's server."""

    user: str
    team: str
    whole_organisation: bool
    scopes: frozenset[str] | None
    at: datetime | None


class _RateLimitHandler(RateLimitErrorRetryHandler):
    """Waits as long as Slack asks for, and then asks whether to write still."""

    def __init__(self, retries: int, before_write: Callable[[], None]) -> None:
        super().__init__(max_retry_count=retries)
        self._before_write = before_write

    def prepare_for_next_attempt(self, **circumstances: Any) -> None:
        super().prepare_for_next_attempt(**circumstances)
        self._before_write()


class Web:
    """Client for Slack's Web API; thread-safe. Failed reads are retried `retries` times.

    `before_write` is called before each request that writes; what it raises keeps the request from being sent.
    """

    def __init__(
        self,
        token: str,
        url: str,
        *,
        retries: int = _RETRIES,
        before_write: Callable[[], None] = lambda: None,
    ) -> None:
        self._token, self._url, self._before_write = token, url, before_write
        patient = _RateLimitHandler(retries, before_write)
        self.client = WebClient(token, base_url=url, timeout=TIMEOUT, retry_handlers=[patient])
        again = [ConnectionErrorRetryHandler(max_retry_count=retries), ServerErrorRetryHandler(retries), patient]
        self._reader = WebClient(token, base_url=url, timeout=TIMEOUT, retry_handlers=again)
        self.directory = Directory(self._reader)

    @property
    def me(self) -> Mapping[str, str]:
        """What `Directory.me` says of the bot."""
        return self.directory.me

    def socket_address(self, app_token: str) -> str:
        """Return a WebSocket URL for one Socket Mode connection."""
        return call(str, "url", self.client.apps_connections_open, app_token=app_token)

    def installation(self) -> Installation:
        """Return the owner and scopes of the bot token."""
        with translated_errors():
            answer = self._reader.auth_test()
        found = read(Identity, "", answer.data)
        headers = {name.lower(): value for name, value in answer.headers.items()}
        scopes, at = headers.get("x-oauth-scopes"), headers.get("date")
        return Installation(
            user=found.user or "",
            team=found.team or "",
            whole_organisation=bool(found.is_enterprise_install),
            scopes=None if scopes is None else scopes_in(scopes),
            at=_date(at) if at else None,
        )

    # Posting

    def post(self, channel: str, message: Mapping[str, Any], key: str, thread_ts: str | None) -> str:
        """Post a message {text, blocks} with its key in the metadata; return its ts."""
        answer = self._write(
            self.client.chat_postMessage,
            channel=channel,
            **_content(message),
            thread_ts=thread_ts,
            metadata=metadata(key, message.get("about", "")),
            unfurl_links=False,
            unfurl_media=False,
        )
        return read(str, "ts", answer)

    def update(self, channel: str, ts: str, message: Mapping[str, Any], key: str) -> None:
        """Replace the content of one of our messages."""
        self._write(
            self.client.chat_update,
            channel=channel,
            ts=ts,
            text=message["text"],
            blocks=message.get("blocks") or [],
            metadata=metadata(key, message.get("about", "")),
        )

    def delete(self, channel: str, ts: str) -> None:
        """Delete one of our messages."""
        self._write(self.client.chat_delete, channel=channel, ts=ts)

    def post_ephemeral(self, channel: str, user: str, message: Mapping[str, Any], thread_ts: str | None) -> None:
        """Post an ephemeral message to one person."""
        self._write(
            self.client.chat_postEphemeral,
            channel=channel,
            user=user,
            **_content(message),
            thread_ts=thread_ts,
        )

    def respond(self, address: str, message: Mapping[str, Any], *, replace: bool) -> None:
        """Reply privately at a request's response_url; with `replace`, in place of the original message."""
        self._before_write()
        self.respond_at_once(address, message, replace=replace)

    def respond_at_once(self, address: str, message: Mapping[str, Any], *, replace: bool) -> None:
        """Reply as `respond` does, without a lease: for what no other process says in place of this one."""
        if not self.is_response_url(address):
            raise Refused("the response_url is not Slack's", "foreign_response_url")
        with translated_errors():
            answer = WebhookClient(address, timeout=TIMEOUT).send(
                **_content(message),
                response_type="ephemeral",
                replace_original=replace,
                unfurl_links=False,
                unfurl_media=False,
            )
        if answer.status_code != 200:  # noqa: PLR2004
            raise Refused(f"Slack takes no more answers ({answer.status_code})", answer.body.strip()[:60])

    def is_response_url(self, address: str) -> bool:
        """Return whether an address is of a host of Slack's, or of the configured API's."""
        return any(is_slacks(address, own) for own in (self._url, *_HOOKS))

    # Streams

    def start_stream(self, channel: str, thread_ts: str, user: str, team: str, text: str) -> str:
        """Start a streamed message in a thread; return its ts."""
        answer = self._write(
            self.client.chat_startStream,
            channel=channel,
            thread_ts=thread_ts,
            recipient_user_id=user,
            recipient_team_id=team,
            markdown_text=text or None,
        )
        return read(str, "ts", answer)

    def append_stream(self, channel: str, ts: str, text: str) -> None:
        """Append Markdown to a streamed message."""
        self._write(self.client.chat_appendStream, channel=channel, ts=ts, markdown_text=text)

    def stop_stream(
        self, channel: str, ts: str, key: str | None = None, footer: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        """Stop a streamed message, set its key, if given, in the metadata, and add the blocks of its footer."""
        known, blocks = metadata(key) if key else None, list(footer) or None
        self._write(self.client.chat_stopStream, channel=channel, ts=ts, metadata=known, blocks=blocks)

    # The agent surface

    def set_session_status(self, channel: str, thread_ts: str, status: Literal["processing", "active"]) -> None:
        """Set the status of a thread's agent session; while it is `processing`, Slack shows a stop button."""
        # To set it back is retried as reads are: it does no harm twice, and what stays `processing` is shown for an hour.
        client = self.client if status == "processing" else self._reader
        self._write(client.agents_sessions_setStatus, channel_id=channel, thread_ts=thread_ts, status=status)

    def suggest_prompts(self, channel: str, prompts: Sequence[Mapping[str, str]]) -> None:
        """Suggest prompts {title, message} in a direct message channel, at most four."""
        self._write(self.client.assistant_threads_setSuggestedPrompts, channel_id=channel, prompts=list(prompts))

    # Files

    def upload(self, name: str, content: bytes, alt: str = "") -> str:
        """Upload a file, with the alternative text of a picture, without sharing it; return its id."""
        place = self._write(
            self.client.files_getUploadURLExternal,
            filename=name,
            length=len(content),
            alt_txt=alt or None,
        )
        with translated_errors():
            address = Request(read(str, "upload_url", place), data=content)  # noqa: S310 (a URL from Slack)
            with urlopen(address, timeout=TIMEOUT * 5) as answer:  # noqa: S310
                answer.read()
        return read(str, "file_id", place)

    def share(self, file_id: str, title: str, channel: str, thread_ts: str | None, comment: str = "") -> None:
        """Share an uploaded file in a channel or thread, with a comment in mrkdwn."""
        self._write(
            self.client.files_completeUploadExternal,
            files=[{"id": file_id, "title": title}],
            channel_id=channel,
            thread_ts=thread_ts,
            initial_comment=comment or None,
        )

    def share_of(self, file_id: str, channel: str) -> str | None:
        """Return the ts of the message that shares a file in a channel; None if there is none yet."""
        shares = call(File, "file", self._reader.files_info, file=file_id).shares or {}
        return next((share.ts for where in shares.values() for share in where.get(channel, ())), None)

    def download(self, file_id: str, most: int) -> tuple[str, bytes]:
        """Return the name and the content of a file that a person shared.

        Raise `Misuse` if it has more than `most` bytes, `Refused` if Slack does not hand it out.
        """
        file = call(File, "file", self._reader.files_info, file=file_id)
        return file.name or file.id, download(file, self._token, self._url, most)

    # Looking up

    def find(
        self,
        channel: str,
        thread_ts: str | None,
        oldest: datetime,
        latest: datetime,
        matches: Callable[[dict[str, Any]], bool],
    ) -> list[str]:
        """Return the ts of our messages between two instants in a channel or thread that satisfy `matches`, oldest first.

        Raise `Unanswered` if there are too many to look through and none was found.
        """
        method = self._reader.conversations_replies if thread_ts else self._reader.conversations_history
        place = {"channel": channel, "ts": thread_ts} if thread_ts else {"channel": channel}
        period = {"oldest": f"{oldest.timestamp():.6f}", "latest": f"{latest.timestamp():.6f}"}
        found: list[str] = []
        for page in pages(MessagePage, method, **place, **period, limit=100, include_all_metadata=True):
            found += [str(each["ts"]) for each in page.messages if self._is_mine(each) and matches(each)]
        if page.cursor and not found:
            raise Unanswered("too many messages to look through")
        return sorted(found)

    def _is_mine(self, message: Mapping[str, Any]) -> bool:
        return message.get("bot_id") == self.me["bot_id"] or message.get("user") == self.me["user_id"]

    def thread(self, channel: str, thread_ts: str) -> list[dict[str, Any]]:
        """Return the messages of a thread with metadata, oldest first; of one that is too long, its beginning."""
        place = {"channel": channel, "ts": thread_ts, "limit": _REPLIES}
        found = pages(MessagePage, self._reader.conversations_replies, **place, include_all_metadata=True)
        # Every page may start with the thread's parent message.
        return list({str(each.get("ts")): each for page in found for each in page.messages}.values())

    def publish_home(self, user: str, view: Mapping[str, Any]) -> None:
        """Publish the bot's App Home tab for a person."""
        self._write(self.client.views_publish, user_id=user, view=dict(view))

    def open_view(self, trigger_id: str, view: Mapping[str, Any]) -> None:
        """Open a modal with the trigger of a button click, which is valid for three seconds."""
        self._write(self.client.views_open, trigger_id=trigger_id, view=dict(view))

    def _write(self, method: Callable[..., Any], **arguments: Any) -> dict[str, Any]:
        """Call a method that changes something, and return its answer."""
        self._before_write()
        return call(dict[str, Any], "", method, **arguments)


def _content(message: Mapping[str, Any]) -> dict[str, Any]:
    return {"text": message["text"], "blocks": message.get("blocks") or None}


def _date(text: str) -> datetime | None:
    try:
        return parsedate_to_datetime(text)
    except ValueError:
        return None
