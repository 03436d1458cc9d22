"""Python facts from whole files before and after: what breaks, and beside it what does not."""

from collections.abc import Mapping
from difflib import unified_diff

import pytest

from analysis.facts import facts
from analysis.models import Fact, FactKind, FileChange, Proof, Trees
from tests.factories import commit

CORE = "engine/core.py"
USER = "engine/user.py"  # a second changed file, without which a definition may be an internal of its own file
BASE = "engine/base.py"


class Files:
    """A tree of invented files."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def read(self, path: str) -> str | None:
        return self._texts.get(path)


def change(path: str, before: str | None, after: str | None) -> FileChange:
    """A file's change, with its patch as git writes it."""
    lines = unified_diff((before or "").splitlines(), (after or "").splitlines(), lineterm="")
    patch = "\n".join(list(lines)[2:])
    status = "added" if before is None else "removed" if after is None else "modified"
    added, removed = (sum(line.startswith(sign) for line in patch.split("\n")) for sign in "+-")
    return FileChange(path=path, status=status, additions=added, deletions=removed, patch=patch)


def found(before: Mapping[str, str], after: Mapping[str, str], *, use: bool = True) -> list[Fact]:
    """The breaking facts of a commit that turns one tree into the other, and changes a file that uses it."""
    old, new = ({**({USER: f"use = {number}\n"} if use else {}), **each} for number, each in enumerate((before, after)))
    files = [
        change(path, old.get(path), new.get(path)) for path in sorted({*old, *new}) if old.get(path) != new.get(path)
    ]
    return [fact for fact in facts(commit("Do it", files), Trees(Files(old), Files(new))) if fact.breaking]


def told(before: Mapping[str, str] | str, after: Mapping[str, str] | str) -> list[tuple[str, str]]:
    """(kind, name) of each breaking fact; a text stands for the one module."""
    old, new = ({CORE: each} if isinstance(each, str) else each for each in (before, after))
    return [(fact.kind.value, fact.name) for fact in found(old, new)]


CLASS = "class Engine:\n    def run(self, a, b=1):\n        return a\n\n    def stop(self):\n        return 0\n"

