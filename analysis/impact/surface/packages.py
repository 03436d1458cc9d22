"""The packages that a repository offers for import, and copies of them in another one."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from pathlib import PurePosixPath

from analysis.paths import Kind, kind

_ROOTS = ("", "src", "lib", "python")
_LEAST_COPIED = 3  # Python files
_COPIED_SHARE = 0.5  # of them are at the same place upstream


def packages(paths: Iterable[str]) -> dict[str, str]:
    """Return the name of each package among a repository's files, and the folder that it is installed from."""
    found: dict[str, str] = {}
    for path in paths:
        folder = PurePosixPath(path).parent
        root = "" if str(folder.parent) == "." else str(folder.parent)
        if path.endswith("/__init__.py") and root in _ROOTS and kind(path) is Kind.SOURCE:
            found[folder.name] = root
    return found


def copies(paths: Iterable[str], upstream_paths: Collection[str], roots: Mapping[str, str]) -> tuple[str, ...]:
    """Return the folders of a downstream tree that hold a copy of an upstream package.

    `roots` are the folders that hold the upstream packages, by their names.
    """
    files: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        *folders, name = path.split("/")
        for depth, folder in enumerate(folders, 1) if name.endswith(".py") else ():
            if folder in roots:
                files["/".join(folders[:depth])].append(path)
    return tuple(folder for folder, own in files.items() if _is_copy(folder, own, upstream_paths, roots))


def _is_copy(folder: str, own: list[str], upstream_paths: Collection[str], roots: Mapping[str, str]) -> bool:
    if len(own) < _LEAST_COPIED or f"{folder}/__init__.py" not in own:
        return False
    name = folder.rpartition("/")[2]
    upstream = f"{roots[name]}/{name}" if roots[name] else name
    shared = sum(f"{upstream}{path.removeprefix(folder)}" in upstream_paths for path in own)
    return shared >= _COPIED_SHARE * len(own)
