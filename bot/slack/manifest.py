"""The app's manifest: the file at the repository's root, or the same values from this module if there is no file."""

import json
from pathlib import Path
from typing import Any, NamedTuple

_FILE = Path(__file__).resolve().parents[2] / "manifest.json"


class Manifest(NamedTuple):
    """The bot token's scopes and the slash commands."""

    scopes: frozenset[str]
    commands: tuple[str, ...]


WRITTEN_DOWN = Manifest(
    scopes=frozenset(
        {
            "app_mentions:read",
            "assistant:write",
            "channels:history",
            "channels:read",
            "chat:write",
            "commands",
            "files:read",
            "files:write",
            "groups:history",
            "groups:read",
            "im:history",
            "im:write",
            "users:read",
        }
    ),
    commands=("/vllm-digest",),
)


# Of an app that has the agent surface; without them everything else works.
OPTIONAL_SCOPES = frozenset({"assistant:write"})


def manifest() -> Manifest:
    """Return the manifest from the file, or the built-in one if the file is missing or malformed."""
    try:
        found: dict[str, Any] = json.loads(_FILE.read_text("utf-8"))
        return Manifest(
            frozenset(found["oauth_config"]["scopes"]["bot"]),
            tuple(each["command"] for each in found["features"]["slash_commands"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return WRITTEN_DOWN
