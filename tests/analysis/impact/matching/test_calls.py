"""Calls: whether what the plug-in passes still fits, and how it is known what is called."""

import pytest

from analysis.models.impacts import Certainty
from tests.analysis.impact.repositories import impacts_of, told

IMPORTED = "from engine.core import load\n\n"
NAME = "engine.core.load"

SIGNATURES = [
    ("a, b=1", "a", "load(1, b=2)", ["parameter removed: engine.core.load (b)"]),
    ("a, b=1", "a, **rest", "load(1, b=2)", []),
    ("a, b=1", "a", "load(1)", []),
    ("a, b=1", "a", "load(1, 2)", ["fewer positional parameters: engine.core.load (a)"]),
    ("a, b=1", "a, *rest", "load(1, 2)", []),
    ("a, b=1", "a, *, b=1", "load(1, 2)", ["fewer positional parameters: engine.core.load (a)"]),
    ("a, b=1", "a, *, b=1", "load(1, b=2)", []),
    ("a", "a, b", "load(1)", ["parameter required: engine.core.load (b)"]),
    ("a", "a, b", "load(1, 2)", []),
    ("a", "a, b", "load(*x)", []),
    ("a", "a, b", "load(1, **x)", []),
    ("a", "a, *, b", "load(*x)", ["parameter required: engine.core.load (b)"]),
    ("a", "a, b, /", "load(1, **x)", ["parameter required: engine.core.load (b)"]),
    ("a", "a, b=None", "load(1)", []),
    ("a, b=1", "a, b", "load(1)", ["parameter required: engine.core.load (b)"]),
    ("a", "a, /", "load(a=1)", ["parameter removed: engine.core.load (a)"]),
    ("a", "b", "load(1)", []),
    ("a", "a", "load(1, 2)", []),  # it was broken before
    ("a, b=1", "a", "load(1, **x)", []),
]


@pytest.mark.parametrize(("before", "after", "call", "expected"), SIGNATURES)
def test_a_call_breaks_if_it_no_longer_fits(before: str, after: str, call: str, expected: list[str]) -> None:
    """A keyword that is gone, a parameter newly required, a position too many; `*` and `**` may pass what is missing."""
    found = told(f"def load({before}): ...\n", f"def load({after}): ...\n", f"{IMPORTED}x = ()\n{call}\n")
    assert found == [f"call: {each}" for each in expected]


def test_a_renamed_parameter_names_its_new_one() -> None:
    """A keyword whose parameter has another name by now is told with it."""
    before, after = "def load(a, path: str = ''):\n    return path\n", "def load(a, file: str = ''):\n    return file\n"
    found = impacts_of(before, after, f"{IMPORTED}load(1, path=path)\n")
    assert [(each.cause.value, each.new) for each in found] == [("parameter renamed", "file")]


CLASS = (
    "class Engine:\n{}\n\nclass Holder:\n    engine: Engine\n\n    def __init__(self):\n        self.other = Engine()\n"
)
RUN = "    def __init__(self): ...\n\n    def run(self, a, b=1): ...\n"
RAN = "    def __init__(self): ...\n\n    def run(self, a): ...\n"
HEAD = (
    "from typing import Optional\nimport typing\nfrom engine.core import Engine, Holder\nfrom engine import core\n\n\n"
)


