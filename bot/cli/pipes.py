"""Streams whose reader may leave before the end, as `head` does: what nobody reads any more is thrown away."""

import os
from io import BufferedWriter, FileIO, TextIOWrapper
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


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
    """Open a standard stream again as a pipe. A stream that whoever started us has closed is None, and leads nowhere."""
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 (it is the process's)
    return open_pipe(stream.fileno(), line_buffering=getattr(stream, "line_buffering", False))