BREAKS = [
    ("def load(): ...\nx = 1\n", "x = 1\n", "removed public name", "load"),
    (
        "def load(a):\n    b = a\n    return b\n",
        "def fetch(a):\n    b = a\n    return b\n",
        "renamed public name",
        "load",
    ),
    ("MAX_SIZE = 3\nx = 1\n", "x = 1\n", "removed public name", "MAX_SIZE"),
    (CLASS, "class Engine:\n    def run(self, a, b=1):\n        return a\n", "removed method", "Engine.stop"),
    (CLASS, CLASS.replace("stop", "halt"), "renamed method", "Engine.stop"),
    (CLASS.replace("stop", "_stop"), CLASS.partition("    def stop")[0], "removed method", "Engine._stop"),
    ("class A:\n    x: int = 1\n    y: int = 2\n", "class A:\n    x: int = 1\n", "removed attribute", "A.y"),
    (
        "class A:\n    def __init__(self):\n        self.x = 1\n",
        "class A:\n    def __init__(self):\n        pass\n",
        "removed attribute",
        "A.x",
    ),
    (
        "class A:\n    def set(self):\n        self.x: int = 1\n",
        "class A:\n    def set(self):\n        pass\n",
        "removed attribute",
        "A.x",
    ),
    (
        "from enum import Enum\nclass A(Enum):\n    X = 1\n    Y = 2\n",
        "from enum import Enum\nclass A(Enum):\n    X = 1\n",
        "removed attribute",
        "A.Y",
    ),
    ("class A:\n    x = 1\n    class B: ...\n", "class A:\n    x = 1\n", "removed public name", "A.B"),
    ("class B: ...\nclass A(B): ...\n", "class B: ...\nclass A: ...\n", "removed base class", "A(B)"),
    (CLASS, CLASS.replace("a, b=1", "a"), "removed parameter", "Engine.run(b)"),
    (CLASS, CLASS.replace("b=1", "c=1"), "renamed parameter", "Engine.run(b)"),
    (CLASS, CLASS.replace("b=1", "b"), "new required parameter", "Engine.run(b)"),
    (CLASS, CLASS.replace("b=1", "*, b=1"), "changed kind of parameter", "Engine.run(b)"),
    ("def f(a, b): ...\n", "def f(b, a): ...\n", "moved parameter", "f(a)"),
    ("def f(a, b=1): ...\n", "def f(a, c=2, b=1): ...\n", "moved parameter", "f(b)"),
    ("def f(a, b): ...\n", "def f(a, b, /): ...\n", "changed kind of parameter", "f(a)"),
    (
        "class A:\n    def f(self): ...\n",
        "class A:\n    def f(self): ...\n    @abstractmethod\n    def g(self): ...\n",
        "new abstract method",
        "A.g",
    ),
    (
        "class A:\n    def f(self): ...\n",
        "class A:\n    @abstractmethod\n    def f(self): ...\n",
        "new abstract method",
        "A.f",
    ),
    (
        "@dataclass\nclass A:\n    x: int\n",
        "@dataclass\nclass A:\n    x: int\n    y: int\n",
        "new required parameter",
        "A.__init__(y)",
    ),
    (
        "@dataclass\nclass A:\n    x: int = 1\n",
        "@dataclass\nclass A:\n    x: int\n",
        "new required parameter",
        "A.__init__(x)",
    ),
    (
        "@dataclass\nclass A:\n    x: int = Field(default=1)\n",
        "@dataclass\nclass A:\n    x: int = Field(..., gt=0)\n",
        "new required parameter",
        "A.__init__(x)",
    ),
    (
        "@dataclass\nclass A:\n    x: int\n    y: int\n    z: int\n",
        "@dataclass\nclass A:\n    y: int\n    x: int\n    z: int\n",
        "moved parameter",
        "A.__init__(x)",
    ),
    (
        "@dataclass\nclass A:\n    x: int\n",
        "@dataclass(kw_only=True)\nclass A:\n    x: int\n",
        "changed kind of parameter",
        "A.__init__(x)",
    ),
    (
        "@dataclass\nclass A:\n    x: int\n    y: int\n",
        "@dataclass\nclass A:\n    x: int\n    y: int = field(init=False)\n",
        "removed parameter",
        "A.__init__(y)",
    ),
    (
        "@dataclass\nclass A:\n    x: int\n    y: int\n",
        "@dataclass\nclass A:\n    x: int\n    @property\n    def y(self): ...\n",
        "removed parameter",
        "A.__init__(y)",
    ),
    (
        "@dataclass\nclass PoolConfig:\n    x: int\n    y: int = field(init=False)\n",
        "@dataclass\nclass PoolConfig:\n    x: int\n",
        "removed attribute",
        "PoolConfig.y",
    ),
    (
        "def load(a) -> tuple[str, int]:\n    return split(a)\n",
        "def load(a) -> str:\n    return strip(a)\n",
        "changed number of returned values",
        "load",
    ),
    (
        "@dataclass\nclass A:\n    x: int\n    y: InitVar[int] = 1\n",
        "@dataclass\nclass A:\n    x: int\n",
        "removed parameter",
        "A.__init__(y)",
    ),
    (
        "@dataclass\nclass A:\n    x: int\n    def __post_init__(self): ...\n",
        "@dataclass\nclass A:\n    x: int\n    y: InitVar[int] = 1\n    def __post_init__(self, y): ...\n",
        "new parameter of an interface",
        "A.__post_init__(y)",
    ),
    (CLASS, CLASS.replace("    def stop", "    @property\n    def stop"), "changed kind of member", "Engine.stop"),
    (CLASS.replace("    def stop", "    @property\n    def stop"), CLASS, "changed kind of member", "Engine.stop"),
    (
        CLASS,
        CLASS.replace("    def stop(self):\n        return 0", "    stop: int = 0"),
        "changed kind of member",
        "Engine.stop",
    ),
    (
        CLASS.replace("    def stop(self):\n        return 0", "    stop: int = 0"),
        CLASS,
        "changed kind of member",
        "Engine.stop",
    ),
    (
        CLASS.replace("return 0", "return 0, 1"),
        CLASS.replace("return 0", "return 0, 1, 2"),
        "changed number of returned values",
        "Engine.stop",
    ),
    ("def f() -> tuple[int, str]: ...\n", "def f():\n    return 1, 2, 3\n", "changed number of returned values", "f"),
    (
        "class A(Protocol):\n    def f(self): ...\n",
        "class A(ABC):\n    def f(self): ...\n",
        "removed base class",
        "A(Protocol)",
    ),
]


