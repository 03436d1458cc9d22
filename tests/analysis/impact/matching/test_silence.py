"""Commits that break nothing, and advice that is worth writing."""

import pytest

from analysis.errors import DigestError
from analysis.impact.matching import impacts
from analysis.impact.surface.model import SurfaceIndex
from tests.analysis.facts.trees import commit_between, trees
from tests.analysis.impact.repositories import UPSTREAM, impacts_of, surface, told

ENGINE = "class Engine:\n    def forward(self, x): ...\n\n    def run(self, a, b=1): ...\n\n\ndef load(a): ...\n"
PLUGIN = (
    "from engine.core import Engine, load\n\n\nclass Mine(Engine):\n    def forward(self, x):\n"
    "        return self.run(x, b=2)\n\n\nload(1)\n"
)


@pytest.mark.parametrize(
    "after",
    [
        ENGINE + "\n\ndef more(a): ...\n",
        "# A comment.\n" + ENGINE,
        ENGINE.replace("def load(a): ...", "def load(a):\n    return a"),
        ENGINE.replace("def load(a)", "def load(a, b=1)"),
        ENGINE.replace("def load(a)", "def load(a: int)"),
        ENGINE.replace("def load(a)", "def load(a, *args, **kwargs)"),
        ENGINE.replace("class Engine:", "class Engine:\n    size = 1\n"),
        ENGINE.replace("self, a, b=1", "self, a, b=1, c=2"),
        ENGINE.replace("self, a, b=1", "self, a, *, b=1"),
        "".join(reversed(ENGINE.partition("\n\n\n"))).strip() + "\n",
    ],
)
def test_a_compatible_change_breaks_nothing(after: str) -> None:
    """Additions, comments, bodies, types, optional parameters of functions that nobody overrides, and order."""
    assert told(ENGINE, after, PLUGIN) == []


@pytest.mark.parametrize(
    "plugin",
    [
        "class Layer:\n    def forward(self, x): ...\n\n\nLayer().forward(1)\n",
        "from other.core import Engine, load\n\n\nclass Mine(Engine):\n    def forward(self, x): ...\n\n\nload(1)\n",
        "import torch\n\n\nclass Mine(torch.nn.Module):\n    def forward(self, x): ...\n",
        "def load(a): ...\n\n\nload(1)\n",
        "from engine.core import load\n\n\ndef load(a): ...\n\n\nload(1)\n",
        "from engine.core import load\n\n\ndef use(load):\n    load(1)\n",
        "import engine.core\n\n\ndef use(engine):\n    engine.core.load(1)\n",
        "'''Calls engine.core.load(1).'''\n# engine.core.load(1)\n",
        "x = 'see engine.core.load for more'\n",
    ],
)
def test_names_that_only_look_alike_are_none_of_upstream(plugin: str) -> None:
    """What the plug-in defines itself, shadows, takes from elsewhere, or only writes about."""
    found = told(ENGINE, "class Engine:\n    def forward(self, x, y): ...\n\n\ndef load(a, b): ...\n", plugin)
    assert [each for each in found if not each.startswith("import")] == []


@pytest.mark.parametrize(
    "path", ["tests/core.py", "engine/tests/test_core.py", "docs/conf.py", "engine/core.md", "a.cpp"]
)
def test_tests_and_documentation_of_upstream_define_nothing(path: str) -> None:
    """A plug-in that imports a name does not get it from upstream's tests, nor from files of other languages."""
    assert told({UPSTREAM: ENGINE, path: ENGINE}, {UPSTREAM: ENGINE, path: "x = 1\n"}, PLUGIN) == []


def test_what_was_broken_before_is_not_blamed() -> None:
    """A use that did not fit before the commit is none of its doing."""
    plugin = "from engine.core import Engine, missing\n\nmissing(1)\nEngine().nothing\nEngine().run(1, 2, 3, 4)\n"
    assert (
        told(ENGINE, ENGINE.replace("a, b=1", "a"), plugin) == []
        or told(ENGINE, ENGINE.replace("def forward(self, x): ...\n\n", ""), plugin) == []
    )


