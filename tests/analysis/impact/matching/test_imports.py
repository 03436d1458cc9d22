"""Imports: which are broken when a name or a module of upstream goes, and which still find it."""

import pytest

from analysis.facts import facts
from analysis.impact.matching import impacts
from analysis.impact.surface.model import SurfaceIndex
from analysis.models.impacts import Certainty
from tests.analysis.facts.trees import commit_between, trees
from tests.analysis.impact.repositories import UPSTREAM, impacts_of, surface, told

LOAD = "def load():\n    return 1\n\n\ndef keep():\n    return 2\n"
GONE = "def keep():\n    return 2\n"
REMOVED = ["import: removed: engine.core.load"]


@pytest.mark.parametrize(
    "imported",
    [
        "from engine.core import load\n",
        "from engine.core import load as fetch\n",
        "from engine.core import (\n    keep,\n    load,\n)\n",
        "def run():\n    from engine.core import load\n\n    return load()\n",
        "class Worker:\n    def run(self):\n        from engine.core import load\n",
        "if True:\n    from engine.core import load\n",
        "x = 'engine.core.load'\n",
        "x = 'engine.core:load'\n",
        "@patch('engine.core.load')\ndef test(): ...\n",
    ],
)
def test_an_import_of_a_removed_name_breaks(imported: str) -> None:
    """An import breaks wherever it stands, and a string that is the dotted path of a name is an import too."""
    assert told(LOAD, GONE, imported) == REMOVED


@pytest.mark.parametrize(
    "used",
    [
        "import engine.core\n\nengine.core.load()\n",
        "import engine.core as core\n\ncore.load()\n",
        "from engine import core\n\ncore.load()\n",
        "from engine import core as c\n\nd = c\nd.load()\n",
        "def run():\n    import engine.core as core\n\n    return core.load()\n",
    ],
)
def test_a_call_through_a_module_breaks(used: str) -> None:
    """A module imported under any name is followed to the function that is called on it."""
    assert told(LOAD, GONE, used) == ["call: removed: engine.core.load"]


@pytest.mark.parametrize(
    "path_and_import",
    [
        ("plugin/worker.py", "from .compat import load\n"),
        ("plugin/worker.py", "from plugin.compat import load\n"),
        ("plugin/deep/worker.py", "from ..compat import load\n"),
        ("plugin/worker.py", "from .compat import *\n"),
    ],
)
def test_an_import_through_the_plug_in_breaks_where_it_names_upstream(path_and_import: tuple[str, str]) -> None:
    """A name that a module of the plug-in re-exports breaks in both files."""
    path, imported = path_and_import
    files = {"plugin/__init__.py": "", "plugin/compat.py": "from engine.core import load\n", path: imported}
    found = impacts_of(LOAD, GONE, files)
    assert {each.downstream.path for each in found} >= {"plugin/compat.py"}
    assert {each.name for each in found} == {"engine.core.load"}


def test_a_call_of_a_re_exported_name_is_judged_by_the_definition() -> None:
    """Calls of a name that the plug-in's own modules pass on are followed to upstream."""
    files = {
        "plugin/__init__.py": "from plugin.compat import fetch\n",
        "plugin/compat.py": "from engine.core import load as fetch\n",
        "plugin/worker.py": "from plugin import fetch\n\nfetch(1)\n",
    }
    assert told("def load(a): ...\n", "def load(a, b): ...\n", files) == [
        "call: parameter required: engine.core.load (b)"
    ]


def test_a_name_that_upstream_re_exports_breaks() -> None:
    """A package that no longer passes a name on breaks the import from the package, not the one from its module."""
    before = {UPSTREAM: LOAD, "engine/__init__.py": "from engine.core import load\n"}
    after = {UPSTREAM: LOAD, "engine/__init__.py": ""}
    found = impacts_of(before, after, "from engine import load\nfrom engine.core import load as other\n")
    assert [(each.name, each.downstream.line) for each in found] == [("engine.load", 1)]


@pytest.mark.parametrize(
    "passed_on",
    [
        "from engine.other import load\n",
        "from engine.other import fetch as load\n",
        "from .other import load\n",
        "from .other import *\n",
        "from engine import other\n\nload = other.load\n",
        "try:\n    from engine.other import load\nexcept ImportError:\n    load = None\n",
        "if True:\n    def load(): ...\n",
        "load, save = 1, 2\n",
        "globals()['load'] = 1\n",
        "def __getattr__(name):\n    if name == 'load':\n        return 1\n    raise AttributeError(name)\n",
        "def __getattr__(name):\n    from engine import other\n\n    return getattr(other, name)\n",
    ],
)
def test_a_name_that_upstream_keeps_importable_does_not_break(passed_on: str) -> None:
    """A definition that moved, and that its old module still offers in any way, breaks no import."""
    other = "def load(): ...\n\n\ndef fetch(): ...\n"
    before = {UPSTREAM: LOAD, "engine/other.py": ""}
    after = {UPSTREAM: passed_on + GONE, "engine/other.py": other}
    found = impacts_of(before, after, "from engine.core import load\n")
    assert [each for each in found if each.certainty is Certainty.PROVEN] == []