@pytest.mark.parametrize(("before", "after", "kind", "name"), BREAKS)
def test_what_is_gone_or_required_is_proven(before: str, after: str, kind: str, name: str) -> None:
    """Whatever a module's users can no longer do is a fact, proven by the whole files."""
    old, new = {CORE: before}, {CORE: after}
    assert (kind, name) in told(old, new)
    assert all(fact.proof is Proof.FILES for fact in found(old, new))


HARMLESS = {
    "moved within the file": (f"def f(): ...\n{CLASS}", f"{CLASS}def f(): ...\n"),
    "an alias of the new name": ("def old(): ...\n", "def new(): ...\nold = new\n"),
    "bound by unpacking": ("def f(): ...\n", "f, g = make()\n"),
    "imported instead of defined": ("def f(): ...\n", "from elsewhere import f\n"),
    "imported for type checkers": ("class A: ...\n", "if TYPE_CHECKING:\n    from elsewhere import A\n"),
    "tried and caught": ("def f(): ...\n", "try:\n    from fast import f\nexcept ImportError:\n    f = None\n"),
    "a shim for the module": ("def f(): ...\n", "def __getattr__(name):\n    return getattr(elsewhere, name)\n"),
    "a star of what cannot be read": ("def f(): ...\n", "from elsewhere import *\n"),
    "bound by the module's dictionary": ("def f(): ...\n", "globals().update(load())\n"),
    "private": ("def _f(): ...\nx = 1\n", "x = 1\n"),
    "a variable": ("count = 1\nx = 1\n", "x = 1\n"),
    "a logger": ("LOGGER = logging.getLogger()\nx = 1\n", "x = 1\n"),
    "absorbed by any keyword": ("def f(a, b=1): ...\n", "def f(a, **rest): ...\n"),
    "no longer absorbed, but optional": ("def f(a, **rest): ...\n", "def f(a, b=1, **rest): ...\n"),
    "a kernel's parameters": ("@triton.jit\ndef f(a, b): ...\n", "@triton.jit\ndef f(a): ...\n"),
    "a command's parameters": ("@click.command()\ndef f(a, b): ...\n", "@click.command()\ndef f(a): ...\n"),
    "a static method's first": (
        "class A:\n    @staticmethod\n    def f(a): ...\n",
        "class A:\n    def f(self, a): ...\n",
    ),
    "an overload": (
        "@overload\ndef f(a: int) -> int: ...\n@overload\ndef f(a: str) -> str: ...\ndef f(a): ...\n",
        "def f(a): ...\n",
    ),
    "a property instead of an attribute": (
        "class A:\n    x: int = 1\n",
        "class A:\n    @property\n    def x(self): ...\n",
    ),
    "set by another method": (
        "class A:\n    def __init__(self):\n        self.x = 1\n",
        "class A:\n    def reset(self):\n        self.x, self.y = 1, 2\n",
    ),
    "set by name": (
        "class A:\n    def __init__(self):\n        self.x = 1\n",
        'class A:\n    def __init__(self):\n        setattr(self, "x", 1)\n',
    ),
    "inherited in the file": (
        CLASS,
        f"{CLASS.replace('Engine', 'Parent')}class Engine(Parent): ...\n",
    ),
    "a base that cannot be read": (CLASS, "class Engine(elsewhere.Engine): ...\n"),
    "a base with another name above it": (
        "class B: ...\nclass A(B): ...\n",
        "class B: ...\nclass C(B): ...\nclass A(C): ...\n",
    ),
    "abstract before, in a base": (
        "class B:\n    @abstractmethod\n    def f(self): ...\nclass A(B): ...\n",
        "class B:\n    @abstractmethod\n    def f(self): ...\nclass A(B):\n    @abstractmethod\n    def f(self): ...\n",
    ),
    "a field with a default": (
        "@dataclass\nclass A:\n    x: int\n",
        "@dataclass\nclass A:\n    x: int\n    y: int = 1\n",
    ),
    "fields that are passed by name": (
        "class A(BaseModel):\n    x: int\n    y: int\n",
        "class A(BaseModel):\n    y: int\n    x: int\n",
    ),
    "optional fields in another order": (
        "@dataclass\nclass A:\n    x: int = 1\n    y: int = 2\n",
        "@dataclass\nclass A:\n    y: int = 2\n    x: int = 1\n",
    ),
    "a field that is described": (
        "@dataclass\nclass A:\n    x: list\n",
        "@dataclass\nclass A:\n    x: list = field(metadata={})\n",
    ),
    "a property by a decorator of its own": (
        CLASS.replace("    def stop", "    @property\n    def stop"),
        CLASS.replace("    def stop", "    @lazy_property\n    def stop"),
    ),
    "an optional parameter of one class": (CLASS, CLASS.replace("b=1", "b=1, c=2")),
    "an attribute named before": ("class A:\n    _x: int = 1\n    y = 1\n", "class A:\n    y = 1\n"),
    "an optional parameter behind the others": ("def f(a, b=1): ...\n", "def f(a, b=1, c=2): ...\n"),
    "what a route passes by name": ("@app.get('/')\ndef f(a, b=1): ...\n", "@app.get('/')\ndef f(a, c=2, b=1): ...\n"),
    "optional parameters in another order": ("def f(a=1, b=2): ...\n", "def f(b=2, a=1): ...\n"),
    "one of several results": (
        "def f(a):\n    if a:\n        return g()\n    return 1, 2\n",
        "def f(a):\n    if a:\n        return g()\n    return 1, 2, 3\n",
    ),
    "what a generator returns": (
        "def f():\n    yield 1\n    return 1, 2\n",
        "def f():\n    yield 1\n    return 1, 2, 3\n",
    ),
    "what an inner function returns": (
        "def f():\n    def g():\n        return 1, 2\n    g()\n",
        "def f():\n    def g():\n        return 1, 2, 3\n    g()\n",
    ),
    "a type that was wrong": (
        "def f() -> tuple[int, int, int]:\n    return 1, 2\n",
        "def f() -> tuple[int, int]:\n    return 1, 2\n",
    ),
    "only a body": (CLASS, CLASS.replace("return a", "return -a")),
}


