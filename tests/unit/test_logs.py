"""What a log may show."""

import subprocess
import sys

import pytest

FAILING = """
import structlog
from bot.logs import set_up

def failing():
    token = "".join(["xoxb-", "hunter2"])
    raise ValueError("no luck")

set_up("INFO", {form!r})
try:
    failing()
except ValueError:
    structlog.get_logger("x").exception("this is a bug", run="1a2b")
"""


@pytest.mark.parametrize("form", ["console", "json"])
def test_a_traceback_shows_no_values(form: str) -> None:
    """A traceback names the lines that failed and no variable's value: some of them are tokens."""
    done = subprocess.run(
        [sys.executable, "-c", FAILING.format(form=form)], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == ""
    assert all(each in done.stderr for each in ("this is a bug", "1a2b", "in failing", "no luck"))
    assert "hunter2" not in done.stderr
