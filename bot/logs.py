"""Logging: one line per event on standard error, as text or JSON, with the run id.

Only our own messages are written. A library's log records may quote data at any level: PyGithub's debug lines are GitHub's
complete responses, SQLAlchemy's contain the stored values. So may exception messages: a vendor's error contains the
response, a `KeyError` or a `ValueError` the input. A library's record is reduced to its location, and an exception to its
type and traceback, unless the message is ours.
"""

import logging
import os
import sys
import threading
import traceback
from collections.abc import Iterator
from pathlib import PurePath
from types import TracebackType
from typing import Any, Literal

from analysis.errors import DigestError

_OURS = ("analysis", "bot")
_LOGGED_BY_US = ("slack_sdk", "websockets")  # their failures are logged by our own code
_log = logging.getLogger(__name__)

ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None]


def set_up(level: str, form: Literal["console", "json"]) -> None:
    """Log our own events from `level` on, and libraries' errors, in one form."""
    import structlog

    silence_libraries()
    shared: list[structlog.types.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.ExceptionRenderer(lambda exc_info: traceback_of(exc_info[1])),
    ]
    last: structlog.types.Processor = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if form == "json"
        else structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
        )
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level]),
        cache_logger_on_first_use=False,  # or a logger would keep the level that was set when it was first used
    )
    handler = logging.StreamHandler()
    handler.addFilter(_is_worth_a_line)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared, processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, last]
        )
    )
    logging.basicConfig(handlers=[handler], force=True)
    for name in _OURS:
        logging.getLogger(name).setLevel(level)


def take_over() -> None:
    """Route warnings and tracebacks of threads through the log, so that they do not quote data from outside."""
    silence_libraries()
    logging.captureWarnings(capture=True)
    threading.excepthook = lambda args: _log.error("a thread ended early\n%s", traceback_of(args.exc_value))


def silence_libraries() -> None:
    """Restrict libraries' loggers to errors, reduced to their location.

    Our own loggers are listed; all others are restricted. Records are stripped on creation, so that handlers and levels set
    by a library do not matter.
    """
    logging.setLogRecordFactory(_record)
    logging.getLogger().setLevel(logging.ERROR)
    for name in _OURS:
        logging.getLogger(name).setLevel(logging.WARNING)
    for name in _LOGGED_BY_US:
        logging.getLogger(name).setLevel(logging.CRITICAL)


def traceback_of(error: BaseException | None) -> str:
    """Return the traceback of an error and its causes, without messages that are not ours."""
    return "".join(_traceback(error, set())).rstrip("\n")


def described(error: BaseException) -> str:
    """Return an error's type, with its message if that is ours or the operating system's."""
    words = ""
    if isinstance(error, DigestError):
        words = str(error)
    elif isinstance(error, OSError) and error.errno:
        words = os.strerror(error.errno)
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def _traceback(error: BaseException | None, seen: set[int]) -> Iterator[str]:
    if error is None or id(error) in seen:
        return
    seen.add(id(error))
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    yield from _traceback(before, seen)
    yield "Traceback (most recent call last):\n"
    yield from traceback.format_tb(error.__traceback__)
    yield f"{described(error)}\n"


def _is_ours(name: str) -> bool:
    return name.partition(".")[0] in _OURS


def _is_worth_a_line(record: logging.LogRecord) -> bool:
    """Return whether a record is ours or an error: some libraries set their own levels."""
    return _is_ours(record.name) or record.levelno >= logging.ERROR


def _record(
    name: str | None, level: int, path: str, line: int, message: object, args: Any, exc_info: ExcInfo | None, *rest: Any
) -> logging.LogRecord:
    """Create a log record, without the message if it comes from a library."""
    if name is not None and not _is_ours(name):
        message, args = f"{name} reports an error at {PurePath(path).name}:{line}", ()
        error = exc_info[1] if exc_info else sys.exc_info()[1]
        if error is not None and level >= logging.ERROR:
            message = f"{message}\n{traceback_of(error)}"
        exc_info, rest = None, rest[:1]  # keep the function's name, drop the stack
    return logging.LogRecord(name or "", level, path, line, message, args, exc_info, *rest)