@pytest.mark.parametrize(("before", "after"), HARMLESS.values(), ids=HARMLESS.keys())
def test_what_still_works_is_no_break(before: str, after: str) -> None:
    """What can still be imported, called, read or overridden as before is no fact, whatever the patch looks like."""
    assert told(before, after) == []


SHARED = "class Shared:\n    def stop(self):\n        return 0\n"
DERIVED = "class Engine(Shared):\n    pass\n"


@pytest.mark.parametrize(
    "line",
    ["from engine.base import Shared", "from .base import Shared", "from . import base\nShared = base.Shared"],
)
def test_a_member_that_another_module_provides_is_inherited(line: str) -> None:
    """A method that moved into a base class of another module is still there."""
    after = {CORE: f"{line}\n{DERIVED}", BASE: SHARED}
    before = {CORE: f"{line}\n{DERIVED}    def stop(self):\n        return 1\n", BASE: SHARED}
    assert told(before, after) == []


def test_a_base_of_another_module_that_lacks_the_member_provides_nothing() -> None:
    """A method removed from a class whose bases are known not to have it is gone."""
    line = "from engine.base import Shared"
    before = {CORE: f"{line}\n{DERIVED}    def start(self): ...\n", BASE: SHARED}
    after = {CORE: f"{line}\n{DERIVED}", BASE: SHARED}
    assert told(before, after) == [("removed method", "Engine.start")]


PACKAGE = "engine/__init__.py"


def test_what_a_package_no_longer_exports_is_gone() -> None:
    """A name that a package re-exported can be imported from it no more, though its module still has it."""
    before = {PACKAGE: "from engine.base import Shared\n", BASE: SHARED}
    assert told(before, {PACKAGE: "", BASE: SHARED}) == [("removed public name", "Shared")]
    assert told(before, {PACKAGE: "from engine.base import *\n", BASE: SHARED}) == []
    typed = "if TYPE_CHECKING:\n    from engine.base import Shared\n"  # no run could import it
    assert told({PACKAGE: typed, BASE: SHARED}, {PACKAGE: f"{typed}x = 1\n", BASE: SHARED}) == []


