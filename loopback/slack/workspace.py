"""The state of a Slack workspace: people, channels, messages, files and views, without network or limits."""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from mimetypes import guess_type
from secrets import token_urlsafe
from threading import Condition, RLock
from time import monotonic
from typing import Any, TypeVar

Json = dict[str, Any]
T = TypeVar("T")

TEAM, APP, BOT_ID, SLACKBOT = "T0LOCAL", "A0LOCAL", "B0LOCAL", "USLACKBOT"


@dataclass
class Channel:
    """A conversation; `kind` is channel, group (private) or im; an im has the one `user` besides the bot."""

    id: str
    name: str
    kind: str = "channel"
    members: set[str] = field(default_factory=set)
    user: str | None = None
    archived: bool = False
    messages: dict[str, "Message"] = field(default_factory=dict)
    # The app's sessions: thread ts -> active, processing, suspended or closed.
    sessions: dict[str, str] = field(default_factory=dict)
    # What the app suggests to ask: (title, message).
    prompts: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Message:
    """A message; `only_for` is the viewer of an ephemeral one; a deleted parent with replies stays as a `tombstone`."""

    ts: str
    channel: str
    user: str
    text: str = ""
    blocks: list[Json] = field(default_factory=list)
    thread_ts: str | None = None
    by_bot: bool = False
    metadata: Json | None = None
    files: list[str] = field(default_factory=list)
    subtype: str | None = None
    client_msg_id: str | None = None
    edited: str | None = None
    only_for: str | None = None
    tombstone: bool = False
    streaming: bool = False
    # Which of its feedback buttons each person pressed last: user -> value.
    feedback: dict[str, str] = field(default_factory=dict)

    @property
    def is_reply(self) -> bool:
        return self.thread_ts is not None and self.thread_ts != self.ts


@dataclass
class File:
    """A file; `shares` lists (channel, message ts, thread ts) and is empty until the upload is completed. The `ticket`
    authorises the upload. `user` is who uploaded it, by default the bot; `alt` is a picture's alternative text.
    """

    id: str
    name: str
    length: int
    title: str = ""
    alt: str = ""
    content: bytes | None = None
    shares: list[tuple[str, str, str | None]] = field(default_factory=list)
    ticket: str = field(default_factory=token_urlsafe)
    user: str = ""


@dataclass
class View:
    """A modal or a Home tab of `user`; `body` is its Web API form."""

    id: str
    user: str
    body: Json
    open: bool = True


