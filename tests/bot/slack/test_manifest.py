"""The app's manifest asks for what the code uses, and for nothing else."""

import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from analysis.locale import LANGUAGES, Language, catalogue
from analysis.models import Repository
from bot.settings import Settings
from bot.slack.delivery.sessions import PROMPTS
from bot.slack.listeners import EXPLAIN
from bot.slack.manifest import WRITTEN_DOWN, manifest
from bot.slack.parsing.command_types import Ask, Day, Upgrade
from bot.slack.parsing.commands import parse
from bot.slack.parsing.departures import DEPARTURES
from loopback.slack.methods import METHODS

ROOT = Path(__file__).resolve().parents[3]
MANIFEST: dict[str, Any] = json.loads((ROOT / "manifest.json").read_text("utf-8"))
SCOPES = set(MANIFEST["oauth_config"]["scopes"]["bot"])
EVENTS = set(MANIFEST["settings"]["event_subscriptions"]["bot_events"])
# What a listener for `message` hears, where the bot is used: channels, private channels, direct messages.
HEARD = {
    "message": {"message.channels", "message.groups", "message.im"},
    "app_mention": {"app_mention"},
    "app_home_opened": {"app_home_opened"},
    "agent_session_stopped": {"agent_session_stopped"},
    "member_joined_channel": {"member_joined_channel"},
}
NEEDED_TO_HEAR = {
    "app_mention": "app_mentions:read",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "message.im": "im:history",
    "member_joined_channel": "channels:read",
    **{event: f"{event.partition('_')[0]}s:read" for event in DEPARTURES if not event.startswith("user")},
    "user_change": "users:read",
}


def source(name: str) -> str:
    return (ROOT / "bot" / "slack" / name).read_text("utf-8")


def methods_called() -> set[str]:
    """The Web API methods that the door to Slack calls."""
    names = re.findall(r"\b(?:client|_reader)\.(\w+)", source("web.py") + source("directory.py"))
    written = {method.replace(".", "_"): method for method in METHODS}
    return {written.get(name, name) for name in names}


def listened_to() -> set[str]:
    events = re.findall(
        r'"(message|app_mention|app_home_opened|agent_session_stopped|member_joined_channel|\w+_created|\w+_changed)"',
        source("listeners.py"),
    )
    return {heard for event in events for heard in HEARD[event]} | set(DEPARTURES)


def wanted(method: str) -> set[str]:
    """The scopes that a method takes; of those for a kind of conversation, the kinds that the bot is used in."""
    scopes = set(METHODS[method].scopes)
    kinds = {scope for scope in scopes if scope.endswith((":history", ":read")) and scope.split(":")[0] in _KINDS}
    if len(kinds) < 2:
        return scopes & SCOPES or scopes
    # The bot looks up members of channels only: it is always in a direct message.
    used = ("channels", "groups") if scopes & {"channels:read"} else ("channels", "groups", "im")
    return {scope for scope in kinds if scope.split(":")[0] in used}


_KINDS = ("channels", "groups", "im", "mpim")


def test_what_is_written_down_is_the_manifest() -> None:
    """Where the file is not at hand, `doctor` compares with the same scopes and commands."""
    assert manifest() == WRITTEN_DOWN
    assert WRITTEN_DOWN.scopes == SCOPES


def test_scopes_are_those_of_the_methods_events_and_command() -> None:
    """Every scope of the manifest is used by the code, and none that the code uses is missing."""
    used = {"commands"} | {scope for method in methods_called() for scope in wanted(method)}
    used.discard("connections:write")  # the app's own token has it
    used |= {NEEDED_TO_HEAR[event] for event in EVENTS if event in NEEDED_TO_HEAR}
    assert used == SCOPES


def test_events_are_those_that_listeners_hear() -> None:
    """The manifest subscribes to the events that have a listener."""
    assert listened_to() == EVENTS


def test_the_agent_surface_is_within_slacks_limits() -> None:
    """Of a description Slack takes 300 characters, of prompts four; they are those that the bot suggests itself."""
    view = MANIFEST["features"]["agent_view"]
    assert len(view["agent_description"]) <= 300
    assert len(PROMPTS) <= 4
    assert view["suggested_prompts"] == [{"title": title, "message": message} for title, message in PROMPTS]


@pytest.mark.parametrize("language", LANGUAGES)
def test_suggested_prompts_are_understood(language: Language) -> None:
    """Each is a command, or reads as a question, in either language."""
    today, repository = date(2026, 2, 6), Repository.parse("o/n")
    for title, message in PROMPTS:
        said = catalogue(language)(message)
        command = parse(said, [repository], today)
        assert isinstance(command, Ask | Day | Upgrade), title


def test_the_command_is_the_default_one() -> None:
    """The manifest's slash command is the one that the bot listens to by default."""
    assert [each["command"] for each in MANIFEST["features"]["slash_commands"]] == [
        Settings(_env_file=None).digest_command
    ]


def test_buttons_and_modals_need_interactivity() -> None:
    """Interactivity and Socket Mode are switched on, since there are buttons and the bot connects by itself."""
    assert "app.action(" in source("listeners.py")
    assert MANIFEST["settings"]["interactivity"]["is_enabled"]
    assert MANIFEST["settings"]["socket_mode_enabled"]


@pytest.mark.parametrize("method", sorted(methods_called()))
def test_every_method_is_known(method: str) -> None:
    """The loopback Slack serves every method that the bot calls."""
    assert method in METHODS


def test_the_shortcut_is_one_that_slack_takes_and_the_bot_hears() -> None:
    """Its name has 24 characters at most and its description 150; the listener has its callback_id."""
    (shortcut,) = MANIFEST["features"]["shortcuts"]
    assert shortcut["callback_id"] == EXPLAIN
    assert shortcut["type"] == "message"
    assert len(shortcut["name"]) <= 24
    assert len(shortcut["description"]) <= 150
