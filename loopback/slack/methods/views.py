"""views.*: modals, which need a trigger_id, and Home tabs, which do not."""

from loopback.slack.block_kit import with_ids
from loopback.slack.limits import Refused, check_view, refuse
from loopback.slack.methods.call import MethodCall
from loopback.slack.workspace import APP, BOT_ID, TEAM, Json, View, Workspace


def open_view(call: MethodCall) -> Json:
    call.need("view", "trigger_id")
    check_view(call.params["view"])
    user = _spend_trigger(call)
    return {"view": _add_view(call.workspace, user, call.params["view"]).body}


def publish(call: MethodCall) -> Json:
    user, view = call.need("user_id", "view")
    if user not in call.workspace.users:
        raise Refused("user_not_found")
    check_view(view)
    if view["type"] != "home":
        refuse("invalid_arguments", ["[ERROR] must be home [json-pointer:/view/type]"])
    with call.workspace.change():
        home = home_of(call.workspace, user)
        if home:
            _change_view(call.workspace, home, view)
        else:
            home = _add_view(call.workspace, user, view)
    return {"view": home.body}


def home_of(workspace: Workspace, user: str) -> View | None:
    """Return the Home tab published for the user, or None."""
    views = workspace.views.values()
    return next((view for view in views if view.user == user and view.body["type"] == "home"), None)


def _add_view(workspace: Workspace, user: str, view: Json) -> View:
    """Open a view."""
    with workspace.change():
        new = View(workspace.fresh("V"), user, {})
        new.body = {"id": new.id, "root_view_id": new.id, "previous_view_id": None}
        workspace.views[new.id] = new
        _change_view(workspace, new, view)
        return new


def _change_view(workspace: Workspace, view: View, given: Json) -> None:
    """Set a view's content and a new hash."""
    with workspace.change():
        unchanged = {name: view.body[name] for name in ("id", "root_view_id", "previous_view_id")}
        who = {"team_id": TEAM, "app_id": APP, "bot_id": BOT_ID, "app_installed_team_id": TEAM}
        empty: Json = {"private_metadata": "", "callback_id": "", "title": None, "submit": None, "close": None}
        blocks = with_ids(given["blocks"], workspace.fresh)
        marks = {"hash": f"{workspace.next_ts()}.{workspace.fresh('h')}", "state": {"values": {}}}
        view.body = {**empty, **given, **unchanged, **who, **marks, "blocks": blocks}


def _spend_trigger(call: MethodCall) -> str:
    """Consume a trigger_id, valid once within 3 seconds, and return its user."""
    trigger = str(call.params["trigger_id"])
    with call.workspace.change():
        if trigger not in call.workspace.triggers:
            raise Refused("invalid_trigger_id")
        user, until = call.workspace.triggers[trigger]
        if trigger in call.workspace.used_triggers:
            raise Refused("exchanged_trigger_id")
        if call.workspace.now() > until:
            raise Refused("expired_trigger_id")
        call.workspace.used_triggers.add(trigger)
        return user
