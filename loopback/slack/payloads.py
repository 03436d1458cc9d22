"""Payloads to the app, in Slack's shapes. Source: docs.slack.dev/reference/interaction-payloads and reference/events."""

import html
import re
from typing import Any

from loopback.slack.block_kit import interactive
from loopback.slack.workspace import APP, TEAM, Json, Message, View, Workspace

_TEAM = {"id": TEAM, "domain": "local"}
_TOKEN = "local-verification"  # noqa: S105 (deprecated, but still sent)

# Input elements: the key of their value in `state`, and the field with its initial value.
_STATE = {
    "plain_text_input": ("value", "initial_value"),
    "static_select": ("selected_option", "initial_option"),
    "conversations_select": ("selected_conversation", "initial_conversation"),
    "timepicker": ("selected_time", "initial_time"),
    "datepicker": ("selected_date", "initial_date"),
}


def event(workspace: Workspace, body: Json) -> Json:
    """Build an event_callback. The message of somebody of another organisation (Slack Connect) occurs in their own team."""
    team = workspace.team_of(str(body.get("user"))) if body["type"] == "message" else TEAM
    user = {"enterprise_id": None, "team_id": TEAM, "user_id": workspace.bot_user, "is_bot": True}
    return {
        "token": _TOKEN,
        "team_id": team,
        "context_team_id": TEAM,
        "context_enterprise_id": None,
        "api_app_id": APP,
        "event": body,
        "type": "event_callback",
        "event_id": workspace.fresh("Ev"),
        "event_time": int(float(body["event_ts"])),
        "authorizations": [{**user, "is_enterprise_install": False}],
        "is_ext_shared_channel": bool(workspace.outsiders.keys() & _members(workspace, body)),
    }


def _members(workspace: Workspace, body: Json) -> set[str]:
    """Return the members of an event's channel."""
    home = workspace.channels.get(str(body.get("channel")))
    return home.members if home else set()


def command(workspace: Workspace, user: str, channel: str, name: str, text: str) -> Json:
    """Build a slash command without response_url and trigger_id; in the text & < > are escaped."""
    home = workspace.channels[channel]
    shown = {"channel": home.name, "group": "privategroup", "im": "directmessage"}[home.kind]
    where = {"team_id": TEAM, "team_domain": "local", "channel_id": channel, "channel_name": shown}
    who = {"user_id": user, "user_name": workspace.users[user], "api_app_id": APP, "is_enterprise_install": "false"}
    return {"token": _TOKEN, **where, **who, "command": name, "text": html.escape(text.strip(), quote=False)}


def typed(workspace: Workspace, text: str) -> str:
    """Convert typed text to Slack's form: & < > escaped, links in brackets, @names and #names as ids.

    Ids in brackets (<@U…>, <#C…>) are kept, as if picked from a list.
    """
    names = {f"@{name}": f"<@{user}>" for user, name in workspace.users.items()}
    names |= {f"#{home.name}": f"<#{home.id}|{home.name}>" for home in workspace.channels.values() if home.name}
    pattern = r"(<@[UW]\w+>|<#C\w+(?:\|[^>]*)?>|https?://[^\s<>|]*[^\s<>|.,;:!?)）。，]|[@#][\w.-]*\w)"
    parts = re.split(pattern, text)
    for place in range(0, len(parts), 2):
        parts[place] = html.escape(parts[place], quote=False)
    for place in range(1, len(parts), 2):
        if parts[place].startswith("http"):
            parts[place] = f"<{html.escape(parts[place], quote=False)}>"
        else:
            parts[place] = names.get(parts[place], parts[place])
    return "".join(parts)


