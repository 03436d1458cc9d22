"""The command `compat` as the maintainer of a plug-in runs it, by hand and in the plug-in's own checks."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run
from tests.servers.downstream import PACKAGE, USES, Pair
from tests.servers.launched import Ran

_CORE = b"class Worker:\n    def step(self, tokens):\n        return tokens\n\n\n%s"
_LOAD = b"def load(path, mode):\n    return path\n"


class Releases(Pair):
    """Upstream with v0.9 before the plug-in's `load` is there, v1.0 and v1.1 with it, and v1.2rc1 after the breaking commit."""

    def __init__(self, folder: Path, ending: ExitStack) -> None:
        super().__init__(folder, ending)
        self.begin = self.upstream.git("rev-list", "--max-parents=0", "main").strip()
        self.first = self._add(b"", self.begin, message=b"Start again (#3)")
        self.adding = self._add(_LOAD, self.first, message=b"Add load (#4)")
        self.later = self._add(_LOAD + b"\n\nSIZE = 2\n", self.adding, message=b"Raise the size (#5)")
        self.breaking = self._add(b"SIZE = 2\n", self.later, message=b"Drop load (#6)")
        for tag, sha in {"v0.9": self.first, "v1.0": self.adding, "v1.1": self.later, "v1.2rc1": self.breaking}.items():
            self.tag(tag, sha)
        image = b"FROM scratch\nARG ENGINE_TAG=v1.0\n"
        files = {"plugin/__init__.py": b"", "plugin/worker.py": USES, "Dockerfile": image}
        self.head = self.commit(files, self.head)

    def tag(self, name: str, sha: str) -> None:
        self.upstream.git("update-ref", f"refs/tags/{name}", sha)

    def _add(self, end: bytes, parent: str, message: bytes) -> str:
        files = {"engine/__init__.py": b"" if end != _LOAD else PACKAGE, "engine/core.py": _CORE % end}
        return self.upstream.commit(files, parent, message=message)


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Releases]:
    with ExitStack() as ending:
        yield Releases(tmp_path / "served", ending)


@pytest.fixture
def compat(run: Run, pair: Releases) -> Run:
    def ran(*arguments: str, **settings: str) -> Ran:
        defaults = {"DIGEST_REPOS": "o/engine", "DIGEST_MIRRORS": "mirrors"}
        return run("compat", *arguments, server=pair.server, **{**defaults, **settings})

    return ran


def row(ran: Ran) -> dict[str, Any]:
    assert (ran.code, ran.err) == (0, "")
    [found] = map(json.loads, ran.out.splitlines())
    return dict(found)


def test_the_range_has_the_nearest_commits_that_break(compat: Run, pair: Releases) -> None:
    """Both ends are releases; before is the commit that adds what the code uses, after the one that takes it away, each with
    both places; the pin agrees.
    """
    found = row(compat("--downstream", "acme/plugin", "--format", "json"))
    assert (found["from"]["name"], found["to"]["name"], found["failing"]) == ("v1.0", "v1.1", [])
    assert [(each["name"], each["failing"]) for each in found["versions"]] == [
        ("v0.9", 1),
        ("v1.0", 0),
        ("v1.1", 0),
        ("main", 1),
    ]
    assert [(found[side]["version"]["name"], found[side]["commit"]["pr"]) for side in ("before", "after")] == [
        ("v0.9", 4),
        ("main", 6),
    ]
    for side, sha in (("before", pair.adding), ("after", pair.later)):
        [broken] = found[side]["impacts"]
        assert broken["upstream"]["url"] == f"https://github.example/o/engine/blob/{sha}/engine/core.py#L6"
        place = f"https://github.example/acme/plugin/blob/{pair.head}/plugin/worker.py#L1"
        assert broken["downstream"]["url"] == place
    assert (found["pin"]["version"], found["pin"]["place"], found["pin"]["agrees"]) == ("v1.0", "Dockerfile:2", True)
    assert found["cannot_see"]["remarks"][0].startswith("Not compared: behaviour")
    assert found["checked_at"].endswith("Z")


def test_each_pin_is_told_with_whether_it_is_within_the_range(compat: Run, pair: Releases) -> None:
    """One that a requirement names may fail where the image's is fine."""
    files = {"plugin/__init__.py": b"", "plugin/worker.py": USES, "Dockerfile": b"FROM scratch\nARG ENGINE_TAG=v1.0\n"}
    pair.commit({**files, "requirements.txt": b"engine==0.9\n"}, pair.head)
    told = compat("--downstream", "acme/plugin").out
    assert "It pins 0.9 in requirements.txt:1, which is not within the range: 1 place fails" in told
    assert "It pins v1.0 in Dockerfile:2, which is within the range" in told