@pytest.mark.parametrize(
    "serving",
    [
        "_NAMES = {'other': 1}\n\n\ndef __getattr__(name):\n    if name in _NAMES:\n        return _NAMES[name]\n",
        "def __getattr__(name: str) -> object:\n    if name == 'other':\n        import json\n        return json\n",
        "def __getattr__(name):\n    if name in {'other', 'more'}:\n        return 1\n",
    ],
)
def test_a_module_that_serves_other_names_does_not_keep_it(serving: str) -> None:
    """A module's `__getattr__` that serves the names of a table, or those that it compares with, serves no others."""
    after = f"{serving}    raise AttributeError(name)\n"
    assert told(LOAD, after, "from engine.core import load\n") == REMOVED


@pytest.mark.parametrize(
    ("owner", "used", "new", "advice"),
    [
        ("", "from engine.core import load\n", "engine.core.read", "from engine.core import read as load"),
        ("class A:\n    ", "from engine.core import A\n\nA().load(1, 2)\n", "engine.core.A.read", "A().read(1, 2)"),
    ],
)
def test_a_renamed_name_names_its_new_one(owner: str, used: str, new: str, advice: str) -> None:
    """A function or method with the same body under another name is renamed, and the advice writes that."""
    body = "(path, mode):\n        with open(path, mode) as file:\n            return file.read()\n"
    [found] = impacts_of(f"{owner}def load{body}", f"{owner}def read{body}", used)
    assert (found.cause.value, found.new, found.advice) == ("renamed", new, advice)


@pytest.mark.parametrize(
    "imported",
    [
        "import engine.core\n",
        "from engine import core\n",
        "from engine.core import load\n",
        "from engine.core import (\n    load,\n)\n",
    ],
)
def test_a_renamed_module_names_its_new_one(imported: str) -> None:
    """An import of a module that git calls renamed says where it is now."""
    found = impacts_of({UPSTREAM: LOAD}, {"engine/kernel.py": LOAD}, imported, {UPSTREAM: "engine/kernel.py"})
    assert [(each.cause.value, (each.new or "").startswith("engine.kernel")) for each in found] == [("moved", True)]


def test_a_package_below_a_folder_is_found() -> None:
    """Upstream may keep its package in `src`."""
    before, after = {"src/engine/core.py": LOAD}, {"src/engine/core.py": GONE}
    index = SurfaceIndex(surface("from engine.core import load\n"))
    found = impacts(commit_between(before, after), trees(before, after), index, {"engine": "src"}, ())
    assert [each.name for each in found] == ["engine.core.load"]


@pytest.mark.parametrize(
    "compared", ["assert path() == 'engine.core.load'", "self.assertEqual(path(), 'engine.core.load')"]
)
def test_a_string_that_is_only_compared_does_not_break(compared: str) -> None:
    """An expected value is not resolved."""
    before, after = "def load(): ...\n", "x = 1\n"
    assert told(before, after, f"def test(self):\n    {compared}\n") == []
    assert told(before, after, "def test(self):\n    patch('engine.core.load')\n") != []


def test_a_member_that_was_missing_before_is_not_broken_by_the_end_of_its_module() -> None:
    """A path that named nothing in a module cannot break with it."""
    before = {"engine/__init__.py": "", "engine/old.py": "x = 1\n"}
    after = {"engine/__init__.py": ""}
    assert told(before, after, "path = 'engine.old.Missing'\n") == []
    assert told(before, after, "path = 'engine.old.x'\n") != []


def test_a_stand_in_is_not_what_to_import_instead() -> None:
    """A name that is None at run time, and imported for type checkers, is imported from where it is defined."""
    mode = "class Mode: ...\n"
    before = {UPSTREAM: mode, "engine/__init__.py": "from engine.core import Mode\n"}
    after = {
        UPSTREAM: "if TYPE_CHECKING:\n    from engine.modes import Mode\nelse:\n    Mode = None\n",
        "engine/modes.py": mode,
        "engine/__init__.py": "",
    }
    [found] = impacts_of(before, after, "from engine import Mode\n")
    assert found.advice in (None, "from engine.modes import Mode")


