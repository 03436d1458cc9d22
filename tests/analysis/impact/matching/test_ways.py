"""The ways in which code uses upstream, and whether a change of signature, or a name that goes, is seen through each."""

import pytest

from tests.analysis.impact.repositories import Texts, told

_RUNNER = (
    "class Runner:\n    def run(self, a{}):\n        return a\n\n    def go(self):\n        return self.run(1{})\n\n"
)
_BEFORE, _AFTER = _RUNNER.format(", b=1", ""), _RUNNER.format("", "")
_CLIENT = "from engine.core import Runner\n\n"
_GONE = "call: parameter removed: engine.core.Runner.run (b)"
_METHODS = "class P:\n    def __init__(self, r: Runner):\n        self.r = {}\n\n    def use(self):\n        {}\n"
_MOCKED = "from unittest import mock\nfrom engine import core\n\n{}\n"

# What the plug-in does with `Runner.run`, which no longer takes `b`.
CALLS = [
    "def use(r: Runner):\n    r.run(1, b=2)\n",
    "def use(rs: list[Runner]):\n    return [r.run(1, b=2) for r in rs]\n",
    "def use(rs: dict[str, Runner]):\n    rs['x'].run(1, b=2)\n",
    "def use(k: type[Runner]):\n    k().run(1, b=2)\n",
    "def use(r: Runner):\n    f = r.run\n    f(1, b=2)\n",
    "def use(r: Runner):\n    def inner():\n        return lambda: r.run(1, b=2)\n",
    "def make() -> Runner: ...\n\n\nmake().run(1, b=2)\n",
    "R = Runner\n\n\nR().run(1, b=2)\n",
    _METHODS.format("Runner()", "self.r.run(1, b=2)"),
    _METHODS.format("r", "self.r.run(1, b=2)"),
    "class P(Runner):\n    def run(self, a, b=1):\n        super().run(a, b=b)\n",
    "class P(Runner):\n    def run(self, a, b=1):\n        Runner.run(self, a, b=b)\n",
    "class P(Runner):\n    def use(self):\n        self.run(1, b=2)\n",
    "class M:\n    def use(self: 'Runner'):\n        self.run(1, b=2)\n",
    "from functools import partial\n\n\ndef use(r: Runner):\n    partial(r.run, b=2)(1)\n",
    "import importlib\n\ncore = importlib.import_module('engine.core')\ncore.Runner().run(1, b=2)\n",
]


@pytest.mark.parametrize("call", CALLS)
def test_a_call_is_followed_to_the_method_however_its_object_is_known(call: str) -> None:
    """Through attributes, containers, aliases, bases, mixins, partial calls and modules that are imported by name."""
    assert told(_BEFORE, _AFTER, _CLIENT + call) == [_GONE]


_LAYER = "class Layer:\n    def {}(self, a{}): ...\n"
_RECORD = "from dataclasses import dataclass\n\n\n@dataclass\nclass Record:\n    a: int\n"
_OP = (
    "class Op:\n    def forward_native(self, *args, **kwargs): ...\n\n    def forward_oot(self, *args, **kwargs):\n"
    "        return self.forward_native(*args, **kwargs)\n\n\n"
)
_NORM = "class Norm(Op):\n    def forward_native(self, x{}): ...\n\n\ndef use(norm):\n    norm({})\n"
_SIZE, _ASYNC = (
    "class Runner:\n    {}def size(self) -> int:\n        return 1\n",
    "class Runner:\n    {}def size(self): ...\n",
)
_PROPERTY, _OWN_SIZE = "@property\n    ", "class P(Runner):\n    {}def size(self):\n        return 2\n"
_F, _G = "def f(a): ...\n", "def g(a): ...\n"
_OVERRIDES_NORM = "from engine.core import Norm\n\n\nclass P(Norm):\n    def forward_oot(self, x): ...\n"

