"""The benchmarks still run: each at a small size, whose figures say nothing of how fast it is."""

import subprocess
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from tests.bench.__main__ import BENCHMARKS, Benchmark, main
from tests.bench.figures import Row
from tests.bench.processes import forked
from tests.bench.real_diffs import CLONE, real_day

DAY = date(2026, 2, 5)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_runs_to_its_end(name: str) -> None:
    """Every benchmark yields its rows, and what does not depend on the machine is as it should be."""
    with forked():  # to import everything anew takes most of the time that a small benchmark needs
        rows = list(BENCHMARKS[name].run(**BENCHMARKS[name].small))
    assert rows
    assert [row for row in rows if row.met is False and not row.measured] == []


def test_a_benchmark_that_fails_does_not_stop_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    """One table holds what every brief benchmark found, the failure of one among it, which the exit code tells; a long one is named."""

    def failing() -> Iterator[Row]:
        yield Row("before it fails", "1 s")
        raise RuntimeError("it broke")

    def fine(size: int = 4_000) -> Iterator[Row]:
        yield Row("something", "2 s", f"one after the other: {size} s", "1 s")

    good, long = Benchmark(fine, {}, {"size": 40}), Benchmark(fine, {}, None)
    benchmarks = {"bad": Benchmark(failing, {}), "good": good, "long": long}
    assert main([], benchmarks) == 1
    told = capsys.readouterr()
    for words in (
        "before it fails",
        "RuntimeError: it broke",
        "failed",
        "something",
        "2 s",
        "one after the other: 40 s",
    ):
        assert words in told.out
    assert "Traceback" in told.err
    assert "good, 2 of 2\n  something: 2 s\n" in told.err
    assert main(["good"], benchmarks) == 0
    assert "4000 s" in capsys.readouterr().out
    assert main(["long"], benchmarks) == 0
    assert main(["none"], benchmarks) == 2


def test_real_diffs_are_those_of_a_clone(tmp_path: Path) -> None:
    """A day is made of a clone's newest commits, with the files and patches that git shows; without a clone of the sample's."""

    def git(*arguments: str) -> None:
        who = ["-c", "user.name=Core Team", "-c", "user.email=core@example.com"]
        subprocess.run(["git", *who, "-C", str(tmp_path), *arguments], check=True, capture_output=True)

    git("init", "--quiet", "--initial-branch=main")
    for number in (1, 2, 3):
        (tmp_path / "part.py").write_text(f"def work():\n    return {number}\n")
        (tmp_path / f"new{number}.py").write_text(f"x = {number}\n" * 20)
        if number == 3:
            (tmp_path / "new1.py").unlink()
            (tmp_path / "new2.py").rename(tmp_path / "moved.py")
        git("add", "--all")
        git("commit", "--quiet", "--message", f"Change part {number} (#{number})\n\nIt was slow.")
    day = real_day(DAY, 2, {CLONE: f"{tmp_path}@main"})
    assert [each["message"].split("\n")[0] for each in day.commits] == ["Change part 2 (#2)", "Change part 3 (#3)"]
    assert [each["parents"] for each in day.commits] == [[], [day.commits[0]["sha"]]]
    last = {each["filename"]: each for each in day.commits[1]["files"]}
    assert last["part.py"]["patch"] == "@@ -1,2 +1,2 @@\n def work():\n-    return 2\n+    return 3"
    assert (last["moved.py"]["status"], last["moved.py"]["previous_filename"]) == ("renamed", "new2.py")
    assert {name: each["status"] for name, each in last.items() if name.startswith("new")} == {
        "new1.py": "removed",
        "new3.py": "added",
    }
    assert tmp_path.name in day.told
    sample = real_day(DAY, 40, {})
    assert len({each["sha"] for each in sample.commits}) == 40
    assert "sample" in sample.told
