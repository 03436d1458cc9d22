"""The parts of Slack's payloads that are read, with their types. What does not fit them is nothing that Slack sends."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field, ValidationError

from analysis.text import scalar

Text = str | None  # written by a person


def _storable(text: str) -> str:
    if scalar(text) != text:
        raise ValueError("a lone surrogate, which no database stores")
    return text


Word = Annotated[str, AfterValidator(_storable)]  # made by Slack or by us


class _User(BaseModel):
    id: Word
    team_id: Word | None = None


class _Place(BaseModel):
    id: Word


class _Team(BaseModel):
    id: Word | None = None


class _Message(BaseModel):
    ts: Word | None = None
    thread_ts: Word | None = None


class _Command(BaseModel):
    user_id: Word
    channel_id: Word
    trigger_id: Word
    team_id: Word | None = None
    text: Text = None
    response_url: Word | None = None


class _SharedFile(BaseModel):
    id: Word | None = None


class _MessageEvent(BaseModel):
    channel: Word
    ts: Word
    user: Word | None = None
    text: Text = None
    thread_ts: Word | None = None
    team: Word | None = None
    user_team: Word | None = None
    source_team: Word | None = None
    deleted_ts: Word | None = None
    files: Sequence[_SharedFile] | None = None
    message: _Message | None = None


class _MessageSent(BaseModel):
    event: _MessageEvent
    team_id: Word | None = None


class _HomeEvent(BaseModel):
    user: Word
    channel: Word


class _HomeOpened(BaseModel):
    event: _HomeEvent
    event_id: Word


class _StopEvent(BaseModel):
    channel: Word
    thread_ts: Word | None = None


class _Stopped(BaseModel):
    event: _StopEvent


class _SelectedOption(BaseModel):
    value: Text = None


class _Action(BaseModel):
    action_id: Word
    action_ts: Word | None = None
    type: Word | None = None
    value: Word | None = None
    selected_option: _SelectedOption | None = None


class _Container(BaseModel):
    channel_id: Word | None = None
    message_ts: Word | None = None
    thread_ts: Word | None = None


class _Interaction(BaseModel):
    user: _User
    team: _Team | None = None
    response_url: Word | None = None


class _Click(_Interaction):
    actions: Sequence[_Action] = Field(min_length=1)
    trigger_id: Word
    channel: _Team | None = None
    container: _Container | None = None
    message: _Message | None = None


class _Shortcut(_Interaction):
    trigger_id: Word
    channel: _Place
    message: _Message


class _Input(_SelectedOption):
    selected_option: _SelectedOption | None = None
    selected_conversation: Word | None = None
    selected_time: Word | None = None


class _State(BaseModel):
    values: dict[str, dict[str, _Input]]


class _View(BaseModel):
    id: Word
    private_metadata: Word
    state: _State


class _Submission(_Interaction):
    view: _View


_PAYLOADS: Mapping[str, type[BaseModel]] = {
    "command": _Command,
    "message": _MessageSent,
    "mention": _MessageSent,
    "home": _HomeOpened,
    "stop": _Stopped,
    "button": _Click,
    "form": _Submission,
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