@pytest.mark.parametrize(
    ("before", "after", "renamed", "imported", "told_as"),
    [
        # another module has the name by now
        ({UPSTREAM: LOAD, "engine/io.py": "x = 1\n"}, {UPSTREAM: GONE, "engine/io.py": f"x = 1\n\n\n{LOAD}"},
         {}, "from engine.core import load\n", ("moved", "engine.io.load", "from engine.io import load")),
        # two modules have it
        ({UPSTREAM: LOAD, "engine/io.py": "", "engine/net.py": ""}, {UPSTREAM: GONE, "engine/io.py": LOAD, "engine/net.py": LOAD},
         {}, "from engine.core import load\n", ("removed", None, None)),
        # another module always had one of that name
        ({UPSTREAM: LOAD, "engine/io.py": "load = 1\n"}, {UPSTREAM: GONE, "engine/io.py": "load = 1\n# load\n"},
         {}, "from engine.core import load\n", ("removed", None, None)),
        # git pairs two empty packages: nothing of the old one is in the new one
        ({"engine/old/__init__.py": "", "engine/old/io.py": LOAD}, {"engine/new/__init__.py": ""},
         {"engine/old/__init__.py": "engine/new/__init__.py"}, "from engine.old.io import load\n", ("removed", None, None)),
        ({"engine/old/__init__.py": ""}, {"engine/new/__init__.py": ""},
         {"engine/old/__init__.py": "engine/new/__init__.py"}, "import engine.old\n", ("removed", None, None)),
        # the module of that package went elsewhere
        ({"engine/old/__init__.py": "", "engine/old/io.py": LOAD}, {"engine/new/__init__.py": "", "engine/net/io.py": LOAD},
         {"engine/old/__init__.py": "engine/new/__init__.py", "engine/old/io.py": "engine/net/io.py"},
         "from engine.old.io import load\n", ("moved", "engine.net.io", "from engine.net.io import load")),
        # the module that git calls renamed has lost the name, which another one has
        ({UPSTREAM: LOAD, "engine/io.py": "x = 1\n"}, {"engine/kernel.py": GONE, "engine/io.py": "x = 1\n\n\ndef load(): ...\n"},
         {UPSTREAM: "engine/kernel.py"}, "from engine.core import load\n",
         ("moved", "engine.io.load", "from engine.io import load")),
        # the module went into a package of its name, with all that it has
        ({UPSTREAM: LOAD}, {"engine/core/__init__.py": "", "engine/core/io.py": LOAD}, {UPSTREAM: "engine/core/io.py"},
         "from engine.core import load\n", ("moved", "engine.core.io.load", "from engine.core.io import load")),
    ],
)  # fmt: skip
def test_a_new_place_is_told_only_if_it_is_certain(
    before: dict[str, str], after: dict[str, str], renamed: dict[str, str], imported: str, told_as: tuple[str, str, str]
) -> None:
    """An advice imports what one module alone has since the commit, and nothing is concluded from the renaming of an empty file."""
    [found] = impacts_of(before, after, imported, renamed)
    assert (found.cause.value, found.new, found.advice) == told_as


@pytest.mark.parametrize(
    ("changed", "written", "told_as"),
    [
        (4, "from engine.core import fetch\n\nx = fetch({})\n", ("renamed", "engine.core.fetch")),
        (4, "from engine.io import load\n\nx = load({})\n", ("moved", "engine.io.load")),
        (4, "from engine.core import missing\n\nx = missing({})\n", ("moved", "engine.net.load")),
        (2, "from engine.core import fetch\n\nx = fetch({})\n", ("moved", "engine.net.load")),  # too few
    ],
)
def test_what_many_files_of_the_commit_write_instead_is_the_successor(
    changed: int, written: str, told_as: tuple[str, str]
) -> None:
    """What upstream's own callers use since the commit is told if the tree has it, before what another module defines."""
    users = [f"engine/user{each}.py" for each in range(changed)]
    other = {"engine/io.py": "def load(a):\n    return 2\n"}
    before = {
        UPSTREAM: LOAD,
        **other,
        "engine/net.py": "",
        **{each: f"from engine.core import load\n\nx = load({each!r})\n" for each in users},
    }
    fetch = "def fetch(*rest, b=1):\n    while b:\n        rest()\n"
    after = {
        UPSTREAM: fetch,
        **other,
        "engine/net.py": "load = 1\n",
        **{each: written.format(repr(each)) for each in users},
    }
    [found] = impacts_of(before, after, "from engine.core import load\n")
    assert (found.cause.value, found.new) == told_as


