"""Overrides, subclasses and replaced functions: what upstream calls, and what it finds there."""

import pytest

from analysis.models.impacts import Certainty
from tests.analysis.impact.repositories import impacts_of, told

HEAD = "from engine.core import Engine\n\n\nclass Mine(Engine):\n"
NAME = "engine.core.Engine.run"


@pytest.mark.parametrize(
    ("before", "after", "own", "expected"),
    [
        ("self, a", "self, a, b", "self, a", ["parameter required: {} (b)"]),
        ("self, a", "self, a, b=1", "self, a", []),
        ("self, a", "self, a, *, b=1", "self, a", []),
        ("self, a", "self, a, b", "self, a, b", []),
        ("self, a", "self, a, b", "self, a, b=None", []),
        ("self, a", "self, a, b", "self, a, **rest", []),
        ("self, a", "self, a, b", "self, *args, **rest", []),
        ("self, a", "self, a, b", "self, a, *rest", []),
        ("self, a, b", "self, a", "self, a, b", ["parameter removed: {} (b)"]),
        ("self, a, b", "self, a", "self, a, b=1", []),
        ("self, a", "self, b", "self, a", ["parameter renamed: {} (a)"]),
        ("self, a=1", "self, b=1", "self, a=1", []),
        ("self, a", "self, b", "self, other", []),
        ("self, a", "self, *args", "self, a", []),
        ("self, a, **rest", "self, **rest", "self, a, **rest", ["parameter removed: {} (a)"]),
        ("self, a", "self, a, **rest", "self, a", []),
        ("self, a: int", "self, a: str", "self, a", []),
    ],
)
def test_an_override_breaks_if_upstream_calls_it_otherwise(
    before: str, after: str, own: str, expected: list[str]
) -> None:
    """Parameters that an override does not accept, or that it requires and nobody passes."""
    found = told(
        f"class Engine:\n    def run({before}): ...\n",
        f"class Engine:\n    def run({after}): ...\n",
        f"{HEAD}    def run({own}): ...\n",
    )
    assert found == [f"override: {each.format(NAME)}" for each in expected]


@pytest.mark.parametrize(
    ("call", "own", "breaks"),
    [
        ("def go(e: Engine):\n    e.run(1, b=2)\n", "self, a", True),
        ("def go(e: Engine):\n    e.run(1, 2)\n", "self, a", True),
        ("def go(e: Engine):\n    run = partial(e.run, 1)\n    run(b=2)\n", "self, a", True),
        ("def go(e: Engine):\n    e.run(1)\n", "self, a", False),
        ("def go(e: Engine):\n    e.stop(1, b=2)\n", "self, a", False),
        ("def go(e: Engine):\n    e.run(1, b=2)\n", "self, a, **rest", False),
    ],
)
def test_an_optional_parameter_breaks_an_override_if_a_caller_passes_it(call: str, own: str, breaks: bool) -> None:
    """By name or by position, in a file that the commit changes."""
    before = "class Engine:\n    def run(self, a): ...\n\n\n"
    after = "class Engine:\n    def run(self, a, b=1): ...\n\n\n" + call
    found = told(before, after, f"{HEAD}    def run({own}): ...\n")
    assert found == ([f"override: parameter added: {NAME} (b)"] if breaks else [])


CALLED = "class Engine:\n    def run(self, a): ...\n\n    def step(self):\n        self.run(1)\n"
CALLED_WITH_MORE = "class Engine:\n    def run(self, a, b): ...\n\n    def step(self):\n        self.run(1, 2)\n"


@pytest.mark.parametrize(
    ("step", "breaks"),
    [
        ("", True),
        ("    def step(self): ...\n", False),
        ("    def step(self):\n        super().step()\n", True),
    ],
)
def test_an_override_that_only_replaced_methods_call_does_not_break(step: str, breaks: bool) -> None:
    """A class that replaces the caller as well calls its own, unless it calls the one that it replaces."""
    plugin = f"{HEAD}    def run(self, a): ...\n\n{step}"
    expected = [f"override: parameter required: {NAME} (b)"] if breaks else []
    assert told(CALLED, CALLED_WITH_MORE, plugin) == expected
    nested = CALLED_WITH_MORE.replace("        self", "        def inner():\n            self") + "\n        inner()\n"
    assert told(CALLED, nested, plugin) == expected


