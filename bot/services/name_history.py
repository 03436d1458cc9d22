"""The commit that brought a name, or took it away, by halving the history of the file that has or had it."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache

from analysis.models import Commit
from analysis.paths import Kind, kind
from analysis.questions.definitions import spelled_in_code
from analysis.sources.mirror import Mirror

_MOST_COMMITS = 2_000  # of a file
_PATHS = 3  # files whose history is halved


def turning_commit(mirror: Mirror, name: str, paths: Sequence[str], *, gone: bool) -> Commit | None:
    """Return the commit that brought a name, or with `gone` the one that took it away; None if none is found.

    `paths` are files that are known to have had the name. About ten versions of a file are fetched, one a step.
    """
    key, head = spelled_in_code(name), mirror.head()
    if not gone:
        defined = (
            rf"^[[:space:]]*((async )?def |class )?{key}[[:space:]]*[(:=]|add_argument\([\"']--{key.replace('_', '-')}"
        )
        found = [each.path for each in mirror.search(head, defined, regex=True, limit=40)]
        defining = {path for path in found if kind(path) is Kind.SOURCE} or set(found)
        paths = [*(path for path in paths if path in defining), *sorted(defining)]
    elif "_" in key:
        paths = [*paths, *_beside(mirror, head, key)]
    paths = list(dict.fromkeys(paths))
    if len(paths) > _PATHS and not gone:  # so many things have this name that the first of some says nothing
        return None
    turned = [each for path in paths[:_PATHS] if (each := _turned(mirror, key, path, gone=gone))]
    first = min(turned, key=lambda each: each.committed_at, default=None)
    return mirror.read_commit(first.sha) if first else None


def _beside(mirror: Mirror, head: str, key: str) -> list[str]:
    """Return the file that defines the most names which begin as one does, where that may have stood, too."""
    pattern = rf"^[[:space:]]*{key.partition('_')[0]}_[A-Za-z0-9_]*[[:space:]]*[:=]"
    found = Counter(each.path for each in mirror.search(head, pattern, regex=True) if kind(each.path) is Kind.SOURCE)
    return [path for path, _ in found.most_common(1)]


def _turned(mirror: Mirror, key: str, path: str, *, gone: bool) -> Commit | None:
    """Return the commit of a file's history since which a name is there, or with `gone` is not there any more."""
    commits, word = mirror.history(path, limit=_MOST_COMMITS), re.compile(rf"(?<!\w){re.escape(key)}(?!\w)")

    @cache
    def has(place: int) -> bool:
        return bool(word.search(mirror.read_file(commits[place].sha, path) or ""))

    newest, step = 0, 1
    if not commits or has(0) is gone:
        return None
    # What is sought lies between a commit that is as the head is, and an older one that is not.
    while (oldest := min(newest + step, len(commits))) < len(commits) and has(oldest) is not gone:
        newest, step = oldest, 2 * step
    if oldest == len(commits) and (gone or len(commits) == _MOST_COMMITS):
        return None
    while oldest - newest > 1:
        middle = (newest + oldest) // 2
        newest, oldest = (middle, oldest) if has(middle) is not gone else (newest, middle)
    return commits[newest]