def actions(workspace: Workspace, user: str, source: Message | View, action: Json, state: Json | None) -> Json:
    """Build block_actions without response_url and trigger_id; an ephemeral message is referenced but not included."""
    who = {"user": _user(workspace, user), "api_app_id": APP, "token": _TOKEN, "team": _TEAM, "enterprise": None}
    body: Json = {"type": "block_actions", **who, "is_enterprise_install": False, "actions": [action]}
    if isinstance(source, View):
        values = {"values": filled(source.body["blocks"], state or {})}
        view = {**source.body, "state": values}
        return {**body, "container": {"type": "view", "view_id": source.id}, "view": view}
    home = workspace.channels[source.channel]
    ephemeral = source.only_for is not None
    container = {"type": "message", "message_ts": source.ts, "channel_id": home.id, "is_ephemeral": ephemeral}
    body["container"] = container | ({"thread_ts": source.thread_ts} if source.thread_ts else {})
    body["channel"] = {"id": home.id, "name": home.name or "directmessage"}
    body["state"] = {"values": filled(source.blocks, state or {})}
    return body if ephemeral else {**body, "message": workspace.describe(source, metadata=True)}


def message_action(workspace: Workspace, user: str, message: Message, callback_id: str) -> Json:
    """Build the message_action of a shortcut without response_url and trigger_id."""
    who = {"user": _user(workspace, user), "token": _TOKEN, "team": _TEAM, "enterprise": None}
    home = workspace.channels[message.channel]
    return {
        "type": "message_action",
        **who,
        "is_enterprise_install": False,
        "callback_id": callback_id,
        "action_ts": workspace.next_ts(),
        "channel": {"id": home.id, "name": home.name or "directmessage"},
        "message_ts": message.ts,
        "message": workspace.describe(message, metadata=True),
    }


def submission(workspace: Workspace, view: View, values: Json) -> Json:
    """Build a view_submission without trigger_id, of the person's own team. Raise ValueError if a required input is empty."""
    state = filled(view.body["blocks"], values)
    for block in view.body["blocks"]:
        if block["type"] == "input" and not block.get("optional"):
            element = block["element"]
            given = state.get(block["block_id"], {}).get(element["action_id"], {})
            if given.get(_STATE[element["type"]][0]) in (None, ""):
                raise ValueError(f"{block['block_id']} must be filled in")
    team = {"team": _TEAM | {"id": workspace.team_of(view.user)}, "enterprise": None}
    who = {"user": _user(workspace, view.user), "api_app_id": APP, "token": _TOKEN, **team}
    body = {**view.body, "state": {"values": state}}
    return {"type": "view_submission", **who, "is_enterprise_install": False, "view": body, "response_urls": []}


def filled(blocks: list[Json], given: Json) -> Json:
    """Return block_id -> action_id -> state of every input, from the given values or the initial ones."""
    values: Json = {}
    known = {}
    for block in blocks:
        for element in interactive(block):
            if element["type"] in _STATE:
                known[block["block_id"], element["action_id"]] = element
    for (block_id, action_id), element in known.items():
        key, initial = _STATE[element["type"]]
        start = {"type": element["type"], key: element.get(initial)}
        wanted = given.get(block_id, {}).get(action_id)
        values.setdefault(block_id, {})[action_id] = start if wanted is None else state_of(element, wanted)
    for block_id, inside in given.items():
        for action_id in inside:
            if (block_id, action_id) not in known:
                raise ValueError(f"there is no input {action_id} in {block_id}")
    return values


def state_of(element: Json, given: Any) -> Json:
    """Return an input's state; a bare value is the chosen or typed one."""
    key = _STATE[element["type"]][0]
    if isinstance(given, dict) and (key in given or "type" in given):
        return {"type": element["type"], **given}
    if key == "selected_option":
        offered = {option["value"]: option for option in element["options"]}
        if given not in offered:
            raise ValueError(f"{element['action_id']} does not offer {given}")
        given = offered[given]
    return {"type": element["type"], key: given}


def _user(workspace: Workspace, user: str) -> Json:
    name = workspace.users[user]
    return {"id": user, "username": name, "name": name, "team_id": workspace.team_of(user)}
