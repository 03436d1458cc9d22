"""The metadata of our messages in Slack: the key of a message in the outbox, and the subject of its thread."""

import json
from collections.abc import Callable, Mapping
from typing import Any

_EVENT = "vllm_digest"  # the type that Slack asks for


def metadata(key: str, about: str = "") -> dict[str, Any]:
    """Return the metadata of a message with this key and, if it has one, its thread's subject."""
    subject = {"about": about} if about else {}
    return {"event_type": _EVENT, "event_payload": {"key": key, **subject}}


def has_key(key: str) -> Callable[[dict[str, Any]], bool]:
    """Return a predicate for messages that carry this key."""
    return lambda message: key_of(message) == key


def key_of(message: Mapping[str, Any]) -> str:
    """Return the key in the metadata of one of our messages; empty if there is none."""
    return str(_payload(message).get("key") or "")


def about_of(message: Mapping[str, Any]) -> str:
    """Return the thread's subject in the metadata of one of our messages; empty if there is none."""
    return str(_payload(message).get("about") or "")


def _payload(message: Mapping[str, Any]) -> Mapping[str, Any]:
    payload = (message.get("metadata") or {}).get("event_payload") or {}
    return payload if isinstance(payload, Mapping) else json.loads(payload)