def test_a_file_that_git_pairs_with_one_that_holds_something_else_did_not_move() -> None:
    """Files of few lines resemble each other."""
    renamed = {"engine/old.py": "engine/new.py"}
    [found] = impacts_of(
        {"engine/old.py": "A = 1\nB = 2\n"}, {"engine/new.py": "C = 1\nD = 2\n"}, "import engine.old\n", renamed
    )
    assert (found.cause.value, found.new) == ("removed", None)


def test_a_line_of_which_a_name_is_gone_gets_no_advice() -> None:
    """Of several names that a line imports from a renamed module, all have to be in the new one."""
    found = impacts_of(
        {UPSTREAM: LOAD},
        {"engine/kernel.py": GONE},
        "from engine.core import keep, load\n",
        {UPSTREAM: "engine/kernel.py"},
    )
    assert {each.advice for each in found} == {None}


NO_MODULE = "import: removed: engine.core"


@pytest.mark.parametrize(
    ("before", "after", "plugin", "expected"),
    [
        (LOAD, GONE, "from engine import core\n\nloader = core.load\n", ["attribute: removed: engine.core.load"]),
        (LOAD, GONE, "from engine.core import load\n\nload()\nload()\n", REMOVED),
        (LOAD, {}, "from engine.core import *\n", [NO_MODULE]),
        (LOAD, {}, "import engine.core\nfrom engine import core\nfrom engine.core import load\n", [NO_MODULE] * 3),
        (LOAD, {"engine/core/__init__.py": LOAD}, "from engine.core import load\n", []),
        ({"engine/core/__init__.py": LOAD}, {UPSTREAM: GONE}, "from engine.core import load\n", REMOVED),
    ],
)
def test_what_can_no_longer_be_imported_is_told_once(
    before: str | dict[str, str], after: str | dict[str, str], plugin: str, expected: list[str]
) -> None:
    """A module is gone for every import of it, a package may take its place, and of a missing name the import alone is told."""
    assert told({UPSTREAM: before} if isinstance(before, str) else before, after, plugin) == expected


@pytest.mark.parametrize(
    ("after", "line", "advice"),
    [
        ("class Mode:\n    FAST = 1\n", "from engine.core import Level", "from engine.core import Mode as Level"),
        ("class Mode:\n    QUICK = 1\n", "from engine.core import Level", None),
        ("class Mode:\n    FAST = 1\n", "from engine.core import Level, gone", None),
    ],
)
def test_an_advice_is_given_if_all_that_it_imports_is_there(after: str, line: str, advice: str | None) -> None:
    """A class that lacks members under its new name does not stand for the old one, and what was gone before is not imported."""
    before = {
        "engine/core.py": "class Level:\n    FAST = 1\n",
        "engine/a.py": "from engine.core import Level\nx = Level.FAST\n",
    }
    files = {"engine/core.py": after, "engine/a.py": before["engine/a.py"].replace("Level", "Mode")}
    sides = trees({"engine/__init__.py": "", **before}, {"engine/__init__.py": "", **files})
    commit = commit_between(before, files, "Rename Level to Mode")
    plugin = SurfaceIndex(surface(f"{line}\n"))
    [found] = impacts(commit, sides, plugin, {"engine": ""}, facts(commit, sides))
    assert (found.new, found.advice) == ("engine.core.Mode", advice)


@pytest.mark.parametrize(
    ("alternative", "advised"),
    [
        ("", "from engine.heads import Head"),
        ("else:\n    Head = object\n", "from engine.parts import Head"),
    ],
)
def test_what_is_there_for_type_checkers_alone_is_not_to_be_imported(alternative: str, advised: str) -> None:
    """A moved module that has a name under `if TYPE_CHECKING:` does not offer it to a run, unless its alternative does."""
    rest = "def one(): ...\n\n\ndef two(): ...\n"
    typed = f"from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from engine.heads import Head\n{alternative}"
    head = "class Head:\n    size = 1\n\n\n"
    before = {"engine/core.py": head + rest}
    after = {"engine/parts.py": typed + rest, "engine/heads.py": head}
    [found] = impacts_of(before, after, "from engine.core import Head\n", {"engine/core.py": "engine/parts.py"})
    assert found.advice == advised


def test_a_replaced_name_is_where_its_module_looks_it_up() -> None:
    """A name that a plug-in replaces in a module moves with that module, though it is defined elsewhere."""
    core = "from engine.other import build\n\n\ndef load():\n    return build()\n"
    other = {"engine/other.py": "def build(): ...\n"}
    after = {**other, "engine/core/__init__.py": "", "engine/core/loader.py": core}
    plugin = "import engine.core\n\nengine.core.build = None\n"
    renamed = {"engine/core.py": "engine/core/loader.py"}
    [found] = impacts_of({**other, "engine/core.py": core}, after, plugin, renamed)
    assert found.new == "engine.core.loader.build"
