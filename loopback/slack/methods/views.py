"""views.*: modals, which need a trigger_id, and Home tabs, which do not."""

from typing import Any

from loopback.slack.limits import Refused, check_view, with_ids
from loopback.slack.methods.call import Ask
from loopback.slack.workspace import APP, BOT_ID, TEAM, Json, View, Workspace

_DEEPEST = 3


def open_view(ask: Ask) -> Json:
    ask.need("view", "trigger_id")
    check_view(ask.params["view"])
    user = _spend_trigger(ask)
    return {"view": add_view(ask.workspace, user, ask.params["view"]).body}


def push(ask: Ask) -> Json:
    ask.need("view", "trigger_id")
    check_view(ask.params["view"])
    user = _spend_trigger(ask)
    below = [view for view in ask.workspace.views.values() if view.open and view.user == user and _is_modal(view)]
    if not below:
        raise Refused("invalid_arguments")
    if len(below) >= _DEEPEST:
        raise Refused("push_limit_reached")
    return {"view": add_view(ask.workspace, user, ask.params["view"], below[-1]).body}


def update(ask: Ask) -> Json:
    ask.need("view")
    check_view(ask.params["view"])
    name, value = (
        ("id", ask.params.get("view_id"))
        if ask.params.get("view_id")
        else ("external_id", ask.params.get("external_id"))
    )
    found = [view for view in ask.workspace.views.values() if value and view.body.get(name) == value and view.open]
    if not found:
        raise Refused("not_found")
    if ask.params.get("hash") not in {None, found[0].body["hash"]}:
        raise Refused("hash_conflict")
    change_view(ask.workspace, found[0], ask.params["view"])
    return {"view": found[0].body}


def publish(ask: Ask) -> Json:
    user, view = ask.need("user_id", "view")
    if user not in ask.workspace.users:
        raise Refused("user_not_found")
    check_view(view)
    if view["type"] != "home":
        raise Refused(
            "invalid_arguments", response_metadata={"messages": ["[ERROR] must be home [json-pointer:/view/type]"]}
        )
    with ask.workspace.change():
        home = home_of(ask.workspace, user)
        if home and ask.params.get("hash") not in {None, home.body["hash"]}:
            raise Refused("hash_conflict")
        if home:
            change_view(ask.workspace, home, view)
        else:
            home = add_view(ask.workspace, user, view)
    return {"view": home.body}


def home_of(workspace: Workspace, user: str) -> View | None:
    """Return the Home tab published for the user, or None."""
    views = workspace.views.values()
    return next((view for view in views if view.user == user and view.body["type"] == "home"), None)


def add_view(workspace: Workspace, user: str, view: Json, below: View | None = None) -> View:
    """Open a view, on top of `below` if given."""
    with workspace.change():
        new = View(workspace.fresh("V"), user, {})
        roots = {"root_view_id": below.body["root_view_id"] if below else new.id}
        new.body = {"id": new.id, **roots, "previous_view_id": below.id if below else None}
        workspace.views[new.id] = new
        change_view(workspace, new, view)
        return new


def change_view(workspace: Workspace, view: View, given: Json) -> None:
    """Set a view's content and a new hash."""
    with workspace.change():
        kept = {name: view.body[name] for name in ("id", "root_view_id", "previous_view_id")}
        who = {"team_id": TEAM, "app_id": APP, "bot_id": BOT_ID, "app_installed_team_id": TEAM}
        empty: dict[str, Any] = {"private_metadata": "", "callback_id": "", "external_id": "", "title": None}
        empty |= {"submit": None, "close": None, "clear_on_close": False, "notify_on_close": False}
        blocks = with_ids(given["blocks"], workspace.fresh)
        marks = {"hash": f"{workspace.next_ts()}.{workspace.fresh('h')}", "state": {"values": {}}}
        view.body = {**empty, **given, **kept, **who, **marks, "blocks": blocks}


def _is_modal(view: View) -> bool:
    return bool(view.body["type"] == "modal")


def _spend_trigger(ask: Ask) -> str:
    """Consume a trigger_id, valid once within 3 seconds, and return its user."""
    trigger = str(ask.params["trigger_id"])
    with ask.workspace.change():
        if trigger not in ask.workspace.triggers:
            raise Refused("invalid_trigger_id")
        user, until = ask.workspace.triggers[trigger]
        if trigger in ask.workspace.used_triggers:
            raise Refused("exchanged_trigger_id")
        if ask.workspace.now() > until:
            raise Refused("expired_trigger_id")
        ask.workspace.used_triggers.add(trigger)
        return user