@pytest.mark.parametrize(
    "known_by",
    [
        "def use(e: Engine):\n    e.run(1, b=2)\n",
        "def use(e: 'Engine'):\n    e.run(1, b=2)\n",
        "def use(e: Engine | None):\n    e.run(1, b=2)\n",
        "def use(e: None | Engine = None):\n    e.run(1, b=2)\n",
        "def use(e: Optional[Engine]):\n    e.run(1, b=2)\n",
        "def use(e: 'typing.Optional[core.Engine]'):\n    e.run(1, b=2)\n",
        "def use(*, e: core.Engine):\n    e.run(1, b=2)\n",
        "async def use(e: Engine):\n    await e.run(1, b=2)\n",
        "e = Engine()\ne.run(1, b=2)\n",
        "Engine().run(1, b=2)\n",
        "e: Engine = make()\ne.run(1, b=2)\n",
        "with Engine() as e:\n    e.run(1, b=2)\n",
        "if (e := Engine()):\n    e.run(1, b=2)\n",
        "e = Engine() if x else None\ne.run(1, b=2)\n",
        "e = x or Engine()\ne.run(1, b=2)\n",
        "def use(e):\n    assert isinstance(e, Engine)\n    e.run(1, b=2)\n",
        "def use(e):\n    if isinstance(e, Engine):\n        e.run(1, b=2)\n",
        "def use(e):\n    if x and isinstance(e, Engine):\n        e.run(1, b=2)\n",
        "def use(e):\n    if not isinstance(e, Engine):\n        return\n    e.run(1, b=2)\n",
        "e = typing.cast(Engine, x)\ne.run(1, b=2)\n",
        "def use(h: Holder):\n    h.engine.run(1, b=2)\n",
        "def use(h: Holder):\n    h.other.run(1, b=2)\n",
        "def use(h: Holder):\n    e = h.engine\n    e.run(1, b=2)\n",
        "def use(es: list[Engine]):\n    for e in es:\n        e.run(1, b=2)\n",
        "def use(es: list[Engine]):\n    es[0].run(1, b=2)\n",
        "def use(es: list[Engine]):\n    return [e.run(1, b=2) for e in es]\n",
        "def use(es: list[Engine]):\n    e = es.pop()\n    e.run(1, b=2)\n",
        "def use(es: list[Engine]):\n    max(es, key=cost).run(1, b=2)\n",
        "def use(es: dict[str, Engine]):\n    es['a'].run(1, b=2)\n",
        "def use(es: dict[str, Engine]):\n    for e in es.values():\n        e.run(1, b=2)\n",
        "def use(es: dict[str, Engine]):\n    for name, e in es.items():\n        e.run(1, b=2)\n",
        "def use(es: list[Engine]):\n    for i, e in enumerate(es):\n        e.run(1, b=2)\n",
        "def use(es: tuple[Engine, ...]):\n    for e in es:\n        e.run(1, b=2)\n",
        "class Mine:\n    def __init__(self, e: Engine):\n        self.e = e\n\n    def go(self):\n        self.e.run(1, b=2)\n",
        "class Mine:\n    e: Engine\n\n    def go(self):\n        self.e.run(1, b=2)\n",
        "class Mine:\n    @property\n    def e(self) -> Engine: ...\n\n    def go(self):\n        self.e.run(1, b=2)\n",
        "class Mine:\n    def __init__(self):\n        self.h = Holder()\n\n    def go(self):\n        self.h.other.run(1, b=2)\n",
        "class Mine:\n    running: list[Engine]\n\n    def go(self):\n        self.running = others()\n        for e in self.running:\n            e.run(1, b=2)\n",
        "def make() -> Engine: ...\n\n\nmake().run(1, b=2)\n",
        "class Mine(Engine):\n    def go(self):\n        self.run(1, b=2)\n",
        "class Mine(Engine):\n    def run(self, a):\n        super().run(1, b=2)\n",
        "class Mine(Engine):\n    def run(self, a):\n        super(Mine, self).run(1, b=2)\n",
        "class Mine(Engine):\n    def run(self, a):\n        Engine.run(self, 1, b=2)\n",
        "class Mine(Engine): ...\n\n\nclass Own(Mine):\n    def go(self):\n        self.run(1, b=2)\n",
        "class Mine(Engine): ...\n\n\nMine().run(1, b=2)\n",
    ],
)
def test_a_method_call_breaks_wherever_the_class_is_known(known_by: str) -> None:
    """An object's class is known by annotation, construction, test, container, attribute, return value or inheritance."""
    found = told(CLASS.format(RUN), CLASS.format(RAN), HEAD + known_by)
    assert [each for each in found if each.startswith("call")] == [
        "call: parameter removed: engine.core.Engine.run (b)"
    ]


@pytest.mark.parametrize(
    "unknown",
    [
        "def use(e):\n    e.run(1, b=2)\n",
        "def use(e: Engine):\n    e = other()\n    e.run(1, b=2)\n",
        "def use(e: Engine):\n    for e in x:\n        e.run(1, b=2)\n",
        "def use(e):\n    if isinstance(e, Engine):\n        pass\n    else:\n        e.run(1, b=2)\n",
        "class Mine:\n    def run(self, a, b=1): ...\n\n    def go(self):\n        self.run(1, b=2)\n",
        "class Mine(Engine):\n    def run(self, a, b=1): ...\n\n    def go(self):\n        self.run(1, b=2)\n",
        "e = Engine()\n\n\ndef use(e):\n    e.run(1, b=2)\n",
        "f = lambda e: e.run(1, b=2)\n",
        "def use(e: dict[Engine, str]):\n    e['a'].run(1, b=2)\n",
    ],
)
def test_a_method_call_on_something_else_is_none_of_upstream(unknown: str) -> None:
    """A method of the same name, of an object whose class is unknown or of the plug-in itself, is no use."""
    found = told(CLASS.format(RUN), CLASS.format(RAN), HEAD + unknown)
    assert [each for each in found if each.startswith("call")] == []


