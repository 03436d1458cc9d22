"""The command `upgrade` as a maintainer runs it, between versions of a repository with a release branch."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run
from tests.servers.downstream import PACKAGE, USES, Pair
from tests.servers.launched import Ran

_CLI = b"def make(p):\n    p.add_argument('--size', type=int, default=%d)\n"


class Releases(Pair):
    """Upstream with a release v1.0 on a branch of its own, which has picked one of the commits after it left; then the
    default of an option changes, a function comes and goes, and a worker's method gets a parameter.
    """

    def __init__(self, folder: Path, ending: ExitStack) -> None:
        super().__init__(folder, ending)
        self.before = self.harmless
        files = {"engine/__init__.py": PACKAGE, "README.md": b"Engine", "engine/other.py": b"SIZE = 1\n"}
        core = self.upstream.git("show", f"{self.harmless}:engine/core.py").encode() + b"\n"
        files |= {"engine/core.py": core, "engine/cli.py": _CLI % 1}
        self._last = self.base = self._add(files, "Add options (#10)", self.harmless)
        picked = files | {"engine/fixed.py": b"DONE = 1\n"}
        self._add(picked, "Fix what leaks (#11)")
        option = picked | {"engine/cli.py": _CLI % 2}
        self.option = self._add(option, "Raise the default size (#12)")
        gone = option | {"engine/core.py": core.replace(b"def load", b"def fetch")}
        self._add(gone, "Rename load (#13)")
        self._add(option, 'Revert "Rename load (#13)" (#14)')
        changed = option | {"engine/core.py": core.replace(b"step(self, tokens)", b"step(self, tokens, cache)")}
        self.worker = self._add(changed, "Pass the cache (#15)")
        self._add(changed | {"engine/vision.py": b"def see():\n    pass\n"}, "[Feature] Support images (#16)")
        release = self.upstream.commit(picked, self.base, message=b"Fix what leaks (#11)", branch=None)
        self.upstream.git("update-ref", "refs/tags/v1.0", release)
        self.upstream.git("update-ref", "refs/tags/v1.1", self.option)
        self.pin("v1.0")

    def _add(self, files: dict[str, bytes], message: str, *parents: str) -> str:
        self._last = self.upstream.commit(files, *(parents or (self._last,)), message=message.encode())
        return self._last

    def pin(self, version: str, **more: bytes) -> None:
        image = f"FROM scratch\nARG ENGINE_TAG={version}\n".encode()
        files = {"plugin/__init__.py": b"", "plugin/worker.py": USES, "Dockerfile": image, **more}
        self.head = self.commit(files, self.head)


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Releases]:
    with ExitStack() as ending:
        yield Releases(tmp_path / "served", ending)


@pytest.fixture
def upgrade(run: Run, pair: Releases) -> Run:
    def ran(*arguments: str, **settings: str) -> Ran:
        defaults = {"DIGEST_REPOS": "o/engine", "DIGEST_MIRRORS": "mirrors"}
        return run("upgrade", *arguments, server=pair.server, **{**defaults, **settings})

    return ran


def row(ran: Ran) -> dict[str, Any]:
    assert (ran.code, ran.err) == (0, "")
    [found] = map(json.loads, ran.out.splitlines())
    return dict(found)


def numbers(found: dict[str, Any]) -> dict[str, list[int]]:
    return {group: [each["pr"] for each in rows] for group, rows in found["groups"].items() if rows}


def test_the_range_begins_at_the_pin(upgrade: Run, pair: Releases) -> None:
    """Without FROM it begins where the pinned release left the branch; what that has picked is not new, what is reverted has
    no consequence, and each commit is in one group.
    """
    found = row(upgrade("--downstream", "acme/plugin", "--format", "json"))
    assert numbers(found) == {"breaks_you": [15], "behaviour": [12], "additions": [16]}
    assert (found["commits"], found["picked"], found["reverted"], found["ungrouped"]) == (5, 1, 2, 0)
    assert found["from"]["pin"] == {
        "place": "Dockerfile:2",
        "url": f"https://github.example/acme/plugin/blob/{pair.head}/Dockerfile#L2",
        "places": 1,
        "others": [],
        "missing": [],
    }
    assert (found["from"]["name"], found["from"]["merge_base"], found["to"]["name"]) == ("v1.0", pair.base, "HEAD")
    [broken] = found["groups"]["breaks_you"]
    assert [(each["name"], each["downstream"]["line"]) for each in broken["impacts"]] == [
        ("engine.core.Worker.step", 5)
    ]


def test_it_ends_with_a_release_to_pin(upgrade: Run, pair: Releases) -> None:
    """That is the newest one, not older than where the range begins, that breaks the fewest places of the code."""
    found = row(upgrade("--downstream", "acme/plugin", "--format", "json"))
    assert (found["proposal"]["name"], found["proposal"]["places"]) == ("v1.1", 0)
    ran = upgrade("--downstream", "acme/plugin").out
    assert ran.rstrip().endswith("📌 Pin v1.1: the newest release without a proven break of your code")
    pair.upstream.git("update-ref", "refs/tags/v1.2", pair.worker)
    pair.upstream.git("update-ref", "-d", "refs/tags/v1.1")
    found = row(upgrade("v1.2", "--downstream", "acme/plugin", "--format", "json"))
    assert found["proposal"] is None or found["proposal"]["name"] == "v1.2"


def test_without_downstream_code_the_other_groups_are_there(upgrade: Run) -> None:
    """Between two tags, or from a day on, everything is grouped by what it means for anybody; the default of an option that
    is new in the range is no change.
    """
    assert numbers(row(upgrade("v1.0..v1.1", "--format", "json"))) == {"behaviour": [12]}
    found = row(upgrade("o/engine", "2026-02-02", "--format", "json"))
    assert numbers(found) == {"breaking": [15], "additions": [16, 10, None]}


def test_pull_requests_are_not_asked_for(upgrade: Run, pair: Releases) -> None:
    """Even with a token, a range takes no request a commit: the groups need none."""
    assert numbers(row(upgrade("v1.0..v1.1", "--format", "json", GITHUB_TOKEN="t0ken"))) == {"behaviour": [12]}
    assert pair.server.asked("^/repos/")
    assert not pair.server.asked("/pulls")


def test_people_read_the_worst_first(upgrade: Run) -> None:
    """The terminal and Markdown begin with the pin and with what breaks, with both places; Chinese is Chinese."""
    terminal = upgrade("--downstream", "acme/plugin").out
    for text in (
        "💥 Breaks your code: 1 of 5 commits",
        "v1.0 is pinned in Dockerfile:2",
        "v1.0 is on its own branch; the range starts at ",
        "1 commit is already in v1.0",
        "plugin/worker.py:5",
        "size now defaults to 2 (was 1)",
        "✨ New (1)",
    ):
        assert text in terminal
    assert terminal.index("Breaks your code (1)") < terminal.index("defaults and dependencies (1)")
    markdown = upgrade("--downstream", "acme/plugin", "--format", "markdown", DIGEST_LANGUAGE="zh").out
    assert "## 💥 破坏你们的代码 (1)" in markdown
    assert "[plugin/worker.py:5](https://github.example/acme/plugin/blob/" in markdown
    assert markdown.count("Pass the cache") == 1


def test_pins_that_disagree_are_named_with_the_reason(upgrade: Run, pair: Releases) -> None:
    """The one that binds most is taken, the others are named; one that upstream lacks is passed over, and said so."""
    commit = b"9" * 40
    pair.pin("v1.0", **{"ENGINE_COMMIT": commit, "ci.yml": b"engine_ref: v1.1\n", "requirements.txt": b"engine>=0.9\n"})
    found = upgrade("--downstream", "acme/plugin").out
    assert f"ENGINE_COMMIT:1 pins {'9' * 7}, which upstream does not have" in found
    assert "Other pins disagree: v1.1 (ci.yml:1), 0.9 (requirements.txt:1)" in found
    assert "v1.0 was used; to use another, give it as FROM" in found


def test_nothing_new_is_an_answer(upgrade: Run) -> None:
    """A range without commits says so, in every format, and succeeds."""
    assert "✅ Nothing new between v1.1 and v1.1" in upgrade("v1.1..v1.1").out
    assert row(upgrade("v1.1..v1.1", "--format", "json"))["commits"] == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "give the version to upgrade from"),
        (("v9.9",), "v9.9"),
        (("v1.1..v0.1",), "v0.1"),
        (("HEAD..v1.1",), "v1.1 is older than HEAD; use v1.1..HEAD"),
        (("1999-01-01",), "no commit before 1999-01-01"),
        (("2999-01-01",), "2999-01-01"),
        (("--downstream", "acme/none"), "acme/none"),
        (("--downstream", "empty"), "pins no version of o/engine"),
        (("--downstream", "wrong"), "wrong pins 7.7 (requirements.txt:1), but o/engine has no such tag or commit"),
        (("a", "b", "c"), "unexpected"),
    ],
)
def test_a_wrong_request_is_one_line_and_exit_2(
    arguments: tuple[str, ...], words: str, upgrade: Run, tmp_path: Path
) -> None:
    """No pin, one that does not exist, a range the wrong way round: one line says what to do."""
    for folder, text in (("empty", "numpy==1.0\n"), ("wrong", "engine==7.7\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "requirements.txt").write_text(text)
    ran = upgrade(*arguments)
    assert words in ran.err
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
