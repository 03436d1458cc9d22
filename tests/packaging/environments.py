"""Copies of what git keeps of the repository, and environments that borrow the dependencies of the suite's."""

import os
import shutil
import subprocess
import sysconfig
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[2]


def kept_files() -> list[str]:
    """Return the paths of the files that git keeps or would keep, relative to the repository."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return sorted(name for name in listed.split("\0") if name and (ROOT / name).is_file())


def copy(names: Iterable[str], folder: Path) -> None:
    """Copy files of the repository, each to the same path below a folder."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)


def lend_dependencies(environment: Path) -> None:
    """Let a virtual environment import what the suite can, but for the repository: the .pth files there are not read.

    It builds with the suite's setuptools, as it would with a new one from an index, even if Python brought an older one.
    """
    site_packages = next(environment.glob("lib/python*/site-packages"))
    for each in site_packages.glob("setuptools*"):
        shutil.rmtree(each)
    (site_packages / "borrowed.pth").write_text(f"{sysconfig.get_path('purelib')}\n", "utf-8")


def foreign_environment(**changes: str) -> dict[str, str]:
    """Return the variables of somebody who has none of ours, with pip offline."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    offline = {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    return {**kept, "LANG": "C.UTF-8", "GITHUB_API_URL": "http://127.0.0.1:9", **offline, **changes}
