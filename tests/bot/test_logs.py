"""What a log may show."""

import subprocess
import sys
from errno import ENOSPC
from pathlib import Path

import pytest
from github import GithubException
from httpx2 import Request, Response
from openai import BadRequestError
from slack_sdk.errors import SlackApiError
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from websockets.exceptions import InvalidURI

from analysis.errors import Misuse
from bot.logs import described, traceback_of
from bot.store import open_engine

FAILING = """
import structlog
from bot.logs import set_up

def failing():
    token = "".join(["xoxb-", "hunter2"])
    raise ValueError("no luck with " + token)

set_up("INFO", {form!r})
try:
    failing()
except ValueError:
    structlog.get_logger("bot.x").exception("this is a bug", run="1a2b")
"""


@pytest.mark.parametrize("form", ["console", "json"])
def test_a_traceback_shows_no_values(form: str) -> None:
    """A traceback names the lines that failed and the kind of error, and neither values nor words, which may be tokens."""
    done = subprocess.run(
        [sys.executable, "-c", FAILING.format(form=form)], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == ""
    assert all(each in done.stderr for each in ("this is a bug", "1a2b", "in failing", "ValueError"))
    assert "hunter2" not in done.stderr


LIBRARY = """
import logging, threading, warnings
from analysis.errors import Misuse
from bot.logs import set_up, take_over

take_over()
own = logging.StreamHandler()
logging.getLogger("vendor").addHandler(own)
logging.getLogger("vendor").setLevel("DEBUG")
set_up("DEBUG", {form!r})

quoted = "hunter2"  # not on a line that fails: from Python 3.13 on a traceback shows those of `-c`, too

def failing():
    try:
        raise KeyError(quoted)
    except KeyError as exc:
        raise RuntimeError({{"answer": quoted}}) from exc

for name in ("vendor.http", "github.Requester", "openai", "slack_bolt", "sqlalchemy.engine", "dbos", "root", "botany"):
    for level in range(0, 60, 10):
        logging.getLogger(name).log(level, f"GET hunter2 ==> %s", "hunter2", extra={{"body": "hunter2"}})
    try:
        failing()
    except RuntimeError:
        logging.getLogger(name).exception("answered hunter2")
        logging.getLogger(name).error("answered hunter2", stack_info=True)
warnings.warn("got hunter2")
thread = threading.Thread(target=failing)
thread.start()
thread.join()
logging.getLogger("bot.x").debug("ours at %s", "debug")
try:
    try:
        failing()
    except RuntimeError as exc:
        raise Misuse("told by us") from exc
except Misuse:
    logging.getLogger("bot.x").exception("it failed")
"""


@pytest.mark.parametrize("form", ["console", "json"])
def test_a_library_is_not_quoted_at_any_level(form: str) -> None:
    """Of libraries' errors, warnings and threads a log tells where and of what kind they are; our own words are all there."""
    done = subprocess.run(
        [sys.executable, "-c", LIBRARY.format(form=form)], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == ""
    assert "hunter2" not in done.stderr
    assert all(
        f"{name} reports an error at <string>:" in done.stderr for name in ("github.Requester", "dbos", "botany")
    )
    assert done.stderr.count("in failing") >= 8
    assert all(each in done.stderr for each in ("KeyError", "RuntimeError", "a thread ended early", "ours at debug"))
    assert all(each in done.stderr for each in ("it failed", "Misuse: told by us"))


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (Misuse("use owner/name"), "Misuse: use owner/name"),
        (OSError(ENOSPC, "hunter2", "hunter2"), "OSError: No space left on device"),
        (OSError("hunter2"), "OSError"),
        (ValueError("hunter2"), "ValueError"),
        (GithubException(404, {"message": "hunter2"}), "GithubException"),
        (
            BadRequestError("hunter2", response=Response(400, request=Request("POST", "http://x")), body={}),
            "BadRequestError",
        ),
        (SlackApiError("hunter2", {"error": "hunter2"}), "SlackApiError"),  # type: ignore[no-untyped-call]
        (InvalidURI("wss://x?ticket=hunter2", "hunter2"), "InvalidURI"),
    ],
)
def test_the_words_of_an_error_are_told_where_they_are_ours(error: Exception, told: str) -> None:
    """Our own errors and the operating system's are told in words, all others by their kind."""
    assert described(error) == told
    assert traceback_of(error).endswith(told)


def test_a_stored_value_is_in_no_error(tmp_path: Path) -> None:
    """What a database refuses does not say which values were to be stored."""
    engine = open_engine(f"sqlite:///{tmp_path / 'test.db'}")
    with engine.connect() as connection, pytest.raises(SQLAlchemyError) as failed:
        connection.execute(text("INSERT INTO inbox (key) VALUES (:value)"), {"value": "hunter2"})
    engine.dispose()
    assert "hunter2" not in str(failed.value)


def test_a_logger_follows_the_level_that_is_set_last() -> None:
    """A logger that was used while only critical events counted tells of warnings once those count."""
    script = (
        "import structlog; from bot.logs import set_up; log = structlog.get_logger('bot')\n"
        "for level in ('CRITICAL', 'WARNING'):\n"
        "    set_up(level, 'json'); log.warning(f'told at {level}')"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stderr
    assert [level for level in ("CRITICAL", "WARNING") if f"told at {level}" in told] == ["WARNING"]
