"""Updates to one browser: the full state first, then changes."""

import json
from typing import Any

from loopback.page.messages import home, message, modal
from loopback.page.player import Viewer
from loopback.slack import LoopbackSlack
from loopback.slack.workspace import Channel, Json, Message, View


class Updates:
    """The state that one browser has; known items are not rendered again."""

    def __init__(self, slack: LoopbackSlack, viewer: Viewer) -> None:
        self._slack = slack
        self._viewer = viewer
        self._known: dict[str, str] = {}
        self._rest = ""
        self._first = True
        self.version = -1

    def changes(self) -> Json | None:
        """Return the changes since the last call: `items` by id, the `gone` ones, and the small parts in full; None if none."""
        workspace = self._slack.workspace
        with workspace.changing:
            self.version = workspace.version
            facts = {
                f"{home_.id}/{each.ts}": self._described(each)
                for home_ in self._viewer.channels
                for each in workspace.visible(home_.id, self._viewer.user)
            }
            channels = [self._conversation(each) for each in self._viewer.channels]
            front, tab = self._slack.modal(self._viewer.user), self._slack.home(self._viewer.user)
        prints = {key: json.dumps(fact, sort_keys=True) for key, fact in facts.items()}
        changed = {key: facts[key] for key, print_ in prints.items() if self._known.get(key) != print_}
        gone = [key for key in self._known if key not in prints]
        rest: Json = {
            "channels": channels,
            "connected": self._slack.connected > 0,
            "modal": self._view(front, "modal"),
            "home": self._view(tab, "home"),
        }
        if not (changed or gone or self._first or json.dumps(rest) != self._rest):
            return None
        first, self._first, self._known, self._rest = self._first, False, prints, json.dumps(rest)
        items = {key: self._item(fact) for key, fact in changed.items()}
        return {"all": first, "items": items, "gone": gone, **rest}

    def _described(self, given: Message) -> Json:
        described = self._slack.workspace.describe(given)
        if pressed := given.feedback.get(self._viewer.user):
            rated = [{**each, "pressed": pressed} for each in given.blocks if each["type"] == "context_actions"]
            described["blocks"] = [*(each for each in given.blocks if each["type"] != "context_actions"), *rated]
        return {**described, "channel": given.channel}

    def _item(self, fact: Json) -> Json:
        """Return a message for the script: its place and HTML."""
        reply = fact.get("thread_ts") not in {None, fact["ts"]}
        return {
            "ts": fact["ts"],
            "channel": fact["channel"],
            "thread": fact["thread_ts"] if reply else None,
            "user": fact["user"],
            "private": bool(fact.get("is_ephemeral")),
            "streaming": bool(fact.get("streaming_state")),
            "html": message(fact, self._viewer),
        }

    def _conversation(self, given: Channel) -> Json:
        bot = self._slack.workspace.bot_user
        return {
            "id": given.id,
            "name": self._viewer.title(given),
            "kind": given.kind,
            "members": len(given.members),
            "bot": bot in given.members,
            "working": [thread for thread, status in given.sessions.items() if status == "processing"],
            "prompts": [{"title": title, "message": message} for title, message in given.prompts],
        }

    def _view(self, view: View | None, kind: str) -> Any:
        if view is None:
            return None
        html = modal(view.body, self._viewer) if kind == "modal" else home(view.body, self._viewer)
        return {"id": view.id, "hash": view.body["hash"], "html": html}
