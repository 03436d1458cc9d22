"""A day of real diffs: the newest commits of a local clone, or else the sample's, in the form in which a loopback GitHub serves them."""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from itertools import cycle, islice
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from loopback.sample import sample_repository

CLONE = "BENCH_CLONE"  # the variable that names a clone, with @REF where HEAD is not meant

_LONGEST = 400_000  # characters of a patch that GitHub shows
_RECORD, _FIELD = "\x1e", "\x1f"
_FORMAT = _RECORD + _FIELD.join(("%H", "%an", "%B", ""))
_STATUS = re.compile(r"^(new|deleted) file mode|^(rename) from (.+)$", re.MULTILINE)
_STATUSES = {"new": "added", "deleted": "removed", "rename": "renamed", "": "modified"}


class Day(NamedTuple):
    """Recorded commits, oldest first, and whose diffs they are, in words."""

    commits: list[dict[str, Any]]
    told: str


def real_day(day: date, count: int, settings: Mapping[str, str] = os.environ) -> Day:
    """`count` commits on one day (UTC), each the parent of the next."""
    clone, _, ref = settings.get(CLONE, "").partition("@")
    if clone:
        found = list(_of_clone(Path(clone), ref or "HEAD", count))
        if len(found) < count:
            raise ValueError(f"{clone} has {len(found)} commits at {ref or 'HEAD'}, and {count} are wanted")
        return Day(_on_day(found, day), f"the diffs of the newest commits of {Path(clone).name}@{found[-1]['sha'][:9]}")
    sample = list(sample_repository().commits.values())
    again = [
        {**each, "sha": f"{Random(place).getrandbits(160):040x}"} for place, each in enumerate(_repeated(sample, count))
    ]
    return Day(
        _on_day(again, day), f"the diffs of the sample's {len(sample)} commits; {CLONE}=PATH[@REF] takes a clone's"
    )


def _repeated(commits: Sequence[Mapping[str, Any]], count: int) -> Iterator[Mapping[str, Any]]:
    return islice(cycle(commits), count)


def _on_day(commits: Sequence[Mapping[str, Any]], day: date) -> list[dict[str, Any]]:
    """The commits spread over a day, in their order."""
    apart, parents = timedelta(hours=20) / len(commits), [[], *([each["sha"]] for each in commits)]
    begin = datetime.combine(day, time(1), UTC)
    return [
        {
            **each,
            "parents": parents[place],
            **{role: {**each[role], "date": (begin + place * apart).isoformat()} for role in ("author", "committer")},
        }
        for place, each in enumerate(commits)
    ]


def _of_clone(clone: Path, ref: str, count: int) -> Iterator[dict[str, Any]]:
    """The newest commits of a clone, oldest first, each against its first parent."""
    command = ["git", "-c", "core.quotePath=off", "-C", str(clone), "log", "--first-parent", f"-n{count}", "--reverse"]
    shown = ["--diff-merges=first-parent", "-p", "-M50%", "--no-color", "--no-ext-diff", "--no-textconv"]
    told = subprocess.run(
        [*command, *shown, f"--format={_FORMAT}", "--end-of-options", ref, "--"], capture_output=True, check=True
    ).stdout.decode("utf-8", "replace")
    yield from _parsed(told)


def shown_commit(clone: Path, sha: str) -> dict[str, Any]:
    """One commit of a clone against its first parent; without patches where the clone lacks a file's contents."""
    command = ["git", "-c", "core.quotePath=off", "-C", str(clone), "show", "--diff-merges=first-parent", "--no-color"]
    shown = ["--no-ext-diff", "--no-textconv", f"--format={_FORMAT}", "--end-of-options", sha, "--"]
    done = subprocess.run([*command, "-p", "-M50%", *shown], capture_output=True, check=False)
    if done.returncode:
        listed = subprocess.run([*command, "--no-renames", "--raw", *shown], capture_output=True, check=True)
        done.stdout = re.sub(rb"^:.*\t(.*)$", rb"diff --git a/x b/\1", listed.stdout, flags=re.MULTILINE)
    return next(_parsed(done.stdout.decode("utf-8", "replace")))


def _parsed(told: str) -> Iterator[dict[str, Any]]:
    for record in re.split(rf"{_RECORD}(?=[0-9a-f]{{40}}{_FIELD})", told)[1:]:
        sha, author, message, diff = record.split(_FIELD, 3)
        files = [_file(each) for each in re.split(r"^diff --git ", diff, flags=re.MULTILINE)[1:]]
        yield _commit(sha, author, message.strip(), files)


def _commit(sha: str, author: str, message: str, files: list[dict[str, Any]]) -> dict[str, Any]:
    title, _, body = message.partition("\n")
    number = re.search(r"\(#(\d+)\)$", title)
    return {
        "sha": sha,
        "author": {"name": author},
        "committer": {"name": "GitHub"},
        "message": message,
        "files": files,
        "stats": {name: sum(file[name] for file in files) for name in ("additions", "deletions")},
        "pull": {"number": int(number[1]), "title": title, "body": body.strip()} if number else None,
    }


def _file(shown: str) -> dict[str, Any]:
    """A file of a commit, from what git shows of it after `diff --git`."""
    head, hunks, patch = shown.partition("\n@@ ")
    patch = f"@@ {patch}".rstrip("\n") if hunks else ""
    status = _STATUS.search(head)
    kind = (status[1] or status[2]) if status else ""
    added, removed = (len(re.findall(rf"^\{sign}", patch, re.MULTILINE)) for sign in "+-")
    return {
        "filename": head.split("\n")[0].rpartition(" b/")[2],
        "status": _STATUSES[kind],
        "additions": added,
        "deletions": removed,
        "changes": added + removed,
        **({"previous_filename": status[3]} if status and kind == "rename" else {}),
        **({"patch": patch} if patch and len(patch) <= _LONGEST else {}),
    }
