"""Commits that break nothing as far as is proven, but change modules from which downstream code imports."""

import pytest

from analysis.impact.matching import changes_imported_modules
from analysis.impact.surface.model import Surface, SurfaceIndex, Use, UseKind
from tests.factories import commit, file


def used(kind: UseKind, *target: str) -> Use:
    return Use(kind=kind, target=target, path="plug/run.py", line=1, code="x")


INDEX = SurfaceIndex(
    Surface(
        packages=frozenset({"engine"}),
        uses=(
            used(UseKind.IMPORT, "engine", "core", "Worker"),
            used(UseKind.OVERRIDE, "engine", "pool", "Pool", "take"),
        ),
        subclasses={},
        files=1,
    )
)


@pytest.mark.parametrize(
    ("path", "touches"),
    [
        ("src/engine/core.py", True),
        ("src/engine/core/__init__.py", True),
        ("src/engine/pool.py", True),
        ("src/engine/other.py", False),
        ("src/engine/core.cu", False),
        ("tests/engine/core.py", False),
    ],
)
@pytest.mark.parametrize("root", ["", "src"])
def test_a_changed_module_is_one_that_the_code_imports_from(path: str, root: str, *, touches: bool) -> None:
    """A file counts if a name, or a class's member, of it is used, wherever the package's folder is."""
    changed = path if root else path.removeprefix("src/")
    assert changes_imported_modules(commit(files=[file(changed)]), INDEX, {"engine": root}) is touches
