"""The impacts of upstream commits on downstream repositories, and on folders on disk."""

from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import structlog

from analysis.errors import DigestError, MirrorUnavailable, Misuse, UnknownCommit
from analysis.impact.matching import impacts
from analysis.impact.net_impacts import NetImpacts
from analysis.impact.surface.index import SurfaceIndex
from analysis.impact.surface.packages import packages
from analysis.impact.surface.trees import TreeSurface, UpstreamTree, surface_of_tree
from analysis.locale import Phrase
from analysis.models import Commit, Entry, Fact, Failure, Repository, Trees
from analysis.models.impacts import CommitImpacts, Downstream, DownstreamImpacts
from analysis.sources.git.objects import EntryKind
from analysis.sources.mirror import Mirror
from analysis.sources.secrets import redacted_impacts
from analysis.sources.source_folder import SourceFolder
from bot.services.commit_reader import Progress
from bot.services.commit_sources import CommitSources
from bot.store import Store

_UPSTREAM_TREES = 64  # kept in memory, one a day of a repository

log = structlog.get_logger(__name__)


def parse_downstream(text: str) -> Repository | Path:
    """Parse what the user names: `owner/name[@ref]`, or a folder, which is one where it cannot be a repository's name.

    Raise `Misuse` for neither.
    """
    try:
        return Repository.parse(text)
    except Misuse:
        folder = Path(text).expanduser()
        if folder.is_dir():
            return folder
    raise Misuse(
        Phrase("{text!r} is neither a repository, owner/name[@ref], nor a folder, such as . or ./name", text=text)
    )


def repositories_named(downstream: Sequence[str]) -> list[Repository]:
    """Return those of the downstream trees named that are repositories and no folders."""
    found = []
    for text in downstream:
        with suppress(Misuse):
            found.append(Repository.parse(text))
    return found


class ComparedSurface(NamedTuple):
    """The surface of a downstream tree, ready to be compared with commits."""

    downstream: Downstream
    uses: SurfaceIndex


class ImpactsFound(NamedTuple):
    """The commits that break something, in the order in which they were given, and those that could not be compared."""

    commits: tuple[CommitImpacts, ...]
    failed: tuple[Failure, ...] = ()


class Span(NamedTuple):
    """A range of stored commits, oldest first, after the commit `base` and up to the commit `end`.

    `net_facts` maps SHA -> facts of those whose facts do not all stand at the end; those that are `undone` break nothing.
    """

    base: str
    end: str
    entries: Sequence[Entry]
    net_facts: Mapping[str, Sequence[Fact]]
    undone: Collection[str]