# What upstream was and is, what the plug-in does, and what is told of it.
WAYS: list[tuple[Texts, Texts, str, list[str]]] = [
    *(  # a call of an object
        (
            _LAYER.format(name, ", b=1"),
            _LAYER.format(name, ""),
            "from engine.core import Layer\n\n\ndef use(x: Layer):\n    x(1, b=2)\n",
            [f"call: parameter removed: engine.core.Layer.{name} (b)"],
        )
        for name in ("forward", "__call__")
    ),
    (  # the constructor that a class has from a record
        _RECORD,
        f"{_RECORD}    b: int\n",
        "from engine.core import Record\n\n\nclass P(Record):\n    pass\n\n\nP(a=1)\n",
        ["call: parameter required: engine.core.Record (b)"],
    ),
    (  # what upstream hands on is called with new arguments
        _OP + _NORM.format("", "1"),
        _OP + _NORM.format(", y=None", "1, y=2"),
        _OVERRIDES_NORM,
        ["override: parameter added: engine.core.Norm.forward_native (y)"],
    ),
    (_OP + _NORM.format("", "1"), _OP + _NORM.format(", y=None", "1"), _OVERRIDES_NORM, []),
    (
        _OP + _NORM.format("", "1"),
        _OP + _NORM.format(", y", "1, 2"),
        _OVERRIDES_NORM,
        ["override: parameter required: engine.core.Norm.forward_native (y)"],
    ),
    *(  # a property is not called, a method is
        (_SIZE.format(was), _SIZE.format(now), f"{_CLIENT}{code}", [told_as] if told_as else [])
        for was, now, code, told_as in (
            ("", _PROPERTY, "Runner().size()\n", "call: made a property: engine.core.Runner.size"),
            (_PROPERTY, "", "x = Runner().size + 1\n", "attribute: made a method: engine.core.Runner.size"),
            ("", _PROPERTY, _OWN_SIZE.format(""), "override: made a property: engine.core.Runner.size"),
            (_PROPERTY, "", _OWN_SIZE.format(_PROPERTY), "override: made a method: engine.core.Runner.size"),
            ("", _PROPERTY, _OWN_SIZE.format(_PROPERTY), ""),
        )
    ),
    *(  # and what is awaited only where it can be
        (_ASYNC.format(was), _ASYNC.format(now), f"{_CLIENT}{code}", [told_as] if told_as else [])
        for was, now, code, told_as in (
            ("", "async ", "x = Runner().size()\n", "call: made async: engine.core.Runner.size"),
            ("", "async ", "async def use():\n    await Runner().size()\n", ""),
            ("async ", "", "async def use():\n    await Runner().size()\n", "call: no longer async: engine.core.Runner.size"),
            ("", "async ", _OWN_SIZE.format(""), "override: made async: engine.core.Runner.size"),
        )
    ),
    (  # a class that loses a base loses what it had from it
        f"class Base:\n    def f(self): ...\n\n\n{_BEFORE.replace('Runner', 'Runner(Base)')}",
        f"class Base:\n    def f(self): ...\n\n\n{_BEFORE}",
        f"{_CLIENT}class P(Runner):\n    def use(self):\n        return self.f()\n",
        ["call: removed: plugin.worker.P.f"],
    ),
    ("import json\n", "", "from engine.core import json\n", ["import: removed: engine.core.json"]),
    ("import json\n", "import json as other\n", "from engine import core\n\ncore.json.dumps(1)\n", ["call: removed: engine.core.json"]),
    (_F, _G, _MOCKED.format("mock.patch('engine.core.f')"), ["import: removed: engine.core.f"]),
    (_F, _G, _MOCKED.format("mock.patch.object(core, 'f')"), ["attribute: removed: engine.core.f"]),
    (_F, _G, _MOCKED.format("mock.patch.object(core, 'f', create=True)"), []),
    (_F, _G, "from engine import core\n\n\ndef test(monkeypatch):\n    monkeypatch.setattr(core, 'f', 1)\n", ["attribute: removed: engine.core.f"]),
    ("class K:\n    x = 1\n", "class K:\n    y = 1\n", "from engine.core import K\n\nk = K()\nk.x += 1\n", ["attribute: removed: engine.core.K.x"]),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "plugin", "expected"), WAYS)
def test_a_use_breaks_with_what_python_makes_of_it(
    before: Texts, after: Texts, plugin: str, expected: list[str]
) -> None:
    """Calls of objects, overrides that are handed on, properties, coroutines, lost bases, and names in strings."""
    assert told(before, after, plugin) == expected
