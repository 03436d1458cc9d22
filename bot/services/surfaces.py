"""Downstream trees, which are repositories or folders on disk: what each uses of upstream, and the version that it pins."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from analysis.errors import Misuse, UnknownCommit
from analysis.impact.pins import by_strength, files_of_other_branches, find_pins, may_pin, submodule_paths, tag_names
from analysis.impact.surface.extraction import TreeSurface, UpstreamTree, packages, surface_of_tree
from analysis.impact.surface.model import SurfaceIndex
from analysis.locale import Phrase
from analysis.models import Repository
from analysis.models.impacts import Downstream
from analysis.models.upgrades import Pin, PinKind, Pinned
from analysis.sources.git.objects import EntryKind, TreeEntry
from analysis.sources.mirror import Mirror
from analysis.sources.source_folder import SourceFolder
from bot.services.commit_sources import CommitSource

_MODULES = ".gitmodules"
_MOST_VERSIONS = 8  # looked for upstream

MirrorOf = Callable[[Repository, datetime], Mirror]


class ComparedSurface(NamedTuple):
    """The surface of a downstream tree, ready to be compared with commits."""

    downstream: Downstream
    uses: SurfaceIndex


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


def upstream_tree(mirror: Mirror, sha: str) -> UpstreamTree:
    """Return the packages and files of an upstream repository at a commit."""
    paths = frozenset(each.path for each in mirror.list_files(sha) if each.kind is EntryKind.FILE)
    return UpstreamTree(packages(paths), paths)


def mirrored_surface(mirror: Mirror, sha: str, used: UpstreamTree) -> TreeSurface:
    """Extract the surface of a downstream repository at a commit."""
    entries = mirror.list_files(sha)
    files = {each.path: each for each in entries if each.kind is EntryKind.FILE}
    submodules = [each.path for each in entries if each.kind is EntryKind.SUBMODULE]
    return surface_of_tree(
        list(files), lambda paths: mirror.read_files([files[path] for path in paths]), used, submodules
    )


def folder_surface(folder: Path, used: UpstreamTree) -> ComparedSurface:
    """Extract the surface of a folder, which is named as it was given; "." by the name of the folder it stands for."""
    source = SourceFolder(folder)
    listed = source.list_files()
    name = str(folder) if folder.name else folder.resolve().name or str(folder)
    return compared_surface(surface_of_tree(listed.files, source.read, used, listed.repositories), name, used)


def compared_surface(
    found: TreeSurface,
    name: str,
    used: UpstreamTree,
    repository: Repository | None = None,
    sha: str | None = None,
    files_url: str | None = None,
) -> ComparedSurface:
    """Return a surface ready to be compared, with what a report says of its tree."""
    surface = found.surface
    downstream = Downstream(
        name=name,
        repository=repository,
        sha=sha,
        files_url=files_url,
        packages=tuple(sorted(used.roots)),
        files=surface.files,
        python_files=found.python_files,
        uses=len(surface.uses),
        unparsed=surface.unparsed,
        copies=found.copies,
        submodules=found.submodules,
        unread=found.unread,
    )
    return ComparedSurface(downstream, SurfaceIndex(surface))


def pinned_version(
    mirror_of: MirrorOf, downstream: Repository | Path, upstream: Repository, source: CommitSource, now: datetime
) -> tuple[Pinned, str]:
    """Return the pin that binds most of those that upstream has a version for, and the SHA of that version.

    Raise `Misuse` if there is none, and the errors of `ImpactService.surface` about the downstream repository.
    """
    pins, files_url = _find_pins(mirror_of, downstream, upstream, now)
    if not pins:
        raise Misuse(
            Phrase(
                "{downstream} pins no version of {upstream}; give the version to upgrade from: upgrade FROM",
                downstream=str(downstream),
                upstream=upstream.full_name,
            )
        )
    missing: list[Pin] = []
    groups = by_strength(pins)
    for group in groups[:_MOST_VERSIONS]:
        if sha := _resolved(group[0], upstream, source):
            others = tuple(each[0] for each in groups if each is not group and each[0] not in missing)
            url = _pin_url(files_url, group[0])
            return Pinned(pin=group[0], places=len(group), others=others, missing=tuple(missing), url=url), sha
        missing.append(group[0])
    raise UnknownCommit(
        Phrase(
            "{downstream} pins {ref} ({place}), but {upstream} has no such tag or commit; give another: upgrade FROM",
            downstream=str(downstream),
            ref=missing[0].ref,
            place=missing[0].place,
            upstream=upstream.full_name,
        )
    )


def _find_pins(
    mirror_of: MirrorOf, downstream: Repository | Path, upstream: Repository, now: datetime
) -> tuple[list[Pin], str | None]:
    """Return the pins of a tree, and the address of its files if they have one."""
    if isinstance(downstream, Path):
        source = SourceFolder(downstream)
        paths = [path for path in source.list_files().files if may_pin(path, upstream)]
        return list(find_pins(source.read(paths), upstream)), None
    mirror = mirror_of(downstream.model_copy(update={"branch": None}), now)
    sha = downstream_commit(mirror, downstream)
    return list(_mirrored_pins(mirror, sha, upstream)), f"{mirror.web_url}/blob/{sha}"


def _mirrored_pins(mirror: Mirror, sha: str, upstream: Repository) -> Iterator[Pin]:
    entries = mirror.list_files(sha)
    files = [each for each in entries if each.kind is EntryKind.FILE and may_pin(each.path, upstream)]
    modules = [each for each in entries if each.kind is EntryKind.FILE and each.path == _MODULES]
    texts = dict(mirror.read_files([*files, *modules]))
    submodules = set(submodule_paths(texts.pop(_MODULES, None) or "", upstream))
    for each in entries:
        if each.kind is EntryKind.SUBMODULE and each.path in submodules:
            yield Pin(ref=each.sha, kind=PinKind.SUBMODULE, path=each.path)
    yield from find_pins(texts.items(), upstream)
    places = {place for text in texts.values() for place in files_of_other_branches(text or "", upstream)}
    for branch, path in sorted(places):
        yield from _pins_of_branch(mirror, branch, path, upstream)


def _pins_of_branch(mirror: Mirror, branch: str, path: str, upstream: Repository) -> Iterator[Pin]:
    """Yield the pin in a file of another branch, which a script of this tree reads."""
    try:
        files: list[TreeEntry] = [each for each in mirror.list_files(branch) if each.path == path]
    except UnknownCommit:
        return
    for pin in find_pins(mirror.read_files(files), upstream):
        yield pin.model_copy(update={"path": f"{branch}:{pin.path}"})


def _resolved(pin: Pin, upstream: Repository, source: CommitSource) -> str | None:
    """Return the SHA of a pinned version; None if upstream has none."""
    for name in tag_names(pin.ref, upstream):
        try:
            return source.resolve(name)
        except UnknownCommit:
            continue
    return None


def _pin_url(files_url: str | None, pin: Pin) -> str | None:
    if files_url is None:
        return None
    branch, colon, path = pin.path.rpartition(":")
    address = f"{files_url.rpartition('/')[0]}/{quote(branch)}" if colon else files_url
    return f"{address}/{quote(path)}" + (f"#L{pin.line}" if pin.line else "")
