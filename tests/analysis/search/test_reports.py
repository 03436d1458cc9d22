"""What people paste when something fails is told from what they write."""

import pytest

from analysis.errors import Misuse
from analysis.search.reports import decoded, reads_as_failure

TRACEBACK = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\nNameError: no f'
LOG = """2026-02-05 10:00:00,123 INFO started
2026-02-05 10:00:01,004 ERROR the worker failed
2026-02-05 10:00:02,001 INFO stopped"""


@pytest.mark.parametrize(
    "text",
    [
        TRACEBACK,
        f"who broke this?\n```\n{TRACEBACK}\n```\nthanks",
        '(Worker pid=7)   File "a.py", line 1, in f\n(Worker pid=7)     g()',
        "tests/test_a.py:12: in test_it\n    run()\nE   TypeError: no",
        "AttributeError: 'Worker' object has no attribute 'size'",
        "since today:\nengine.errors.StartError: no pool",
        LOG,
        "ERROR 02-05 10:00:01 [core.py:12] failed\nINFO x\nWARNING y",
        "it says\n```\nundefined symbol: _ZN2at\n```",
    ],
)
def test_tracebacks_and_logs_are_recognised(text: str) -> None:
    """By their header, their frames, an exception's line, the lines of a log, or a block of code that reports something."""
    assert reads_as_failure(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "does this raise ValueError: yes or no?",
        "Which commit fixed the Traceback (most recent call last)?",
        "search KeyError",
        "two lines\nabout an error in the scheduler",
        "```\nstart --eager\n```",
        LOG.replace("ERROR the worker failed", "INFO fine"),
        "2026-02-05",
    ],
)
def test_what_people_write_is_no_failure(text: str) -> None:
    """Questions that name an error, commands, and logs that report nothing are not searched for suspects."""
    assert not reads_as_failure(text)


def test_a_long_paste_is_looked_at_quickly() -> None:
    """Forty thousand characters of anything are recognised or not within a moment."""
    for text in ("a" * 40_000, "A.a" * 13_000, '  File "' * 5_000, "\n".join(["x.y.Z"] * 8_000), "(" * 40_000):
        assert not reads_as_failure(text)


@pytest.mark.parametrize(("content", "told"), [(b"\x7fELF\0", "log is binary"), (b" \n", "log is empty")])
def test_what_is_no_text_is_refused(content: bytes, told: str) -> None:
    """Binary and empty files are told by name; bytes that are no UTF-8 are replaced."""
    with pytest.raises(Misuse, match=told):
        decoded(content, "log")
    assert decoded(b"caf\xe9", "log") == "caf\ufffd"