@pytest.mark.parametrize(("more", "breaks"), [("", True), ("\n\nMine(1)\n", False)])
def test_a_constructor_breaks_only_if_upstream_constructs_the_class(more: str, breaks: bool) -> None:
    """The callers of the constructor of a class that the plug-in constructs are its own."""
    before, after = (f"class Engine:\n    def __init__({each}): ...\n" for each in ("self, a", "self, a, b"))
    found = told(before, after, f"{HEAD}    def __init__(self, a): ...\n{more}")
    assert found == (["override: parameter required: engine.core.Engine.__init__ (b)"] if breaks else [])


@pytest.mark.parametrize(
    ("own", "before", "after", "breaks"),
    [
        ("", "int", "str", True),
        (" -> str", "int", "str", False),
        (" -> int", "int", "int | str", False),
        (" -> int", "int", "None", False),
        (" -> list[int]", "list[int]", "Sequence[int]", False),
        (" -> int | float", "int", "int | None", False),
    ],
)
def test_an_override_breaks_if_callers_expect_another_kind_of_value(
    own: str, before: str, after: str, breaks: bool
) -> None:
    """What it says that it returns counts, and what it does not say is what the method returned before."""
    old, new = (f"class Engine:\n    def run(self) -> {each}: ...\n" for each in (before, after))
    found = told(old, new, f"{HEAD}    def run(self){own}: ...\n")
    assert found == ([f"override: return type changed: {NAME}"] if breaks else [])


def test_an_override_that_upstream_could_not_call_before_is_left_alone() -> None:
    """A method of the same name with other parameters, or with the same in another order, is the plug-in's own."""
    old, new = (f"class Engine:\n    def run(self, a, b) -> {each}: ...\n" for each in ("int", "str"))
    assert told(old, new, f"{HEAD}    def run(self, a, b): ...\n") != []
    assert told(old, new, f"{HEAD}    def run(self, a, b, c): ...\n") == []
    assert told(old, new, f"{HEAD}    def run(self, b, c): ...\n") == []


def test_an_override_that_is_late_breaks_once_more() -> None:
    """One that knows most of a method's parameters is meant for it, though it lacks the last that came."""
    old, new = (f"class Engine:\n    def run(self, {each}): ...\n" for each in ("a, b, c", "a"))
    late = f"{HEAD}    def run(self, a, b): ...\n"
    assert told(old, new, late) == [f"override: parameter removed: {NAME} (b)"]
    assert told(old, new, late.replace("a, b", "c, x, y")) == []


def test_an_override_of_what_is_gone_is_never_called() -> None:
    """A hook that upstream removed fails silently; one that upstream never called failed before."""
    after = "class Engine:\n    def run(self): ...\n"
    plugin = f"{HEAD}    def _hook(self): ...\n"
    hook = "\n    def _hook(self): ...\n"
    called = after.replace("...", "\n        self._hook()")
    assert told(called + hook, after, plugin) == ["override: removed: engine.core.Engine._hook"]
    assert told(after + hook, after, plugin) == []
    unused = after + hook + "\n    def _unused(self):\n        self._hook()\n"
    assert told(unused, after, plugin) == []
    assert told(unused.replace("...", "\n        self._unused()", 1), after, plugin) != []


def test_an_override_of_a_renamed_hook_says_its_new_name() -> None:
    """The hook's new name is what to define instead."""
    body = "(self, path, mode):\n        with open(path, mode) as file:\n            return file.read()\n"
    caller = "\n    def run(self):\n        return self.{}('a', 'r')\n"
    [found] = impacts_of(
        f"class Engine:\n    def _load{body}{caller.format('_load')}",
        f"class Engine:\n    def _read{body}{caller.format('_read')}",
        f"{HEAD}    def _load(self, path, mode):\n        return 1\n",
    )
    assert (found.cause.value, found.advice) == ("renamed", "def _read(self, path, mode):")


def test_an_override_of_another_return_type_is_likely() -> None:
    """What the method returns by now may not be what the override returns."""
    before, after = "class Engine:\n    def run(self) -> int: ...\n", "class Engine:\n    def run(self) -> str: ...\n"
    [found] = impacts_of(before, after, f"{HEAD}    def run(self): ...\n")
    assert (found.kind.value, found.cause.value, found.certainty) == (
        "override",
        "return type changed",
        Certainty.LIKELY,
    )


