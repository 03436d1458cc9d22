"""A message that Slack finds too long, in two, and again if need be: by its blocks, by what they hold, by their words."""

import re
from typing import Any

_PLAIN = 3_500  # characters of a message without blocks
_LEAST = 200  # characters of a text that is worth dividing
_TEXTS = ("text", "mrkdwn", "plain_text", "markdown")

Part = dict[str, Any]


def halves(content: Part) -> list[Part]:
    """A message {text, blocks} in two that hold all of it; without its blocks, or not at all, where they cannot be divided."""
    blocks = content.get("blocks") or []
    if len(blocks) > 1:
        middle = len(blocks) // 2
        return [{**content, "blocks": blocks[:middle]}, {**content, "blocks": blocks[middle:]}]
    if blocks:
        divided = [{**content, "blocks": [each]} for each in _divided(blocks[0])]
        return divided or [{"text": content["text"]}]
    return [{"text": each} for each in _cut(content["text"])] if len(content["text"]) > _PLAIN else []


def _divided(part: Part) -> list[Part]:
    """A block, or an element of one, in two of its kind; nothing where it is too small for that."""
    elements, text = part.get("elements"), part.get("text")
    if elements and len(elements) > 1:
        middle = len(elements) // 2
        return [{**part, "elements": elements[:middle]}, {**part, "elements": elements[middle:]}]
    if elements:
        return [{**part, "elements": [each]} for each in _divided(elements[0])]
    if isinstance(text, dict):
        return [{**part, "text": each} for each in _divided(text)]
    if isinstance(text, str) and part["type"] in _TEXTS and len(text) > _LEAST:
        return [{**part, "text": each} for each in _cut(text)]
    return []


def _cut(text: str) -> tuple[str, str]:
    """A text in two, where white space is nearest to its middle: not within one of Slack's tokens."""
    middle = len(text) // 2
    spaces = [found.end() for found in re.finditer(r"<[^<>]*>|\s", text) if found[0].isspace()]
    at = min(spaces, key=lambda place: abs(place - middle), default=middle)
    return text[:at], text[at:]
