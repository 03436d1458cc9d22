"""Validation of Block Kit elements: buttons, menus and inputs."""

from collections.abc import Collection
from typing import Any

from loopback.slack.schema import Errors, Json, check_fields, check_length, check_text

_PICK = ["placeholder", "confirm", "focus_on_load"]
_INPUT = ["placeholder", "dispatch_action_config", "focus_on_load", "initial_value"]
_CHANNELS = ["response_url_enabled", "default_to_current_conversation", "filter"]

# Required and optional fields besides type and action_id. Options of menus are checked below.
ELEMENTS: dict[str, tuple[list[str], list[str]]] = {
    "button": (["text"], ["url", "value", "style", "confirm", "accessibility_label"]),
    "overflow": (["options"], ["confirm"]),
    "feedback_buttons": (["positive_button", "negative_button"], []),
    "timepicker": ([], ["initial_time", "timezone", *_PICK]),
    "static_select": (["options"], ["initial_option", *_PICK]),
    "conversations_select": ([], ["initial_conversation", *_CHANNELS, *_PICK]),
    "plain_text_input": ([], ["multiline", "min_length", "max_length", *_INPUT]),
}
# Number of options: minimum, maximum.
_OPTIONS = {"overflow": (1, 5), "static_select": (1, 100)}


def check_element(element: Any, allowed: Collection[str], at: str, wrong: Errors) -> None:
    """Check an element, which must be of an allowed type."""
    kind = element.get("type") if isinstance(element, dict) else None
    if kind not in ELEMENTS or kind not in allowed:
        wrong.add(f"unsupported type: {kind}", at)
        return
    required, optional = ELEMENTS[kind]
    if not check_fields(element, ["type", *required], [*optional, "action_id"], at, wrong):
        return
    check_length(element.get("action_id"), 255, f"{at}/action_id", wrong)
    if "placeholder" in element:
        check_text(element["placeholder"], 150, f"{at}/placeholder", wrong, plain=True)
    if "confirm" in element:
        _check_confirm(element["confirm"], f"{at}/confirm", wrong)
    if kind in _OPTIONS:
        _check_menu(element, at, wrong)
    elif kind == "button":
        _check_button(element, at, wrong)
    elif kind == "feedback_buttons":
        for name in ("positive_button", "negative_button"):
            _check_feedback(element[name], f"{at}/{name}", wrong)


def _check_button(button: Json, at: str, wrong: Errors) -> None:
    check_text(button["text"], 75, f"{at}/text", wrong, plain=True)
    check_length(button.get("value"), 2000, f"{at}/value", wrong)
    check_length(button.get("url"), 3000, f"{at}/url", wrong)
    check_length(button.get("accessibility_label"), 75, f"{at}/accessibility_label", wrong)
    if button.get("style", "primary") not in {"primary", "danger"}:
        wrong.add("must be one of: primary, danger", f"{at}/style")


def _check_feedback(button: Any, at: str, wrong: Errors) -> None:
    if check_fields(button, ["text", "value"], ["accessibility_label"], at, wrong):
        check_text(button["text"], 75, f"{at}/text", wrong, plain=True)
        check_length(button["value"], 2000, f"{at}/value", wrong, least=1)
        check_length(button.get("accessibility_label"), 75, f"{at}/accessibility_label", wrong)


def _check_menu(menu: Json, at: str, wrong: Errors) -> None:
    fewest, most = _OPTIONS[menu["type"]]
    offered = menu["options"]
    if not isinstance(offered, list) or not fewest <= len(offered) <= most:
        wrong.add(f"must have {fewest} to {most} items", f"{at}/options")
        return
    for number, option in enumerate(offered):
        place = f"{at}/options/{number}"
        if check_fields(option, ["text", "value"], ["description", "url"], place, wrong):
            check_text(option["text"], 75, f"{place}/text", wrong, plain=True)
            check_length(option["value"], 150, f"{place}/value", wrong, least=1)
            if "description" in option:
                check_text(option["description"], 75, f"{place}/description", wrong, plain=True)
    if "initial_option" in menu and menu["initial_option"] not in offered:
        wrong.add("initial options must be among the options", at)


def _check_confirm(confirm: Any, at: str, wrong: Errors) -> None:
    if not check_fields(confirm, ["title", "text", "confirm", "deny"], ["style"], at, wrong):
        return
    for name, most in (("title", 100), ("text", 300), ("confirm", 30), ("deny", 30)):
        check_text(confirm[name], most, f"{at}/{name}", wrong, plain=name != "text")
