"""Recognition of pasted tracebacks and logs among other messages, and the decoding of an attached file."""

import re

from analysis.errors import Misuse
from analysis.locale import Phrase
from analysis.search.clues import is_frame, reports_something

_CHECKED = 8_192  # bytes that tell a binary file
_LOG_LINES = 3  # of a log at least
_LEAST_SHARE = 0.5  # of its lines that begin as those of a log do
_LOOKED_AT = 2_000  # lines
_LINE = 2_000  # characters of a line

_HEADER = re.compile(r"^\W*(?:\([^)]*\)\s*)?Traceback \(most recent call last\)", re.MULTILINE)
_RAISED = re.compile(
    r"^(?:E\s+)?(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Timeout|Expired)(?::\s|\s*$)"
)
_LOGGED = re.compile(
    r"^\W*(?:\([^)]*\)\s*)?(?:"
    r"(?:DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL)\b"  # a level
    r"|[IWEF]\d{4}\s"  # of glog
    r"|\d{4}[-/]\d\d[-/]\d\d[T ]|\d\d:\d\d:\d\d"  # a time
    r"|[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d )"  # of syslog
)
_FENCE = "```"


def reads_as_failure(text: str) -> bool:
    """Return whether a text has the form of a pasted traceback or log: its header, frames, lines of a log, a block of code.

    A sentence about a failure, or one with an error's name in it, has not.
    """
    lines = [each[:_LINE] for each in text.replace(_FENCE, "\n").splitlines() if each.strip()][:_LOOKED_AT]
    if len(lines) == 1:
        return bool(_RAISED.match(lines[0]))
    if not lines:
        return False
    if _HEADER.search(text) or any(map(is_frame, lines)) or any(map(_RAISED.match, lines)):
        return True
    if not any(map(reports_something, lines)):
        return False
    logged = sum(bool(_LOGGED.match(each)) for each in lines)
    fenced = text.count(_FENCE) > 1
    return fenced or (len(lines) >= _LOG_LINES and logged >= _LEAST_SHARE * len(lines))


def decoded(content: bytes, name: str) -> str:
    """Return the text of a file or of another source, called `name`. Raise `Misuse` if it is binary or empty."""
    if b"\0" in content[:_CHECKED]:
        raise Misuse(Phrase("{name} is binary; paste the text of a traceback or log", name=name))
    text = content.decode("utf-8", "replace")
    if not text.strip():
        raise Misuse(Phrase("{name} is empty; give a traceback, a log or a description of the failure", name=name))
    return text