IMPORTS = [
    ("from engine.core import load", "from engine.io import load"),
    ("from engine.core import load as fetch", "from engine.io import load as fetch"),
    ("from engine.core import load, keep", "from engine.core import keep\nfrom engine.io import load"),
    (
        "from engine.core import keep as k, load as f",
        "from engine.core import keep as k\nfrom engine.io import load as f",
    ),
    ("from engine.core import (\n    keep,\n    load as f,\n)", "from engine.io import load as f"),
    ("from engine import core\n\ncore.load()", None),
    ("from engine.core import (load)", "from engine.io import load"),
    ("from engine.core import load  # noqa: F401", "from engine.io import load  # noqa: F401"),
    ("x = 'engine.core.load'", "x = 'engine.io.load'"),
    ("patch('engine.core.load', 1)", "patch('engine.io.load', 1)"),
]


@pytest.mark.parametrize(("line", "advice"), IMPORTS)
def test_advice_for_an_import_keeps_what_else_it_says(line: str, advice: str | None) -> None:
    """Other names that a line imports stay where they are, and so do its alias and its comment."""
    before = {UPSTREAM: "def load(): ...\n\n\ndef keep(): ...\n", "engine/io.py": "x = 1\n"}
    after = {UPSTREAM: "def keep(): ...\n", "engine/io.py": "x = 1\n\n\ndef load(): ...\n"}
    [found] = impacts_of(before, after, f"{line}\n")
    assert (found.cause.value, found.advice) == ("moved", advice)


MODULES = [
    ("import engine.core", "import engine.kernel"),
    ("import engine.core as c", "import engine.kernel as c"),
    ("from engine import core", "from engine import kernel as core"),
    ("from engine.core import load", "from engine.kernel import load"),
    ("from engine.core import load as f, keep", "from engine.kernel import load as f, keep"),
    ("x = 'engine.core:load'", "x = 'engine.kernel:load'"),
]


@pytest.mark.parametrize(("line", "advice"), MODULES)
def test_advice_for_a_renamed_module_keeps_what_is_imported_of_it(line: str, advice: str) -> None:
    """Of a module with another name, what it holds is imported under the same names."""
    text = "def load(): ...\n\n\ndef keep(): ...\n"
    found = impacts_of({UPSTREAM: text}, {"engine/kernel.py": text}, f"{line}\n", {UPSTREAM: "engine/kernel.py"})
    assert {each.advice for each in found} == {advice}


def test_places_are_in_order() -> None:
    """The main package first, then its private folders for single devices, other programs, tests and examples."""
    paths = ["plugin/worker.py", "plugin/_small/worker.py", "helpers/run.py", "examples/run.py", "tests/test_worker.py"]
    call = "from engine.core import load\n\nload(1)\n"
    plugin = {**dict.fromkeys(sorted(paths), call), "plugin/other.py": "from engine.core import load\n"}
    found = impacts_of("def load(a): ...\n", "def load(a, b): ...\n", plugin)
    assert [each.downstream.path for each in found] == paths


def test_nothing_is_denied_of_code_that_is_too_large_to_be_read() -> None:
    """Where the limit leaves files unread, what is found is told, and nothing found is an error."""
    files = {"engine/__init__.py": "", UPSTREAM: ENGINE}
    after = {**files, UPSTREAM: ENGINE.replace("def load(a)", "def load(a, b)")}
    commit, sides, index = commit_between(files, after), trees(files, after), SurfaceIndex(surface(PLUGIN))
    assert impacts(commit, sides, index, {"engine": ""}, ())
    with pytest.raises(DigestError, match="too much code"):
        impacts(commit, sides, index, {"engine": ""}, (), most=0)
