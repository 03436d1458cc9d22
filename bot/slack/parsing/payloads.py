"""The parts of Slack's payloads that are read, with their types. What does not fit them is nothing that Slack sends."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field, ValidationError

Text = str | None


class _User(BaseModel):
    id: str
    team_id: Text = None


class _Place(BaseModel):
    id: str


class _Team(BaseModel):
    id: Text = None


class _Message(BaseModel):
    ts: Text = None
    thread_ts: Text = None


class _Command(BaseModel):
    user_id: str
    channel_id: str
    trigger_id: str
    team_id: Text = None
    text: Text = None
    response_url: Text = None


class _File(BaseModel):
    id: Text = None


class _MessageEvent(BaseModel):
    channel: str
    ts: str
    user: Text = None
    text: Text = None
    thread_ts: Text = None
    team: Text = None
    user_team: Text = None
    source_team: Text = None
    deleted_ts: Text = None
    files: Sequence[_File] | None = None
    message: _Message | None = None


class _MessageSent(BaseModel):
    event: _MessageEvent
    team_id: Text = None


class _HomeEvent(BaseModel):
    user: str
    channel: str


class _HomeOpened(BaseModel):
    event: _HomeEvent
    event_id: str


class _StopEvent(BaseModel):
    channel: str
    thread_ts: Text = None


class _Stopped(BaseModel):
    event: _StopEvent


class _Value(BaseModel):
    value: Text = None


class _Action(BaseModel):
    action_id: str
    action_ts: Text = None
    type: Text = None
    value: Text = None
    selected_option: _Value | None = None


class _Container(BaseModel):
    channel_id: Text = None
    message_ts: Text = None
    thread_ts: Text = None


class _Interaction(BaseModel):
    user: _User
    team: _Team | None = None
    response_url: Text = None


class _Click(_Interaction):
    actions: Sequence[_Action] = Field(min_length=1)
    trigger_id: Text = None
    channel: _Team | None = None
    container: _Container | None = None
    message: _Message | None = None


class _Shortcut(_Interaction):
    trigger_id: str
    channel: _Place
    message: _Message


class _Input(_Value):
    selected_option: _Value | None = None
    selected_conversation: Text = None
    selected_time: Text = None


class _State(BaseModel):
    values: dict[str, dict[str, _Input]]


class _View(BaseModel):
    id: str
    private_metadata: str
    state: _State


class _Form(_Interaction):
    view: _View


_PAYLOADS: Mapping[str, type[BaseModel]] = {
    "command": _Command,
    "message": _MessageSent,
    "mention": _MessageSent,
    "home": _HomeOpened,
    "stop": _Stopped,
    "button": _Click,
    "form": _Form,
    "shortcut": _Shortcut,
}


def is_malformed(kind: str, body: Mapping[str, Any]) -> bool:
    """Return whether a payload of a kind lacks what every such payload has, or has something else in its place.

    Whatever the kind, Bolt reads the view of one that no listener takes.
    """
    if not isinstance(body.get("view", {}), dict):
        return True
    if kind not in _PAYLOADS:
        return False
    try:
        _PAYLOADS[kind].model_validate(body)
    except ValidationError:
        return True
    return False
