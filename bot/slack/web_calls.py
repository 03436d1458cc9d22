"""Calls of Slack's Web API: their answers as far as they are read, their errors as ours, and the metadata of our messages."""

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pydantic import AliasPath, BaseModel, ConfigDict, Field, ValidationError

from bot.slack.web_errors import silent, translated_errors

_EVENT = "vllm_digest"  # the type that Slack asks for


class SlackReply(BaseModel):
    model_config = ConfigDict(frozen=True)


T = TypeVar("T", bound=SlackReply)


class Identity(SlackReply):
    """auth.test"""

    user_id: str | None = None
    bot_id: str | None = None
    team_id: str | None = None
    team: str | None = None
    user: str | None = None
    enterprise_id: str | None = None
    is_enterprise_install: bool | None = None


class BotInfo(SlackReply):
    app_id: str = Field(validation_alias=AliasPath("bot", "app_id"))


class Connection(SlackReply):
    url: str


class Posted(SlackReply):
    ts: str


class UploadPlace(SlackReply):
    upload_url: str
    file_id: str


class File(SlackReply):
    """`shares` maps public and private to channels, and those to the messages that share the file; `size` is in bytes."""

    name: str | None = None
    size: int | None = None
    mimetype: str | None = None
    url_private: str | None = None
    shares: dict[str, dict[str, tuple[Posted, ...]]] | None = None


class FileInfo(SlackReply):
    file: File


class Cursor(SlackReply):
    next_cursor: str | None = None


class Page(SlackReply):
    response_metadata: Cursor | None = None

    @property
    def next_cursor(self) -> str | None:
        return (self.response_metadata and self.response_metadata.next_cursor) or None


class MessagePage(Page):
    messages: list[dict[str, Any]]


class MemberPage(Page):
    members: frozenset[str]


class Channel(SlackReply):
    is_member: bool | None = None
    is_archived: bool | None = None


class ChannelInfo(SlackReply):
    channel: Channel


class DirectChannel(SlackReply):
    id: str


class OpenedChannel(SlackReply):
    channel: DirectChannel


class Permalink(SlackReply):
    permalink: str


class Profile(SlackReply):
    display_name: str | None = None
    real_name: str | None = None


class EnterpriseUser(SlackReply):
    teams: frozenset[str] | None = None


class User(SlackReply):
    name: str | None = None
    profile: Profile | None = None
    team_id: str | None = None
    enterprise_user: EnterpriseUser | None = None
    is_admin: bool | None = None
    is_owner: bool | None = None
    is_stranger: bool | None = None


class UserInfo(SlackReply):
    user: User


def call(form: type[T], method: Callable[..., Any], **arguments: Any) -> T:
    """Call a method of the SDK and return its answer as `form`. Raise our errors."""
    with translated_errors():
        answer = method(**arguments)
    return read(form, answer.data)


def read(form: type[T], data: object) -> T:
    try:
        return form.model_validate(data)
    except ValidationError as exc:
        raise silent(exc) from exc


def metadata(key: str, about: str = "") -> dict[str, Any]:
    """Return the metadata of a message with this key and, if it has one, its thread's subject."""
    subject = {"about": about} if about else {}
    return {"event_type": _EVENT, "event_payload": {"key": key, **subject}}


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