def test_a_method_of_the_plug_in_alone_is_no_override() -> None:
    """A method that no upstream base has is the plug-in's own, whatever others of that name become."""
    before = "class Engine: ...\n\n\nclass Other:\n    def run(self, a): ...\n"
    after = "class Engine: ...\n\n\nclass Other:\n    def run(self, a, b): ...\n"
    assert told(before, after, f"{HEAD}    def run(self, a): ...\n") == []


@pytest.mark.parametrize(
    "bound", ["@staticmethod\n    def run(a)", "@classmethod\n    def run(cls, a)", "async def run(self, a)"]
)
def test_overrides_of_any_binding_are_compared_without_self(bound: str) -> None:
    """Static and class methods and coroutines are compared by what callers pass."""
    before = bound
    after = bound.replace("a)", "a, b)")
    assert told(
        f"class Engine:\n    {before}: ...\n", f"class Engine:\n    {after}: ...\n", f"{HEAD}    {before}: ...\n"
    ) == [f"override: parameter required: {NAME} (b)"]


FILES = {
    "plugin/__init__.py": "from plugin.base import Base\n",
    "plugin/base.py": "from engine.core import Engine\n\n\nclass Base(Engine): ...\n",
    "plugin/worker.py": "import plugin\n\n\nclass Mine(plugin.Base):\n    def run(self, a): ...\n",
}


ABSTRACT = "from abc import ABC, abstractmethod\n\n\nclass Engine(ABC):\n    def run(self): ...\n"
STOP = "\n    @abstractmethod\n    def stop(self): ...\n"
MISSING = "required method: made abstract: engine.core.Engine.stop"


@pytest.mark.parametrize(
    ("plugin", "expected"),
    [
        (f"{HEAD}    x = 1\n", [MISSING]),
        (f"{HEAD}    def stop(self): ...\n", []),
        (f"{HEAD}    stop = None\n", []),
        (f"{HEAD}    x = 1\n\n\nclass Own(Mine):\n    def stop(self): ...\n", [MISSING]),
        (f"{HEAD}    def stop(self): ...\n\n\nclass Own(Mine): ...\n", []),
        ("from abc import abstractmethod\n" + HEAD + "    @abstractmethod\n    def other(self): ...\n", []),
        ("class Mine: ...\n", []),
    ],
)
def test_a_new_abstract_method_must_be_defined(plugin: str, expected: list[str]) -> None:
    """A class that neither defines nor inherits a method that is new and abstract, or made abstract, cannot be instantiated."""
    with_body = ABSTRACT + "\n    def stop(self): ...\n"
    assert told(ABSTRACT, ABSTRACT + STOP, plugin) == expected
    assert told(with_body, ABSTRACT + STOP, plugin) == expected


@pytest.mark.parametrize(
    "replaced",
    [
        "from engine import core\n\n\ndef mine(a): ...\n\n\ncore.load = mine\n",
        "import engine.core\n\n\ndef mine(a): ...\n\n\nengine.core.load = mine\n",
        "from engine import core\n\n\ndef mine(a): ...\n\n\nsetattr(core, 'load', mine)\n",
        "import engine.core as c\n\n\ndef mine(a): ...\n\n\ndef patch():\n    c.load = mine\n",
    ],
)
def test_a_replacement_breaks_with_what_it_replaces(replaced: str) -> None:
    """An assignment to an upstream module replaces nothing once the name is gone, and must accept what is passed."""
    assert told("def load(a): ...\n", "x = 1\n", replaced) == ["replaced function: removed: engine.core.load"]
    assert told("def load(a): ...\n", "def load(a, b): ...\n", replaced)[:1] == [
        "replaced function: parameter required: engine.core.load (b)"
    ]


