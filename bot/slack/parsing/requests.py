"""Requests from people, parsed once from Slack's payloads: one model a kind."""

from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from analysis.models import Frozen
from bot.slack.parsing.departures import departed
from bot.slack.parsing.payloads import Id, Text, find
from bot.slack.parsing.subscription_options import SubscriptionOptions

_MOST = 4_000  # characters of a question that are processed
_MOST_FILES = 3
_TEXTS = ("text", "url", "title", "title_link", "pretext", "fallback")  # fields of messages, blocks and attachments
_MEDIA = ("image/", "audio/", "video/")
_PERSON = {"user": ("user.id",), "team": ("user.team_id", "team.id"), "response_url": ("response_url",)}
# Where the payloads of each kind have the fields of their requests: at the first of some paths.
_PATHS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "command": {
        "key": ("trigger_id",),
        "user": ("user_id",),
        "team": ("team_id",),
        "channel": ("channel_id",),
        "text": ("text",),
        "response_url": ("response_url",),
    },
    "message": {
        "user": ("event.user",),
        "team": ("event.user_team", "event.source_team", "event.team", "team_id"),
        "channel": ("event.channel",),
        "text": ("event.text",),
        "ts": ("event.ts",),
        "thread_ts": ("event.thread_ts",),
    },
    "button": {
        **_PERSON,
        "key": ("trigger_id",),
        "channel": ("channel.id", "container.channel_id"),
        "ts": ("container.message_ts", "message.ts"),
        "thread_ts": ("container.thread_ts", "message.thread_ts"),
        "private": ("container.is_ephemeral",),
    },
    "shortcut": {
        **_PERSON,
        "key": ("trigger_id",),
        "channel": ("channel.id",),
        "ts": ("message.ts",),
        "thread_ts": ("message.thread_ts",),
    },
    "form": {"key": ("view.id",), "user": ("user.id",), "team": ("user.team_id", "team.id")},
    "home": {"key": ("event_id",), "user": ("event.user",)},
    "join": {"key": ("event_id",), "user": ("event.inviter",), "channel": ("event.channel",)},
}


class Request(Frozen):
    """A request of one person, and where it was made. `key` is the same however often Slack delivers it.

    `ts` is the requesting message, or the one with the button; `thread_ts` is its thread. `response_url` takes private
    replies. A `private` message cannot be looked up or answered in a thread.
    """

    model_config = ConfigDict(extra="ignore")

    key: Id
    user: Id
    channel: Id
    team: Id = ""
    ts: Id = ""
    thread_ts: Id = ""
    response_url: Id = ""
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
    text: Text = ""
    private: bool = True


class MessageRequest(Request):
    """A message or a mention, with the ids of its files. `root_is_ours` tells whether the bot started its thread."""

    kind: Literal["message"] = "message"
    text: Text = ""
    files: tuple[Id, ...] = ()
    mentioned: bool = False
    root_is_ours: bool = False


class ButtonRequest(Request):
    """A button click."""

    kind: Literal["button"] = "button"
    action: Id
    value: Id = ""


class ShortcutRequest(Request):
    """The shortcut "Explain commits" on a message, with all that the message says."""

    kind: Literal["shortcut"] = "shortcut"
    text: Text = ""
    private: bool = True


class QuestionForm(Request):
    """A question from the modal of an "Ask" button; `about` is the button's value."""

    kind: Literal["form"] = "form"
    about: Id
    question: Text


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


class JoinRequest(Request):
    """The bot's joining of a channel, by whoever invited it."""

    kind: Literal["join"] = "join"


AnyRequest = (
    CommandRequest
    | MessageRequest
    | ButtonRequest
    | ShortcutRequest
    | QuestionForm
    | SubscriptionForm
    | HomeRequest
    | JoinRequest
)
_REQUESTS: TypeAdapter[AnyRequest] = TypeAdapter(Annotated[AnyRequest, Field(discriminator="kind")])


def request_row(request: AnyRequest) -> dict[str, Any]:
    """Return a request in its stored form."""
    return {"kind": request.kind, **request.model_dump(mode="json", exclude_defaults=True)}


def parse_request(row: Mapping[str, Any]) -> AnyRequest:
    """Parse a stored request. Raise pydantic's `ValidationError` for anything else."""
    return _REQUESTS.validate_python(row)


_MESSAGE = TypeAdapter(tuple[Id, Id])  # its channel and ts
_METADATA = TypeAdapter(Id)