class ImpactService:
    """Surfaces of downstream trees, read from mirrors or from disk, and the impacts of commits on them; thread-safe.

    A surface is stored by its tree: it is extracted again when the branch moves to another one.
    """

    def __init__(self, sources: CommitSources, store: Store) -> None:
        self._sources = sources
        self._store = store
        self._extracting = Lock()  # one at a time in a process: it takes seconds of processor time and 300 MB
        self._upstream_trees: OrderedDict[tuple[str, date], UpstreamTree] = OrderedDict()

    def surface(
        self, downstream: Repository | Path, upstream: Repository, entries: Sequence[Entry], now: datetime
    ) -> ComparedSurface:
        """Return what a downstream tree uses of upstream as it was before these commits, or as it is if there are none.

        The branch of a downstream repository may be a tag or a SHA as well. Raise `UnknownRepository` or `UnknownCommit`
        if it does not exist, `Misuse` for a folder that cannot be read, `MirrorUnavailable` if either repository has no
        mirror and cannot be cloned, and `BadSetting` where mirrors are disabled.
        """
        used = self._upstream_before(upstream, entries, now)
        if isinstance(downstream, Path):
            return _compared(_folder_surface(downstream, used), _folder_name(downstream), used)
        return self._repository_surface(downstream, used, now)

    def impacts(
        self,
        upstream: Repository,
        entries: Sequence[Entry],
        surfaces: Sequence[ComparedSurface],
        now: datetime,
        progress: Progress | None = None,
    ) -> ImpactsFound:
        """Return what commits break of these surfaces. Raise the errors of `surface` about the upstream repository.

        The entries must be in the store; one without files, because it could not be read, is passed over.
        """
        mirror = self.mirror(upstream, now)
        ids = self._store.read_ids(upstream, [each.commit.sha for each in entries])
        read = [each for each in entries if each.commit.sha in ids]
        mirror.fetch_blobs([each.commit.sha for each in read])
        if progress:
            progress.expect(len(read))
        commits: list[CommitImpacts] = []
        failed: list[Failure] = []
        for entry in read:
            try:
                found = self._impacts_of(mirror, upstream, entry, ids[entry.commit.sha], surfaces)
            except DigestError as exc:
                failed.append(Failure(sha=entry.commit.sha, stage="read", reason=exc.what))
            else:
                commits += [CommitImpacts(entry=entry, found=found)] if found else []
            if progress:
                progress.advance()
        return ImpactsFound(tuple(commits), tuple(failed))

    def net_impacts(
        self,
        upstream: Repository,
        span: Span,
        surfaces: Sequence[ComparedSurface],
        now: datetime,
        progress: Progress | None = None,
    ) -> ImpactsFound:
        """Return what a range of stored commits breaks of these surfaces in sum, as `impacts` does of each alone."""
        if not span.entries:
            return ImpactsFound(())
        mirror = self.mirror(upstream, now)
        ends = mirror.trees_between(span.base, span.end, strict=True)
        roots = _tree(mirror, span.base).roots
        nets = [(each.downstream, NetImpacts(span.entries[-1].commit, ends, each.uses, roots)) for each in surfaces]
        ids = self._store.read_ids(upstream, [each.commit.sha for each in span.entries])
        commits: list[CommitImpacts] = []
        failed: list[Failure] = []
        if progress:
            progress.expect(len(span.entries))
        for entry in span.entries:
            sha = entry.commit.sha
            if sha in ids and sha not in span.undone:
                [stored] = self._store.commits([ids[sha]], patches=True)
                standing = span.net_facts.get(sha, entry.facts)
                try:
                    trees = mirror.trees(stored.commit, strict=True)
                    found = [*_standing_impacts(stored.commit, trees, entry.facts, standing, nets)]
                except DigestError as exc:
                    failed.append(Failure(sha=sha, stage="read", reason=exc.what))
                else:
                    commits += [CommitImpacts(entry=entry, found=tuple(found))] if found else []
            if progress:
                progress.advance()
        return ImpactsFound(tuple(commits), tuple(failed))

    def _impacts_of(
        self, mirror: Mirror, upstream: Repository, entry: Entry, commit_id: int, surfaces: Sequence[ComparedSurface]
    ) -> tuple[DownstreamImpacts, ...]:
        [stored] = self._store.commits([commit_id], patches=True)
        trees = mirror.trees(stored.commit, strict=True)
        roots = self._upstream_tree(mirror, upstream, entry).roots
        found = []
        for downstream, uses in surfaces:
            if breaks := impacts(stored.commit, trees, uses, roots, entry.facts):
                found.append(DownstreamImpacts(downstream=downstream, impacts=redacted_impacts(breaks)))
        return tuple(found)

    def mirror(self, repository: Repository, now: datetime) -> Mirror:
        """Return a repository's mirror, as it was last fetched if it cannot be fetched now."""
        try:
            return self._sources.mirror(repository, now)
        except MirrorUnavailable as exc:
            existing = self._sources.existing_mirror(repository)
            if existing is None:
                raise
            log.warning("mirror not fetched", repository=str(repository), why=str(exc))
            return existing

    # The upstream repository

    def _upstream_before(self, upstream: Repository, entries: Sequence[Entry], now: datetime) -> UpstreamTree:
        """Return the upstream tree before the oldest of some commits, which still has what they break."""
        mirror = self.mirror(upstream, now)
        if not entries:
            return _tree(mirror, mirror.head())
        return self._upstream_tree(mirror, upstream, min(entries, key=lambda each: each.commit.committed_at))

    def _upstream_tree(self, mirror: Mirror, upstream: Repository, entry: Entry) -> UpstreamTree:
        """Return the upstream tree before a commit, or before another one of its day: packages come and go rarely."""
        commit = entry.commit
        key = upstream.key, commit.committed_at.date()
        found = self._upstream_trees.get(key) or _tree(mirror, next(iter(commit.parents), commit.sha))
        self._upstream_trees[key] = found
        if len(self._upstream_trees) > _UPSTREAM_TREES:
            self._upstream_trees.popitem(last=False)
        return found

    # The downstream repository

    def _repository_surface(self, downstream: Repository, used: UpstreamTree, now: datetime) -> ComparedSurface:
        # One mirror has all branches; it is asked for by name alone, since the branch may be a tag or a SHA.
        mirror = self.mirror(downstream.model_copy(update={"branch": None}), now)
        sha = downstream_commit(mirror, downstream)
        tree = mirror.root(sha)
        surface = self._store.surfaces.get(downstream, tree, used.roots)
        if surface is None:
            with self._store.locks.alone(f"surface {downstream.full_name.lower()} {tree}"), self._extracting:
                surface = self._store.surfaces.get(downstream, tree, used.roots)  # another may have stored it meanwhile
                if surface is None:
                    surface = _mirrored_surface(mirror, sha, used)
                    self._store.surfaces.save(downstream, tree, used.roots, surface, now)
        return _compared(surface, str(downstream), used, downstream, sha, f"{mirror.web_url}/blob/{sha}")


