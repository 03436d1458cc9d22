"""conversations.*, users.*, team.* and similar: read methods, and joining."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from loopback.slack.limits import Refused
from loopback.slack.methods.call import MethodCall, page
from loopback.slack.workspace import APP, BOT_ID, SLACKBOT, TEAM, Channel, Json, Message, Workspace


def auth_test(call: MethodCall) -> Json:
    name = call.workspace.users[call.workspace.bot_user]
    team = {"url": f"{call.url}/", "team": "local", "team_id": TEAM, "is_enterprise_install": False}
    return {**team, "user": name, "user_id": call.workspace.bot_user, "bot_id": BOT_ID}


def bot_info(call: MethodCall) -> Json:
    if call.params.get("bot") != BOT_ID:
        raise Refused("bot_not_found")
    return {"bot": {"id": BOT_ID, "app_id": APP, "user_id": call.workspace.bot_user, "deleted": False}}


def open_connection(call: MethodCall) -> Json:
    return {"url": call.new_socket()}


def user_info(call: MethodCall) -> Json:
    (user,) = call.need("user")
    if user not in call.workspace.users:
        raise Refused("user_not_found")
    locale = {"locale": call.workspace.locales.get(user, "en-GB")} if call.flag("include_locale") else {}
    return {"user": {**describe_user(call.workspace, user), **locale}}


def describe_user(workspace: Workspace, user: str) -> Json:
    """Return a user in Web API form, with the time zone as it is in winter."""
    name = workspace.users[user]
    profile = {"real_name": name.title(), "display_name": name}
    tz = workspace.zones.get(user, "Etc/UTC")
    offset = datetime(2026, 1, 1, tzinfo=ZoneInfo(tz)).utcoffset() or timedelta()
    zone = {"tz": tz, "tz_label": tz, "tz_offset": int(offset.total_seconds())}
    kind = {"is_bot": user == workspace.bot_user, "is_app_user": False, "deleted": False}
    kind |= {"is_admin": user in workspace.admins, "is_owner": False, "is_stranger": user in workspace.outsiders}
    who = {"id": user, "team_id": workspace.team_of(user), "name": name, "real_name": name.title()}
    return {**who, "profile": profile, **kind, **zone}


def history(call: MethodCall) -> Json:
    home = _readable(call)
    found = [each for each in call.workspace.visible(home.id) if not each.is_reply]
    return _messages(call, list(reversed(_between(call, found))), 100)


def replies(call: MethodCall) -> Json:
    home = _readable(call)
    (ts,) = call.need("ts")
    first = home.messages.get(str(ts))
    if first is None or first.only_for is not None:
        raise Refused("thread_not_found")
    # A reply's own timestamp returns that reply only.
    thread = _between(call, call.workspace.replies(home.id, first.ts))
    return _messages(call, [first, *thread], 1000)


def _readable(call: MethodCall) -> Channel:
    home = call.channel()
    needed = {"channel": "channels:history", "group": "groups:history", "im": "im:history"}[home.kind]
    if needed not in call.scopes:
        raise Refused("missing_scope", needed=needed, provided=",".join(sorted(call.scopes)))
    return home


def _between(call: MethodCall, messages: list[Message]) -> list[Message]:
    oldest, latest = call.params.get("oldest") or "0", call.params.get("latest") or "9" * 12
    try:
        low, high = float(oldest), float(latest)
    except ValueError as exc:
        raise Refused("invalid_ts_oldest" if call.params.get("oldest") else "invalid_ts_latest") from exc
    inside = call.flag("inclusive")
    return [
        each for each in messages if low < float(each.ts) < high or (inside and each.ts in {str(oldest), str(latest)})
    ]


def _messages(call: MethodCall, messages: list[Message], default: int) -> Json:
    found, more = page(call, messages, default, 1000)
    metadata = call.flag("include_all_metadata")
    return {"messages": [call.workspace.describe(each, metadata=metadata) for each in found], **more}


def channel_info(call: MethodCall) -> Json:
    return {"channel": _describe(call.workspace, call.channel(member=False))}


def members(call: MethodCall) -> Json:
    found, more = page(call, sorted(call.channel(member=False).members), 100, 1000)
    return {"members": found, "response_metadata": more["response_metadata"]}


def open_conversation(call: MethodCall) -> Json:
    (users,) = call.need("users")
    user = str(users)
    if user not in call.workspace.users:
        raise Refused("user_not_found")
    if user in {call.workspace.bot_user, SLACKBOT}:
        raise Refused("cannot_dm_bot")
    return {"channel": {"id": call.workspace.dm(user)}}


def _describe(workspace: Workspace, home: Channel) -> Json:
    inside = workspace.bot_user in home.members
    kind = {"is_channel": home.kind == "channel", "is_group": home.kind == "group", "is_im": home.kind == "im"}
    name = {"user": home.user} if home.kind == "im" else {"name": home.name, "name_normalized": home.name}
    private = home.kind != "channel"
    return {"id": home.id, **name, **kind, "is_private": private, "is_member": inside, "is_archived": home.archived}
