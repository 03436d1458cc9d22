"""The command `impact` as a maintainer runs it: rows for machines, pages for people, one line when something is wrong."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.servers.downstream import PACKAGE, USES, Pair
from tests.servers.github import Fault
from tests.servers.launched import Ran


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    with ExitStack() as ending:
        yield Pair(tmp_path / "served", ending)


@pytest.fixture
def impact(run: Run, pair: Pair) -> Run:
    """Runs the command against the two repositories."""

    def ran(*arguments: str, **settings: str) -> Ran:
        defaults = {"DIGEST_REPOS": "o/engine", "DIGEST_MIRRORS": "mirrors"}
        return run("impact", *arguments, server=pair.server, **{**defaults, **settings})

    return ran


def test_json_has_a_row_for_each_commit_that_breaks(impact: Run, pair: Pair) -> None:
    """The rows have the fields that the format promises; what was compared is on standard error."""
    ran = impact("2026-02-04..2026-02-05", "--downstream", "acme/plugin", "--format", "json")
    assert ran.code == 0
    assert ran.err == f"Compared with acme/plugin ({pair.head[:7]}): 2 files, 4 uses of engine\n"
    [row] = map(json.loads, ran.out.splitlines())
    assert {**row, "impacts": len(row["impacts"]), "score": None} == {
        "sha": pair.breaking,
        "short_sha": pair.breaking[:7],
        "title": "Pass the cache (#7)",
        "url": f"https://github.example/o/engine/commit/{pair.breaking}",
        "pr": 7,
        "committed_at": "2026-02-05T12:00:00Z",
        "importance": row["importance"],
        "score": None,
        "impacts": 2,
    }
    removed, _ = row["impacts"]
    assert removed == {
        "kind": "import",
        "certainty": "proven",
        "name": "engine.core.load",
        "upstream": {
            "path": "engine/core.py",
            "line": 6,
            "url": f"https://github.example/o/engine/blob/{pair.harmless}/engine/core.py#L6",
            "before": "def load(path, mode):",
            "after": None,
        },
        "downstream": {
            "repo": "acme/plugin",
            "path": "plugin/worker.py",
            "line": 1,
            "url": f"https://github.example/acme/plugin/blob/{pair.head}/plugin/worker.py#L1",
            "code": "from engine.core import Worker, load",
        },
        "explanation": "`engine.core.load` is gone, so this import fails",
        "advice": None,
    }


def test_the_current_folder_goes_by_its_name_and_without_our_own_data(impact: Run, tmp_path: Path) -> None:
    """What the command keeps in `data/` of the current folder is no code of that folder, and git ignores it."""
    (tmp_path / "worker.py").write_bytes(USES)
    (tmp_path / ".gitignore").write_text("/served/\n")
    settings = {"DIGEST_MIRRORS": "data/mirrors", "DATABASE_URL": "sqlite:///data/digest.db"}
    for _ in range(2):
        ran = impact("2026-02-05", "--downstream", ".", "--format", "json", **settings)
        assert ran.err == f"Compared with {tmp_path.name}: 1 file, 4 uses of engine\n"
    assert (tmp_path / "data" / "mirrors").is_dir()
    assert (tmp_path / "data" / ".gitignore").read_text() == "*\n"


def test_people_see_both_places(impact: Run) -> None:
    """The terminal and Markdown show the sentence, the upstream line and the downstream line, in the language asked for."""
    terminal = impact("2026-02-05", "--downstream", "acme/plugin").out
    for line in (
        "💥 Breaks your code: 1 of 1 commit",
        "• Worker.step now takes cache, which this definition does not accept",
        "+ def step(self, tokens, cache):",
        "plugin/worker.py:5",
    ):
        assert line in terminal
    markdown = impact("2026-02-05", DIGEST_DOWNSTREAM="acme/plugin", DIGEST_LANGUAGE="zh").out
    assert "破坏你们的代码" in markdown
    markdown = impact("2026-02-05", "--downstream", "acme/plugin", "--format", "markdown").out
    assert "    ```diff\n    - def load(path, mode):\n    ```\n" in markdown
    assert "[plugin/worker.py:5](https://github.example/acme/plugin/blob/" in markdown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("2026-02-05",), "name the code that may break"),
        (("2026-02-05", "--downstream", "./none"), "neither a repository"),
        (("2026-02-05", "--downstream", "acme/none"), "acme/none"),
        (("2026-02-05", "--downstream", "acme/plugin@none"), "no branch, tag or commit none"),
        (("2026-02-05", "--downstream", "empty"), "has no files to read"),
        (("2026-02-05..2026-02-01", "--downstream", "acme/plugin"), "ends before it begins"),
        (("zzz", "--downstream", "acme/plugin"), "is neither a commit nor a day"),
        (("a/b", "2026-02-05", "x", "--downstream", "acme/plugin"), "unexpected"),
    ],
)
def test_a_wrong_request_is_one_line_and_exit_2(
    arguments: tuple[str, ...], words: str, impact: Run, tmp_path: Path
) -> None:
    """What cannot be compared is said in one line, before any row."""
    (tmp_path / "empty").mkdir()
    ran = impact(*arguments)
    assert words in ran.err
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)


def test_mirrors_that_are_turned_off_are_a_setting(impact: Run) -> None:
    """Without mirrors there are no whole files: the line names the setting, exit 2."""
    ran = impact("2026-02-05", "--downstream", "acme/plugin", DIGEST_MIRRORS="")
    assert ("DIGEST_MIRRORS" in ran.err, ran.code) == (True, 2)


def test_an_upstream_that_cannot_be_fetched_is_exit_3(impact: Run, pair: Pair) -> None:
    """A server that fails is an outside failure."""
    pair.server.faults = [Fault("engine.git", 502, times=50)]
    ran = impact("2026-02-05", "--downstream", "acme/plugin")
    assert (ran.code, ran.out) == (3, "")


def test_an_incomplete_result_is_written_and_exit_3(impact: Run, pair: Pair) -> None:
    """A commit that cannot be compared does not keep the others from being shown."""
    pair.commit({"mine.py": b"from engine import load\n"}, pair.head)
    pair.upstream.lose(pair.upstream.blob(PACKAGE))
    ran = impact("2026-02-04..2026-02-05", "--downstream", "acme/plugin")
    assert f"Failed {pair.breaking[:7]}" in ran.out
    assert f"{pair.breaking[:7]} could not be read" in ran.err
    assert ran.code == 3


def test_a_question_what_breaks_a_configured_repository_is_answered_so(run: Run, pair: Pair) -> None:
    """Named in full or short; another name stays a word of the question."""

    def ask(subject: str, question: str) -> Ran:
        settings = {"DIGEST_REPOS": "o/engine", "DIGEST_MIRRORS": "mirrors", "DIGEST_DOWNSTREAM": "acme/plugin"}
        return run("ask", subject, question, server=pair.server, **settings)

    for subject in ("2026-02-04..2026-02-05", pair.breaking):
        for question in ("Does anything break plugin?", "会破坏 `acme/plugin` 吗？"):
            assert "plugin/worker.py:1" in ask(subject, question).out
        assert "plugin/worker.py" not in ask(subject, "Does anything break gadget?").out


def test_a_question_about_us_reads_the_tree_that_was_named(run: Run, pair: Pair) -> None:
    """Lines are those of the tag, not of the head, and of what the commit removes, not of another module's of that name; a tree
    that does not exist is refused, also where there are no commits.
    """
    other = USES.replace(b"engine.core", b"engine.other")
    tagged = pair.commit({"plugin/__init__.py": b"", "plugin/worker.py": b"# a plug-in\n" + USES}, pair.head)
    another = pair.commit({"plugin/__init__.py": b"", "plugin/worker.py": other}, tagged)

    def ask(about: str, tree: str) -> Ran:
        settings = {"DIGEST_REPOS": "o/engine", "DIGEST_MIRRORS": "mirrors"}
        return run("ask", about, "does this break us?", "--downstream", tree, server=pair.server, **settings)

    assert (
        run("backfill", "2026-02-05", server=pair.server, DIGEST_REPOS="o/engine", DIGEST_MIRRORS="mirrors").code == 0
    )
    told = ask(pair.breaking, f"acme/plugin@{tagged}").out
    assert "plugin/worker.py:2" in told
    assert ("In `acme/plugin`:" in told, tagged[:7] in told, another[:7] in told) == (True, True, False)
    assert "In `acme/plugin`:" not in ask(pair.breaking, f"acme/plugin@{another}").out
    refused = ask("o/engine", "acme/none")
    assert (refused.code, "acme/none" in refused.err) == (2, True)
