"""Validation of rich_text: sections and lists of texts, links, people and channels."""

from typing import Any

from loopback.slack.schema import Errors, Json, check_fields, check_length

_STYLES = frozenset({"bold", "italic", "strike", "code", "underline", "highlight", "client_highlight", "unlink"})

# Inline elements: required and optional fields besides type.
_INLINE: dict[str, tuple[list[str], list[str]]] = {
    "text": (["text"], ["style"]),
    "link": (["url"], ["text", "unsafe", "style"]),
    "user": (["user_id"], ["style"]),
    "channel": (["channel_id"], ["style"]),
}
_PARTS: dict[str, list[str]] = {
    "rich_text_section": [],
    "rich_text_list": ["style", "indent", "offset", "border"],
}


def check_rich_text(parts: Any, at: str, wrong: Errors) -> None:
    """Check the `elements` of a rich_text block."""
    if not isinstance(parts, list) or not parts:
        wrong.add("must have at least 1 item", at)
        return
    for number, part in enumerate(parts):
        place = f"{at}/{number}"
        kind = part.get("type") if isinstance(part, dict) else None
        if kind not in _PARTS:
            wrong.add(f"unsupported type: {kind}", place)
        elif check_fields(part, ["type", "elements"], _PARTS[kind], place, wrong):
            _check_part(part, place, wrong)


def _check_part(part: Json, at: str, wrong: Errors) -> None:
    elements = part["elements"]
    if not isinstance(elements, list):
        wrong.add("must be an array", f"{at}/elements")
        return
    if part["type"] == "rich_text_list":
        _check_list(part, at, wrong)
        return
    for number, each in enumerate(elements):
        _check_inline(each, f"{at}/elements/{number}", wrong)


def _check_list(part: Json, at: str, wrong: Errors) -> None:
    if part.get("style") not in {"bullet", "ordered"}:
        wrong.add("must be one of: bullet, ordered", f"{at}/style")
    if not 0 <= part.get("indent", 0) <= 8:  # noqa: PLR2004 (Slack indents eight times)
        wrong.add("must be between 0 and 8", f"{at}/indent")
    for number, each in enumerate(part["elements"]):
        place = f"{at}/elements/{number}"
        if not isinstance(each, dict) or each.get("type") != "rich_text_section":
            wrong.add("must be a rich_text_section", place)
        elif check_fields(each, ["type", "elements"], [], place, wrong):
            _check_part(each, place, wrong)


def _check_inline(element: Any, at: str, wrong: Errors) -> None:
    kind = element.get("type") if isinstance(element, dict) else None
    if kind not in _INLINE:
        wrong.add(f"unsupported type: {kind}", at)
        return
    required, optional = _INLINE[kind]
    if not check_fields(element, ["type", *required], optional, at, wrong):
        return
    if kind == "text":
        check_length(element["text"], 40_000, f"{at}/text", wrong, least=1)
    if kind == "link":
        check_length(element["url"], 3000, f"{at}/url", wrong, least=1)
    style = element.get("style", {})
    if not isinstance(style, dict) or not style.keys() <= _STYLES:
        wrong.add("invalid style", f"{at}/style")
