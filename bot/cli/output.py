"""Input and output of commands: standard output, a file that is replaced atomically, and what is read from standard input.

Output tolerates a reader that closes early, such as `head`: the remaining output is discarded.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import BufferedWriter, FileIO, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TextIO

from analysis.errors import Misuse

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer
    from rich.console import Console

    from analysis.report.markdown import Report

_UNLIMITED = sys.maxsize  # columns without a terminal, so that lines are not wrapped


def print_reports(reports: Sequence["Report"], form: str, out: Path | None) -> None:
    """Print reports, or write them to a file, in a format: terminal, markdown, json, badge or slack."""
    deliver(lambda console: _print(console, reports, form), out)


def _print(console: "Console", reports: Sequence["Report"], form: str) -> None:
    if form == "json":
        from analysis.report.as_json import json_lines

        raw(console, "".join(f"{line}\n" for report in reports for line in json_lines(report)))
    elif form == "badge":
        from analysis.models.compatibility import CompatibilityReport
        from analysis.report.as_json import badge_json

        raw(console, "".join(badge_json(each) for each in reports if isinstance(each, CompatibilityReport)))
    elif form == "markdown":
        from analysis.report.markdown import reports_markdown

        raw(console, reports_markdown(reports))
    elif form == "slack":
        raw(console, _slack(reports) + "\n")
    else:
        from analysis.report.terminal import print_report

        for report in reports:
            print_report(console, report)


def _slack(reports: Sequence["Report"]) -> str:
    from analysis.models import DayReport
    from analysis.models.weeks import WeekReport
    from bot.slack.messages.digest import report_slack
    from bot.slack.messages.week import weeks_slack

    days = [each for each in reports if isinstance(each, DayReport)]
    return report_slack(days) if days else weeks_slack([each for each in reports if isinstance(each, WeekReport)])


def deliver(show: Callable[["Console"], None], out: Path | None) -> None:
    """Print to standard output, or write a file atomically, by way of a temporary one. Raise `Misuse` if it cannot be written."""
    if out is None:
        show(standard_console())
        return
    try:
        with _replacing(out) as file:
            show(_console(file))
    except OSError as exc:
        raise Misuse(f"{str(out)[:100]!r} cannot be written ({exc.strerror})") from exc


def standard_console() -> "Console":
    """Return a console on standard output, as wide as the terminal if it is one."""
    return _console(sys.stdout)


def _console(file: TextIO) -> "Console":
    from rich.console import Console

    return Console(file=file, highlight=False, emoji=False, width=None if file.isatty() else _UNLIMITED)


@contextmanager
def _replacing(path: Path) -> Iterator[TextIO]:
    """Open a temporary file that replaces `path` on success; write directly to a pipe or a device."""
    if path.exists() and not path.is_file():
        with path.open("wb") as place, open_pipe(place.fileno()) as file:
            yield file
        return
    path = path.resolve()  # keep a symbolic link
    part = path.with_name(f".{path.name[:200]}.part")
    try:
        with part.open("w", encoding="utf-8", newline="\n") as file:
            yield file
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def raw(console: "Console", text: str) -> None:
    """Write text verbatim."""
    console.file.write(text)


@contextmanager
def open_input(file: str) -> Iterator[BinaryIO]:
    """Open a file, or standard input for "-". Raise `Misuse` if it cannot be read."""
    try:
        with sys.stdin.buffer if file == "-" else Path(file).open("rb") as source:
            yield source
    except OSError as exc:
        raise Misuse(f"{file} cannot be read ({exc.strerror})") from exc


class _Pipe(FileIO):
    def write(self, data: "ReadableBuffer", /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            return memoryview(data).nbytes


def open_pipe(descriptor: int, *, line_buffering: bool = False) -> TextIO:
    """Open a file descriptor to write UTF-8 text. Closing the text leaves the descriptor open."""
    bytes_ = BufferedWriter(_Pipe(descriptor, "w", closefd=False))
    return TextIOWrapper(bytes_, encoding="utf-8", errors="replace", newline="\n", line_buffering=line_buffering)


def reopen(stream: TextIO | None) -> TextIO:
    """Reopen a standard stream as a tolerant pipe. None, a stream that the parent process closed, becomes /dev/null."""
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 (a device)
    return open_pipe(stream.fileno(), line_buffering=getattr(stream, "line_buffering", False))
