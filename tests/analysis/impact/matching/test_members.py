"""Attributes of classes and their instances: which reads fail, and what keeps a member alive."""

import pytest

from analysis.models.impacts import Certainty
from tests.analysis.impact.repositories import UPSTREAM, impacts_of, told

HEAD = "from engine.core import Config, Engine\n\n\n"
BASE = "class Base:\n    limit: int = 1\n\n    def __init__(self):\n        self.size = 1\n\n    @property\n    def speed(self): ...\n\n    def run(self): ...\n\n\n"
REST = "class Engine(Base):\n    config: 'Config'\n\n\nclass Config:\n    engine: Engine\n"
BARE = "class Base:\n    other = 1\n\n\n"


@pytest.mark.parametrize("member", ["limit", "size", "speed"])
@pytest.mark.parametrize(
    "read",
    [
        "def use(e: Engine):\n    return e.{}\n",
        "def use(e: Engine):\n    return e.config.engine.{}\n",
        "def use(c: Config):\n    e = c.engine\n    return [e.{}]\n",
        "def use(c: Config):\n    return getattr(c.engine, '{}')\n",
        "class Mine(Engine):\n    def go(self):\n        return self.{}\n",
        "class Mine(Engine):\n    def go(self):\n        return self.config.engine.{} + 1\n",
        "class Mine(Engine):\n    def go(self):\n        return super().{}\n",
        "class Mine(Engine): ...\n\n\nclass Own:\n    def __init__(self, mine: Mine):\n        self.mine = mine\n\n    def go(self):\n        return self.mine.{}\n",
    ],
)
def test_a_read_of_a_removed_member_breaks(member: str, read: str) -> None:
    """Fields, attributes set in a constructor and properties are found through chains and in subclasses of the plug-in."""
    found = told(BASE + REST, BARE + REST, HEAD + read.format(member))
    assert found == [f"attribute: removed: engine.core.Base.{member}"]


@pytest.mark.parametrize(
    "after",
    [
        "class Root:\n    limit = 1\n\n\nclass Base(Root): ...\n\n\n",
        "class Base:\n    def __init__(self):\n        self.limit = 1\n\n\n",
        "class Base:\n    @property\n    def limit(self): ...\n\n\n",
        "class Base:\n    def __getattr__(self, name): ...\n\n\n",
        "class Base:\n    def other(self, name):\n        setattr(self, name, 1)\n\n\n",
        "class Base:\n    def other(self, values):\n        self.__dict__.update(values)\n\n\n",
        "class Base: ...\n\n\nBase.limit = 1\n\n\n",
        "class Root:\n    limit = 1\n\n\nclass Base(unknown.Other): ...\n\n\n",
        "class Base:\n    if x:\n        limit = 1\n\n\n",
        "class Base:\n    __slots__ = ('limit',)\n\n\n",
    ],
)
def test_a_member_that_stays_in_another_form_is_not_proven_gone(after: str) -> None:
    """What a class inherits, sets, computes, serves on demand or may have from elsewhere is no proof of a break."""
    found = impacts_of(BASE + REST, after + REST, f"{HEAD}def use(e: Engine):\n    return e.limit\n")
    assert [each for each in found if each.certainty is Certainty.PROVEN] == []


ASSIGNED = [
    "class Base:\n    def go(self):\n        self.limit, self.x = 1, 2\n\n\n",
    "class Base:\n    def go(self):\n        [self.x, *self.limit] = 1, 2\n\n\n",
    "class Base:\n    def go(self):\n        self.x = self.limit = 1\n\n\n",
    "class Base:\n    def go(self):\n        with open('x') as self.limit: ...\n\n\n",
    "class Base:\n    def go(self):\n        for self.limit, x in (): ...\n\n\n",
    "class Base:\n    def go(self):\n        self.limit: int = 1\n        self.limit += 1\n\n\n",
    "class Base:\n    def go(self):\n        setattr(self, 'limit', 1)\n\n\n",
    "class Base:\n    def go(self):\n        object.__setattr__(self, 'limit', 1)\n\n\n",
    "class Base:\n    limit, x = 1, 2\n\n\n",
    "class Base:\n    with open('x') as limit: ...\n\n\n",
    "class Base:\n    for limit in (): ...\n\n\n",
    "class Base:\n    if (limit := 1): ...\n\n\n",
]


