"""The outbox, which sends each message exactly once: freeze, mark as sending, send, mark as sent.

A message found in the state `sending` may or may not be in Slack: the process was killed, or Slack did not answer. Its key
is then searched for in Slack, and the message is adopted or sent again. If the search fails, nothing is sent.

A process that was paused while it sent may find, when it goes on, that another one has sent the message meanwhile. Slack
has no key that would make the second message fail, so what was posted twice is recorded and deleted.
"""

from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime, timedelta
from time import sleep
from typing import Any, NamedTuple

import structlog

from bot.models.clock import Clock
from bot.slack.messages.blocks import Block, halved_text, halves
from bot.slack.web import TIMEOUT, Web
from bot.slack.web_calls import key_of
from bot.slack.web_errors import ChannelClosed, Refused, StreamRefused, TooLong, Unanswered
from bot.store import Draft, Duplicate, Mailbox, OutboxMessage, ProcessLocks, State
from bot.store.lease import LeaseLost

_CLOCKS = timedelta(minutes=2)  # maximum difference between our clock and Slack's
_GROWTH = timedelta(seconds=1.3)  # between two updates of a streamed message
_LENGTH = 9_000  # characters of a streamed message
_PLAIN = 3_500  # characters of a message without blocks

log = structlog.get_logger(__name__)


class Pace(NamedTuple):
    """Minimum time between two messages in a channel, and in the workspace."""

    channel: timedelta
    workspace: timedelta


SLACKS_PACE = Pace(timedelta(seconds=1), timedelta(seconds=0.06))
AT_ONCE = Pace(timedelta(), timedelta())


