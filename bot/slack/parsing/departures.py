"""Events that tell of a channel or a person that is gone, parsed once from Slack's payloads. Source: docs.slack.dev/reference/events."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from bot.slack.parsing.payloads import Id, find
from bot.store import Departure

_OF_CHANNELS: Mapping[str, Departure] = {
    **dict.fromkeys(("channel_archive", "group_archive"), "archived"),
    **dict.fromkeys(("channel_deleted", "group_deleted"), "deleted"),
    **dict.fromkeys(("channel_left", "group_left"), "removed"),  # the bot was
}
DEPARTURES = (*_OF_CHANNELS, "user_change", "channel_id_changed")
_ID = TypeAdapter(Id)


class Departed(NamedTuple):
    """Who or what is gone, and how: a channel or a person; a channel may have a new id instead."""

    how: Departure | None
    channel: str = ""
    user: str = ""
    new_channel: str = ""


def departed(body: Mapping[str, Any]) -> Departed | None:
    """Parse an event of `DEPARTURES`; None for a person who is still there. Raise pydantic's `ValidationError` if it is malformed."""
    event = body["event"]
    if event["type"] == "user_change":
        user = _ID.validate_python(find(event, "user.id"))
        return Departed("left", user=user) if find(event, "user.deleted") is True else None
    if event["type"] == "channel_id_changed":
        old, new = (_ID.validate_python(event.get(name)) for name in ("old_channel_id", "new_channel_id"))
        return Departed(None, old, new_channel=new)
    return Departed(_OF_CHANNELS[event["type"]], _ID.validate_python(event.get("channel")))
