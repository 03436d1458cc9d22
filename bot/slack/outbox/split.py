"""Splitting of messages that are too long for Slack into split_content: by blocks, by their elements, by words."""

import re
from typing import Any

_PLAIN = 3_500  # characters of a message without blocks
_LEAST = 200  # minimum characters of a text to split
_TEXTS = ("text", "mrkdwn", "plain_text", "markdown")

Part = dict[str, Any]


def split_content(content: Part) -> list[Part]:
    """Split a message {text, blocks} in two. If its blocks cannot be split return its text alone; if that is short, nothing."""
    blocks = content.get("blocks") or []
    if len(blocks) > 1:
        middle = len(blocks) // 2
        return [{**content, "blocks": blocks[:middle]}, {**content, "blocks": blocks[middle:]}]
    if blocks:
        divided = [{**content, "blocks": [each]} for each in _split_block(blocks[0])]
        return divided or [{"text": content["text"]}]
    return [{"text": each} for each in _split_text(content["text"])] if len(content["text"]) > _PLAIN else []


def _split_block(part: Part) -> list[Part]:
    """Split a block, or an element of one, into two of its kind; return nothing if it is too small."""
    elements, text = part.get("elements"), part.get("text")
    if elements and len(elements) > 1:
        middle = len(elements) // 2
        return [{**part, "elements": elements[:middle]}, {**part, "elements": elements[middle:]}]
    if elements:
        return [{**part, "elements": [each]} for each in _split_block(elements[0])]
    if isinstance(text, dict):
        return [{**part, "text": each} for each in _split_block(text)]
    if isinstance(text, str) and part["type"] in _TEXTS and len(text) > _LEAST:
        return [{**part, "text": each} for each in _split_text(text)]
    return []


def _split_text(text: str) -> tuple[str, str]:
    """Split a text at the white space nearest to its middle, never inside one of Slack's <...> tokens."""
    middle = len(text) // 2
    spaces = [found.end() for found in re.finditer(r"<[^<>]*>|\s", text) if found[0].isspace()]
    at = min(spaces, key=lambda place: abs(place - middle), default=middle)
    return text[:at], text[at:]