CONSTRUCTORS = [
    ("class A:\n    def __init__(self, x, y=1): ...\n", "class A:\n    def __init__(self, x): ...\n"),
    (
        "class A:\n    def __init__(self, x, **rest): ...\n",
        "class A:\n    def __init__(self, x): ...\n",
    ),
    ("@dataclass\nclass A:\n    x: int\n    y: int = 1\n", "@dataclass\nclass A:\n    x: int\n"),
    (
        "@dataclass(kw_only=True)\nclass A:\n    y: int\n    x: int = 0\n",
        "@dataclass(kw_only=True)\nclass A:\n    x: int\n",
    ),
    ("class A(NamedTuple):\n    x: int\n    y: int = 1\n", "class A(NamedTuple):\n    x: int\n"),
    (
        "class B:\n    def __init__(self, x, y=1): ...\n\n\nclass A(B): ...\n",
        "class B:\n    def __init__(self, x): ...\n\n\nclass A(B): ...\n",
    ),
    (
        "@dataclass\nclass B:\n    y: int = 1\n\n\n@dataclass\nclass A(B):\n    x: int = 1\n",
        "@dataclass\nclass B:\n    z: int = 1\n\n\n@dataclass\nclass A(B):\n    x: int = 1\n",
    ),
]
RECORDS = "from dataclasses import dataclass, field, InitVar\nfrom typing import ClassVar, NamedTuple\n\n\n"


@pytest.mark.parametrize(("before", "after"), CONSTRUCTORS)
def test_a_construction_breaks_with_its_constructor(before: str, after: str) -> None:
    """Constructors are those written, those inherited, and those of dataclasses and named tuples."""
    found = told(RECORDS + before, RECORDS + after, "from engine.core import A\n\nA(x=1, y=2)\n")
    assert [each for each in found if "parameter removed" in each and "(y)" in each]
    assert all(each.startswith("call") for each in found)


@pytest.mark.parametrize(
    ("before", "after", "call", "expected"),
    [
        ("    x: int\n", "    x: int\n    y: int\n", "A(1)", ["parameter required: engine.core.A (y)"]),
        ("    x: int\n", "    x: int\n    y: int = 1\n", "A(1)", []),
        ("    x: int\n", "    x: int\n    y: ClassVar[int] = 1\n    z: int = field(init=False)\n", "A(1)", []),
        ("    x: int\n", "    x: int\n    y: InitVar[int]\n", "A(1)", ["parameter required: engine.core.A (y)"]),
        ("    x: int\n", "    x: int\n    y: list = field(default_factory=list)\n", "A(1)", []),
        (
            "    x: int\n",
            "    x: int\n    y: list = field(repr=False)\n",
            "A(1)",
            ["parameter required: engine.core.A (y)"],
        ),
        ("    x: int\n", "    x: int\n    _: KW_ONLY\n    y: int\n", "A(1)", ["parameter required: engine.core.A (y)"]),
        (
            "    x: int\n    y: int = 1\n",
            "    x: int\n    y: int = field(kw_only=True, default=1)\n",
            "A(1, 2)",
            ["fewer positional parameters: engine.core.A (x)"],
        ),
    ],
)
def test_fields_of_a_dataclass_are_its_parameters(before: str, after: str, call: str, expected: list[str]) -> None:
    """A field without a default is required, one of the class or left out of the constructor is none."""
    head = RECORDS + "from dataclasses import KW_ONLY\n\n\n@dataclass\nclass A:\n"
    found = told(head + before, head + after, f"from engine.core import A\n\n{call}\n")
    assert found == [f"call: {each}" for each in expected]