class Workspace:
    """The workspace's state. `now` returns seconds since the epoch; `on_event` is called with each event for the app;
    `hooks` are called, without arguments, after every change.
    """

    def __init__(self, *, bot_user: str, now: Callable[[], float]) -> None:
        self.bot_user = bot_user
        self.now = now
        self.url = ""
        self.changing = Condition(RLock())
        self.version = 0
        self.hooks: list[Callable[[], None]] = []
        self.on_event: Callable[[Json], None] = lambda _: None
        self.users: dict[str, str] = {bot_user: "vllm-digest", SLACKBOT: "slackbot"}
        # People of other organisations (Slack Connect) with their team; and the workspace's admins.
        self.outsiders: dict[str, str] = {}
        self.admins: set[str] = set()
        # People's time zones and locales, by default UTC and British English.
        self.zones: dict[str, str] = {}
        self.locales: dict[str, str] = {}
        self.channels: dict[str, Channel] = {}
        self.files: dict[str, File] = {}
        self.views: dict[str, View] = {}
        self.triggers: dict[str, tuple[str, float]] = {}
        self.used_triggers: set[str] = set()
        self._last = 0
        self._count = 0
        for user, name in (("U0ADA", "ada"), ("U0LIN", "lin")):
            self.users[user] = name
        self.add_channel("digest", "C0DIGEST", members={bot_user, "U0ADA", "U0LIN"})
        self.add_channel("quiet", "C0QUIET", members={"U0ADA", "U0LIN"})

    @contextmanager
    def change(self) -> Iterator[None]:
        """Lock the state for a change, then notify all waiting threads."""
        with self.changing:
            yield
            self.version += 1
            self.changing.notify_all()
        for hook in tuple(self.hooks):
            hook()

    def wait_for(self, predicate: Callable[[], T | None], timeout: float = 60) -> T:
        """Return the predicate's first true value. Raise TimeoutError after `timeout` seconds."""
        # A predicate may depend on state outside the workspace, so it is also evaluated periodically.
        end = monotonic() + timeout
        with self.changing:
            while not (found := predicate()):
                if monotonic() > end:
                    raise TimeoutError(f"not within {timeout} s")
                self.changing.wait(0.1)
            return found

    def fresh(self, prefix: str) -> str:
        """Return a new unique id."""
        with self.changing:
            self._count += 1
            return f"{prefix}{self._count:08X}"

    def next_ts(self) -> str:
        """Return a timestamp later than all previous ones."""
        with self.changing:
            self._last = max(int(self.now() * 1_000_000), self._last + 100)
            return f"{self._last // 1_000_000}.{self._last % 1_000_000:06d}"

    def add_user(self, name: str, user: str | None = None, *, team: str = TEAM) -> str:
        with self.change():
            user = user or self.fresh("U")
            self.users[user] = name
            if team != TEAM:
                self.outsiders[user] = team
            return user

    def team_of(self, user: str) -> str:
        """Return a person's home team."""
        return self.outsiders.get(user, TEAM)

    def add_channel(
        self, name: str, channel: str | None = None, *, private: bool = False, members: Iterable[str] = ()
    ) -> str:
        with self.change():
            channel = channel or self.fresh("C")
            self.channels[channel] = Channel(channel, name, "group" if private else "channel", set(members))
            return channel

    def dm(self, user: str) -> str:
        """Return the id of the user's direct messages with the bot, opening them if necessary."""
        with self.change():
            for channel in self.channels.values():
                if channel.user == user:
                    return channel.id
            channel = Channel(self.fresh("D"), "", "im", {user, self.bot_user}, user)
            self.channels[channel.id] = channel
            return channel.id

    def post(self, channel: str, user: str, **parts: Any) -> Message:
        """Add and return a message; send an event unless it is ephemeral."""
        with self.change():
            message = Message(self.next_ts(), channel, user, by_bot=user == self.bot_user, **parts)
            self.channels[channel].messages[message.ts] = message
            if message.only_for is None:
                self.on_event(self._event(message, self.describe(message, metadata=True)))
            return message

    def replace(self, message: Message, *, edited: bool = True, **parts: Any) -> None:
        """Change a message in place and send an event."""
        with self.change():
            before = self.describe(message)
            for name, value in parts.items():
                setattr(message, name, value)
            if edited:
                message.edited = self.next_ts()
            if message.only_for is None:
                after = self.describe(message, metadata=True)
                extra = {"subtype": "message_changed", "hidden": True, "message": after, "previous_message": before}
                self.on_event(self._event(message, extra))

    def delete(self, message: Message) -> None:
        """Delete a message; a parent with replies leaves a tombstone."""
        with self.change():
            before = self.describe(message)
            if self.replies(message.channel, message.ts):
                tomb = {"text": "This message was deleted.", "subtype": "tombstone", "user": SLACKBOT}
                self.replace(message, edited=False, tombstone=True, blocks=[], files=[], metadata=None, **tomb)
                return
            del self.channels[message.channel].messages[message.ts]
            self.channels[message.channel].sessions.pop(message.ts, None)
            if message.only_for is None:
                extra = {"subtype": "message_deleted", "hidden": True, "deleted_ts": message.ts}
                self.on_event(self._event(message, {**extra, "previous_message": before}))

    def visible(self, channel: str, viewer: str | None = None) -> list[Message]:
        """Return a channel's messages in order, including replies, and ephemeral ones for their viewer."""
        with self.changing:
            found = list(self.channels[channel].messages.values())
            return [each for each in found if each.only_for in {None, viewer}]

    def replies(self, channel: str, ts: str) -> list[Message]:
        """Return a thread's replies, without its parent."""
        return [each for each in self.visible(channel) if each.thread_ts == ts and each.ts != ts]

    def describe(self, message: Message, *, metadata: bool = False) -> Json:
        """Return a message in Web API form."""
        optional: Json = {
            "subtype": message.subtype,
            "client_msg_id": message.client_msg_id,
            "thread_ts": message.thread_ts,
            "blocks": message.blocks,
            "files": [self.describe_file(self.files[each]) for each in message.files],
            "metadata": message.metadata if metadata else None,
            "edited": {"user": message.user, "ts": message.edited} if message.edited else None,
            "is_ephemeral": message.only_for is not None,
            "streaming_state": "in_progress" if message.streaming else None,
        }
        replies = [] if message.is_reply or message.only_for else self.replies(message.channel, message.ts)
        if replies:
            optional |= {
                "thread_ts": message.ts,
                "reply_count": len(replies),
                "reply_users": sorted({each.user for each in replies}),
                "latest_reply": replies[-1].ts,
            }
        elif message.is_reply and (parent := self.channels[message.channel].messages.get(message.thread_ts or "")):
            optional["parent_user_id"] = parent.user
        team = self.team_of(message.user)
        body = {"type": "message", "user": message.user, "text": message.text, "ts": message.ts, "team": team}
        if team != TEAM:
            body |= {"user_team": team, "source_team": team}
        bot = {"bot_id": BOT_ID, "app_id": APP} if message.by_bot and not message.tombstone else {}
        return body | bot | {key: value for key, value in optional.items() if value}

    def describe_file(self, file: File) -> Json:
        """Return a file in Web API form."""
        shares: dict[str, dict[str, list[Json]]] = {}
        for channel, ts, thread_ts in file.shares:
            kind = "public" if self.channels[channel].kind == "channel" else "private"
            share = {"ts": ts, "channel_name": self.channels[channel].name, "team_id": TEAM}
            where = shares.setdefault(kind, {}).setdefault(channel, [])
            where.append(share | ({"thread_ts": thread_ts} if thread_ts else {}))
        name = {"id": file.id, "name": file.name, "title": file.title or file.name, "size": file.length}
        return name | {
            "user": file.user or self.bot_user,
            "mimetype": guess_type(file.name)[0] or "text/plain",
            "permalink": f"{self.url}/files/{file.id}/{file.name}",
            "url_private": f"{self.url}/files/{file.id}/{file.name}",
            "mode": "hosted",
            "filetype": file.name.rpartition(".")[2],
            "shares": shares,
            **({"alt_txt": file.alt} if file.alt else {}),
        }

    def mentions_bot(self, text: str) -> bool:
        return re.search(rf"<@{self.bot_user}(\|[^>]*)?>", text) is not None

    def _event(self, message: Message, body: Json) -> Json:
        kind = self.channels[message.channel].kind
        ts = body.get("ts") or self.next_ts()
        return {**body, "type": "message", "channel": message.channel, "channel_type": kind, "ts": ts, "event_ts": ts}
