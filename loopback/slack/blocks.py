"""Validation of Block Kit blocks: their types, required and optional fields, and length limits.

Error messages have Slack's form: `[ERROR] what is wrong [json-pointer:/blocks/0/text]`.
Source: docs.slack.dev/reference/block-kit.
"""

from collections.abc import Callable, Collection, Iterable
from typing import Any, NamedTuple

from loopback.slack.elements import check_element
from loopback.slack.rich_text import check_rich_text
from loopback.slack.schema import Errors, Json, check_fields, check_length, check_text

_MOST = {"message": 50, "modal": 100, "home": 100}
_ANYWHERE = frozenset(_MOST)
_MESSAGE = frozenset({"message"})

_CHOICES = frozenset(
    {
        *("static_select", "multi_static_select", "conversations_select", "multi_users_select"),
        *("checkboxes", "radio_buttons", "datepicker", "timepicker"),
    }
)
_IN_SECTION = _CHOICES | {"button", "image", "overflow"}
_IN_ACTIONS = _CHOICES | {"button", "overflow"}
_IN_INPUT = _CHOICES | {"plain_text_input", "number_input"}


class Block(NamedTuple):
    """A block type: its required and optional fields, the surfaces that allow it, and its further check."""

    required: Collection[str]
    optional: Collection[str]
    check: Callable[[Json, str, Errors], None]
    surfaces: Collection[str] = _ANYWHERE


def check_blocks(blocks: Any, surface: str = "message", at: str = "/blocks") -> Errors:
    """Return all errors in a list of blocks for a surface (message, modal, home)."""
    wrong = Errors()
    if not isinstance(blocks, list):
        wrong.add("must be an array", at)
        return wrong
    if len(blocks) > _MOST[surface]:
        wrong.add(f"no more than {_MOST[surface]} items allowed", at)
    for number, block in enumerate(blocks):
        _check_block(block, surface, f"{at}/{number}", wrong)
    _check_unique((block for block in blocks if isinstance(block, dict)), at, wrong)
    return wrong


def _check_block(block: Any, surface: str, at: str, wrong: Errors) -> None:
    kind = block.get("type") if isinstance(block, dict) else None
    known = BLOCKS.get(kind) if isinstance(kind, str) else None
    if known is None:
        wrong.add(f"unsupported type: {kind}", at)
    elif surface not in known.surfaces:
        wrong.add(f"unsupported type for this surface: {kind}", at)
    elif check_fields(block, ["type", *known.required], ["block_id", *known.optional], at, wrong):
        check_length(block.get("block_id"), 255, f"{at}/block_id", wrong)
        known.check(block, at, wrong)


def _check_unique(blocks: Iterable[Json], at: str, wrong: Errors) -> None:
    seen_blocks: set[str] = set()
    for number, block in enumerate(blocks):
        name = block.get("block_id")
        if isinstance(name, str) and name:
            if name in seen_blocks:
                wrong.add(f"`block_id` {name} already exists", f"{at}/{number}/block_id")
            seen_blocks.add(name)
        actions = [each.get("action_id") for each in interactive(block)]
        if len(actions) != len(set(actions)):
            wrong.add("`action_id` must be unique within its block", f"{at}/{number}")


def interactive(block: Json) -> list[Json]:
    """Return the interactive elements of a block."""
    inside = [*_list(block.get("elements")), block.get("accessory"), block.get("element"), *_list(block.get("actions"))]
    return [each for each in inside if isinstance(each, dict) and each.get("action_id")]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _section(block: Json, at: str, wrong: Errors) -> None:
    if "text" not in block and "fields" not in block:
        wrong.add("missing required field: text or fields", at)
    if "text" in block:
        check_text(block["text"], 3000, f"{at}/text", wrong)
    fields = block.get("fields", [])
    if not isinstance(fields, list) or len(fields) > 10 or (not fields and "fields" in block):  # noqa: PLR2004
        wrong.add("must have 1 to 10 items", f"{at}/fields")
        return
    for number, each in enumerate(fields):
        check_text(each, 2000, f"{at}/fields/{number}", wrong)
    if "accessory" in block:
        check_element(block["accessory"], _IN_SECTION, f"{at}/accessory", wrong)


def _header(block: Json, at: str, wrong: Errors) -> None:
    check_text(block["text"], 150, f"{at}/text", wrong, plain=True)


def _nothing(_block: Json, _at: str, _wrong: Errors) -> None:
    """Check nothing further."""


def _context(block: Json, at: str, wrong: Errors) -> None:
    for number, each in _items(block, "elements", 10, at, wrong):
        place = f"{at}/elements/{number}"
        if isinstance(each, dict) and each.get("type") == "image":
            check_element(each, {"image"}, place, wrong)
        else:
            check_text(each, 3000, place, wrong)


def _actions(block: Json, at: str, wrong: Errors) -> None:
    for number, each in _items(block, "elements", 25, at, wrong):
        check_element(each, _IN_ACTIONS, f"{at}/elements/{number}", wrong)


def _context_actions(block: Json, at: str, wrong: Errors) -> None:
    for number, each in _items(block, "elements", 5, at, wrong):
        check_element(each, {"feedback_buttons"}, f"{at}/elements/{number}", wrong)


def _input(block: Json, at: str, wrong: Errors) -> None:
    check_text(block["label"], 2000, f"{at}/label", wrong, plain=True)
    if "hint" in block:
        check_text(block["hint"], 2000, f"{at}/hint", wrong, plain=True)
    check_element(block["element"], _IN_INPUT, f"{at}/element", wrong)


def _image(block: Json, at: str, wrong: Errors) -> None:
    if ("image_url" in block) == ("slack_file" in block):
        wrong.add("must have one of image_url and slack_file", at)
    check_length(block.get("image_url"), 3000, f"{at}/image_url", wrong)
    check_length(block["alt_text"], 2000, f"{at}/alt_text", wrong)
    if "title" in block:
        check_text(block["title"], 2000, f"{at}/title", wrong, plain=True)


def _markdown(block: Json, at: str, wrong: Errors) -> None:
    check_length(block["text"], 12_000, f"{at}/text", wrong, least=1)


def _rich_text(block: Json, at: str, wrong: Errors) -> None:
    check_rich_text(block["elements"], f"{at}/elements", wrong)


def _items(block: Json, name: str, most: int, at: str, wrong: Errors) -> list[tuple[int, Any]]:
    items = block[name]
    if not isinstance(items, list) or not items:
        wrong.add("must have at least 1 item", f"{at}/{name}")
        return []
    if len(items) > most:
        wrong.add(f"no more than {most} items allowed", f"{at}/{name}")
    return list(enumerate(items))


BLOCKS = {
    "section": Block([], ["text", "fields", "accessory", "expand"], _section),
    "header": Block(["text"], ["level"], _header),
    "divider": Block([], [], _nothing),
    "context": Block(["elements"], [], _context),
    "actions": Block(["elements"], [], _actions),
    "context_actions": Block(["elements"], [], _context_actions, _MESSAGE),
    "input": Block(["label", "element"], ["hint", "optional", "dispatch_action"], _input),
    "image": Block(["alt_text"], ["image_url", "slack_file", "title"], _image),
    "markdown": Block(["text"], [], _markdown, _MESSAGE),
    "rich_text": Block(["elements"], [], _rich_text),
}
