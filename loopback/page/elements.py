"""Buttons, menus and inputs as HTML, with data attributes for the script.

`data-press` is sent on click, `data-choose` when the value changes, `data-input` with the enclosing form.
"""

from collections.abc import Callable
from typing import NamedTuple

from markupsafe import Markup

from loopback.page.markup import is_web, isolated, tag
from loopback.page.player import Viewer
from loopback.page.text import mrkdwn
from loopback.slack.workspace import Json


class Context(NamedTuple):
    """The context of an element: whether it is in an input block, and required there; elsewhere it acts at once."""

    viewer: Viewer
    block: Json
    in_input: bool = False
    required: bool = False


class Choice(NamedTuple):
    value: str
    text: str
    chosen: bool


def element(given: Json, context: Context) -> Markup:
    """Render an element; for an unknown type, a note with its name."""
    render = _RENDER.get(given["type"])
    return render(given, context) if render else tag("span", context.viewer.say("cannot_show", kind=given["type"]))


def words(text: Json | None, viewer: Viewer) -> Markup:
    """Render a text object."""
    if text is None:
        return Markup()
    if text["type"] == "mrkdwn":
        return mrkdwn(text["text"], viewer, verbatim=bool(text.get("verbatim")))
    return isolated(text["text"])


def identity(block: Json, action_id: str) -> str:
    """Return the HTML id of an element's input, for its label."""
    return f"in-{block['block_id']}-{action_id}".replace(" ", "-")


def _marks(given: Json, context: Context) -> dict[str, object]:
    """Return the attributes common to all elements; outside an input block with an accessible label."""
    label = None if context.in_input else _named(given, context)
    return {
        "data_block": context.block["block_id"],
        "data_action": given["action_id"],
        "data_input": given["type"],
        "data_choose": not context.in_input,
        "aria_label": label,
        "id": identity(context.block, given["action_id"]) if context.in_input else None,
        "data_focus": bool(given.get("focus_on_load")),
        **_confirm(given, context),
    }


def _named(given: Json, context: Context) -> str:
    return _hint(given) or str(given.get("accessibility_label") or "") or context.viewer.say("choose")


def _confirm(given: Json, context: Context) -> dict[str, object]:
    confirm = given.get("confirm")
    if not confirm:
        return {}
    shown = {name: confirm[name]["text"] for name in ("title", "confirm", "deny")}
    found: dict[str, object] = {f"data_confirm_{name}": text for name, text in shown.items()}
    style = "danger" if confirm.get("style") == "danger" else "primary"
    text = words(confirm["text"], context.viewer).striptags()
    return found | {"data_confirm_text": text, "data_confirm_style": style}


def _hint(given: Json) -> str:
    return str(given.get("placeholder", {}).get("text", ""))


# Buttons


def _pressed(shown: Json, given: Json, context: Context, style: str = "", **more: object) -> Markup:
    """Render a button with the text and value of `shown`, whose press is that of the element."""
    return tag(
        "button",
        shown["text"]["text"],
        type="button",
        class_=f"button {style}".strip(),
        data_press=True,
        data_block=context.block["block_id"],
        data_action=given["action_id"],
        data_value=shown.get("value"),
        aria_label=shown.get("accessibility_label"),
        **_confirm(given, context),
        **more,
    )


def _button(given: Json, context: Context) -> Markup:
    url = str(given.get("url") or "")
    return _pressed(given, given, context, given.get("style", ""), data_url=url if is_web(url) else None)


def _feedback(given: Json, context: Context) -> Markup:
    """Render the two buttons; the player's last press is shown as pressed."""
    buttons = [
        _pressed(
            each,
            given,
            context,
            "feedback",
            title=each.get("accessibility_label"),
            aria_pressed="true" if context.block.get("pressed") == each["value"] else "false",
        )
        for each in (given["positive_button"], given["negative_button"])
    ]
    return tag("span", *buttons)


# Menus


def _overflow(given: Json, context: Context) -> Markup:
    """Render an overflow menu: a button that unfolds its options."""
    options = [_pressed(each, given, context) for each in given["options"]]
    more = tag("summary", "⋯", class_="button", aria_label=context.viewer.say("more"))
    return tag("details", more, tag("div", *options, class_="options"), class_="overflow")


def _offered(given: Json, context: Context) -> list[Choice]:
    """Return a menu's choices: its own options, or the player's conversations."""
    viewer = context.viewer
    if given["type"] == "conversations_select":
        signs = {"channel": "# ", "group": "🔒 ", "im": "@"}
        return [
            Choice(each.id, signs[each.kind] + viewer.title(each), each.id == given.get("initial_conversation"))
            for each in viewer.channels
        ]
    chosen = given.get("initial_option", {}).get("value")
    return [Choice(each["value"], each["text"]["text"], each["value"] == chosen) for each in given["options"]]


def _select(given: Json, context: Context) -> Markup:
    offered = _offered(given, context)
    none = tag(
        "option", _hint(given) or context.viewer.say("choose"), value="", selected=not any(c.chosen for c in offered)
    )
    options = [tag("option", each.text, value=each.value, selected=each.chosen) for each in offered]
    return tag("select", none, *options, required=context.required, class_="field", **_marks(given, context))


# Inputs


def _text(given: Json, context: Context) -> Markup:
    start = given.get("initial_value")
    shared: dict[str, object] = {
        "placeholder": _hint(given) or None,
        "minlength": given.get("min_length"),
        "maxlength": given.get("max_length"),
        "required": context.required,
        "class": "field",
        **_marks(given, context),
    }
    if given.get("multiline"):
        return tag("textarea", start or "", rows=5, **shared)
    return tag("input", type="text", value=start, autocomplete="off", **shared)


def _time(given: Json, context: Context) -> Markup:
    start, marks = given.get("initial_time"), _marks(given, context)
    return tag("input", type="time", value=start, required=context.required, class_="field short", **marks)


def _date(given: Json, context: Context) -> Markup:
    start, marks = given.get("initial_date"), _marks(given, context)
    field = tag("input", type="date", value=start, required=context.required, class_="field short", **marks)
    return field if context.in_input else tag("label", tag("span", _hint(given), class_="hint"), " ", field)


_RENDER: dict[str, Callable[[Json, Context], Markup]] = {
    "button": _button,
    "feedback_buttons": _feedback,
    "overflow": _overflow,
    "static_select": _select,
    "conversations_select": _select,
    "plain_text_input": _text,
    "timepicker": _time,
    "datepicker": _date,
}
