"""The wheel: whether it holds everything."""

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.packaging.environments import copy, foreign_environment, kept_files

_PACKAGES = ("analysis/", "bot/", "loopback/")
_PATIENCE = 120  # seconds


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """The wheel, built offline of what git keeps: what lies in the repository's `build` is not taken for a part of it."""
    source, built = tmp_path / "source", tmp_path / "built"
    copy((each for each in kept_files() if not each.startswith("tests/")), source)
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-build-isolation",
        "--no-deps",
        "--wheel-dir",
        str(built),
        ".",
    ]
    subprocess.run(command, cwd=source, env=foreign_environment(), check=True, timeout=_PATIENCE)
    (found,) = built.iterdir()
    return found


def test_the_wheel_holds_what_the_packages_do(wheel: Path) -> None:
    """Each file that git keeps in the three packages is in the wheel, catalogue, page and sample with them, and no other is."""
    names = ZipFile(wheel).namelist()
    packaged = sorted(each for each in names if ".dist-info/" not in each)
    assert packaged == [each for each in kept_files() if each.startswith(_PACKAGES)]
    assert any(each.endswith(".dist-info/licenses/LICENSE") for each in names)
