"""Requests from people, parsed once from Slack's payloads: one type a kind."""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, TypeAdapter

from analysis.models import Frozen
from analysis.text import scalar
from bot.slack.parsing.subscription_options import SubscriptionOptions

_MOST = 4_000  # characters of a question that are processed
_MOST_PASTED = 40_000  # of a command or a message, which may hold a log; Slack cuts longer ones
_MOST_FILES = 3
_TEXTS = ("text", "url", "title", "title_link", "pretext", "fallback")  # fields of messages, blocks and attachments
_MEDIA = ("image/", "audio/", "video/")


class Request(Frozen):
    """A request of one person, and where it was made. `key` is the same however often Slack delivers it.

    `ts` is the requesting message, or the one with the button; `thread_ts` is its thread. `response_url` takes private
    replies. A `private` message cannot be looked up or answered in a thread.
    """

    model_config = ConfigDict(extra="ignore")

    key: str
    user: str
    channel: str
    team: str = ""
    ts: str = ""
    thread_ts: str = ""
    response_url: str = ""
    private: bool = False

    @property
    def run(self) -> str:
        """The short id of this request in logs and error messages."""
        return sha256(self.key.encode()).hexdigest()[:8]

    @property
    def direct(self) -> bool:
        """Whether it was made in the direct messages with the bot."""
        return self.channel.startswith("D")


class CommandRequest(Request):
    """A slash command."""

    kind: Literal["command"] = "command"
    text: str = ""
    private: bool = True


class MessageRequest(Request):
    """A message or a mention, with the ids of its files. `root_is_ours` tells whether the bot started its thread."""

    kind: Literal["message"] = "message"
    text: str = ""
    files: tuple[str, ...] = ()
    mentioned: bool = False
    root_is_ours: bool = False


class ButtonRequest(Request):
    """A button click."""

    kind: Literal["button"] = "button"
    action: str
    value: str = ""


class ShortcutRequest(Request):
    """The shortcut "Explain commits" on a message, with all that the message says."""

    kind: Literal["shortcut"] = "shortcut"
    text: str = ""
    private: bool = True


class QuestionForm(Request):
    """A question from the modal of an "Ask" button; `about` is the button's value."""

    kind: Literal["form"] = "form"
    about: str
    question: str


class SubscriptionForm(Request):
    """A submitted subscription modal: the options, and the id of the subscription that it changes, if any.

    `at_home` tells whether it was opened in the App Home.
    """

    kind: Literal["terms"] = "terms"
    options: SubscriptionOptions
    changes: int | None = None
    private: bool = True
    at_home: bool = False


class HomeRequest(Request):
    """The opening of the App Home."""

    kind: Literal["home"] = "home"
    private: bool = True


AnyRequest = (
    CommandRequest | MessageRequest | ButtonRequest | ShortcutRequest | QuestionForm | SubscriptionForm | HomeRequest
)
_REQUESTS: TypeAdapter[AnyRequest] = TypeAdapter(Annotated[AnyRequest, Field(discriminator="kind")])


def request_row(request: AnyRequest) -> dict[str, Any]:
    """Return a request in its stored form."""
    return {"kind": request.kind, **request.model_dump(mode="json", exclude_defaults=True)}


def parse_request(row: Mapping[str, Any]) -> AnyRequest:
    """Parse a stored request. Raise pydantic's `ValidationError` for anything else."""
    return _REQUESTS.validate_python(row)


def from_command(body: Mapping[str, Any]) -> CommandRequest:
    """Parse a slash command."""
    return CommandRequest(
        key=f"command:{body['trigger_id']}",
        user=body["user_id"],
        team=body.get("team_id") or "",
        channel=body["channel_id"],
        text=scalar(body.get("text") or "")[:_MOST_PASTED],
        response_url=body.get("response_url") or "",
    )


def message_key(channel: str, ts: str) -> str:
    """Return the key under which a message is stored."""
    return f"message:{channel}:{ts}"


def from_message(body: Mapping[str, Any], bot_user: str) -> MessageRequest | None:
    """Parse a message or a mention (a mention arrives as both); None unless a person has just written it."""
    event = body["event"]
    if (
        event.get("subtype") not in (None, "thread_broadcast", "file_share")
        or event.get("bot_id")
        or event.get("edited")
    ):
        return None
    if not event.get("user") or event["user"] == bot_user:
        return None
    text = scalar(event.get("text") or "")
    return MessageRequest(
        key=message_key(event["channel"], event["ts"]),
        user=event["user"],
        team=event.get("user_team") or event.get("source_team") or event.get("team") or body.get("team_id") or "",
        channel=event["channel"],
        text=text[:_MOST_PASTED],
        files=_files(event.get("files") or ()),
        ts=event["ts"],
        thread_ts=event.get("thread_ts") or "",
        mentioned=event["type"] == "app_mention" or f"<@{bot_user}" in text,
        root_is_ours=event.get("parent_user_id") == bot_user,
    )


