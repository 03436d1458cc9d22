"""The packages that a repository offers for import."""

from collections.abc import Iterable
from pathlib import PurePosixPath

from analysis.paths import Kind, kind

_ROOTS = ("", "src", "lib", "python")


def packages(paths: Iterable[str]) -> dict[str, str]:
    """Return the name of each package among a repository's files, and the folder that it is installed from."""
    found: dict[str, str] = {}
    for path in paths:
        folder = PurePosixPath(path).parent
        root = "" if str(folder.parent) == "." else str(folder.parent)
        if path.endswith("/__init__.py") and root in _ROOTS and kind(path) is Kind.SOURCE:
            found[folder.name] = root
    return found