def test_a_model_of_pydantic_takes_its_fields_by_name() -> None:
    """A required field of a BaseModel is one that constructions must pass; one that is gone is ignored by pydantic."""
    head = "from pydantic import BaseModel\n\n\nclass A(BaseModel):\n    x: int\n"
    assert told(head, head + "    y: int\n", "from engine.core import A\n\nA(x=1)\n") == [
        "call: parameter required: engine.core.A (y)"
    ]
    assert told(head + "    y: int = 1\n", head, "from engine.core import A\n\nA(x=1, y=2)\n") == []


def test_a_plug_ins_subclass_is_constructed_by_the_inherited_constructor() -> None:
    """A call of a class of the plug-in, or of `super().__init__`, is judged by the constructor that upstream gives it."""
    before, after = "class A:\n    def __init__(self, x): ...\n", "class A:\n    def __init__(self, x, y): ...\n"
    inherited = "from engine.core import A\n\n\nclass Mine(A): ...\n\n\nMine(1)\n"
    own = "from engine.core import A\n\n\nclass Mine(A):\n    def __init__(self):\n        super().__init__(1)\n\n\nMine()\n"
    assert told(before, after, inherited) == ["call: parameter required: engine.core.A.__init__ (y)"]
    assert "call: parameter required: engine.core.A.__init__ (y)" in told(before, after, own)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("    @classmethod\n    def make(cls, a, b=1): ...\n", "    @classmethod\n    def make(cls, a): ...\n"),
        ("    @staticmethod\n    def make(a, b=1): ...\n", "    @staticmethod\n    def make(a): ...\n"),
    ],
)
@pytest.mark.parametrize("of", ["A", "A()", "Mine", "Mine()"])
def test_methods_of_classes_are_called_on_classes_and_instances(before: str, after: str, of: str) -> None:
    """Class and static methods break on the class, on instances and on subclasses of the plug-in."""
    plugin = f"from engine.core import A\n\n\nclass Mine(A): ...\n\n\n{of}.make(1, b=2)\n"
    assert told(f"class A:\n{before}", f"class A:\n{after}", plugin) == [
        "call: parameter removed: engine.core.A.make (b)"
    ]


def test_a_method_called_on_its_class_is_passed_its_self() -> None:
    """`Engine.run(engine, 1)` passes one position more than `engine.run(1)`."""
    plugin = "from engine.core import A\n\nA.run(x, 1)\n"
    before = "class A:\n    def run(self, a, b=1): ...\n"
    assert told(before, "class A:\n    def run(self, a): ...\n", plugin) == []
    assert told(before, "class A:\n    def run(self): ...\n", plugin) == [
        "call: fewer positional parameters: engine.core.A.run (self)"
    ]


@pytest.mark.parametrize("decorator", ["@triton.jit", "@cuda.kernel", "@overload", "@singledispatch"])
def test_a_function_that_is_not_called_by_its_parameters_is_left_alone(decorator: str) -> None:
    """Kernels and registered functions are called in ways that their parameters do not show."""
    assert told(f"{decorator}\ndef load(a): ...\n", f"{decorator}\ndef load(a, b): ...\n", f"{IMPORTED}load(1)\n") == []


@pytest.mark.parametrize(
    ("before", "after", "breaks"),
    [
        ("-> tuple[int, int]: ...", "-> tuple[int, int, int]: ...", True),
        (": return 1, 2", ": return 1, 2, 3", True),
        (": return 1, 2", ": return 2, 1", False),
        (": return 1, 2", ": return both()", False),  # which may be two
    ],
)
def test_an_unpacked_tuple_of_another_length_breaks(before: str, after: str, breaks: bool) -> None:
    """A call whose result is unpacked fails when more values are returned, and an override may still return as few as before."""
    plugin = (
        "from engine.core import Engine, load\n\na, b = load()\n\n\nclass Mine(Engine):\n    def _run(self): return 3, 4\n\n"
        "    def go(self):\n        self._run()\n"
    )
    old, new = (f"def load(){each}\n\n\nclass Engine:\n    def _run(self){each}\n" for each in (before, after))
    found = {each.kind.value: (each.cause.value, each.certainty) for each in impacts_of(old, new, plugin)}
    expected = {"call": Certainty.PROVEN, "override": Certainty.LIKELY}
    assert found == (
        {kind: ("return type changed", certainty) for kind, certainty in expected.items()} if breaks else {}
    )


