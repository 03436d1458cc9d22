"""The command `suspects` as a maintainer runs it after a red build."""

import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.conftest import Run, recorded
from tests.servers.downstream import Pair
from tests.servers.github import FaultyGitHub
from tests.servers.launched import Ran

Serve = Callable[..., FaultyGitHub]
PATCH = "@@ -1,2 +1,2 @@\n class Worker:\n-    def warm_cache(self, size):\n+    def fill_cache(self, size):"
TRACEBACK = """\
Traceback (most recent call last):
  File "/venv/lib/python3.11/site-packages/pkg/part1.py", line 3, in start
    self.warm_cache(size)
AttributeError: 'Worker' object has no attribute 'warm_cache'
"""


@pytest.fixture
def suspects(run: Run, serve: Serve) -> Run:
    """Runs the command on a store of two commits, one of which renamed a method."""
    renaming = recorded(1)
    renaming["files"][0]["patch"] = PATCH
    assert run("backfill", "2026-02-05", server=serve(renaming, recorded(2)), GITHUB_TOKEN="t").code == 0

    def ran(*arguments: str, **settings: str) -> Ran:
        return run("suspects", *arguments, "--until", "2026-02-06", **settings)

    return ran


def test_a_traceback_leads_to_a_row(suspects: Run, tmp_path: Path) -> None:
    """The row has the fields of `impact`, and why: the changed line with its place and link."""
    (tmp_path / "log.txt").write_text(TRACEBACK)
    ran = suspects(str(tmp_path / "log.txt"), "--format", "json")
    assert (ran.code, ran.err) == (0, "")
    row = json.loads(ran.out.splitlines()[0])
    assert row["sha"][:2] == "01"
    assert row["impacts"] == []
    [line, *_] = row["why"]["lines"]
    assert (line["name"], line["sign"], line["line"]) == ("warm_cache", "-", 2)
    assert line["url"].startswith(row["url"])
    assert row["why"]["match"] == 1.0


def test_people_see_the_line_that_holds_the_name(suspects: Run) -> None:
    """The terminal and Markdown show the line and the days searched; Markdown links it. A sentence may stand in place of a file."""
    for form in ("terminal", "markdown"):
        out = suspects("who removed warm_cache of Worker?", "--format", form, "--lang", "en").out
        assert "Most likely first:" in out
        assert " – 2026-02-06 " in out
        assert "def warm_cache(self, size):" in out
    assert "可能性从高到低" in suspects("who removed warm_cache?", "--lang", "zh").out


def test_none_is_an_answer(suspects: Run) -> None:
    """What no commit changed, and a traceback of another project, are answered and no failure."""
    assert "No suspects: no stored commit" in suspects("the frobnicator explodes", "--lang", "en").out
    other = TRACEBACK.replace("pkg/part1", "django/apps").replace("Worker", "Model")
    ran = suspects(other, "--lang", "en")
    assert ran.code == 0
    assert "of this traceback belongs to" in ran.out


def test_what_is_no_text_is_refused(suspects: Run, run: Run, tmp_path: Path) -> None:
    """A binary, an empty and a missing file, and days that are not stored, are one line each."""
    (tmp_path / "core").write_bytes(b"\x7fELF\0\0\0")
    (tmp_path / "empty").write_text(" \n")
    for arguments, told in (
        ((str(tmp_path / "core"),), "is binary"),
        ((str(tmp_path / "empty"),), "is empty"),
        ((str(tmp_path / "none"),), "cannot be read"),
        (("x y", "--days", "1", "--repo", "o/other"), "are stored; a digest or a backfill of these days stores them"),
    ):
        ran = suspects(*arguments)
        assert ran.code == 2
        assert told in ran.err
        assert len(ran.err.splitlines()) == 1


def test_own_frames_lead_to_upstream_names(run: Run, tmp_path: Path) -> None:
    """A frame of the downstream repository alone leads to the commit that breaks what its line uses."""
    settings = {"DIGEST_REPOS": "o/engine", "DIGEST_MIRRORS": "mirrors", "DIGEST_LANGUAGE": "en"}
    own = 'Traceback\n  File "/home/ada/plugin/worker.py", line 1, in <module>\n    from engine.core import Worker, load\nImportError: no'
    with ExitStack() as ending:
        server = Pair(tmp_path / "served", ending).server
        assert run("backfill", "2026-02-04..2026-02-05", server=server, **settings).code == 0
        ran = run("suspects", own, "--until", "2026-02-06", "--downstream", "acme/plugin", server=server, **settings)
    assert "Pass the cache (#7)" in ran.out
    assert "engine.core.load is gone, so this import fails" in ran.out
