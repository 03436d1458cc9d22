"""The surface of hostile, foreign and large trees: never an exception, never more than seconds."""

import time

import pytest

from analysis.impact.surface.extraction import UpstreamTree, copies, packages, surface_of_tree
from tests.analysis.impact.repositories import UPSTREAM, impacts_of, surface, told

USE = "from engine.core import load\n\nload(1)\n"
DEEP = 4000
VISITED = 600  # parsed, but too deep for what visits it
CYCLE = "from engine.core import Engine\n\n\nclass A(B): ...\n\n\nclass B(A, Engine):\n    def run(self): ...\n\n\nA().run()\nB().other.more\n"

HOSTILE = {
    "no Python": "def (:\n",
    "Python 2": "print 'engine.core'\n",
    "a null byte": "x = 1\0\n",
    "a lone surrogate": "x = '\ud800'\n",
    "a form feed": "\x0cx = 1\n",
    "carriage returns": "from engine.core import load\r\rload(1)\r\n",
    "nothing": "",
    "an unterminated string": "x = '''",
    "a deep attribute": "x = a" + ".b" * DEEP + "\n",
    "a deep attribute of upstream": "import engine\n\nx = engine" + ".b" * DEEP + "\n",
    "a deep sum": "x = 1" + " + 1" * DEEP + "\n",
    "deep parentheses": "x = " + "(" * 150 + "1" + ")" * 150 + "\n",
    "deep calls": "x = a" + "()" * DEEP + "\n",
    "deep calls of upstream": "from engine.core import load\n\nx = load" + "()" * DEEP + "\n",
    "a deep list": "x = " + "[" * 90 + "]" * 90 + "\n",
    "a deep annotation": "def f(x: " + "A | " * DEEP + "None): ...\n",
    "a deep quoted annotation": "def f(x: '" + "A | " * DEEP + "None'): ...\n",
    "a deep sum for visitors": "x = 1" + " + 1" * VISITED + "\n",
    "a long elif for visitors": "if a:\n    pass\n" + "elif a:\n    pass\n" * VISITED,
    "deep calls for visitors": "from engine.core import load\n\nx = load" + ".b()" * VISITED + "\n",
    "a deep base": "class A(a" + ".b" * VISITED + "): ...\n",
    "many bases": "class A0: ...\n\n\nclass B0: ...\n"
    + "".join(f"class A{n}(A{n - 1}, B{n - 1}): ...\n\n\nclass B{n}(A{n - 1}, B{n - 1}): ...\n" for n in range(1, 60)),
    "a long elif": "if a:\n    pass\n" + "elif a:\n    pass\n" * DEEP,
    "deep blocks": "".join(f"{' ' * depth}if a:\n" for depth in range(95)) + " " * 95 + "pass\n",
    "a class of itself": "class A(A):\n    def run(self): ...\n\n\nA().run()\n",
    "classes in a circle": CYCLE,
    "an import of itself": "from plugin.worker import x\nfrom plugin.worker import *\n\nx()\n",
    "an import above the root": "from ........ import x\n\nx()\n",
    "a name of itself": "x = x\ny = y.z\nx.a()\n",
    "an attribute of itself": "class A:\n    def __init__(self):\n        self.a = self.a.b\n\n    def run(self):\n        self.a.c()\n",
    "a property of itself": "class A:\n    @property\n    def a(self) -> 'A': ...\n\n\nA().a.a.a.a.a\n",
    "a function of itself": "def make() -> make: ...\n\n\nmake()().x\n",
    "a method of no parameters": "class A:\n    def run(): ...\n\n    @classmethod\n    def make(): ...\n",
    "a super call outside": "super().run()\n",
    "a star of a subscript": "a[0], *b = engine.core.load()\n",
    "an import without names": "import engine.core.load as\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_leaves_the_others_as_they_are(name: str) -> None:
    """Whatever one file holds, the uses in another are found, within seconds."""
    started = time.process_time()
    files = {"plugin/worker.py": HOSTILE[name], "plugin/other.py": USE}
    found = told("def load(a): ...\n", "def load(a, b): ...\n", files)
    assert "call: parameter required: engine.core.load (b)" in found
    assert time.process_time() - started < 10


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_upstream_file_breaks_nothing(name: str) -> None:
    """A file of upstream that becomes, or was, anything at all raises nothing."""
    hostile = HOSTILE[name]
    started = time.process_time()
    impacts_of({UPSTREAM: hostile}, {UPSTREAM: "x = 1\n"}, USE)
    impacts_of({UPSTREAM: "def load(a): ...\n"}, {UPSTREAM: hostile}, USE)
    assert time.process_time() - started < 10


def test_a_file_that_does_not_parse_is_named() -> None:
    """The surface says which Python files it could not read."""
    found = surface({"plugin/a.py": "def (:\n", "plugin/b.py": USE, "plugin/c.txt": "def (:\n"})
    assert (found.unparsed, found.files) == (("plugin/a.py",), 3)


def test_imports_in_a_circle_come_to_nothing() -> None:
    """Modules that import a name from each other define it nowhere."""
    files = {"plugin/a.py": "from plugin.b import x\n\nx()\n", "plugin/b.py": "from plugin.a import x\n"}
    assert surface(files).uses == ()


def test_ten_thousand_names_are_read_in_seconds() -> None:
    """An import of 10,000 names, and as many calls, take seconds of processor time."""
    names = [f"name_{number}" for number in range(10_000)]
    text = f"from engine.core import {', '.join(names)}\n" + "".join(f"{name}(1)\n" for name in names)
    started = time.process_time()
    found = told("def name_7(a): ...\n", "def name_7(a, b): ...\n", text)
    assert found == ["call: parameter required: engine.core.name_7 (b)"]
    assert time.process_time() - started < 10


def test_a_huge_file_is_left_out() -> None:
    """A file of millions of characters is not parsed."""
    assert surface({"plugin/a.py": "x = 1\n" * 400_000}).unparsed == ("plugin/a.py",)


def test_a_tree_that_does_not_use_upstream_has_an_empty_surface() -> None:
    """Other packages, and names that only look alike, are no uses."""
    files = {
        "plugin/a.py": "import engines\nfrom my.engine import core\nfrom .engine import core as c\n\ncore.load()\nc.load()\n",
        "main.go": 'package main\n\nimport "fmt"\n',
        "README.md": "A tool.\n",
    }
    assert surface(files).uses == ()


def test_a_vendored_copy_of_upstream_is_not_used() -> None:
    """Files below `third_party` are somebody else's, whatever they import."""
    assert surface({"third_party/engine/core.py": "from engine.other import load\n"}).uses == ()


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["engine/__init__.py", "engine/core.py"], {"engine": ""}),
        (["src/engine/__init__.py"], {"engine": "src"}),
        (["python/engine/__init__.py"], {"engine": "python"}),
        (["engine/__init__.py", "engine/deep/__init__.py"], {"engine": ""}),
        (["tests/__init__.py", "docs/__init__.py"], {}),
        (["engine.py"], {}),
        ([], {}),
    ],
)
def test_packages_are_what_a_repository_installs(paths: list[str], expected: dict[str, str]) -> None:
    """A package lies at the root of a repository or in one of the usual folders; tests and documentation are none."""
    assert packages(paths) == expected


def test_a_folder_with_upstreams_own_tests_is_a_copy() -> None:
    """Most of its files are at the same places upstream; a plug-in's other tests are its own."""
    theirs = {f"tests/models/deep/{each}.py" for each in "abc"} | {"tests/conftest.py"}
    own = {f"tests/unit/{each}.py" for each in "abcdef"}
    assert copies(sorted(theirs | own), theirs, {"engine": ""}) == ("tests/models",)


def test_a_class_whose_module_is_gone_is_the_one_that_is_imported_elsewhere() -> None:
    """An import for type checkers alone is wrong unnoticed; of two classes of that name none is chosen."""
    stale = "if TYPE_CHECKING:\n    from engine.old import Output\n\n\ndef use(output: 'Output'):\n    output.ids\n"
    text = f"{stale}\n\nfrom engine.core import Output\n"
    for paths, module in (({UPSTREAM}, "core"), ({UPSTREAM, "engine/old.py"}, "old")):
        tree = UpstreamTree({"engine": ""}, paths)
        found = surface_of_tree(["plugin/a.py"], lambda each: [(path, text) for path in each], tree)
        assert ("engine", module, "Output", "()", "ids") in [each.target for each in found.surface.uses]
