"""Fields of Slack's payloads: where they stand, and what of them can be stored."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator

from analysis.text import scalar

_MOST_PASTED = 40_000  # characters of a command or a message, which may hold a log; Slack cuts longer ones


def _storable(text: str) -> str:
    if scalar(text) != text:
        raise ValueError("a lone surrogate, which no database stores")
    return text


Id = Annotated[str, AfterValidator(_storable)]  # made by Slack or by us
Text = Annotated[str, AfterValidator(lambda text: scalar(text)[:_MOST_PASTED])]  # written by a person


def find(payload: Any, *paths: str) -> Any:
    """Return what stands at the first of some paths that a payload has, such as `event.user`; None if it has none."""
    for path in paths:
        found = payload
        for name in path.split("."):
            found = found.get(name) if isinstance(found, Mapping) else None
        if found is not None:
            return found
    return None