def _standing_impacts(
    commit: Commit,
    trees: Trees,
    facts: Sequence[Fact],
    standing: Sequence[Fact],
    nets: Sequence[tuple[Downstream, NetImpacts]],
) -> Iterator[DownstreamImpacts]:
    """Yield what a commit, with its patches, breaks of each tree that is still broken at the end of its range.

    Of its facts, `standing` are those that stand there.
    """
    for downstream, net in nets:
        if breaks := net.impacts_of(commit, trees, facts, standing):
            yield DownstreamImpacts(downstream=downstream, impacts=redacted_impacts(breaks))


def _tree(mirror: Mirror, sha: str) -> UpstreamTree:
    paths = frozenset(each.path for each in mirror.list_files(sha) if each.kind is EntryKind.FILE)
    return UpstreamTree(packages(paths), paths)


def downstream_commit(mirror: Mirror, downstream: Repository) -> str:
    """Return the SHA that a downstream repository is compared at. Raise `UnknownCommit` if it has no such ref."""
    if downstream.branch is None:
        return mirror.head()
    try:
        return mirror.resolve(downstream.branch)
    except UnknownCommit as exc:
        raise UnknownCommit(
            Phrase(
                "{repository} has no branch, tag or commit {ref}",
                repository=downstream.full_name,
                ref=downstream.branch,
            )
        ) from exc


def _mirrored_surface(mirror: Mirror, sha: str, used: UpstreamTree) -> TreeSurface:
    entries = mirror.list_files(sha)
    files = {each.path: each for each in entries if each.kind is EntryKind.FILE}
    submodules = [each.path for each in entries if each.kind is EntryKind.SUBMODULE]
    return surface_of_tree(
        list(files), lambda paths: mirror.read_files([files[path] for path in paths]), used, submodules
    )


def _folder_name(folder: Path) -> str:
    """Return a folder as it was given; the current one, which "." does not tell from others, by its own name."""
    return str(folder) if folder.name else folder.resolve().name or str(folder)


def _folder_surface(folder: Path, used: UpstreamTree) -> TreeSurface:
    source = SourceFolder(folder)
    listed = source.list_files()
    return surface_of_tree(listed.files, source.read, used, listed.repositories)


def _compared(
    found: TreeSurface,
    name: str,
    used: UpstreamTree,
    repository: Repository | None = None,
    sha: str | None = None,
    files_url: str | None = None,
) -> ComparedSurface:
    surface = found.surface
    downstream = Downstream(
        name=name,
        repository=repository,
        sha=sha,
        files_url=files_url,
        packages=tuple(sorted(used.roots)),
        files=surface.files,
        python_files=found.python_files,
        uses=surface.python_uses,
        mentions=len(surface.uses) - surface.python_uses,
        unparsed=surface.unparsed,
        copies=found.copies,
        submodules=found.submodules,
        unread=found.unread,
    )
    return ComparedSurface(downstream, SurfaceIndex(surface))
