"""People who talk with the bot over the loopback Slack: what they say, and what exactly each of them gets for it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

from markdown_it import MarkdownIt
from markdown_it.token import Token

from loopback.slack import Interaction, LoopbackSlack, Message
from tests.servers.clock import SettableClock
from tests.servers.running import bot_running, buttons, stored

ADA, LIN, DIGEST = "U0ADA", "U0LIN", "C0DIGEST"
BOT = "<@U0BOT>"
MORNING = datetime(2026, 2, 6, 9, tzinfo=UTC)
HURRY = 200  # times as fast, so that nobody waits for the bot's own pace


class Talk:
    """A bot that can be ended and started again on the same folder, and the people who talk with it.

    `now` is a clock that hurries; where messages must be looked up after an interruption it has to be Slack's own.
    """

    def __init__(
        self,
        slack: LoopbackSlack,
        github_url: str,
        folder: Path,
        *,
        now: Callable[[], datetime] | None = None,
        **settings: Any,
    ) -> None:
        self.slack = slack
        self.folder = folder
        self._github_url = github_url
        self._settings = {"now": now or SettableClock(MORNING, HURRY), **settings}
        self._running = ExitStack()

    def start(self) -> None:
        self._running.enter_context(bot_running(self.slack, self._github_url, self.folder, **self._settings))

    def stop(self) -> None:
        self._running.close()
        # A connection that is closed is seen as such a little later; what is said until then is said to nobody.
        self.slack.wait_for(lambda: not self.slack.connected)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()

    # What people do

    def say(self, user: str, text: str, thread: str | None = None, channel: str = DIGEST) -> str:
        """Says something and gives its ts."""
        return self.slack.say(user, channel, text, thread)

    def direct(self, user: str) -> str:
        """The channel of the direct messages with somebody."""
        return self.slack.workspace.dm(user)

    def type(self, user: str, text: str, channel: str = DIGEST) -> Message:
        """Types a command and gives the last message of the private reply, the one with buttons if it has any."""
        seen = len(self.slack.private(user, channel))
        self.slack.command(user, channel, text)
        self.slack.wait_for(lambda: len(self.slack.private(user, channel)) > seen)
        self.settle()
        return self.slack.private(user, channel)[-1]

    def open(self, what: str, user: str = ADA) -> str:
        """Types what names a day or a commit, posts it to the channel, if need be again, and gives the ts of the message there."""
        before = {each.ts for each in self.slack.channel(DIGEST)}
        self.type(user, what)
        shown = [each for each in self.slack.private(user, DIGEST) if "post_to_channel" in buttons(each)]
        self.finish(self.slack.press(user, DIGEST, shown[-1].ts, "post_to_channel"))
        if "post_again" in buttons(self.slack.private(user, DIGEST)[-1]):
            self.slack.press(user, DIGEST, self.slack.private(user, DIGEST)[-1].ts, "post_again")
        root = self.slack.wait_for(lambda: [each for each in self.slack.channel(DIGEST) if each.ts not in before])[0]
        if "full_report" in buttons(root):
            self.slack.wait_for(lambda: self.slack.thread(DIGEST, root.ts)[-1].files)
        self.settle()
        return root.ts

    def ask_in_modal(self, user: str, ts: str, action: str, question: str) -> list[Message]:
        """Presses an "Ask" button, writes into the modal, and gives what the bot says to it."""
        self.slack.press(user, DIGEST, ts, action)
        view = self.slack.wait_for(lambda: self.slack.modal(user))
        self.slack.submit(user, view.id, {"question": {"question": question}})
        return self.slack.wait_for(lambda: self._after(f"form:{view.id}", DIGEST))

    def press(self, user: str, message: Message, action: str) -> list[Message]:
        """Presses a button and gives what the bot says to it in public."""
        pressed: Interaction = self.slack.press(user, message.channel, message.ts, action)
        return self.slack.wait_for(lambda: self._after(f"button:{pressed.trigger_id}", message.channel))

    # What they get

    def settle(self, timeout: float = 120) -> None:
        """Waits until the bot has dealt with all that it heard."""
        self.slack.wait_for(lambda: self.slack.delivery.idle and not self._waiting(), timeout)

    def finish(self, done: Interaction) -> None:
        """Waits until the bot has dealt with what somebody did, which it acknowledges before it keeps it."""
        key = _key_of(done)
        self.slack.wait_for(lambda: self._inbox("key = :key", key=key))
        self.settle()

    def replies(self, ts: str, channel: str = DIGEST) -> list[Message]:
        """What the bot said to a message, when all was dealt with."""
        self.settle()
        return self._after(f"message:{channel}:{ts}", channel)

    def reply(self, user: str, text: str, thread: str | None = None, channel: str = DIGEST) -> Message:
        """Says something and gives the one message that the bot says to it."""
        (reply,) = self.replies(self.say(user, text, thread, channel), channel)
        return reply

    def everything(self) -> Iterator[Message]:
        """All that the bot said and that is still there."""
        for channel in list(self.slack.workspace.channels.values()):
            yield from [each for each in channel.messages.values() if each.by_bot]

    def _after(self, key: str, channel: str) -> list[Message]:
        # Messages carry the run that they answer, which is named after what was asked, in the key of their metadata.
        run = sha256(key.encode()).hexdigest()[:8]
        found = list(self.slack.workspace.channels[channel].messages.values())
        return [each for each in found if each.metadata and run in each.metadata["event_payload"]["key"].split(":")]

    def _waiting(self) -> int:
        return self._inbox("done_at is null")

    def _inbox(self, where: str, **values: str) -> int:
        """How many requests the bot keeps that are so."""
        [(found,)] = stored(self.folder, f"select count(*) from inbox where {where}", **values)
        return int(found)


def _key_of(done: Interaction) -> str:
    """The key under which the bot keeps what somebody did."""
    match done.payload.get("type"):
        case "view_submission":
            return f"form:{done.payload['view']['id']}"
        case "block_actions":
            return f"button:{done.trigger_id}"
        case "message_action":
            return f"shortcut:{done.trigger_id}"
        case "event_callback":
            return f"home:{done.payload['event_id']}"
    return f"command:{done.trigger_id}"


def markdown(message: Message) -> str:
    """The Markdown of an answer."""
    return "\n".join(block["text"] for block in message.blocks if block["type"] == "markdown")


def ratings(message: Message) -> list[dict[str, Any]]:
    """The buttons to rate an answer."""
    return [each for block in message.blocks if block["type"] == "context_actions" for each in block["elements"]]


def told(message: Message) -> str:
    """What a person reads in an answer, its Markdown rendered: each link as its label in brackets."""
    shown = {"link_open": "[", "link_close": "]", "softbreak": "\n"}
    return "\n".join(
        "".join(shown.get(token.type, token.content) for token in inline) for inline in _rendered(markdown(message))
    )


def links(markdown: str) -> list[tuple[str, str]]:
    """The links in Markdown, and the addresses that become some by themselves: (label, address)."""
    found = []
    for inline in _rendered(markdown):
        for place, token in enumerate(inline):
            if token.type == "link_open":
                end = next(at for at in range(place, len(inline)) if inline[at].type == "link_close")
                found.append(("".join(each.content for each in inline[place:end]), str(token.attrs["href"])))
    return found


def _rendered(markdown: str) -> Iterator[list[Token]]:
    """The inline tokens of each paragraph, item and block of code."""
    for block in MarkdownIt("gfm-like").parse(markdown):
        if block.type == "inline":
            yield block.children or []
        elif block.type in ("fence", "code_block"):
            yield [block]