def _fields(kind: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a request that its payload has; a key begins with the kind."""
    found = {name: find(body, *paths) for name, paths in _PATHS[kind].items()}
    return {name: f"{kind}:{value}" if name == "key" else value for name, value in found.items() if value is not None}


def is_malformed(kind: str, body: Mapping[str, Any]) -> bool:
    """Return whether a payload of a kind lacks what every such payload has, or has something else in its place.

    Whatever the kind, Bolt reads the view of one that no listener takes.
    """
    if not isinstance(body.get("view", {}), dict):
        return True
    try:
        if kind in _PARSERS:
            _PARSERS[kind](body)
    except ValidationError:
        return True
    return False


def from_command(body: Mapping[str, Any]) -> CommandRequest:
    """Parse a slash command."""
    return CommandRequest(**_fields("command", body))


def message_key(channel: str, ts: str) -> str:
    """Return the key under which a message is stored."""
    return f"message:{channel}:{ts}"


def from_message(body: Mapping[str, Any], bot_user: str) -> MessageRequest | None:
    """Parse a message or a mention (a mention arrives as both); None unless a person has just written it."""
    event, found = body["event"], {"user": "", **_fields("message", body)}
    request = MessageRequest(
        key=message_key(*_MESSAGE.validate_python((event.get("channel"), event.get("ts")))),
        files=_text_files(event.get("files")),
        mentioned=event["type"] == "app_mention" or f"<@{bot_user}" in str(found.get("text")),
        root_is_ours=event.get("parent_user_id") == bot_user,
        **found,
    )
    written = event.get("subtype") in (None, "thread_broadcast", "file_share")
    if not written or event.get("bot_id") or event.get("edited") or request.user in ("", bot_user):
        return None
    return request


def deleted_message(body: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the channel and ts of a message that was deleted, also of one that stays as a tombstone; None for other events."""
    event, ts = body["event"], None
    if event.get("subtype") == "message_deleted":
        ts = event.get("deleted_ts")
    elif event.get("subtype") == "message_changed" and find(event, "message.subtype") == "tombstone":
        ts = event["message"].get("ts")
    return _MESSAGE.validate_python((event.get("channel"), ts)) if ts else None


def _text_files(shared: Any) -> list[Any]:
    """Return the ids of the files that may hold text: all but images, sound and films."""
    listed = [each for each in shared if isinstance(each, Mapping)] if isinstance(shared, list) else []
    return [each["id"] for each in listed if each.get("id") and not str(each.get("mimetype")).startswith(_MEDIA)][
        :_MOST_FILES
    ]


def from_button(body: Mapping[str, Any]) -> ButtonRequest:
    """Parse a button click, or a choice from an overflow menu, whose option carries the action before its value.

    A day that was picked begins the value that follows the action of its picker.
    """
    pressed = body.get("actions")
    action = pressed[0] if isinstance(pressed, list) and pressed else {}
    name, value = find(action, "action_id"), find(action, "value")
    if find(action, "type") == "overflow":
        name, _, value = str(find(action, "selected_option.value")).partition("|")
    elif find(action, "type") == "datepicker":
        name, _, value = str(name).partition("|")
        value = f"{find(action, 'selected_date') or ''}|{value}"
    return ButtonRequest(action=name, value=value or "", **{"channel": "", **_fields("button", body)})


def from_shortcut(body: Mapping[str, Any]) -> ShortcutRequest:
    """Parse a shortcut on a message."""
    return ShortcutRequest(text="\n".join(_texts(body.get("message"))), **_fields("shortcut", body))


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


def from_form(body: Mapping[str, Any], button: ButtonRequest, question: Text) -> QuestionForm:
    """Build the request for a question from the modal that a button opened."""
    sent = _fields("form", body)
    place = button.model_dump(exclude={"kind", "key", "user"})
    return QuestionForm(**place, key=sent["key"], user=sent["user"], about=button.value, question=question[:_MOST])


def from_terms(
    body: Mapping[str, Any], channel: str, options: SubscriptionOptions, changes: int | None, *, at_home: bool
) -> SubscriptionForm:
    """Build the request for a submitted subscription modal."""
    return SubscriptionForm(channel=channel, options=options, changes=changes, at_home=at_home, **_fields("form", body))


def from_home(body: Mapping[str, Any]) -> HomeRequest | None:
    """Parse the opening of the App Home; None for its other tabs."""
    request = HomeRequest(channel="", **_fields("home", body))
    return request if find(body, "event.tab") == "home" else None


def from_join(body: Mapping[str, Any], bot_user: str) -> JoinRequest | None:
    """Parse somebody's joining of a channel; None unless it is the bot's."""
    request = JoinRequest(**{"user": bot_user, **_fields("join", body)})
    return request if find(body, "event.user") == bot_user else None


def stopped_thread(body: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the channel and thread whose answers a person stops; None outside threads."""
    event = body["event"]
    return _MESSAGE.validate_python((event.get("channel"), event["thread_ts"])) if event.get("thread_ts") else None


_PARSERS: Mapping[str, Callable[[Mapping[str, Any]], object]] = {
    "command": from_command,
    "message": lambda body: (from_message(body, ""), deleted_message(body)),
    "mention": lambda body: from_message(body, ""),
    "home": from_home,
    "join": lambda body: from_join(body, ""),
    "departure": departed,
    "stop": stopped_thread,
    "button": from_button,
    "form": lambda body: (
        _METADATA.validate_python(find(body, "view.private_metadata")),
        Request(channel="", **_fields("form", body)),
    ),
    "shortcut": from_shortcut,
}
