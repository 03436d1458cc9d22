"""conversations.*, users.*, team.* and similar: read methods, and joining."""

from loopback.slack.limits import Refused
from loopback.slack.methods.call import Ask, page
from loopback.slack.workspace import BOT_ID, SLACKBOT, TEAM, Channel, Json, Message, Workspace


def api_test(ask: Ask) -> Json:
    if error := ask.params.get("error"):
        raise Refused(str(error))
    return {"args": ask.params}


def auth_test(ask: Ask) -> Json:
    name = ask.workspace.users[ask.workspace.bot_user]
    team = {"url": f"{ask.url}/", "team": "local", "team_id": TEAM, "is_enterprise_install": False}
    return {**team, "user": name, "user_id": ask.workspace.bot_user, "bot_id": BOT_ID}


def open_connection(ask: Ask) -> Json:
    return {"url": ask.new_socket()}


def user_info(ask: Ask) -> Json:
    (user,) = ask.need("user")
    if user not in ask.workspace.users:
        raise Refused("user_not_found")
    return {"user": describe_user(ask.workspace, user)}


def describe_user(workspace: Workspace, user: str) -> Json:
    """Return a user in Web API form; all users are in UTC."""
    name = workspace.users[user]
    profile = {"real_name": name.title(), "display_name": name}
    zone = {"tz": "Etc/UTC", "tz_label": "UTC", "tz_offset": 0}
    kind = {"is_bot": user == workspace.bot_user, "is_app_user": False, "deleted": False}
    kind |= {"is_admin": user in workspace.admins, "is_stranger": user in workspace.outsiders}
    who = {"id": user, "team_id": workspace.team_of(user), "name": name, "real_name": name.title()}
    return {**who, "profile": profile, **kind, **zone}


def history(ask: Ask) -> Json:
    home = _readable(ask)
    found = [each for each in ask.workspace.visible(home.id) if not each.is_reply or each.broadcast]
    return _messages(ask, list(reversed(_between(ask, found))), 100)


def replies(ask: Ask) -> Json:
    home = _readable(ask)
    (ts,) = ask.need("ts")
    first = home.messages.get(str(ts))
    if first is None or first.only_for is not None:
        raise Refused("thread_not_found")
    # A reply's own timestamp returns that reply only.
    thread = _between(ask, ask.workspace.replies(home.id, first.ts))
    return _messages(ask, [first, *thread], 1000)


def _readable(ask: Ask) -> Channel:
    home = ask.channel()
    needed = {"channel": "channels:history", "group": "groups:history", "im": "im:history"}[home.kind]
    if needed not in ask.scopes:
        raise Refused("missing_scope", needed=needed, provided=",".join(sorted(ask.scopes)))
    return home


def _between(ask: Ask, messages: list[Message]) -> list[Message]:
    oldest, latest = ask.params.get("oldest") or "0", ask.params.get("latest") or "9" * 12
    try:
        low, high = float(oldest), float(latest)
    except ValueError as exc:
        raise Refused("invalid_ts_oldest" if ask.params.get("oldest") else "invalid_ts_latest") from exc
    inside = ask.flag("inclusive")
    return [
        each for each in messages if low < float(each.ts) < high or (inside and each.ts in {str(oldest), str(latest)})
    ]


def _messages(ask: Ask, messages: list[Message], default: int) -> Json:
    found, more = page(ask, messages, default, 1000)
    metadata = ask.flag("include_all_metadata")
    return {"messages": [ask.workspace.describe(each, metadata=metadata) for each in found], **more}


def channel_info(ask: Ask) -> Json:
    return {"channel": _describe(ask.workspace, ask.channel(member=False))}


def members(ask: Ask) -> Json:
    found, more = page(ask, sorted(ask.channel(member=False).members), 100, 1000)
    return {"members": found, "response_metadata": more["response_metadata"]}


def open_conversation(ask: Ask) -> Json:
    if ask.params.get("channel"):
        return {"channel": _describe(ask.workspace, ask.channel())}
    (users,) = ask.need("users")
    user = str(users)
    if user not in ask.workspace.users:
        raise Refused("user_not_found")
    if user in {ask.workspace.bot_user, SLACKBOT}:
        raise Refused("cannot_dm_bot")
    return {"channel": {"id": ask.workspace.dm(user)}}


def set_status(ask: Ask) -> Json:
    ask.need("channel_id", "thread_ts")
    home = ask.channel(name="channel_id")
    thread_ts = ask.thread(home)
    with ask.workspace.change():
        if status := str(ask.params.get("status") or ""):
            home.statuses[str(thread_ts)] = status
        else:
            home.statuses.pop(str(thread_ts), None)
    return {}


def _describe(workspace: Workspace, home: Channel) -> Json:
    inside = workspace.bot_user in home.members
    kind = {"is_channel": home.kind == "channel", "is_group": home.kind == "group", "is_im": home.kind == "im"}
    name = {"user": home.user} if home.kind == "im" else {"name": home.name, "name_normalized": home.name}
    private = home.kind != "channel"
    return {"id": home.id, **name, **kind, "is_private": private, "is_member": inside, "is_archived": home.archived}
