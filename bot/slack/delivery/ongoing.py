"""An answer that is being written: it may be stopped, or withdrawn with its question, while it streams."""

from collections.abc import Iterator
from contextvars import copy_context
from queue import Empty, SimpleQueue
from threading import Event, Thread

from analysis.cancellation import Cancelled, cancellable
from analysis.locale import Language, catalogue

_LOOK = 0.1  # seconds between looks whether an answer was stopped


class Withdrawn(Exception):
    """The question was deleted before a word of its answer was written."""


class OngoingAnswer:
    """An answer to the message `question_ts`, if it is to one; `takes_feedback` is whether Slack has buttons to rate it."""

    def __init__(self, question_ts: str = "") -> None:
        self.question_ts = question_ts
        self.takes_feedback = False
        self.is_withdrawn = False
        self._stopped = Event()

    def stop(self) -> None:
        """End the answer where it is."""
        self._stopped.set()

    def withdraw(self) -> None:
        """End the answer since its question was deleted."""
        self.is_withdrawn = True
        self._stopped.set()

    def until_stopped(self, pieces: Iterator[str], language: Language) -> Iterator[str]:
        """Yield the pieces until the answer is stopped, and then a line that says so.

        Raise `Withdrawn` instead of the line if nothing was written for a question that was deleted.
        """
        producer = _Producer(pieces)
        written = False
        try:
            while not self._stopped.is_set():
                for piece in producer.pieces():
                    written = True
                    yield piece
                if producer.done:
                    return
        finally:
            producer.cancel()
        if self.is_withdrawn and not written:
            raise Withdrawn
        yield ("\n\n" if written else "") + catalogue(language)("⏹ This answer was stopped.")


class _Producer:
    """Produces pieces in a thread of its own, so that a stopped answer ends without waiting for a slow model."""

    def __init__(self, pieces: Iterator[str]) -> None:
        self.done = False
        self._made: SimpleQueue[str | Exception | None] = SimpleQueue()
        self._cancelled = Event()
        Thread(target=copy_context().run, args=(self._produce, pieces), name="answer", daemon=True).start()

    def cancel(self) -> None:
        """Have whatever makes the pieces end at the next occasion."""
        self._cancelled.set()

    def pieces(self) -> Iterator[str]:
        """Yield the next piece if one is made soon, and raise the error if making it failed."""
        try:
            made = self._made.get(timeout=_LOOK)
        except Empty:
            return
        if isinstance(made, Exception):
            raise made
        if made is None:
            self.done = True
            return
        yield made

    def _produce(self, pieces: Iterator[str]) -> None:
        try:
            with cancellable(self._cancelled.is_set):
                for piece in pieces:
                    self._made.put(piece)
        except Cancelled:
            """Nobody reads on."""
        except Exception as exc:  # noqa: BLE001 (raised where the pieces are read)
            self._made.put(exc)
        self._made.put(None)
