"""The tags of a mirror, and the history that they have in common."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeAlias

from analysis.models.releases import ReleaseTag
from analysis.sources.git.objects import Objects, text

# The type and name of what a tag is at, the same of what an annotated tag is of, its date and its own name.
_FIELDS = ("objecttype", "objectname", "*objecttype", "*objectname", "creatordate:unix", "refname:strip=2")
_FORM = "--format=" + "%00".join(f"%({field})" for field in _FIELDS)

Parents: TypeAlias = Mapping[str, Sequence[str]]  # SHA of a commit -> those of its parents


def read_tags(objects: Objects) -> list[ReleaseTag]:
    """Return the tags that name commits, with the dates of annotated tags, or else of their commits."""
    found = []
    for line in text(objects.run("for-each-ref", _FORM, "refs/tags")).splitlines():
        kind, sha, annotated_kind, annotated, seconds, name = line.split("\0")
        if "commit" in (kind, annotated_kind) and seconds.isdigit():
            date = datetime.fromtimestamp(int(seconds), UTC)
            found.append(ReleaseTag(name=name, sha=annotated or sha, date=date))
    return found


def read_parents(objects: Objects, heads: Sequence[str], since: datetime) -> Parents:
    """Return the commits that these have, as far as they were committed since an instant, each with its parents and before them."""
    wanted = "".join(f"{sha}\n" for sha in heads).encode()
    output = objects.run(
        "rev-list", "--topo-order", "--parents", f"--max-age={since.timestamp():.0f}", "--stdin", stdin=wanted
    )
    rows = (line.split() for line in text(output).splitlines())
    return {sha: parents for sha, *parents in rows}
