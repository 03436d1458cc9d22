"""Sanitizing of commits from outside: bounds of their size, and redaction of their secrets.

Whoever wrote a commit, reading it costs a bounded time and memory. GitHub limits what it serves, except for messages;
git and other servers limit nothing.
"""

import string
from collections.abc import Iterator, Sequence

from analysis.models import Commit, FileChange, PullRequest
from analysis.sources.git.history import MAX_PATCH
from analysis.sources.secrets import Redactor, redacted

MAX_TEXT = 100_000  # characters of a message, and of a pull request's text; GitHub takes 65,536 for the latter
MAX_LINE = 1_000  # characters of an author's name and of a pull request's title
MAX_PATCHES = 8_000_000  # characters of all patches of a commit
MARK = "[…]"  # stands where a text was cut

_WORD = string.ascii_letters + string.digits + string.punctuation


def sanitized(commit: Commit) -> Commit:
    """Bound the commit's size and redact its secrets: of the texts that are too long the beginnings are kept, of the
    patches those that are not too large, as by GitHub.
    """
    return redacted(_bounded(commit))


def sanitized_title(title: str) -> str:
    """Bound the title of a pull request and redact its secrets."""
    return Redactor()(_cut(title, MAX_LINE))


def _bounded(commit: Commit) -> Commit:
    return commit.model_copy(
        update={
            "message": _cut(commit.message, MAX_TEXT),
            "author": _cut(commit.author, MAX_LINE),
            "files": tuple(_bounded_files(commit.files, 0 if commit.is_cut else MAX_PATCHES)),
            "pull": commit.pull and _bounded_pull(commit.pull),
        }
    )


def _bounded_pull(pull: PullRequest) -> PullRequest:
    return pull.model_copy(update={"title": _cut(pull.title, MAX_LINE), "body": _cut(pull.body, MAX_TEXT)})


def _bounded_files(files: Sequence[FileChange], left: int) -> Iterator[FileChange]:
    """Yield the files, the first of them with their patches as long as those have at most `left` characters together."""
    for file in files:
        size = len(file.patch or "")
        if size > min(left, MAX_PATCH):
            yield file.model_copy(update={"patch": None})
        else:
            left -= size
            yield file


def _cut(text: str, most: int) -> str:
    """Cut a text that is too long between lines, or else between words: half a token would not be recognized as one."""
    if len(text) <= most:
        return text
    end = text.rfind("\n", 0, most)
    kept = text[:end] if end > 0 else text[:most].rstrip(_WORD)
    return f"{kept.rstrip()}\n\n{MARK}".lstrip()
