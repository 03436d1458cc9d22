"""Work spread over processes."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bot.services.processes import mapped

_ROOT = Path(__file__).parents[3]
_PATIENCE = 60  # seconds


def doubled(number: int) -> tuple[int, int]:
    """Twice a number, by whom; three is none."""
    if number == 3:
        raise ValueError("three")
    return 2 * number, os.getpid()


def test_results_come_in_order_and_from_other_processes() -> None:
    """What is made of many batches comes in their order, made elsewhere where there are several processors; one batch is worked on here."""
    found = list(mapped(doubled, iter([1, 2, *range(4, 40)])))
    assert [each for each, _ in found] == [2, 4, *range(8, 80, 2)]
    assert (os.getpid() in {process for _, process in found}) is (len(os.sched_getaffinity(0)) == 1)
    assert list(mapped(doubled, [7])) == [(14, os.getpid())]
    assert list(mapped(doubled, [])) == []


def test_an_error_is_raised_in_its_turn() -> None:
    """What came before a batch that fails is given, and what comes after is not waited for."""
    making = mapped(doubled, range(1, 1_000))
    assert [next(making)[0], next(making)[0]] == [2, 4]
    with pytest.raises(ValueError, match="three"):
        next(making)


def test_they_end_with_a_process_that_is_killed() -> None:
    """Nothing is left of a process that is killed while it hears what the others made."""
    script = "from tests.bot.services.test_processes import doubled, mapped; import itertools, time\n"
    script += "for made in mapped(doubled, itertools.repeat(1)): print(made[1], flush=True); time.sleep(0.01)"
    with subprocess.Popen([sys.executable, "-c", script], cwd=_ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        workers = {int(process.stdout.readline()) for _ in range(10)}
        process.kill()
    end = time.monotonic() + _PATIENCE
    while any(Path(f"/proc/{worker}").exists() for worker in workers - {process.pid}):
        assert time.monotonic() < end, "a process is left"
        time.sleep(0.05)