@pytest.mark.parametrize("assigned", ASSIGNED)
def test_an_attribute_may_be_assigned_in_any_way(assigned: str) -> None:
    """In tuples, lists and loops, by `with`, `:=` and `setattr`: it is there if upstream does so, and gone if upstream no longer does."""
    read = f"{HEAD}def use(e: Engine):\n    return e.limit\n"
    assert told(BASE + REST, assigned + REST, read) == []
    assert told(assigned + REST, BARE + REST, read) == ["attribute: removed: engine.core.Base.limit"]
    own = assigned.replace("Base", "Mine(Engine)")
    assert told(BASE + REST, BARE + REST, f"{HEAD}{own}def use(e: Mine):\n    return e.limit\n") == []


def test_a_removed_member_of_an_enumeration_breaks() -> None:
    """A member of an enum, and a constant of a module, are read by name."""
    before = "from enum import Enum\n\n\nclass Mode(Enum):\n    FAST = 1\n    SLOW = 2\n\n\nLIMIT = 1\n"
    after = "from enum import Enum\n\n\nclass Mode(Enum):\n    SLOW = 2\n"
    plugin = "from engine import core\nfrom engine.core import Mode\n\nx = Mode.FAST, core.LIMIT\n"
    assert sorted(told(before, after, plugin)) == [
        "attribute: removed: engine.core.LIMIT",
        "attribute: removed: engine.core.Mode.FAST",
    ]


def test_a_chain_breaks_at_its_broken_link_alone() -> None:
    """Of `a.b.c` with `b` gone, `b` is named and `c` is not."""
    before = "class C:\n    c = 1\n\n\nclass A:\n    b: C\n"
    after = "class C:\n    d = 1\n\n\nclass A: ...\n"
    assert told(before, after, "from engine.core import A\n\n\ndef use(a: A):\n    return a.b.c\n") == [
        "attribute: removed: engine.core.A.b"
    ]


@pytest.mark.parametrize(("own", "certainty"), [("", "proven"), ("class Other:\n    size = 1\n\n\n", "likely")])
def test_a_member_that_a_downstream_class_defines_is_only_likely_to_be_missing(own: str, certainty: str) -> None:
    """What is passed for an object of upstream's class may be of another one."""
    plugin = f"from engine.core import Engine\n\n\n{own}def use(e: Engine):\n    return e.size\n"
    [found] = impacts_of("class Engine:\n    size = 1\n", "class Engine: ...\n", plugin)
    assert found.certainty.value == certainty


RUN = "class Engine:\n    def run(self): ...\n"
PULLED_UP = {
    UPSTREAM: "from engine.base import Base\n\n\nclass Engine(Base): ...\n",
    "engine/base.py": "class Base:\n    def run(self): ...\n",
}
DERIVED = "from engine.core import Engine\n\n\nclass Mine(Engine):\n    def run(self):\n        super().run()\n"
OTHER = "class B:\n    size = 1\n"
USER_DICT = "from collections import UserDict\n\n\nclass A(UserDict): ...\n"
OWN = f"{HEAD}class Mine(Engine):\n    def __init__(self):\n        self.limit = 2\n\n    def go(self):\n        return self.limit\n"
INHERITED = {
    "plugin/base.py": f"{HEAD}class Mine(Engine):\n    limit = 2\n",
    "plugin/worker.py": "from .base import Mine\n\n\nclass Own(Mine):\n    def go(self):\n        return self.limit\n",
}


@pytest.mark.parametrize(
    ("before", "after", "plugin"),
    [
        (RUN, PULLED_UP, DERIVED),
        (
            f"class A:\n    size = 1\n\n\n{OTHER}",
            f"class A: ...\n\n\n{OTHER}",
            "from engine.core import B\n\nB().size\n",
        ),
        (USER_DICT, "class A: ...\n", "from engine.core import A\n\nA().load()\n"),
        (BASE + REST, BARE + REST, OWN),
        (BASE + REST, BARE + REST, INHERITED),
    ],
)
def test_what_a_class_has_from_elsewhere_is_not_gone(
    before: str, after: str | dict[str, str], plugin: str | dict[str, str]
) -> None:
    """A method pulled up, a name of another class, what nothing declared, and what the plug-in sets itself are no break."""
    assert told({UPSTREAM: before}, {UPSTREAM: after} if isinstance(after, str) else after, plugin) == []


