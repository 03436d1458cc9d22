"""Limits on messages and modals, with Slack's error for each.

Sources: docs.slack.dev/reference/methods and reference/block-kit; `msg_blocks_too_long` is undocumented: github.com/slackapi/bolt-js
issues 2509 and 2867 saw it at 11.3k and 13.2k characters.
"""

import json
from collections.abc import Iterator
from typing import Any

from loopback.slack.block_kit import block_errors, view_errors
from loopback.slack.workspace import Json

TEXT_ADVISED, TEXT_MOST, MARKDOWN_MOST, BLOCKS_MOST = 4_000, 40_000, 12_000, 11_000
_METADATA_MOST, _VIEW_MOST = 16_000, 250_000
# The visible fields of a block, which count towards limits.
_READ = frozenset({"text", "title"})


class Refused(Exception):
    """A refused request, which Slack answers with ok:false, the error and details."""

    def __init__(self, error: str, **details: Any) -> None:
        super().__init__(error)
        self.body: Json = {"ok": False, "error": error, **details}


def refuse(error: str, wrong: list[str]) -> None:
    """Raise `Refused` if there are error messages."""
    if wrong:
        raise Refused(error, response_metadata={"messages": wrong})


def check_message(parts: Json, *, text_most: int = TEXT_MOST) -> None:
    """Check a message's text, blocks and metadata. Raise `Refused` if invalid."""
    text, blocks = parts.get("text") or "", parts.get("blocks")
    if not isinstance(text, str):
        refuse("invalid_arguments", ["[ERROR] must be a string [json-pointer:/text]"])
    if len(text) > text_most:
        raise Refused("msg_too_long")
    if not (text.strip() or blocks):
        raise Refused("no_text")
    check_message_blocks(blocks or [])
    check_metadata(parts.get("metadata"))


def check_message_blocks(blocks: Any) -> None:
    """Check blocks individually, then their total size. Raise `Refused` if invalid."""
    if not isinstance(blocks, list) or not all(isinstance(each, dict) for each in blocks):
        raise Refused("invalid_blocks_format")
    refuse("invalid_blocks", block_errors(blocks))
    if sum(measure(block) for block in blocks if block["type"] == "markdown") > MARKDOWN_MOST:
        refuse("invalid_blocks", ["[ERROR] markdown blocks may have 12000 characters together"])
    # Markdown alone may have 12,000 characters, and a message of nothing else has passed with 13,297.
    others = sum(measure(block) for block in blocks if block["type"] != "markdown")
    if others > BLOCKS_MOST or (others and sum(map(measure, blocks)) > MARKDOWN_MOST):
        raise Refused("msg_blocks_too_long")


def measure(value: Any) -> int:
    """Return the number of visible characters in blocks: the total length of strings in text fields at any depth."""
    return sum(len(text) for text in _strings(value, ""))


def _strings(value: Any, name: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _strings(each, key)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each, name)
    elif isinstance(value, str) and name in _READ:
        yield value


def check_metadata(metadata: Any) -> None:
    """Check metadata: an event type and a JSON object. Raise `Refused` if invalid."""
    if metadata is None:
        return
    if not isinstance(metadata, dict):
        raise Refused("invalid_metadata_format")
    kind, payload = metadata.get("event_type"), metadata.get("event_payload")
    if not isinstance(kind, str) or not kind or not isinstance(payload, dict):
        raise Refused("invalid_metadata_format")
    if len(json.dumps(metadata)) > _METADATA_MOST:
        raise Refused("metadata_too_large")


def check_view(view: Any) -> None:
    """Check a modal or a Home tab. Raise `Refused` if invalid."""
    refuse("invalid_arguments", view_errors(view))
    if len(json.dumps(view)) > _VIEW_MOST:
        raise Refused("view_too_large")