def test_what_a_package_imports_for_itself_is_no_export() -> None:
    """A package that stops importing from elsewhere offers nothing less, unless it had listed the name."""
    before = {PACKAGE: "from other.base import Shared\n", "other/base.py": SHARED}
    assert told(before, {PACKAGE: "", "other/base.py": SHARED}) == []


def test_a_table_of_deprecated_names_keeps_alive_what_it_lists() -> None:
    """A module's `__getattr__` that looks names up in a table provides those of the table only."""
    shim = "def __dir__():\n    return [*globals().keys()]\ndef __getattr__(name):\n    if name in OLD:\n        return load(name)\n    raise AttributeError(name)\n"
    before = {CORE: f'OLD = {{"a": 1}}\ndef f(): ...\n{shim}'}
    assert told(before, {CORE: f'OLD = {{"a": 1}}\n{shim}'}) == [("removed public name", "f")]
    assert told(before, {CORE: f'OLD = {{"a": 1, "f": 2}}\n{shim}'}) == []


def test_a_moved_name_leads_to_its_new_module_unless_it_can_still_be_imported() -> None:
    """A definition in another module of the commit is a move; re-exported under its old path it is none."""
    before, body = {CORE: "def f(): ...\nx = 1\n", BASE: "y = 1\n"}, "def f(): ...\ny = 1\n"
    (fact,) = found(before, {CORE: "x = 1\n", BASE: body})
    assert (fact.kind.value, fact.old, fact.new) == ("moved public name", f"{CORE}:1", f"{BASE}:1")
    assert found(before, {CORE: "from engine.base import f\nx = 1\n", BASE: body}) == []


def test_an_inner_class_that_becomes_a_modules_has_moved() -> None:
    """Who used it through the class that held it finds it elsewhere."""
    before = {CORE: "class A:\n    x = 1\n    class Inner: ...\n", BASE: "y = 1\n"}
    (fact,) = found(before, {CORE: "class A:\n    x = 1\n", BASE: "class Inner: ...\ny = 1\n"})
    assert (fact.kind.value, fact.name, fact.new) == ("moved public name", "A.Inner", f"{BASE}:1")


def test_a_re_exported_class_is_compared_with_where_it_went() -> None:
    """A class that moved and lost a method on the way lost it for those who import it by the old path, too."""
    after = {CORE: "from engine.base import Engine\n", BASE: CLASS.partition("    def stop")[0]}
    assert ("removed method", "Engine.stop") in told({CORE: CLASS, BASE: "x = 1\n"}, after)


def test_a_class_is_compared_with_what_took_its_place() -> None:
    """A class that is renamed or moved is told with what it lost or requires on the way."""
    abstract = "class {}:\n{}    def run(self):\n        return 1\n\n    def stop(self):\n        return 2\n"
    before, after = abstract.format("Like(Protocol)", ""), abstract.format("Base(ABC)", "    @abstractmethod\n")
    assert told(before, after) == [
        ("renamed public name", "Like"),
        ("removed base class", "Base(Protocol)"),
        ("new abstract method", "Base.run"),
    ]
    moved = {CORE: "x = 1\n", BASE: CLASS.partition("    def stop")[0]}
    assert ("removed method", "Engine.stop") in told({CORE: f"{CLASS}x = 1\n", BASE: "x = 1\n"}, moved)


REQUEST = "class OwlRequest(BaseModel):\n    size: int = 1\n    {}\n"


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("x: int = 1", "x: int", ("new required API field", "OwlRequest.x")),
        ("", "x: int", ("new required API field", "OwlRequest.x")),
        ("x: int = 1", "", ("removed API field", "OwlRequest.x")),
        ("x: int = Field(1, alias='y')", "x: int = Field(1, alias='z')", ("renamed API field", "OwlRequest.y")),
        ("x: int = 1", "x: int = Field(1, serialization_alias='z')", ("renamed API field", "OwlRequest.x")),
        ("x: int = 1", "x: int = Field(1, alias='z')\n    model_config = C(populate_by_name=True)", None),
        ("", "x: int = 1", None),
    ],
)
def test_what_clients_send_is_told_as_they_write_it(old: str, new: str, found: tuple[str, str] | None) -> None:
    """A field that a request must have, or no longer has, or has by another name."""
    path = "engine/api/protocol.py"
    assert told({path: REQUEST.format(old)}, {path: REQUEST.format(new)}) == ([found] if found else [])


