"""agents.sessions.* and suggested prompts: the agent surface. An app that is no agent does not have these methods.

Source: docs.slack.dev/ai/agent-sessions and reference/methods/agents.sessions.setStatus, assistant.threads.setSuggestedPrompts.
"""

from typing import Literal

from pydantic import Field, TypeAdapter

from loopback.slack.block_kit import Part, errors_of
from loopback.slack.limits import refuse
from loopback.slack.methods.call import MethodCall
from loopback.slack.workspace import Json


class SessionStatus(Part):
    channel_id: str
    thread_ts: str
    status: Literal["active", "processing", "suspended", "closed"]


class Prompt(Part):
    title: str
    message: str


class SuggestedPrompts(Part):
    channel_id: str
    prompts: list[Prompt] = Field(min_length=1, max_length=4)


_STATUS, _SUGGESTED = TypeAdapter(SessionStatus), TypeAdapter(SuggestedPrompts)


def set_status(call: MethodCall) -> Json:
    """Set the status of a thread's session; it stays until the app sets another, whatever the app posts."""
    refuse("invalid_arguments", errors_of(_STATUS, call.params))
    home = call.channel(name="channel_id")
    thread_ts, status = str(call.thread(home)), str(call.params["status"])
    with call.workspace.change():
        home.sessions[thread_ts] = status
    return {"status": status, "agent_status": status}


def set_suggested_prompts(call: MethodCall) -> Json:
    """Set the prompts of direct messages."""
    refuse("invalid_arguments", errors_of(_SUGGESTED, call.params))
    home = call.channel(name="channel_id")
    with call.workspace.change():
        home.prompts = [(each["title"], each["message"]) for each in call.params["prompts"]]
    return {}