def deleted_message(body: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the channel and ts of a message that was deleted, also of one that stays as a tombstone; None for other events."""
    event = body["event"]
    if event.get("subtype") == "message_deleted" and event.get("deleted_ts"):
        return event["channel"], event["deleted_ts"]
    changed = event.get("message") or {}
    if event.get("subtype") == "message_changed" and changed.get("subtype") == "tombstone" and changed.get("ts"):
        return event["channel"], changed["ts"]
    return None


def _files(shared: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the ids of the files that may hold text: all but images, sound and films."""
    listed = [each for each in shared if not str(each.get("mimetype") or "").startswith(_MEDIA)]
    return tuple(str(each["id"]) for each in listed if each.get("id"))[:_MOST_FILES]


def from_button(body: Mapping[str, Any]) -> ButtonRequest:
    """Parse a button click, or a choice from an overflow menu, whose option carries the action before its value."""
    action = body["actions"][0]
    if action.get("type") == "overflow":
        name, _, value = str((action.get("selected_option") or {}).get("value") or "").partition("|")
        action = {**action, "action_id": name, "value": value}
    container = body.get("container") or {}
    channel = (body.get("channel") or {}).get("id") or container.get("channel_id") or ""
    message = body.get("message") or {}
    return ButtonRequest(
        key=f"button:{body.get('trigger_id') or action.get('action_ts')}",
        user=body["user"]["id"],
        team=body["user"].get("team_id") or (body.get("team") or {}).get("id") or "",
        channel=channel,
        value=action.get("value") or "",
        action=action["action_id"],
        ts=container.get("message_ts") or message.get("ts") or "",
        thread_ts=container.get("thread_ts") or message.get("thread_ts") or "",
        response_url=body.get("response_url") or "",
        private=bool(container.get("is_ephemeral")),
    )


def from_shortcut(body: Mapping[str, Any]) -> ShortcutRequest:
    """Parse a shortcut on a message."""
    message = body["message"]
    return ShortcutRequest(
        key=f"shortcut:{body['trigger_id']}",
        user=body["user"]["id"],
        team=body["user"].get("team_id") or (body.get("team") or {}).get("id") or "",
        channel=body["channel"]["id"],
        text=scalar("\n".join(_texts(message)))[:_MOST_PASTED],
        ts=message.get("ts") or "",
        thread_ts=message.get("thread_ts") or "",
        response_url=body.get("response_url") or "",
    )


def _texts(part: Any) -> Iterator[str]:
    """Yield the texts and addresses of a message, of its blocks and of its attachments."""
    if isinstance(part, Mapping):
        for name, value in part.items():
            if isinstance(value, str):
                yield from [value] if name in _TEXTS else []
            else:
                yield from _texts(value)
    elif isinstance(part, list):
        for each in part:
            yield from _texts(each)


def from_form(body: Mapping[str, Any], button: ButtonRequest, question: str) -> QuestionForm:
    """Build the request for a question from the modal that a button opened."""
    return QuestionForm(
        **button.model_dump(exclude={"kind", "key", "user", "action", "value"}),
        key=f"form:{body['view']['id']}",
        user=body["user"]["id"],
        about=button.value,
        question=scalar(question)[:_MOST],
    )


def from_terms(
    body: Mapping[str, Any], channel: str, options: SubscriptionOptions, changes: int | None, *, at_home: bool
) -> SubscriptionForm:
    """Build the request for a submitted subscription modal."""
    user = body["user"]
    return SubscriptionForm(
        key=f"form:{body['view']['id']}",
        user=user["id"],
        team=user.get("team_id") or (body.get("team") or {}).get("id") or "",
        channel=channel,
        options=options,
        changes=changes,
        at_home=at_home,
    )


def from_home(body: Mapping[str, Any]) -> HomeRequest | None:
    """Parse the opening of the App Home; None for its other tabs."""
    event = body["event"]
    if event.get("tab") != "home":
        return None
    return HomeRequest(key=f"home:{body['event_id']}", user=event["user"], channel="")
