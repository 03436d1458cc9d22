"""response_urls: up to five responses to an interaction within half an hour.

Source: docs.slack.dev/interactivity/handling-user-interaction.
"""

from dataclasses import dataclass
from secrets import token_urlsafe
from typing import Any

from loopback.slack.block_kit import with_ids
from loopback.slack.delivery import Interaction
from loopback.slack.limits import Refused, check_message
from loopback.slack.workspace import Json, Message, Workspace

_USES, _LIFE, _HEAD_START = 5, 1800, 0.1


@dataclass
class Hook:
    """A response_url; `source` is the message with the button, `last` the latest message posted through it."""

    id: str
    user: str
    channel: str
    born: float
    source: Message | None = None
    last: Message | None = None
    uses: int = 0
    interaction: Interaction | None = None


class Hooks:
    """The response_urls of a workspace; excess uses are recorded in `breaches`."""

    def __init__(self, workspace: Workspace, breaches: list[str]) -> None:
        self._workspace = workspace
        self._breaches = breaches
        self._hooks: dict[str, Hook] = {}

    def new(self, user: str, channel: str, source: Message | None = None) -> Hook:
        hook = Hook(token_urlsafe(), user, channel, self._workspace.now(), source)
        self._hooks[hook.id] = hook
        return hook

    def of(self, interaction: Interaction) -> Hook:
        """Return the response_url of an interaction."""
        return self._hooks[str(interaction.response_url).rpartition("/")[2]]

    def use(self, name: str, body: Any) -> Json:
        """Process a body sent to a response_url. Raise `Refused` if it is not allowed."""
        hook = self._hooks.get(name)
        if hook is None:
            raise Refused("no_service")
        if self._workspace.now() - hook.born > _LIFE:
            raise Refused("expired_url")
        if hook.interaction:
            # An ack in transit on another connection was sent first and takes precedence.
            hook.interaction.done.wait(_HEAD_START)
        with self._workspace.changing:
            hook.uses += 1
            if hook.uses > _USES:
                self._breaches.append(f"response_url of {hook.user} in {hook.channel} used {hook.uses} times")
                raise Refused("used_url")
        if not isinstance(body, dict):
            raise Refused("invalid_payload")
        self.answer(hook, body)
        if hook.interaction:
            with self._workspace.change():
                hook.interaction.responses.append(body)
        return {"ok": True}

    def answer(self, hook: Hook, body: Json) -> None:
        """Replace the original or post privately, as the body requests; post if there is none. Raise `Refused` if invalid."""
        check_message(body)
        blocks = with_ids(body.get("blocks") or [], self._workspace.fresh)
        parts: Json = {"text": body.get("text") or "", "blocks": blocks}
        original = hook.source or hook.last
        present = original is not None and original.ts in self._workspace.channels[hook.channel].messages
        if original is not None and present and body.get("replace_original"):
            self._workspace.replace(original, **parts)
        else:
            hook.last = self._workspace.post(hook.channel, self._workspace.bot_user, only_for=hook.user, **parts)
