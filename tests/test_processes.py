"""Tests in several processes are reported like those in one."""

import re
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parents[1]

_TESTS = """
import os
import pytest

@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    yield tmp_path_factory.mktemp("shared")
    print("torn down")

@pytest.mark.parametrize("number", range(20))
def test_many(number, shared):
    print("seen")
    assert number != 7

def test_skipped():
    pytest.skip("not today")

def test_that_kills():
    os.kill(os.getpid(), 9)
"""


def run(folder: Path, *options: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "-p", "tests.processes", "-p", "no:cacheprovider", *options, str(folder)]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False, timeout=100)
    return done.returncode, done.stdout


def test_each_test_is_run_once_and_a_process_that_dies_is_told_of(tmp_path: Path) -> None:
    """Failures, skipped tests and the test whose process was killed are counted; the others are run by who is left."""
    for name in ("test_one.py", "test_other.py"):
        (tmp_path / name).write_text(_TESTS.replace("9", "9" if name == "test_one.py" else "0"))
    code, told = run(tmp_path, "--processes", "3", "--noconftest", "--rootdir", str(tmp_path))
    assert code == 1
    assert "3 failed, 39 passed, 2 skipped" in told
    assert re.search(r"FAILED .*test_one.py::test_that_kills", told)
    assert "the process that ran this test ended with -9" in told
    assert len(re.findall(r"^seen$", told, re.MULTILINE)) == 2, "what the two that failed wrote"


def test_a_run_ends_at_the_first_failure(tmp_path: Path) -> None:
    """What was not begun when a test failed is not, where that was asked for."""
    (tmp_path / "test_one.py").write_text("def test_first():\n    assert 0\n")
    many = "".join(f"def test_{number}():\n    pass\n" for number in range(200))
    (tmp_path / "test_two.py").write_text("import time\n" + many.replace("pass", "time.sleep(0.05)"))
    code, told = run(tmp_path, "--processes", "2", "-x", "--noconftest", "--rootdir", str(tmp_path))
    assert code == 1
    assert "stopping after 1 failures" in told
    passed = re.search(r"(\d+) passed", told)
    assert passed is None or int(passed[1]) < 50
