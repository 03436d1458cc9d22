"""Logs: one line an event on standard error, for people or as JSON, with the run that it belongs to. Tokens never reach one."""

import logging
import sys
from typing import Literal

import structlog


def set_up(level: str, form: Literal["console", "json"]) -> None:
    """Lets everything that is logged, by us or by libraries, come out in one form."""
    shared: list[structlog.types.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    last: structlog.types.Processor = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if form == "json"
        # The renderer's own tracebacks show the values of variables, tokens among them.
        else structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
        )
    )
    if form == "console":
        shared.pop()  # that renderer shows tracebacks itself
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level]),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared, processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, last]
        )
    )
    logging.basicConfig(level=level, handlers=[handler], force=True)
    # These tell of every job and request; what fails there is told by us.
    for name in ("alembic", "apscheduler", "slack_bolt", "dbos", "httpx", "httpx2", "openai", "urllib3"):
        logging.getLogger(name).setLevel(logging.ERROR)
    for name in ("slack_sdk", "websockets"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
