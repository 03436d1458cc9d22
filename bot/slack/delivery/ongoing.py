"""An answer that is being written: it may be stopped, or withdrawn with its question, while it streams."""

from collections.abc import Callable, Iterator
from contextvars import copy_context
from queue import Empty, SimpleQueue
from threading import Event, Thread
from time import monotonic

from analysis.cancellation import Cancelled, cancellable
from analysis.locale import Language, catalogue
from bot.store import Interruption

_LOOK = 1.0  # seconds between looks into the store whether an answer was stopped


class Withdrawn(Exception):
    """The question was deleted before a word of its answer was written."""


class OngoingAnswer:
    """An answer, and what ends it early, which `interruption` looks up; `takes_feedback` is whether Slack has buttons to rate it."""

    def __init__(
        self, interruption: Callable[[], Interruption] = lambda: Interruption.NONE, *, takes_feedback: bool = False
    ) -> None:
        self.interruption = interruption
        self.takes_feedback = takes_feedback

    def until_stopped(self, pieces: Iterator[str], language: Language) -> Iterator[str]:
        """Yield the pieces until the answer is stopped, and then a line that says so; ask for none if it was stopped before.

        Raise `Withdrawn` instead of the line if nothing was written for a question that was deleted.
        """
        producer = _Producer(pieces)
        written = False
        try:
            while (interruption := self.interruption()) is Interruption.NONE:
                look = monotonic() + _LOOK
                while (seconds := look - monotonic()) > 0:
                    piece = producer.next_piece(seconds)
                    if producer.done:
                        return
                    if piece:
                        written = True
                        yield piece
        finally:
            producer.cancel()
        if interruption is Interruption.WITHDRAWN and not written:
            raise Withdrawn
        yield ("\n\n" if written else "") + catalogue(language)("⏹ This answer was stopped.")


class _Producer:
    """Produces pieces in a thread of its own, so that a stopped answer ends without waiting for a slow model."""

    def __init__(self, pieces: Iterator[str]) -> None:
        self.done = False
        self._made: SimpleQueue[str | Exception | None] = SimpleQueue()
        self._cancelled = Event()
        produce = copy_context().run
        self._thread = Thread(target=produce, args=(self._produce, pieces), name="answer", daemon=True)

    def cancel(self) -> None:
        """Have whatever makes the pieces end at the next occasion."""
        self._cancelled.set()

    def next_piece(self, seconds: float) -> str:
        """Return the next piece, empty if none is made within some seconds or all were; raise the error if making it failed."""
        if self._thread.ident is None:
            self._thread.start()
        try:
            made = self._made.get(timeout=seconds)
        except Empty:
            return ""
        if isinstance(made, Exception):
            raise made
        self.done = made is None
        return made or ""

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