def test_a_removed_module_gives_one_fact_for_a_class() -> None:
    """A class that goes is one fact, not one for each of its methods."""
    assert told({CORE: CLASS}, {}) == [("removed public name", "Engine")]


def test_a_module_that_became_a_package_keeps_its_names() -> None:
    """What the package of the same name defines can be imported as before."""
    assert told({CORE: CLASS}, {"engine/core/__init__.py": CLASS}) == []


def test_a_private_name_that_others_import_is_not_private() -> None:
    """A name with an underscore is exposed if another file of the commit had to stop importing it."""
    before = {CORE: "class _Kind: ...\nx = 1\n", BASE: "from engine.core import _Kind\ny = 1\n"}
    assert told(before, {CORE: "x = 1\n", BASE: "y = 1\n"}) == [("removed public name", "_Kind")]


def test_a_parameter_that_several_classes_gain_is_an_interface() -> None:
    """A new optional parameter of a method is a fact if more than one class had to accept it."""
    before = {CORE: "class A:\n    def f(self, a): ...\n", BASE: "class B:\n    def f(self, a): ...\n"}
    after = {path: text.replace("self, a", "self, a, b=1") for path, text in before.items()}
    assert sorted(told(before, after)) == [
        ("new parameter of an interface", "A.f(b)"),
        ("new parameter of an interface", "B.f(b)"),
    ]
    assert told(before, {**before, CORE: after[CORE]}) == []


def test_an_interface_of_one_file_is_an_internal() -> None:
    """A parameter that the classes of a single file gain is none of others, unless another source mentions the method."""
    before = "class A:\n    def f(self, a): ...\nclass B(A):\n    def f(self, a): ...\n"
    after, call = before.replace("self, a", "self, a, b=1"), "core.f(1{})\n"
    assert told({CORE: before}, {CORE: after}) == []
    assert told({CORE: before, BASE: call.format("")}, {CORE: after, BASE: call.format(", b=2")}) != []


def test_an_attribute_that_its_own_file_reads_is_state() -> None:
    """One set by a method is told if its file does not read it, another source stops mentioning it, or a call gave it."""
    before = "class A:\n    def f(self):\n        self.x = 1\n{}    def g(self): ...\n"
    unread, read = before.format(""), before.format("        return self.x\n")
    after = "class A:\n    def f(self): ...\n    def g(self): ...\n"
    assert told(f"class B:\n    y = 1\n{read.replace('x', 'y')}", f"class B: ...\n{after}") == []
    assert told(f"class B:\n    y: int = 1\n{read.replace('x', 'y')}", f"class B: ...\n{after}") != []
    assert told(unread, after) == [("removed attribute", "A.x")]
    assert told(read, after) == []
    assert told({CORE: read, BASE: "a.x\n"}, {CORE: after, BASE: "a.y\n"}) == [("removed attribute", "A.x")]
    assert told(read.replace("= 1", "= x or {}"), after) == [("removed attribute", "A.x")]


def test_what_only_its_own_file_uses_is_an_internal() -> None:
    """A function called in its own file, whose change no other source had to follow, breaks nobody."""
    before, after = "def f(a): ...\nf(1)\n", "def f(a, b): ...\nf(1, 2)\n"
    change_alone = commit("Do it", [change(CORE, before, after)])
    assert not facts(change_alone, Trees(Files({CORE: before}), Files({CORE: after})))
    assert told(before, after) == [("new required parameter", "f(b)")]


def test_a_private_method_is_an_internal_unless_other_sources_follow() -> None:
    """A hook that goes together with other sources may be overridden; one that goes alone is a detail of its class."""
    before = CLASS.replace("stop", "_stop")
    after = before.partition("    def _stop")[0]
    change_alone = commit("Do it", [change(CORE, before, after)])
    assert not facts(change_alone, Trees(Files({CORE: before}), Files({CORE: after})))
    assert told(before, after) == [("removed method", "Engine._stop")]


