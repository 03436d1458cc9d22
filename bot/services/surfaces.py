"""The surfaces of downstream trees, which are repositories or folders on disk: what each uses of upstream."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from analysis.errors import Misuse, UnknownCommit
from analysis.impact.surface.extraction import TreeSurface, UpstreamTree, packages, surface_of_tree
from analysis.impact.surface.model import SurfaceIndex
from analysis.locale import Phrase
from analysis.models import Repository
from analysis.models.impacts import Downstream
from analysis.sources.git.objects import EntryKind
from analysis.sources.mirror import Mirror
from analysis.sources.source_folder import SourceFolder


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
        uses=surface.python_uses,
        mentions=len(surface.uses) - surface.python_uses,
        unparsed=surface.unparsed,
        copies=found.copies,
        submodules=found.submodules,
        unread=found.unread,
    )
    return ComparedSurface(downstream, SurfaceIndex(surface))
