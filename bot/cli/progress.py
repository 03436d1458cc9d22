"""Progress on standard error: bars on a terminal, elsewhere a line every few seconds."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import date
from itertools import count
from threading import Event, Thread
from types import TracebackType
from typing import Self

import rich.progress
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

from analysis.models import Repository, Statement
from analysis.text import one_line
from bot.models.progress import Progress

_INTERVAL = 5.0  # seconds between two lines


class TerminalProgress(Progress):
    """Progress bars for commits being read and analysed, and for `days` days if given; lines at each `interval` (seconds)."""

    def __init__(self, *, days: int = 0, interval: float = _INTERVAL) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        off = not sys.stderr.isatty()
        self._bar = rich.progress.Progress(*columns, console=Console(stderr=True), transient=True, disable=off)
        self._days = self._bar.add_task("days", total=days or None, visible=days > 0)
        self._commits = self._bar.add_task("commits", total=None)
        self._title = "commits"
        self._interval, self._ended = interval, Event()

    def __enter__(self) -> Self:
        self._bar.start()
        if self._bar.disable:
            Thread(target=self._tell, name="progress", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def _end(self) -> None:
        self._ended.set()
        self._bar.stop()

    def _tell(self) -> None:
        for number in count(1):
            if self._ended.wait(self._interval):
                return
            task = self._bar.tasks[self._commits]
            done = "" if task.total is None else f" {task.completed:.0f} of {task.total:.0f}"
            with suppress(OSError):  # nobody reads it any more
                sys.stderr.write(f"… {one_line(task.description)}{done} ({number * self._interval:.0f} s)\n")

    def day(self, repository: Repository, day: date) -> None:
        self.stage(f"{repository} {day}")

    def stage(self, title: str) -> None:
        self._title = title
        self._bar.reset(self._commits, total=None, description=title)

    def day_done(self) -> None:
        self._bar.advance(self._days)

    def expect(self, steps: int) -> None:
        self._bar.update(self._commits, total=steps, description=self._title)

    def advance(self, steps: int = 1) -> None:
        self._bar.advance(self._commits, steps)

    def wait(self, seconds: float) -> None:
        if not self._bar.disable:
            self._bar.console.print(f"waiting {seconds:.0f} s, as GitHub asks", style="yellow")

    def cloning(self, line: str) -> None:
        self._bar.update(self._commits, description=f"{self._title}: {line}")

    def ended_by(self, statements: Iterable[Statement]) -> Iterator[Statement]:
        """Yield statements as they come; the first, which would be printed beside the bars, ends them."""
        for number, each in enumerate(statements):
            if not number:
                self._end()
            yield each
