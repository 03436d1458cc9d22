"""`vllm-digest week`: seven days on the command line, read where they are missing, and their chart."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run, recorded
from tests.servers.github import FaultyGitHub


@pytest.fixture
def commits() -> list[dict[str, Any]]:
    return [recorded(number, date=f"2026-02-{day:02}T12:00:00Z") for number, day in enumerate((1, 2, 4, 8, 9), 1)]


def test_a_week_is_read_and_written(serve: Any, commits: list[dict[str, Any]], run: Run, tmp_path: Path) -> None:
    """Of an empty store all seven days are read; the JSON has each of them, and the chart is a picture."""
    server: FaultyGitHub = serve(*commits)
    chart = tmp_path / "week.png"
    arguments = ("week", "2026-02-05", "--repo", "o/n", "--timezone", "UTC", "--lang", "en")
    done = run(*arguments, "--format", "json", "--chart", str(chart), server=server)
    assert done.code == 0, done.err
    week = json.loads(done.out)
    assert (week["first"], week["last"]) == ("2026-02-02", "2026-02-08")
    assert [day["stats"]["total"] for day in week["days"]] == [1, 0, 1, 0, 0, 0, 1]
    assert [each["title"] for each in week["commits"]] == [f"[Core] Change part {n} (#{n})" for n in (4, 3, 2)]
    assert chart.read_bytes().startswith(b"\x89PNG")
    markdown = run(*arguments, "--format", "markdown", server=server)
    assert markdown.out.startswith("# o/n · 2026-02-02 – 2026-02-08\n")
    slack = json.loads(run(*arguments, "--format", "slack", server=server).out)
    assert slack[0]["blocks"][0]["text"]["text"] == "o/n · 2026-02-02 – 2026-02-08"
    assert "Commits: 3" in run(*arguments, server=server).out


def test_what_is_no_week_is_a_line(run: Run) -> None:
    """With the forms that are."""
    done = run("week", "wonders", "--repo", "o/n")
    assert done.code == 2
    assert "use a date such as 2026-02-05, or -1 for last week" in done.err
