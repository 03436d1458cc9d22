"""Shortened results: a day or a commit of any size fits into what an agent reads."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

from analysis.models import Repository
from analysis.watch import parse_watch
from bot.mcp.results import commit_result, digest_result, rows_within
from bot.models.reference import parse_reference
from bot.models.subjects import DayRef
from bot.services.factory import Services
from bot.services.schedule import Selection, selected, touched
from tests.conftest import recorded
from tests.servers.github import FaultyGitHub

UPSTREAM = Repository.parse("o/n")
MOST = 150_000  # characters


def removal(number: int, files: int = 25) -> dict[str, Any]:
    """A commit of high importance that removes public functions, with a long message."""
    found = recorded(number)
    patch = "@@ -1,3 +1,1 @@\n-def serve(path, mode):\n-    return path\n \n"
    names = [f"pkg/{number}/part{place}.py" for place in range(files)]
    found["files"] = [{**found["files"][0], "filename": name, "deletions": 2, "patch": patch} for name in names]
    found["message"] = f"[Core] Remove serve {number} (#{number})\n\nBREAKING CHANGE: it is gone. {'word ' * 2_000}"
    return found


def test_a_day_of_sixty_commits_is_short(services: Callable[..., Services], serve: Callable[..., FaultyGitHub]) -> None:
    """The high commits are in full as far as there is room, all others in a line, and what was left out is said."""
    github = serve(*(removal(each) for each in range(1, 61)))
    ref = DayRef(UPSTREAM, date(2026, 2, 5), "UTC", "en")
    running = services(github)
    report = running.digests.report(ref, datetime(2026, 2, 6, 12, tzinfo=UTC))
    selection = Selection(watch=parse_watch("serve"))
    digest = digest_result(selected(report, selection, "serve", touched(report, selection.watch, running.store)))
    assert len(digest["commits"]) + len(digest["others"]) == 60
    assert digest["commits"]
    assert all(len(each["message"]) <= 2_000 and len(each["paths"]) == 20 for each in digest["commits"])
    assert any("commits of high importance are in others" in each for each in digest["left_out"])
    assert len(str({**digest, "breaking": None})) < MOST


def test_a_commit_of_a_thousand_files_says_what_is_cut(
    services: Callable[..., Services], serve: Callable[..., FaultyGitHub]
) -> None:
    """A commit alone has two hundred paths, and says that there are more."""
    running = services(serve(removal(1, files=250)))
    repository, entry = running.commits.look_up(parse_reference("#1"), [UPSTREAM], "en")
    found = commit_result(repository, entry)
    assert len(found["paths"]) == 200
    assert found["left_out"] == ["Only the first 200 of 250 paths are listed."]


def test_places_without_room_are_counted() -> None:
    """Commits keep their rows when their impacts do not fit."""
    rows, left_out = rows_within([{"sha": str(each), "impacts": [{"code": "x" * 60_000}]} for each in range(3)])
    assert [len(each["impacts"]) for each in rows] == [1, 0, 0]
    assert left_out[0].startswith("2 places are left out")
