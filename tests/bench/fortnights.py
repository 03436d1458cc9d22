"""Fortnights of upstream commits matched with the surfaces of plug-ins, in a process whose memory is nobody else's.

`python -m tests.bench.fortnights REQUEST`: a file with a `Request` as JSON; a `Matched` is written to where it says.
"""

import sys
import zlib
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from time import perf_counter, process_time
from typing import NamedTuple

from analysis.errors import DigestError
from analysis.facts import facts
from analysis.impact.matching import impacts
from analysis.impact.surface.extraction import TreeSurface, UpstreamTree, packages, surface_of_tree
from analysis.impact.surface.model import SurfaceIndex
from analysis.models import Commit, Frozen, Ranked, Repository
from analysis.models.impacts import Impact
from analysis.ranking import packaged_weights, rank
from analysis.sources.git.objects import EntryKind
from analysis.sources.github import GitHub
from analysis.sources.mirror import Mirror
from analysis.sources.mirrors import Mirrors
from analysis.window import Window
from tests.servers.mirrored import read_commits


class Fortnight(Frozen):
    """The days from `first` up to `end`, without it, and the commits that were the newest before: upstream's and the plug-ins'."""

    first: date
    end: date
    upstream: str | None
    downstream: Mapping[str, str]


class Request(Frozen):
    url: str
    mirrors: Path
    upstream: str
    fortnights: tuple[Fortnight, ...]
    result: Path


class MatchedCommit(Frozen):
    """An upstream commit: its rank, and of each plug-in the impacts on it, and the processor's seconds for them."""

    sha: str
    title: str
    committed_at: datetime
    ranked: Ranked
    impacts: Mapping[str, tuple[Impact, ...]]
    seconds: Mapping[str, float]


class SurfaceTime(Frozen):
    """The seconds of a first surface: to fetch its files, and of the processor to read and extract it, and to load it."""

    files: int
    fetched: float
    extracted: float
    loaded: float
    stored_bytes: int


class Matched(Frozen):
    commits: tuple[MatchedCommit, ...]
    surfaces: tuple[SurfaceTime, ...]
    failed: tuple[str, ...]


class _Taken(NamedTuple):
    uses: SurfaceIndex
    time: SurfaceTime


def match(request: Request) -> Matched:
    """Match all commits of the fortnights with the surfaces."""
    github = GitHub(request.url, None)
    mirrors = Mirrors(request.mirrors, github, None)
    commits, surfaces, failed = list[MatchedCommit](), list[SurfaceTime](), list[str]()
    with _mirror(mirrors, request.upstream) as upstream:
        for fortnight in request.fortnights:
            tree = _upstream_tree(upstream, fortnight.upstream)
            taken = {name: _surface(mirrors, name, sha, tree) for name, sha in fortnight.downstream.items()}
            surfaces += [each.time for each in taken.values()]
            indexes = {name: each.uses for name, each in taken.items()}
            for found in _read(upstream, fortnight):
                if isinstance(found, str):
                    failed.append(found)
                else:
                    commits.append(_matched(upstream, found, indexes, tree.roots))
    github.close()
    return Matched(commits=tuple(commits), surfaces=tuple(surfaces), failed=tuple(failed))


def _mirror(mirrors: Mirrors, name: str) -> Mirror:
    mirror = mirrors.existing(Repository.parse(name))
    if mirror is None:
        raise RuntimeError(f"there is no mirror of {name}")
    return mirror


def _upstream_tree(mirror: Mirror, sha: str | None) -> UpstreamTree:
    paths = frozenset(each.path for each in mirror.list_files(sha)) if sha else frozenset[str]()
    return UpstreamTree(packages(paths), paths)


def _surface(mirrors: Mirrors, name: str, sha: str, upstream: UpstreamTree) -> _Taken:
    with _mirror(mirrors, name) as mirror:
        began = perf_counter()
        files = {each.path: each for each in mirror.list_files(sha) if each.kind is EntryKind.FILE}
        list(mirror.read_files(list(files.values())))
        fetched, extracting = perf_counter(), process_time()
        found = surface_of_tree(list(files), lambda paths: mirror.read_files([files[path] for path in paths]), upstream)
        extracted = process_time()
    stored = zlib.compress(found.model_dump_json().encode())
    loading = process_time()
    uses = SurfaceIndex(TreeSurface.model_validate_json(zlib.decompress(stored)).surface)
    seconds = SurfaceTime(
        files=found.surface.files,
        fetched=fetched - began,
        extracted=extracted - extracting,
        loaded=process_time() - loading,
        stored_bytes=len(stored),
    )
    return _Taken(uses, seconds)


def _read(upstream: Mirror, fortnight: Fortnight) -> Iterator[Commit | str]:
    """Yield the commits, oldest first; of one that cannot be read its SHA."""
    window = Window(*(datetime.combine(day, time(), UTC) for day in (fortnight.first, fortnight.end)))
    shas = [commit.sha for commit in reversed(upstream.list_commits(window))]
    if shas:
        list(upstream.read_files(upstream.list_files(shas[0])))
    for sha, commit in read_commits(upstream, shas):
        yield sha if isinstance(commit, DigestError) else commit


def _matched(
    upstream: Mirror, commit: Commit, indexes: Mapping[str, SurfaceIndex], roots: Mapping[str, str]
) -> MatchedCommit:
    trees = upstream.trees(commit)
    proven = facts(commit, trees)
    found, seconds = dict[str, tuple[Impact, ...]](), dict[str, float]()
    for name, index in indexes.items():
        began = process_time()
        found[name] = impacts(commit, trees, index, roots, proven)
        seconds[name] = process_time() - began
    return MatchedCommit(
        sha=commit.sha,
        title=commit.title,
        committed_at=commit.committed_at,
        ranked=rank(commit, proven, packaged_weights(upstream.repository)),
        impacts=found,
        seconds=seconds,
    )


def fortnights(month: str) -> tuple[tuple[date, date], ...]:
    """Return the first days of a month's two fortnights, each with that of the next: the 1st, the 15th, the next 1st."""
    first = date.fromisoformat(f"{month}-01")
    middle, following = first.replace(day=15), (first + timedelta(days=31)).replace(day=1)
    return (first, middle), (middle, following)


if __name__ == "__main__":
    asked = Request.model_validate_json(Path(sys.argv[1]).read_text("utf-8"))
    asked.result.write_text(match(asked).model_dump_json(), "utf-8")