def test_a_fact_quotes_the_line_of_its_side() -> None:
    """What is gone is quoted from the old file at its old line, what is required from the new file."""
    before = f"{CLASS}\n\n@decorate\ndef f(\n    a,\n    b,\n): ...\n"
    after = f"# a line more\n{CLASS}\n\n@decorate\ndef f(\n    a,\n    c: int,\n    d,\n): ...\n"
    assert {(fact.name, fact.place) for fact in found({CORE: before}, {CORE: after})} == {
        ("f(b)", f"{CORE}:12"),
        ("f(c)", f"{CORE}:13"),
        ("f(d)", f"{CORE}:14"),
    }


def test_whole_files_withdraw_what_a_patch_seems_to_prove() -> None:
    """A key that a configuration class now inherits is removed as far as the patch shows, and is not."""
    base, line = "class Shared:\n    size: int = 1\n", "from engine.base import Shared\n"
    before = {CORE: f"{line}class CacheConfig(Shared):\n    size: int = 1\n    x: int = 1\n", BASE: base}
    after = {CORE: f"{line}class CacheConfig(Shared):\n    x: int = 1\n", BASE: base}
    files = [change(CORE, before[CORE], after[CORE])]
    assert [fact.name for fact in facts(commit("Do it", files)) if fact.breaking] == ["CacheConfig.size"]
    assert told(before, after) == []


HOSTILE = {
    "syntax": "class :\n",
    "null": "a\0b\n",
    "deep brackets": "x = " + "(" * 5_000 + ")" * 5_000 + "\n",
    "deep operators": "x = " + "-" * 20_000 + "1\n",
    "a long sum": "x = 1" + "+1" * 20_000 + "\n",
    "deep conditions": "if a:\n  pass\n" + "elif b:\n  pass\n" * 3_000,
    "too large": "a = 1\n" + "#" * 1_000_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_file_that_cannot_be_parsed_leaves_the_patch_its_say(text: str) -> None:
    """What is no Python, too deep or too large is skipped, and the patch's rules stand."""
    (fact,) = found({CORE: "def f(): ...\n"}, {CORE: text})
    assert (fact.name, fact.proof) == ("f", Proof.PATCH)


POOL = "class BasePool:\n    def take(self): ...\n"


@pytest.mark.parametrize(
    ("before", "after", "names"),
    [
        (POOL, f"{POOL}    def give(self): ...\n    def _keep(self): ...\n", ["BasePool.give"]),
        (POOL.replace("Base", ""), f"{POOL}    def give(self): ...\n".replace("Base", ""), []),
        (POOL, POOL.replace("BasePool", "BasePool(ABC)"), []),
    ],
)
def test_a_new_method_of_a_base_class_is_a_fact(before: str, after: str, names: list[str]) -> None:
    """Others may override it; one of another class, or a private one, is nobody's."""
    trees = Trees(Files({CORE: before}), Files({CORE: after}))
    told = facts(commit("Do it", [change(CORE, before, after)]), trees)
    assert [each.name for each in told if each.kind is FactKind.NEW_METHOD] == names


def test_a_field_that_only_the_constructor_takes_is_gone() -> None:
    """Whoever reads it gets nothing."""
    before = "@dataclass\nclass PoolConfig:\n    x: int\n    y: int = 1\n"
    after = before.replace("y: int", "y: InitVar[int]")
    assert told(before, after) == [("removed attribute", "PoolConfig.y")]


@pytest.mark.parametrize(
    ("path", "user", "names"),
    [
        ("engine/_ops.py", "engine/layers/a.py", ["take"]),
        ("engine/_ops.py", "engine/a.py", []),
        ("_engine/ops.py", "a/b.py", []),
    ],
)
def test_a_module_with_a_private_name_that_other_folders_use_is_public(path: str, user: str, names: list[str]) -> None:
    """What another package of the project has to call otherwise, plug-ins do, too."""
    old = {path: "def take(a):\n    return a + 1\n", user: "x = ops.take(1)\n"}
    new = {path: "def give(a):\n    return a + 1\n", user: "x = ops.give(1)\n"}
    assert [name for _, name in told(old, new)] == names
