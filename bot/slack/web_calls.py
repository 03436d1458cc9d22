"""Calls of Slack's Web API: their answers as far as they are read, their errors as ours, and the metadata of our messages."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from pydantic import AliasPath, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from bot.slack.web_errors import silent, translated_errors

_EVENT = "vllm_digest"  # the type that Slack asks for
_PAGES = 5  # maximum pages of a list
_T = TypeVar("_T")


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True)


class Identity(_Answer):
    """auth.test"""

    user_id: str | None = None
    bot_id: str | None = None
    team_id: str | None = None
    team: str | None = None
    user: str | None = None
    enterprise_id: str | None = None
    is_enterprise_install: bool | None = None


class Share(_Answer):
    """A message that shares a file."""

    ts: str


class File(_Answer):
    """A file in Slack. `size` is in bytes; `shares` maps public and private to channels, and those to the messages that share it."""

    id: str
    name: str | None = None
    size: int | None = None
    mimetype: str | None = None
    url_private: str | None = None
    shares: dict[str, dict[str, tuple[Share, ...]]] | None = None


class Membership(_Answer):
    """The bot's membership of a channel, and whether the channel is private or archived."""

    is_member: bool | None = None
    is_private: bool | None = None
    is_archived: bool | None = None


class User(_Answer):
    """A person; `teams` are the workspaces of an Enterprise organisation that the person is in."""

    name: str | None = None
    display_name: str | None = Field(None, validation_alias=AliasPath("profile", "display_name"))
    real_name: str | None = Field(None, validation_alias=AliasPath("profile", "real_name"))
    team_id: str | None = None
    teams: frozenset[str] | None = Field(None, validation_alias=AliasPath("enterprise_user", "teams"))
    is_admin: bool | None = None
    is_owner: bool | None = None
    is_stranger: bool | None = None
    tz: str | None = None
    locale: str | None = None


class _Page(_Answer):
    cursor: str | None = Field(None, validation_alias=AliasPath("response_metadata", "next_cursor"))


class MessagePage(_Page):
    messages: list[dict[str, Any]]


class MemberPage(_Page):
    members: frozenset[str]


_P = TypeVar("_P", bound=_Page)


def call(form: type[_T], path: str, method: Callable[..., Any], **arguments: Any) -> _T:
    """Call a method of the SDK and return what its answer has at a dotted path, as `form`. Raise our errors."""
    with translated_errors():
        answer = method(**arguments)
    return read(form, path, answer.data)


def read(form: type[_T], path: str, data: Any) -> _T:
    """Return what an answer of Slack has at a dotted path, as `form`. Raise `Unanswered` if that is missing or malformed."""
    try:
        for name in filter(None, path.split(".")):
            data = data[name]
        return TypeAdapter(form).validate_python(data)
    except (ValidationError, LookupError, TypeError) as exc:
        raise silent(exc) from exc


def pages(form: type[_P], method: Callable[..., Any], **arguments: Any) -> Iterator[_P]:
    """Yield the first pages of a list; if there are more, the last of them has a cursor."""
    cursor: str | None = None
    for _ in range(_PAGES):
        page = call(form, "", method, **arguments, cursor=cursor)
        yield page
        cursor = page.cursor
        if not cursor:
            return


def metadata(key: str, about: str = "") -> dict[str, Any]:
    """Return the metadata of a message with this key and, if it has one, its thread's subject."""
    subject = {"about": about} if about else {}
    return {"event_type": _EVENT, "event_payload": {"key": key, **subject}}


def key_of(message: Mapping[str, Any]) -> str:
    """Return the key in the metadata of one of our messages; empty if there is none."""
    return str(_payload(message).get("key") or "")


def about_of(message: Mapping[str, Any]) -> str:
    """Return the thread's subject in the metadata of one of our messages; empty if there is none."""
    return str(_payload(message).get("about") or "")


def _payload(message: Mapping[str, Any]) -> Mapping[str, Any]:
    payload = (message.get("metadata") or {}).get("event_payload") or {}
    return payload if isinstance(payload, Mapping) else json.loads(payload)