@pytest.mark.parametrize(
    ("after", "taken", "breaks"),
    [
        ("list[str]", "items()", True),
        ("list[str] | None", "keys", True),
        ("list[str]", "copy()", False),  # which both have
        ("Mapping[str, int]", "items()", False),
        ("dict[str, str]", "items()", False),
    ],
)
def test_a_value_of_another_built_in_type_has_other_methods(after: str, taken: str, breaks: bool) -> None:
    """A list has no `items`; of types that are not built in nothing is concluded."""
    before, now = (f"class Output:\n    ids: {each}\n" for each in ("dict[str, int]", after))
    plugin = f"from engine.core import Output\n\n\ndef use(output: 'Output'):\n    return output.ids.{taken}\n"
    found = [(each.cause.value, each.subjects, each.new) for each in impacts_of(before, now, plugin)]
    assert found == ([("type changed", (taken.removesuffix("()"),), "list")] if breaks else [])


def test_a_class_imported_for_type_checkers_is_known() -> None:
    """What stands in for it at run time does not hide what annotations mean."""
    before, after = "class Engine:\n    def stop(self): ...\n", "class Engine: ...\n"
    plugin = (
        "if TYPE_CHECKING:\n    from engine.core import Engine\nelse:\n    Engine = None\n\n\n"
        "def use(e: Engine):\n    e.stop()\n"
    )
    assert told(before, after, plugin) == ["call: removed: engine.core.Engine.stop"]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("a, b, c", "a, x=1, b=2, c=3", ["position changed: {} (b, c)"]),
        ("a, b", "b, a", ["position changed: {} (a, b)"]),
        ("a, b, c", "a, b, c, x=1", []),
        ("a, b, c", "a, b, other", []),
        ("a, b, c=1", "a, c=1, x=2", ["parameter removed: {} (b)", "position changed: {} (c)"]),
        ("a, b", "b", ["fewer positional parameters: {} (b)"]),
        ("a, b: Table", "a, blocks: Blocks", ["parameter renamed: {} (b)"]),
        ("a, b: int", "a, blocks: int | None", []),
    ],
)
def test_arguments_that_are_passed_by_position_break_if_it_changes(
    before: str, after: str, expected: list[str]
) -> None:
    """A call that still runs, and passes them as something else."""
    call = f"{IMPORTED}load({', '.join('123'[: before.count(',') + 1])})\n"
    found = told(f"def load({before}): ...\n", f"def load({after}): ...\n", call)
    assert found == [f"call: {each.format(NAME)}" for each in expected]


def test_an_argument_that_is_called_as_the_parameter_fits() -> None:
    """What a revert calls as it was called before is what the plug-in passes."""
    before, after = "def load(a: Table): ...\n", "def load(b: Blocks): ...\n"
    assert told(before, after, f"{IMPORTED}load(x.a)\n") != []
    assert told(before, after, f"{IMPORTED}load(\n    x.b)\n") == []


def test_an_argument_whose_parameter_is_gone_is_taken_for_another() -> None:
    """A call by position, and by keyword, of what lost a parameter from its front or its middle."""
    for call in ("load(1, 2)", "load(1, c=2)"):
        found = told("def load(a, c=1, d=2): ...\n", "def load(c=1, d=2): ...\n", f"{IMPORTED}{call}\n")
        assert found[:1] == [f"call: parameter removed: {NAME} (a)"]


def test_a_construction_quotes_the_constructor() -> None:
    """The class's head says nothing of what changed."""
    before, after = (f"class Engine:\n    def __init__({each}): ...\n" for each in ("self, a", "self, a, b"))
    [found] = impacts_of(before, after, "from engine.core import Engine\n\nEngine(1)\n")
    assert (found.upstream.line, found.upstream.before, found.upstream.after) == (
        2,
        "def __init__(self, a): ...",
        "def __init__(self, a, b): ...",
    )


def test_a_class_of_a_library_takes_anything_until_it_has_a_constructor_of_its_own() -> None:
    """A call of it that fitted is broken by a constructor that requires more, and not by one that takes what it passes."""
    before = "from lib import Module\n\n\nclass Pool(Module):\n    x = 1\n"
    plugin = "from engine.core import Pool\n\nPool()\nPool(size=1)\n"
    after = f"{before}\n    def __init__(self, size): ...\n"
    assert told(before, after, plugin) == ["call: parameter required: engine.core.Pool (size)"]
    assert told(after, before, plugin) == []
