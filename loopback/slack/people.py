"""Actions of people in the workspace, and their delivery to the app."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any
from uuid import uuid4

from loopback.slack import payloads
from loopback.slack.block_kit import interactive
from loopback.slack.delivery import Delivery, Envelope, Interaction, Kind
from loopback.slack.hooks import Hook, Hooks
from loopback.slack.limits import Refused
from loopback.slack.methods.views import home_of
from loopback.slack.workspace import SLACKBOT, File, Json, Message, View, Workspace

_TRIGGER = 3.0
_HISTORY = {"channel": "channels:history", "group": "groups:history", "im": "im:history"}


class People:
    """Actions of the workspace's people, for the server, which has the rest; `address` is the server's, without a path."""

    workspace: Workspace
    hooks: Hooks
    delivery: Delivery
    breaches: list[str]
    scopes: frozenset[str]
    threaded_direct: bool
    address: str

    def say(
        self,
        user: str,
        channel: str,
        text: str,
        thread_ts: str | None = None,
        files: Mapping[str, bytes] = MappingProxyType({}),
    ) -> str:
        """Post a person's message with files (name -> content) and return its ts; the app gets an event if it is a member."""
        home = self.workspace.channels[channel]
        if user not in home.members:
            raise ValueError(f"{user} is not in {channel}")
        text, marks = payloads.typed(self.workspace, text), {"client_msg_id": str(uuid4())}
        with self.workspace.change():
            shared = [self._file(user, name, content) for name, content in files.items()]
            subtype = "file_share" if shared else None
            ids = [file.id for file in shared]
            ts = self.workspace.post(
                channel, user, text=text, thread_ts=thread_ts, files=ids, subtype=subtype, **marks
            ).ts
            for file in shared:
                file.shares.append((channel, ts, thread_ts))
        return ts

    def _file(self, user: str, name: str, content: bytes) -> File:
        file = File(self.workspace.fresh("F"), name, len(content), content=content, user=user)
        self.workspace.files[file.id] = file
        return file

    def edit(self, user: str, channel: str, ts: str, text: str) -> None:
        self.workspace.replace(self._own(user, channel, ts), text=payloads.typed(self.workspace, text))

    def delete(self, user: str, channel: str, ts: str) -> None:
        self.workspace.delete(self._own(user, channel, ts))

    def command(
        self, user: str, channel: str, text: str = "", command: str = "/vllm-digest", *, wait: bool = True
    ) -> Interaction:
        """Send a slash command; return when it is acknowledged or has failed, or at once without `wait`."""
        body = payloads.command(self.workspace, user, channel, command, text)
        return self._interact("slash_commands", user, body, self.hooks.new(user, channel), wait=wait)

    def press(
        self,
        user: str,
        channel: str,
        message_ts: str,
        action_id: str,
        value: str | None = None,
        block_id: str | None = None,
        *,
        state: Json | None = None,
        wait: bool = True,
    ) -> Interaction:
        """Use a button or another element of a message visible to the person. `value` selects one of several buttons with
        that action_id, or a menu's option. Raise LookupError if there is no such element.
        """
        message = self.workspace.channels[channel].messages[message_ts]
        if message.only_for not in {None, user}:
            raise LookupError(f"{user} does not see {message_ts}")
        action = self._action(message.blocks, action_id, value, block_id)
        if action["type"] == "feedback_buttons":
            with self.workspace.change():
                message.feedback[user] = action["value"]
        body = payloads.actions(self.workspace, user, message, action, state)
        return self._interact("interactive", user, body, self.hooks.new(user, channel, message), wait=wait)

    def shortcut(self, user: str, channel: str, message_ts: str, callback_id: str, *, wait: bool = True) -> Interaction:
        """Use a message shortcut on a message that everybody in the channel sees; Slack offers none on others."""
        message = self.workspace.channels[channel].messages[message_ts]
        if message.only_for is not None:
            raise LookupError(f"{message_ts} has no shortcuts")
        body = payloads.message_action(self.workspace, user, message, callback_id)
        return self._interact("interactive", user, body, self.hooks.new(user, channel), wait=wait)

    def press_view(
        self,
        user: str,
        view_id: str,
        action_id: str,
        value: str | None = None,
        block_id: str | None = None,
        *,
        state: Json | None = None,
        wait: bool = True,
    ) -> Interaction:
        """Use an element of a modal or the Home tab, as `press` does; without a response_url."""
        view = self._open_view(user, view_id)
        action = self._action(view.body["blocks"], action_id, value, block_id)
        body = payloads.actions(self.workspace, user, view, action, state)
        return self._interact("interactive", user, body, None, wait=wait)

    def submit(
        self, user: str, view_id: str, values: dict[str, Json] | None = None, *, wait: bool = True
    ) -> Interaction:
        """Submit a form: {block_id: {action_id: state or bare value}}; inputs not given keep their initial value.

        The view closes unless the app responds otherwise; the result's `errors` are the app's. Raise ValueError for a
        form that Slack would not submit.
        """
        body = payloads.submission(self.workspace, self._open_view(user, view_id), values or {})
        return self._interact("interactive", user, body, None, wait=wait)

    def close(self, user: str, view_id: str) -> None:
        """Close a modal, of which the app is not told."""
        view = self._open_view(user, view_id)
        with self.workspace.change():
            view.open = False

    def stop(self, user: str, channel: str, thread_ts: str) -> Interaction:
        """Press the stop button of a thread, there while its session is processing. Raise LookupError if it is not there.

        Slack ends the app's streams there by itself; the session stays as it is until the app changes it.
        """
        home = self.workspace.channels[channel]
        if home.sessions.get(thread_ts) != "processing":
            raise LookupError(f"nothing is processing in {thread_ts}")
        with self.workspace.change():
            streams = [each for each in self.workspace.replies(channel, thread_ts) if each.streaming]
            for each in streams:
                each.streaming = False
        body: Json = {"type": "agent_session_stopped", "user": user, "channel": channel, "thread_ts": thread_ts}
        body |= {"streaming_message_ts": [each.ts for each in streams], "event_ts": self.workspace.next_ts()}
        made = payloads.event(self.workspace, body)
        return self._interact("events_api", user, made, None, wait=True, trigger=False)

    def open_home(self, user: str, *, tab: str = "home", wait: bool = True) -> Interaction:
        """Open a tab of the app, home or messages, which sends an app_home_opened event."""
        home = home_of(self.workspace, user)
        body: Json = {"type": "app_home_opened", "user": user, "channel": self.workspace.dm(user), "tab": tab}
        body |= {"event_ts": self.workspace.next_ts()} | ({"view": home.body} if home and tab == "home" else {})
        made = payloads.event(self.workspace, body)
        return self._interact("events_api", user, made, None, wait=wait, trigger=False)

    def home(self, user: str) -> View | None:
        return home_of(self.workspace, user)

    def modal(self, user: str) -> View | None:
        """Return the user's topmost modal, or None."""
        with self.workspace.changing:
            views = [each for each in self.workspace.views.values() if each.user == user and each.open]
            return next((each for each in reversed(views) if each.body["type"] == "modal"), None)

    def redeliver(self, what: Interaction | str, times: int = 1) -> None:
        """Redeliver the payloads of an interaction, or of a message's ts, with the same ids."""
        key = what.envelope_id if isinstance(what, Interaction) else what
        first: dict[str, Envelope] = {}
        for envelope in self.delivery.sent:
            if key in {envelope.id, envelope.payload.get("event", {}).get("ts")}:
                first.setdefault(envelope.id, envelope)
        if not first:
            raise LookupError(f"the app was told nothing of {key}")
        for envelope in first.values():
            again = envelope
            for _ in range(times):
                again = again.again("timeout")
                self.delivery.send(again)

    def private(self, user: str, channel: str) -> list[Message]:
        """Return the ephemeral messages visible to the user, in order, after replacements and deletions."""
        return [each for each in self.workspace.visible(channel, user) if each.only_for == user]

    def channel(self, channel: str) -> list[Message]:
        """Return the messages visible to all in the channel itself, in order, without replies."""
        return [each for each in self.workspace.visible(channel) if not each.is_reply]

    def thread(self, channel: str, ts: str) -> list[Message]:
        """Return a thread's parent and replies, in order."""
        with self.workspace.changing:
            parent = self.workspace.channels[channel].messages.get(ts)
            return [*([parent] if parent else []), *self.workspace.replies(channel, ts)]

    def _own(self, user: str, channel: str, ts: str) -> Message:
        message = self.workspace.channels[channel].messages[ts]
        if message.user != user:
            raise ValueError(f"{ts} is not {user}'s")
        return message

    def _open_view(self, user: str, view_id: str) -> View:
        view = self.workspace.views[view_id]
        if not view.open or view.user != user:
            raise LookupError(f"{user} does not see {view_id}")
        return view

    def _action(self, blocks: list[Json], action_id: str, value: str | None, block_id: str | None) -> Json:
        """Return the action that using an element sends.

        Of a block that was replaced while somebody looked at it, the one that stands for it is used.
        """
        present = [block for block in blocks if block_id == block["block_id"]]
        for block in present or blocks:
            for element in interactive(block):
                if element["action_id"] != action_id:
                    continue
                fields = _action_fields(element, value)
                if fields is not None:
                    place = {"action_id": action_id, "block_id": block["block_id"], "type": element["type"]}
                    return {**place, **fields, "action_ts": self.workspace.next_ts()}
        raise LookupError(f"there is no {action_id} with {value!r} to press")

    def _interact(
        self, kind: Kind, user: str, body: Json, hook: Hook | None, *, wait: bool, trigger: bool = True
    ) -> Interaction:
        interaction = Interaction(user, body)
        if trigger:
            with self.workspace.change():
                interaction.trigger_id = f"{self.workspace.next_ts()}.{self.workspace.fresh('trigger')}"
                self.workspace.triggers[interaction.trigger_id] = (user, self.workspace.now() + _TRIGGER)
            body["trigger_id"] = interaction.trigger_id
        if hook:
            hook.interaction = interaction
            interaction.response_url = body["response_url"] = f"{self.address}/hooks/{hook.id}"
        self.delivery.send(Envelope(kind, body, interaction, interaction.envelope_id))
        if wait:
            interaction.done.wait(self.delivery.command_timeout + 1)
        return interaction

    def _tell(self, event: Json) -> None:
        """Send a message's event to the app if the bot is in the channel and may read it; a mention is sent twice."""
        home = self.workspace.channels[event["channel"]]
        if self.workspace.bot_user not in home.members:
            return
        said = "bot_id" not in event and event.get("subtype") in {None, "file_share"}
        if said and self.threaded_direct and home.kind == "im":
            event = {**event, "thread_ts": event.get("thread_ts", event["ts"])}
        if _HISTORY[home.kind] in self.scopes:
            self.delivery.send(Envelope("events_api", payloads.event(self.workspace, event)))
        mentions = said and self.workspace.mentions_bot(event.get("text", ""))
        if mentions and home.kind != "im" and "app_mentions:read" in self.scopes:
            body = {name: value for name, value in event.items() if name != "channel_type"}
            mention = payloads.event(self.workspace, {**body, "type": "app_mention"})
            self.delivery.send(Envelope("events_api", mention))

    def _settle(self, envelope: Envelope, answer: Any) -> None:
        """Process an ack's payload, once even if the ack is repeated."""
        interaction = envelope.interaction
        if interaction is None or interaction.done.is_set():
            with self.workspace.change():
                return
        with self.workspace.change():
            interaction.acked_after = envelope.took
            interaction.ack_payload = answer
            try:
                self._apply_ack(envelope, interaction, answer)
            except Refused as refused:
                self.breaches.append(f"acknowledgement refused: {refused.body}")
                interaction.failed = refused.body["error"]
            interaction.done.set()

    def _apply_ack(self, envelope: Envelope, interaction: Interaction, answer: Any) -> None:
        if envelope.kind == "slash_commands":
            if isinstance(answer, dict) and answer:
                self.hooks.answer(self.hooks.of(interaction), answer)
        elif envelope.payload["type"] == "view_submission":
            self._apply_form_ack(self.workspace.views[envelope.payload["view"]["id"]], answer or {})

    def _apply_form_ack(self, view: View, answer: Json) -> None:
        """Apply a modal's response_action: none, or errors. Source: docs.slack.dev/surfaces/modals."""
        action = answer.get("response_action")
        if action == "errors":
            inputs = {block["block_id"] for block in view.body["blocks"] if block["type"] == "input"}
            if not answer.get("errors") or not answer["errors"].keys() <= inputs:
                raise Refused("invalid_arguments", errors=answer.get("errors"))
        elif answer:
            raise Refused("invalid_arguments", response_action=action)
        else:
            view.open = False

    def _give_up(self, envelope: Envelope) -> None:
        """Mark an interaction as failed after its timeout, and show the person the error."""
        interaction = envelope.interaction
        if interaction is None or interaction.done.is_set():
            return
        with self.workspace.change():
            interaction.failed = "operation_timeout"
            if envelope.kind == "slash_commands":
                text = f'{envelope.payload["command"]} failed with the error "operation_timeout"'
                user = interaction.user
                self.workspace.post(envelope.payload["channel_id"], SLACKBOT, text=text, only_for=user)
            interaction.done.set()


def _action_fields(element: Json, value: str | None) -> Json | None:
    """Return the action fields of an element used with a value; None if not possible."""
    if element["type"] == "button":
        if value is not None and element.get("value") != value:
            return None
        return {name: element[name] for name in ("text", "value", "style", "url") if name in element}
    if element["type"] == "feedback_buttons":
        pressed = [each for each in (element["positive_button"], element["negative_button"]) if each["value"] == value]
        return {name: pressed[0][name] for name in ("text", "value")} if pressed else None
    if element["type"] == "overflow":
        chosen = [each for each in element["options"] if each["value"] == value]
        return {"selected_option": chosen[0]} if chosen else None
    try:
        return None if value is None else payloads.state_of(element, value)
    except ValueError:
        return None
