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
    "image": (["alt_text"], ["image_url", "slack_file"]),
    "checkboxes": (["options"], ["initial_options", *_PICK[1:]]),
    "radio_buttons": (["options"], ["initial_option", *_PICK[1:]]),
    "datepicker": ([], ["initial_date", *_PICK]),
    "timepicker": ([], ["initial_time", "timezone", *_PICK]),
    "static_select": ([], ["options", "option_groups", "initial_option", *_PICK]),
    "multi_static_select": ([], ["options", "option_groups", "initial_options", "max_selected_items", *_PICK]),
    "multi_users_select": ([], ["initial_users", "max_selected_items", *_PICK]),
    "conversations_select": ([], ["initial_conversation", *_CHANNELS, *_PICK]),
    "plain_text_input": ([], ["multiline", "min_length", "max_length", *_INPUT]),
    "number_input": (["is_decimal_allowed"], ["min_value", "max_value", *_INPUT]),
}
# Number of options: minimum, maximum.
_OPTIONS = {
    "overflow": (1, 5),
    "checkboxes": (1, 10),
    "radio_buttons": (1, 10),
    "static_select": (1, 100),
    "multi_static_select": (1, 100),
}
# Elements without an action_id; Slack generates a missing one for the others.
_SILENT = frozenset({"image"})


def check_element(element: Any, allowed: Collection[str], at: str, wrong: Errors) -> None:
    """Check an element, which must be of an allowed type."""
    kind = element.get("type") if isinstance(element, dict) else None
    if kind not in ELEMENTS or kind not in allowed:
        wrong.add(f"unsupported type: {kind}", at)
        return
    required, optional = ELEMENTS[kind]
    names = [] if kind in _SILENT else ["action_id"]
    if not check_fields(element, ["type", *required], [*optional, *names], at, wrong):
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
    groups = menu.get("option_groups")
    if (groups is None) == (menu.get("options") is None):
        wrong.add("must have one of options and option_groups", at)
        return
    if groups is None:
        _check_options(menu["options"], menu["type"], f"{at}/options", wrong)
    elif not isinstance(groups, list) or not 1 <= len(groups) <= 100:  # noqa: PLR2004
        wrong.add("must have 1 to 100 items", f"{at}/option_groups")
    else:
        for number, group in enumerate(groups):
            place = f"{at}/option_groups/{number}"
            if check_fields(group, ["label", "options"], [], place, wrong):
                check_text(group["label"], 75, f"{place}/label", wrong, plain=True)
                _check_options(group["options"], menu["type"], f"{place}/options", wrong)
    offered = options(menu)
    chosen = [menu["initial_option"]] if "initial_option" in menu else menu.get("initial_options", [])
    if any(each not in offered for each in chosen):
        wrong.add("initial options must be among the options", at)


def options(menu: Json) -> list[Json]:
    """Return every option of a menu, grouped or not."""
    groups = menu.get("option_groups") or [{"options": menu.get("options") or []}]
    return [option for group in groups for option in group["options"]]


def _check_options(offered: Any, kind: str, at: str, wrong: Errors) -> None:
    fewest, most = _OPTIONS[kind]
    if not isinstance(offered, list) or not fewest <= len(offered) <= most:
        wrong.add(f"must have {fewest} to {most} items", at)
        return
    # Only checkboxes and radio buttons may have formatted options.
    plain = kind not in {"checkboxes", "radio_buttons"}
    for number, option in enumerate(offered):
        place = f"{at}/{number}"
        if check_fields(option, ["text", "value"], ["description", "url"], place, wrong):
            check_text(option["text"], 75, f"{place}/text", wrong, plain=plain)
            check_length(option["value"], 150, f"{place}/value", wrong, least=1)
            if "description" in option:
                check_text(option["description"], 75, f"{place}/description", wrong, plain=plain)


def _check_confirm(confirm: Any, at: str, wrong: Errors) -> None:
    if not check_fields(confirm, ["title", "text", "confirm", "deny"], ["style"], at, wrong):
        return
    for name, most in (("title", 100), ("text", 300), ("confirm", 30), ("deny", 30)):
        check_text(confirm[name], most, f"{at}/{name}", wrong, plain=name != "text")