def test_a_replacement_that_upstream_has_taken_over_can_go() -> None:
    """A function that does after the commit what the plug-in's own in its place does, and did not before, is told as such."""
    before, after = "def size(a):\n    return a\n", "def size(a):\n    b = a + 1\n    return b * 2\n"
    own = after.replace("def size(a)", "def own(a: int)").replace("b = ", "b: int = ")
    plugin = f"from engine import core\n\n\n{own}\n\ncore.size = own\n"
    assert told(before, after, plugin) == ["replaced function: merged: engine.core.size"]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("e.size = 2", []),
        ("e = copy.copy(EMPTY); e.size = 2", []),
        ("e.size.unit = 2", ["attribute, proven"]),
        ("size = e.size; e.size = 2; size.unit()", ["attribute, likely"]),
    ],
)
def test_an_attribute_that_is_gone_may_be_set(lines: str, expected: list[str]) -> None:
    """`e.size = 2` fails for no object; a read of it is told, and none of a variable of that name."""
    plugin = f"from engine.core import EMPTY, Engine\n\n\ndef use(e: Engine):\n    {lines}\n".replace("; ", "\n    ")
    upstream = f"class Engine:\n    size: int = 1\n\n\nEMPTY = Engine({'1, ' * 100})\n"
    found = impacts_of(upstream, upstream.replace("size: int = 1", "..."), plugin)
    assert [f"{each.kind}, {each.certainty}" for each in found] == expected


IMITATION = "from engine import core\n\n\nclass Mine:\n    def run(self, a): ...\n\n    def other(self): ...\n\n\n"


@pytest.mark.parametrize(
    ("plugin", "kinds"),
    [
        (FILES, ["override"]),
        ("from engine.core import Engine\n\n\nclass Mine(Engine[int]):\n    def run(self, a): ...\n", ["override"]),
        (f"{HEAD}    def run(self, a): ...\n\n\nfrom engine import core\n\ncore.Engine = Mine\n", ["override"]),
        (IMITATION, []),
        (f"{IMITATION}core.Engine = Mine\n", ["override"]),
        (f"{IMITATION}setattr(core, 'Engine', Mine)\n", ["override"]),
        (f"{IMITATION}core.Engine.run = Mine.run\n", ["replaced function"]),
        (
            "from engine.core import Engine\n\n\ndef mine(self, a): ...\n\n\nEngine.run = mine\n",
            ["replaced function"],
        ),
    ],
)
def test_a_method_is_an_override_however_its_class_takes_its_place(
    plugin: str | dict[str, str], kinds: list[str]
) -> None:
    """Bases are followed across files; a class or a function put in the place of another is called as that one, and told once."""
    before, after = "class Engine:\n    def run(self, a): ...\n", "class Engine:\n    def run(self, a, b): ...\n"
    found = [each for each in told(before, after, plugin) if "parameter required" in each]
    assert found == [f"{kind}: parameter required: {NAME} (b)" for kind in kinds]


TABLE = (
    "class Table:\n    def add(self): ...\n{member}\n\nclass Runner:\n    def __init__(self):\n        self.table = Table()\n\n"
    "    def run(self):\n        self.table.add()\n{read}\n"
)
ROWS = {"member": "    def rows(self): ...\n", "read": "        self.table.rows()\n"}
OWN_TABLE = "class Mine{base}:\n    def add(self): ...\n{member}\n\n"
OWN_RUNNER = "class Own(Runner):\n    def __init__(self):\n        self.table = Mine()\n{method}\n"


@pytest.mark.parametrize(
    ("own", "subject"),
    [
        ({}, "table.rows"),
        ({"member": "    def rows(self): ...\n"}, None),
        ({"base": "(Table)"}, None),
        ({"base": "(elsewhere.Table)"}, None),
        ({"method": "    def run(self): ...\n"}, None),
        ({"method": "    def run(self):\n        super().run()\n"}, "table.rows"),
    ],
)
def test_an_inherited_method_may_need_what_the_class_does_not_provide(own: dict[str, str], subject: str | None) -> None:
    """A member of an object that the class puts in the place of upstream's."""
    before = TABLE.format(**dict.fromkeys(ROWS, ""))
    plugin = f"{OWN_TABLE}{OWN_RUNNER}".format(**{"base": "", "member": "", "method": "", **own})
    found = impacts_of(before, TABLE.format(**ROWS), f"from engine.core import Runner, Table\n\n\n{plugin}")
    assert [(each.cause.value, each.subjects, each.certainty.value) for each in found] == (
        [("newly used", (subject,), "likely")] if subject else []
    )
