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

_CHOICES = frozenset({"static_select", "conversations_select", "timepicker"})
_IN_ACTIONS = _CHOICES | {"button", "overflow"}
_IN_INPUT = _CHOICES | {"plain_text_input"}


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
    inside = [*_list(block.get("elements")), block.get("element")]
    return [each for each in inside if isinstance(each, dict) and each.get("action_id")]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _section(block: Json, at: str, wrong: Errors) -> None:
    check_text(block["text"], 3000, f"{at}/text", wrong)


def _header(block: Json, at: str, wrong: Errors) -> None:
    check_text(block["text"], 150, f"{at}/text", wrong, plain=True)


def _context(block: Json, at: str, wrong: Errors) -> None:
    for number, each in _items(block, "elements", 10, at, wrong):
        check_text(each, 3000, f"{at}/elements/{number}", wrong)


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
    "section": Block(["text"], ["expand"], _section),
    "header": Block(["text"], ["level"], _header),
    "context": Block(["elements"], [], _context),
    "actions": Block(["elements"], [], _actions),
    "context_actions": Block(["elements"], [], _context_actions, _MESSAGE),
    "input": Block(["label", "element"], ["hint", "optional"], _input),
    "markdown": Block(["text"], [], _markdown, _MESSAGE),
    "rich_text": Block(["elements"], [], _rich_text),
}