def test_people_read_the_range_first(compat: Run) -> None:
    """The terminal and Markdown begin with the range; Chinese is Chinese."""
    terminal = compat("--downstream", "acme/plugin").out
    for text in (
        "✅ No proven break with v1.0 – v1.1",
        "It pins v1.0 in Dockerfile:2, which is within the range",
        "➡️ Nearest break after: main",
        "engine.core.load is gone, so this import fails",
        "⬅️ Nearest break before: v0.9",
        "plugin/worker.py:1",
    ):
        assert text in terminal
    markdown = compat("--downstream", "acme/plugin", "--format", "markdown", DIGEST_LANGUAGE="zh").out
    assert "✅ 与 v1.0 – v1.1 之间没有证实的不兼容" in markdown
    assert "`engine.core.load` 还不存在，这里会失败" in markdown


def test_a_badge_is_what_shields_takes(compat: Run) -> None:
    """It names the range, and nothing else of the code."""
    ran = compat("--downstream", "acme/plugin", "--format", "badge")
    expected = {"schemaVersion": 1, "label": "engine", "message": "v1.0 – v1.1", "color": "brightgreen"}
    assert json.loads(ran.out) == expected


def test_a_check_fails_with_annotations(compat: Run) -> None:
    """It passes while the newest release fits; with the candidate it exits with 4, and says where in GitHub's words."""
    assert compat("--downstream", "acme/plugin", "--fail-on-break", "--format", "badge").code == 0
    ran = compat("--downstream", "acme/plugin", "--fail-on-break", "--candidates", "--format", "badge")
    assert (ran.code, ran.err.splitlines()) == (
        4,
        [
            "::error file=plugin/worker.py,line=1::v1.2rc1: `engine.core.load` is gone, so this import fails",
            "vllm-digest: 1 break with the newest release",
        ],
    )
    assert json.loads(ran.out)["message"] == "v1.0 – v1.1"


@pytest.mark.parametrize(
    ("arguments", "settings", "code", "expected"),
    [
        ([], {}, 2, "vllm-digest: name the code that may break: --downstream"),
        (["--downstream", "acme/none"], {}, 2, "vllm-digest: "),
        (["--downstream", "acme/plugin"], {"DIGEST_MIRRORS": ""}, 2, "vllm-digest: this needs a git mirror"),
        ([], {"DIGEST_TAG_PREFIX": "o/engine"}, 2, "vllm-digest: DIGEST_TAG_PREFIX: 'o/engine' has no prefix; use"),
    ],
)
def test_what_is_missing_is_one_line(
    compat: Run, arguments: list[str], settings: dict[str, str], code: int, expected: str
) -> None:
    """No downstream code, one that does not exist, and no mirrors are each told in a line."""
    ran = compat(*arguments, **settings)
    assert (ran.code, ran.out, ran.err.count("\n")) == (code, "", 1)
    assert ran.err.startswith(expected)


def test_without_tags_it_is_unknown(compat: Run, pair: Releases) -> None:
    """Nothing is claimed where no tag begins as the operator says those of the package do, until there is one."""
    plugin, prefix = ("--downstream", "acme/plugin"), "O/Engine=sdk-v, o/other=v"
    ran = compat(*plugin, DIGEST_TAG_PREFIX=prefix)
    assert (ran.code, "❔ Unknown: no release tags of o/engine are known" in ran.out) == (0, True)
    pair.tag("sdk-v2.0", pair.later)
    assert json.loads(compat(*plugin, "--format", "badge", DIGEST_TAG_PREFIX=prefix).out)["message"] == "sdk-v2.0"


def test_badges_are_published(run: Run, pair: Releases, tmp_path: Path) -> None:
    """A published day comes with the badge of each downstream repository that is public, and never with a private one's."""
    (tmp_path / "public").mkdir()
    settings = {"DIGEST_REPOS": "o/engine", "DIGEST_MIRRORS": "mirrors", "DIGEST_DOWNSTREAM": "acme/plugin"}
    publish = ("publish", "2026-02-05", "--to", "./public")
    path = tmp_path / "public/reports/engine.compat.acme.plugin.json"
    assert run("backfill", "2026-02-05", server=pair.server, **settings).code == 0  # which makes the mirror
    assert run(*publish, server=pair.server, **settings, DIGEST_PRIVATE="acme/plugin=C0123456789").code == 0
    assert not path.exists()
    assert run(*publish, server=pair.server, **settings).code == 0
    assert json.loads(path.read_text())["message"] == "v1.0 – v1.1"
    assert "unchanged" in run(*publish, server=pair.server, **settings).out
