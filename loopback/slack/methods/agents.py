"""agents.sessions.* and suggested prompts: the agent surface. An app that is no agent does not have these methods.

Source: docs.slack.dev/ai/agent-sessions and reference/methods/agents.sessions.setStatus, assistant.threads.setSuggestedPrompts.
"""

from loopback.slack.limits import refuse
from loopback.slack.methods.call import MethodCall
from loopback.slack.schema import Errors, check_fields, check_length
from loopback.slack.workspace import Json

_STATUSES = ("active", "processing", "suspended", "closed")
_DISPLAY = ("icon_emoji", "icon_url", "username")
_TITLE, _PROMPTS = 200, 4


def set_status(call: MethodCall) -> Json:
    """Set the status of a thread's session; it stays until the app sets another, whatever the app posts."""
    wrong = Errors()
    check_fields(
        call.params, ("channel_id", "thread_ts", "status"), ("title", "initiator_user_id", *_DISPLAY), "", wrong
    )
    if call.params.get("status") not in _STATUSES:
        wrong.add("must be a valid enum value", "/status")
    check_length(call.params.get("title"), _TITLE, "/title", wrong)
    refuse("invalid_arguments", wrong)
    home = call.channel(name="channel_id")
    thread_ts, status = str(call.thread(home)), str(call.params["status"])
    with call.workspace.change():
        home.sessions[thread_ts] = status
    return {"status": status, "agent_status": status}


def set_suggested_prompts(call: MethodCall) -> Json:
    """Set the prompts of direct messages. With thread_ts, which is for the older assistants, nothing happens."""
    wrong, prompts = Errors(), call.params.get("prompts")
    check_fields(call.params, ("channel_id", "prompts"), ("thread_ts", "title"), "", wrong)
    if not isinstance(prompts, list) or not 1 <= len(prompts) <= _PROMPTS:
        wrong.add(f"must have 1 to {_PROMPTS} items", "/prompts")
        prompts = []
    for number, each in enumerate(prompts):
        check_fields(each, ("title", "message"), (), f"/prompts/{number}", wrong)
    refuse("invalid_arguments", wrong)
    home = call.channel(name="channel_id")
    if not call.params.get("thread_ts"):
        with call.workspace.change():
            home.prompts = [(str(each["title"]), str(each["message"])) for each in prompts]
    return {}
