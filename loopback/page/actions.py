"""Actions of people on the page, performed in the workspace."""

from collections.abc import Callable

from loopback.page.player import Viewer
from loopback.slack import Interaction, LoopbackSlack
from loopback.slack.block_kit import interactive
from loopback.slack.payloads import filled
from loopback.slack.workspace import Json

_LONGEST = 40_000  # characters; Slack's limit for a message


class ActionRefused(Exception):
    """An action that is not possible, with a short reason."""


class Actions:
    """The actions of one player. Each takes the script's JSON and returns JSON for it."""

    def __init__(self, slack: LoopbackSlack, viewer: Viewer, command: str) -> None:
        self._slack = slack
        self._viewer = viewer
        self._command = command
        self.by_name: dict[str, Callable[[Json], Json]] = {
            "say": self._say,
            "command": self._type_command,
            "invite": self._invite,
            "press": self._press,
            "shortcut": self._use_shortcut,
            "submit": self._submit,
            "close": self._close,
            "stop": self._stop,
            "home": self._open_home,
        }

    def _say(self, given: Json) -> Json:
        text = _text(given, "text")
        if not text.strip() or len(text) > _LONGEST:
            raise ActionRefused(f"1 - {_LONGEST:,}")
        return {"ts": self._slack.say(self._viewer.user, self._here(given), text, given.get("thread") or None)}

    def _type_command(self, given: Json) -> Json:
        return _outcome(self._slack.command(self._viewer.user, self._here(given), _text(given, "text"), self._command))

    def _invite(self, given: Json) -> Json:
        """Handle `/invite @bot`, which Slack answers itself: add the bot to the channel and announce it."""
        workspace, channel = self._slack.workspace, self._here(given)
        bot, home, named = workspace.bot_user, workspace.channels[channel], _text(given, "text").strip()
        if named.lower() != f"@{self._viewer.name(bot)}".lower():
            raise ActionRefused(self._viewer.say("invite_whom", name=self._viewer.name(bot)))
        if bot in home.members:
            raise ActionRefused(self._viewer.say("invited", name=self._viewer.name(bot)))
        joined = self._viewer.say("joined", bot=bot, user=self._viewer.user)
        return {"ts": self._slack.invite(self._viewer.user, channel, joined).ts}

    def _press(self, given: Json) -> Json:
        """Use an interactive element of a message, a modal or the Home tab."""
        user, action, value, block = self._viewer.user, given.get("action"), given.get("value"), given.get("block")
        if not isinstance(action, str):
            raise ActionRefused("action")
        if "view" in given:
            blocks = self._slack.workspace.views[_text(given, "view")].body["blocks"]
            state = states(blocks, given.get("state") or {})
            return _outcome(self._slack.press_view(user, given["view"], action, value, block, state=state))
        channel, ts = self._here(given), _text(given, "ts")
        state = states(self._slack.workspace.channels[channel].messages[ts].blocks, given.get("state") or {})
        return _outcome(self._slack.press(user, channel, ts, action, value, block, state=state))

    def _use_shortcut(self, given: Json) -> Json:
        """Use a shortcut of the app on a message."""
        channel, ts, name = self._here(given), _text(given, "ts"), _text(given, "shortcut")
        return _outcome(self._slack.shortcut(self._viewer.user, channel, ts, name))

    def _submit(self, given: Json) -> Json:
        view = _text(given, "view")
        state = states(self._slack.workspace.views[view].body["blocks"], given.get("state") or {})
        done = self._slack.submit(self._viewer.user, view, state)
        return {**_outcome(done), "errors": done.errors}

    def _close(self, given: Json) -> Json:
        self._slack.close(self._viewer.user, _text(given, "view"))
        return {}

    def _stop(self, given: Json) -> Json:
        """Press the stop button of a thread."""
        return _outcome(self._slack.stop(self._viewer.user, self._here(given), _text(given, "thread")))

    def _open_home(self, given: Json) -> Json:
        self._slack.open_home(self._viewer.user, tab="home" if given.get("tab") == "home" else "messages", wait=False)
        return {}

    def _here(self, given: Json) -> str:
        channel = _text(given, "channel")
        if self._viewer.channel(channel) is None:
            raise ActionRefused(f"{self._viewer.name(self._viewer.user)} ∉ {channel}")
        return channel


def states(blocks: list[Json], given: Json) -> Json:
    """Return the inputs' values in the form of Slack's state; a cleared input is empty instead of its initial value."""
    done: Json = {}
    known = {(block["block_id"], each["action_id"]): each for block in blocks for each in interactive(block)}
    for (block_id, action_id), start in _inputs(blocks):
        if action_id not in given.get(block_id, {}) or (block_id, action_id) not in known:
            continue
        value = given[block_id][action_id]
        key = next(name for name in start if name != "type")
        chosen = key == "selected_option" and value not in (None, "")
        done.setdefault(block_id, {})[action_id] = value if chosen else {**start, key: value or None}
    return done


def _inputs(blocks: list[Json]) -> list[tuple[tuple[str, str], Json]]:
    return [
        ((block_id, action_id), start)
        for block_id, inside in filled(blocks, {}).items()
        for action_id, start in inside.items()
    ]


def _outcome(done: Interaction) -> Json:
    return {"failed": done.failed} if done.failed else {}


def _text(given: Json, name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str):
        raise ActionRefused(name)
    return value
