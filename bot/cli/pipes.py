"""Output streams that tolerate a reader that closes early, such as `head`: the remaining output is discarded."""

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
    """Reopen a standard stream as a tolerant pipe. None, a stream that the parent process closed, becomes /dev/null."""
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 (a device)
    return open_pipe(stream.fileno(), line_buffering=getattr(stream, "line_buffering", False))