@pytest.mark.parametrize(("kind", "new"), [("int", "engine.core.Engine.mode"), ("str", None)])
def test_an_attribute_is_renamed_as_upstreams_own_readers_do(kind: str, new: str | None) -> None:
    """Three files read it under its new name; one of another type is not to be read in its place."""
    readers = [f"engine/user{each}.py" for each in range(3)]
    sides = [
        {
            UPSTREAM: f"class Engine:\n    {name}: {described}\n{rest}",
            **{path: f"def use(e):\n    return e.{name} == {path!r}\n" for path in readers},
        }
        for name, described, rest in (("level", "int", ""), ("mode", kind, "    other: int\n    third: int\n"))
    ]
    plugin = "from engine.core import Engine\n\n\ndef use(e: Engine):\n    return e.level\n"
    [found] = impacts_of(sides[0], sides[1], plugin)
    assert found.new == new


@pytest.mark.parametrize(
    ("was", "now", "breaks"),
    [
        ("int", "int | None", True),
        ("list[tuple[int, ...]]", "list[Optional[tuple[int, ...]]]", True),
        ("bool", "bool | None", False),  # which a condition takes for False
        ("int = None", "int | None = None", False),  # of which the type alone was wrong
    ],
)
def test_a_read_may_not_expect_that_an_attribute_is_none(was: str, now: str, breaks: bool) -> None:
    """A field whose type is the same, but that it or a part of it may be None since the commit."""
    plugin = "from engine.core import Output\n\n\ndef use(output: Output):\n    return output.ids\n"
    before, after = (f"class Output:\n    ids: {each}\n" for each in (was, now))
    assert told(before, after, plugin) == (["attribute: may be None: engine.core.Output.ids"] if breaks else [])


@pytest.mark.parametrize(
    ("base", "member", "lost"),
    [
        ("nn.Module", "forward", []),
        ("Other", "run", [("engine.core.Engine.run", None)]),
    ],
)
def test_a_member_of_a_former_base_is_gone_of_the_class_alone(
    base: str, member: str, lost: list[tuple[str, str | None]]
) -> None:
    """A class with another base may have its members from there; else it is told of that class, without a line that stays."""
    bases = {"engine/base.py": f"class Base:\n    def {member}(self): ...\n\n\nclass Other: ...\n"}
    text = "from torch import nn\nfrom engine.base import Base, Other\n\n\nclass Engine({}): ...\n"
    before, after = ({**bases, UPSTREAM: text.format(each)} for each in ("Base", base))
    read = f"from engine.core import Engine\n\n\ndef use(e: Engine):\n    return e.{member}\n"
    found = [(each.name, each.upstream.before) for each in impacts_of(before, after, read)]
    assert found == lost


def test_a_removed_variable_breaks_who_reads_it_from_upstreams_module() -> None:
    """A module may provide its variables on demand."""
    before = (
        "import os\n\nVARIABLES = {\n    'ENGINE_MODE': lambda: os.getenv('ENGINE_MODE'),\n"
        "    'ENGINE_SIZE': lambda: os.getenv('ENGINE_SIZE'),\n}\n\n\n"
        "def __getattr__(name):\n    return VARIABLES[name]()\n"
    )
    after = before.replace("    'ENGINE_MODE': lambda: os.getenv('ENGINE_MODE'),\n", "")
    typed, old, new = ({"engine/envs.py": each} for each in (f"ENGINE_MODE: str = ''\n{before}", before, after))
    plugin = "from engine import envs\n\nmode = envs.ENGINE_MODE\n"
    assert told(typed, old, plugin) == []
    assert told(old, new, plugin) == ["attribute: removed: engine.envs.ENGINE_MODE"]
