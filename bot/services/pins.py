"""The upstream version that a downstream repository or folder pins, found in its files."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from analysis.errors import Misuse, UnknownCommit
from analysis.impact.pins import by_strength, files_of_other_branches, find_pins, may_pin, submodule_paths, tag_names
from analysis.locale import Phrase
from analysis.models import Repository
from analysis.models.upgrades import Pin, PinKind, Pinned
from analysis.sources.git.objects import EntryKind, TreeEntry
from analysis.sources.mirror import Mirror
from analysis.sources.source_folder import SourceFolder
from bot.services.commit_sources import CommitSource
from bot.services.impact import ImpactService
from bot.services.surfaces import downstream_commit

_MODULES = ".gitmodules"
_MOST_VERSIONS = 8  # looked for upstream


def pinned_version(
    impacts: ImpactService, downstream: Repository | Path, upstream: Repository, source: CommitSource, now: datetime
) -> tuple[Pinned, str]:
    """Return the pin that binds most of those that upstream has a version for, and the SHA of that version.

    Raise `Misuse` if there is none, and the errors of `ImpactService.surface` about the downstream repository.
    """
    pins, files_url = _find_pins(impacts, downstream, upstream, now)
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
            url = _url(files_url, group[0])
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
    impacts: ImpactService, downstream: Repository | Path, upstream: Repository, now: datetime
) -> tuple[list[Pin], str | None]:
    """Return the pins of a tree, and the address of its files if they have one."""
    if isinstance(downstream, Path):
        source = SourceFolder(downstream)
        paths = [path for path in source.list_files().files if may_pin(path, upstream)]
        return list(find_pins(source.read(paths), upstream)), None
    mirror = impacts.mirror(downstream.model_copy(update={"branch": None}), now)
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


def _url(files_url: str | None, pin: Pin) -> str | None:
    if files_url is None:
        return None
    branch, colon, path = pin.path.rpartition(":")
    address = f"{files_url.rpartition('/')[0]}/{quote(branch)}" if colon else files_url
    return f"{address}/{quote(path)}" + (f"#L{pin.line}" if pin.line else "")