class Outbox:
    """Messages to channels. `now` returns the time; `wait` sleeps for some seconds.

    `writing` is a context for a write to Slack that must not end before its outcome is recorded. `locks` are those over all
    processes; without any they hold in this one.
    """

    def __init__(
        self,
        mail: Mailbox,
        web: Web,
        now: Clock,
        wait: Callable[[float], None] = sleep,
        pace: Pace = SLACKS_PACE,
        writing: Callable[[], AbstractContextManager[object]] = nullcontext,
        locks: ProcessLocks | None = None,
    ) -> None:
        self._locks = locks or ProcessLocks()
        self._writing = writing
        self._mail = mail
        self._web = web
        self._now = now
        self._wait = wait
        self._pace = pace

    def freeze(self, drafts: Sequence[Draft]) -> None:
        """Store messages in their final form, before the first attempt to send them."""
        self._mail.freeze(drafts)

    def send(self, key: str) -> str:
        """Send a message exactly once, whatever became of earlier attempts; return its ts.

        Raise `Unanswered` if it is unknown whether Slack received it (call again), `Refused` if Slack rejects it for good.
        """
        message = self._message(key)
        if message.state is State.SPLIT:
            return self._send_parts(message)
        if message.state is State.REFUSED:  # for good, also if the step that recorded it runs again
            raise Refused(message.note, "refused_before")
        found = message.ts if message.state is State.SENT else self._adopt(message)
        if found:
            return found
        thread_ts = self._thread_of(message)
        self._wait_for_slot(message.channel)
        attempt = message._replace(thread_ts=thread_ts)
        try:
            attempt = self._begin_attempt(attempt, self._uploaded(attempt))
            ts = self._deliver(attempt)
        except TooLong as exc:
            return self._send_shorter(message, exc)
        except Refused as exc:
            if not self._mail.refused(attempt, str(exc)):
                raise LeaseLost from exc  # a file, for example, that another process has shared meanwhile
            raise
        # The gap starts when Slack has received the message, however long that took.
        self._mail.block_slots_until(f"channel {message.channel}", self._now() + self._pace.channel)
        log.info("sent", key=key, ts=ts)
        return ts

    def hold(self, key: str, why: str) -> None:
        """Hold a message for manual attention because it is unknown whether Slack received it."""
        if self._message(key).state is not State.SPLIT:  # whose parts each have a state of their own
            self._mail.mark(key, State.HELD, note=why)
        log.warning("held", key=key, why=why)

    def drop(self, key: str, why: str = "given up by an operator") -> None:
        """Give up on a message for good."""
        self._mail.mark(key, State.REFUSED, note=why)

    def stream(self, key: str, user: str, pieces: Iterable[str], footer: Sequence[Block] = ()) -> str:
        """Stream `pieces` of Markdown as one message in a thread, with the blocks of `footer` below; return its ts.

        After an interruption the complete text replaces the content of the same message.
        """
        message = self._message(key)
        if message.state is State.SENT and message.ts:
            return message.ts
        thread_ts = self._thread_of(message)
        if not thread_ts:
            raise Refused("a message that grows belongs in a thread", "no_thread")
        message = message._replace(thread_ts=thread_ts)
        if message.state is State.SENDING and message.tried_at:
            self._wait_out(message.tried_at)
        with self._beginning(message):
            ts = message.ts if message.state is State.STREAMING else self._find_started(message)
            if ts and not self._mail.begun_stream(message, ts):
                raise LeaseLost
        if ts is None:
            ts = self._stream(message, user, iter(pieces), footer)
        else:
            self._finish(message, ts, "".join(pieces), footer)
        self._mail.sent(self._message(key)._replace(thread_ts=thread_ts), ts)
        log.info("sent", key=key, ts=ts)
        return ts

    def delete_duplicates(self) -> None:
        """Delete from Slack what it has twice, once it is known which message counts."""
        for each in self._mail.duplicates():
            message = self._mail.message(each.key)
            if message and message.state in (State.SENDING, State.HELD, State.READY):
                continue  # the attempt that counts may yet find this one in Slack
            if message and message.ts and message.ts != each.ts:
                self._delete(each)
            self._mail.forget_duplicate(each)

    # One attempt

    def _deliver(self, attempt: OutboxMessage) -> str:
        """Send a message, or share its file, and mark it as sent; return its ts."""
        with self._writing():
            if attempt.file_id:
                return self._record(attempt, self._share(attempt, attempt.file_id))
            content = {**attempt.content, "about": attempt.about}
            return self._record(attempt, self._web.post(attempt.channel, content, attempt.key, attempt.thread_ts))

    def _uploaded(self, message: OutboxMessage) -> str | None:
        """Return the id of a message's file, uploaded: only sharing it, which makes it visible, must not happen twice."""
        given = message.content
        if message.file_id or "data" not in given:
            return message.file_id
        data = b64decode(given["data"]) if given.get("base64") else given["data"].encode()
        return self._web.upload(given["filename"], data, given.get("alt", ""))

    def _share(self, attempt: OutboxMessage, file_id: str) -> str:
        comment = attempt.content.get("comment", "")
        self._web.share(file_id, attempt.content["title"], attempt.channel, attempt.thread_ts, comment)
        return self._web.share_of(file_id, attempt.channel) or file_id

    def _begin_attempt(self, message: OutboxMessage, file_id: str | None = None) -> OutboxMessage:
        """Mark a message as being sent. Raise `LeaseLost` if another process tried it since it was read."""
        begun = self._mail.begin_attempt(message, self._now(), file_id)
        if begun is None:
            raise LeaseLost
        return begun

    def _record(self, message: OutboxMessage, ts: str) -> str:
        """Mark a message as sent. Raise `LeaseLost` if another process tried it meanwhile; its attempt counts."""
        if not self._mail.sent(message, ts):
            log.warning("sent twice", key=message.key, ts=ts)
            raise LeaseLost
        return ts

    def _delete(self, duplicate: Duplicate) -> None:
        """Delete a message from Slack, unless Slack refuses that for good."""
        try:
            self._web.delete(duplicate.channel, duplicate.ts)
        except Unanswered:
            raise
        except Refused as exc:
            log.warning("duplicate not deleted", key=duplicate.key, ts=duplicate.ts, why=str(exc))
        else:
            log.info("duplicate deleted", key=duplicate.key, ts=duplicate.ts)

    def _adopt(self, message: OutboxMessage) -> str | None:
        """Return the ts of a message that an interrupted attempt did deliver to Slack, and mark it as sent; None otherwise."""
        if message.tried_at is None or message.state not in (State.SENDING, State.HELD):
            return None
        self._wait_out(message.tried_at)
        try:
            found = self._copies(message, message.tried_at)
        except ChannelClosed:
            raise
        except Refused as exc:
            raise Unanswered(f"whether Slack has it cannot be looked up: {exc}") from exc
        if not found:
            return None
        ts, *others = found
        for each in others:  # of a process that went on after a pause
            self._mail.keep_duplicate(message, each)
        self._record(message._replace(thread_ts=self._thread_of(message)), ts)
        log.info("adopted", key=message.key, ts=ts)
        return ts

    def _copies(self, message: OutboxMessage, tried_at: datetime) -> list[str]:
        """Return the ts of what Slack has of a message, oldest first."""
        if message.file_id:
            shared = self._web.share_of(message.file_id, message.channel)
            return [shared] if shared else []
        return self._find(message, tried_at, lambda found: key_of(found) == message.key)

    def _find(self, message: OutboxMessage, tried_at: datetime, matches: Callable[[dict[str, Any]], bool]) -> list[str]:
        """Search only the messages around the time of the attempt: there may be many later ones."""
        latest = tried_at + timedelta(seconds=TIMEOUT) + _CLOCKS
        return self._web.find(message.channel, self._thread_of(message), tried_at - _CLOCKS, latest, matches)

    def _wait_out(self, tried_at: datetime) -> None:
        """Wait until a request sent at `tried_at` has either reached Slack or timed out."""
        left = tried_at + timedelta(seconds=TIMEOUT) - self._now()
        if left > timedelta():
            self._wait(left.total_seconds())

    def _thread_of(self, message: OutboxMessage) -> str | None:
        if message.thread_ts or not message.root:
            return message.thread_ts
        root = self._message(message.root)
        if not root.ts:
            raise Refused("the message that this one answers is not in Slack", "no_root")
        return root.thread_ts or root.ts

    def _wait_for_slot(self, channel: str) -> None:
        """Reserve the next send slot of the channel and the workspace, and wait for it."""
        gaps = ((f"channel {channel}", self._pace.channel), ("workspace", self._pace.workspace))
        slots = [self._mail.reserve_slot(name, self._now, gap) for name, gap in gaps]
        wait = max(filter(None, slots)) - self._now()
        if wait > timedelta():
            self._wait(wait.total_seconds())

    def _message(self, key: str) -> OutboxMessage:
        message = self._mail.message(key)
        if message is None:
            raise KeyError(key)
        return message

    # Over a limit

    def _send_shorter(self, message: OutboxMessage, why: TooLong) -> str:
        """Split a message in two, or drop its blocks if they cannot be split, and send the parts."""
        parts = _halved(message.content)
        if not parts:
            self._mail.mark(message.key, State.REFUSED, note=str(why))
            raise why
        drafts = [
            Draft(f"{message.key}.{place}", message.channel, part, message.thread_ts, message.root, message.about)
            for place, part in enumerate(parts)
        ]
        if message.root is None and message.thread_ts is None:
            # The rest of a channel message goes into its thread.
            drafts[1:] = [each._replace(root=drafts[0].key) for each in drafts[1:]]
        self._mail.freeze(drafts)
        self._mail.mark(message.key, State.SPLIT, note=str(why))
        log.warning("split", key=message.key, parts=len(parts))
        return self._send_parts(message)

    def _send_parts(self, message: OutboxMessage) -> str:
        sent = [
            self.send(part.key)
            for part in self._mail.messages(f"{message.key}.")
            if part.key.count(".") == message.key.count(".") + 1
        ]
        self._mail.mark(message.key, State.SPLIT, ts=sent[0])
        return sent[0]

    # Streamed messages

    def _beginning(self, message: OutboxMessage) -> AbstractContextManager[None]:
        """Hold a lock while a stream is begun, or looked for, in a thread: one in Slack belongs to one message only."""
        return self._locks.alone(f"stream {message.channel} {message.thread_ts}")

    def _find_started(self, message: OutboxMessage) -> str | None:
        """Return the ts of a message whose start was interrupted, if Slack has it: one of ours since then, unknown to the outbox.

        A streamed message has no key until it ends; one with another's key is not ours to adopt, even if its ts is unknown.
        """
        if message.state is not State.SENDING or message.tried_at is None:
            return None
        since = message.tried_at.timestamp() - 1

        def unknown(found: dict[str, Any]) -> bool:
            ts = str(found["ts"])
            theirs = key_of(found) not in ("", message.key) or found.get("files")
            return float(ts) >= since and not theirs and not self._mail.at(message.channel, ts)

        return next(iter(self._find(message, message.tried_at, unknown)), None)

    def _stream(self, message: OutboxMessage, user: str, rest: Iterator[str], footer: Sequence[Block]) -> str:
        first = next(rest, "")
        grown = [first]
        self._wait_for_slot(message.channel)
        with self._beginning(message):
            ts, streams = self._begin(message, user, first)
        if not streams:
            for _ in self._growing(grown, rest):
                self._put(message, ts, "".join(grown))
            self._put(message, ts, "".join(grown), footer)
            return ts
        try:
            for new in self._growing(grown, rest):
                self._web.append_stream(message.channel, ts, new)
            self._web.stop_stream(message.channel, ts, message.key, footer)
        except (Unanswered, Refused):
            # It is unknown whether the last pieces arrived, or the footer is refused: the complete text alone replaces all.
            self._finish(message, ts, "".join([*grown, *rest]))
        return ts

    def _begin(self, message: OutboxMessage, user: str, first: str) -> tuple[str, bool]:
        """Start a message; return its ts, and whether it is a stream. Otherwise it must be edited as the text grows."""
        message, streams = self._begin_attempt(message), True
        with self._writing():
            thread, team = message.thread_ts or "", self._web.me["team_id"]
            try:
                ts = self._web.start_stream(message.channel, thread, user, team, first)
            except StreamRefused:
                streams = False
                content = {"text": first, "blocks": markdown(first), "about": message.about}
                ts = self._web.post(message.channel, content, message.key, message.thread_ts)
            if not self._mail.begun_stream(message, ts):
                log.warning("begun twice", key=message.key, ts=ts)
                raise LeaseLost
        return ts, streams

    def _growing(self, grown: list[str], pieces: Iterable[str]) -> Iterator[str]:
        """Add the pieces to what has grown; yield periodically, and at the end, what came since."""
        waiting, last = "", self._now()
        for piece in pieces:
            grown.append(piece)
            waiting += piece
            if self._now() - last >= _GROWTH:
                yield waiting
                waiting, last = "", self._now()
        if waiting:
            yield waiting

    def _finish(self, message: OutboxMessage, ts: str, text: str, footer: Sequence[Block] = ()) -> None:
        try:
            self._web.stop_stream(message.channel, ts)
        except Refused as exc:
            log.debug("not streaming", key=message.key, why=str(exc))
        self._put(message, ts, text, footer)

    def _put(self, message: OutboxMessage, ts: str, text: str, footer: Sequence[Block] = ()) -> None:
        content = {"text": text[:_PLAIN], "blocks": [*markdown(text), *footer], "about": message.about}
        self._web.update(message.channel, ts, content, message.key)


def markdown(text: str) -> list[Block]:
    """Return a Markdown block with `text`, truncated to 9,000 characters."""
    return [{"type": "markdown", "text": text[:_LENGTH] or "…"}]


def _halved(content: dict[str, Any]) -> list[dict[str, Any]]:
    """Split a message {text, blocks} in two. If its blocks cannot be split return its text alone; if that is short, nothing."""
    blocks, text = content.get("blocks") or [], content["text"]
    if blocks:
        middle = len(blocks) // 2
        parts = [blocks[:middle], blocks[middle:]] if middle else [[half] for half in halves(blocks[0])]
        return [{**content, "blocks": part} for part in parts] or [{"text": text}]
    return [{"text": half} for half in halved_text(text)] if len(text) > _PLAIN else []
