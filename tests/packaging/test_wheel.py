"""The wheel: whether it holds everything, and works where there is no repository."""

import signal
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.packaging.environments import copy, foreign_environment, kept_files, lend_dependencies
from tests.servers.own_machine import both_digests

_PACKAGES = ("analysis/", "bot/", "loopback/")
_PATIENCE = 120  # seconds


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built offline of what git keeps: what lies in the repository's `build` is not taken for a part of it."""
    source, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("built")
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


def test_the_wheel_works_where_there_is_no_repository(wheel: Path, tmp_path: Path) -> None:
    """Installed into an empty environment it tells its version, prints the sample day in both languages and shows the local workspace."""
    environment, folder = tmp_path / "environment", tmp_path / "folder"
    folder.mkdir()
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True, timeout=_PATIENCE)
    lend_dependencies(environment)
    install = [
        sys.executable,
        "-m",
        "pip",
        f"--python={environment}/bin/python",
        "install",
        "--quiet",
        "--no-deps",
        "--no-compile",
    ]
    subprocess.run([*install, wheel], env=foreign_environment(), check=True, timeout=_PATIENCE)
    program = environment / "bin" / "vllm-digest"

    def told(*arguments: str) -> str:
        command = [str(program), *arguments]
        ran = subprocess.run(
            command,
            cwd=folder,
            env=foreign_environment(),
            text=True,
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    assert told("--version") == f"vllm-digest {wheel.name.split('-')[1]}\n"
    assert "Breaking" in told("digest", "--sample", "--lang", "en")
    assert "不兼容变更" in told("digest", "--sample", "--lang", "zh")
    settings = foreign_environment(TMPDIR=str(folder))
    with subprocess.Popen([program, "run"], cwd=folder, env=settings, text=True, stderr=subprocess.PIPE) as process:
        try:
            assert "http://127.0.0.1" in both_digests(process)
            process.send_signal(signal.SIGTERM)
            assert process.wait(_PATIENCE) == 0
        finally:
            process.kill()
