"""Guards: uses that expect a missing name are no uses that break."""

import pytest

from tests.analysis.impact.repositories import surface, told

LOAD = "def load(a, b=1): ...\n\n\nclass Engine:\n    size = 1\n\n    def run(self, a, b=1): ...\n"
GONE = "x = 1\n"
HEAD = "from engine.core import Engine\nfrom engine import core\n\n"


@pytest.mark.parametrize(
    "guarded",
    [
        "try:\n    from engine.core import load\nexcept ImportError:\n    load = None\n",
        "try:\n    from engine.core import load\nexcept (ValueError, ModuleNotFoundError):\n    load = None\n",
        "try:\n    from engine.core import load\nexcept Exception:\n    pass\n",
        "try:\n    from engine.core import load\nexcept:\n    pass\n",
        "try:\n    from engine.core import load\nexcept ImportError:\n    load = None\n\nif load:\n    load(1)\n",
        "try:\n    from engine.other import load\nexcept ImportError:\n    from engine.core import load\n",
        "from contextlib import suppress\n\nwith suppress(ImportError):\n    from engine.core import load\n",
        "import contextlib\n\nwith contextlib.suppress(ImportError, AttributeError):\n    from engine.core import load\n",
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from engine.core import load\n",
        "import typing\n\nif typing.TYPE_CHECKING:\n    from engine.core import load\n",
        "if version('engine') < '2':\n    from engine.core import load\n",
        "if engine_version_is('1.0'):\n    from engine.core import load\nelse:\n    from engine.other import load\n",
        "from engine import core\n\nif core.version() > 1:\n    core.load(1, b=2)\nelse:\n    core.load(1)\n",
        "if not engine_version_is('2.0'):\n    pass\nelse:\n    from engine.core import load\n",
        "from packaging.version import Version\n\nif Version(engine.__version__) >= Version('1'):\n    from engine.core import load\n",
        "from engine import core\n\nif hasattr(core, 'load'):\n    core.load()\n",
        "from engine import core\n\nx = core.load() if hasattr(core, 'load') else None\n",
        "from engine import core\n\nx = getattr(core, 'load', None)\n",
        "from engine import core\n\n\ndef use():\n    if not hasattr(core, 'load'):\n        return\n    core.load()\n",
        "from engine import core\n\n\ndef use():\n    if getattr(core, 'load', None):\n        core.load()\n",
        "import importlib.util\n\nif importlib.util.find_spec('engine.core'):\n    from engine.core import load\n",
    ],
)
def test_a_guarded_use_is_no_break(guarded: str) -> None:
    """Tests of versions, of what is offered and of failing imports, and what only type checkers read."""
    assert told(LOAD, GONE, guarded) == []


@pytest.mark.parametrize(
    "unguarded",
    [
        "try:\n    from engine.core import load\nexcept ImportError:\n    raise\n",
        "try:\n    from engine.core import load\nexcept ImportError as error:\n    raise RuntimeError('no') from error\n",
        "try:\n    from engine.core import load\nexcept KeyError:\n    pass\n",
        "try:\n    from engine.core import load\nfinally:\n    pass\n",
        "try:\n    pass\nexcept ImportError:\n    pass\nelse:\n    from engine.core import load\n",
        "if debug:\n    from engine.core import load\n",
        "if engine_version_is('1.0'):\n    pass\nelse:\n    from engine.core import load\n",
        "if not engine_version_is('1.0'):\n    from engine.core import load\n",
        "with open('x'):\n    from engine.core import load\n",
        "from contextlib import suppress\n\nwith suppress(KeyError):\n    from engine.core import load\n",
    ],
)
def test_what_guards_nothing_does_not_hide_a_break(unguarded: str) -> None:
    """A handler of other errors, one that raises again, any other condition, or that a version is not one leaves the break."""
    assert told(LOAD, GONE, unguarded) == ["import: removed: engine.core.load"]


def test_a_guarded_call_is_no_break() -> None:
    """Code that looks at a function's parameters calls it as they are."""
    plugin = "import inspect\nfrom engine.core import load\n\n\ndef use():\n    if 'b' in inspect.signature(load).parameters:\n        load(1, b=2)\n"
    assert told("def load(a, b=1): ...\n", "def load(a): ...\n", plugin) == []


def test_a_guard_ends_with_its_block() -> None:
    """What follows a guarded block is not guarded."""
    plugin = f"{HEAD}if hasattr(core, 'other'):\n    pass\ncore.load\n"
    assert told(LOAD, "class Engine: ...\n", plugin) == ["attribute: removed: engine.core.load"]


def test_getattr_with_a_default_expects_nothing() -> None:
    """`getattr` with a default reads what may be missing; without one it is a read as any other."""
    without = f"{HEAD}\n\ndef use(e: Engine):\n    return getattr(e, 'size')\n"
    assert told(LOAD, "class Engine: ...\n", without) == ["attribute: removed: engine.core.Engine.size"]
    with_default = f"{HEAD}\n\ndef use(e: Engine):\n    return getattr(e, 'size', 1)\n"
    assert told(LOAD, "class Engine: ...\n", with_default) == []


@pytest.mark.parametrize(
    ("importing", "guarded"),
    [
        ("if engine_version_is('1'):\n    import plugin.patch\n", True),
        ("if engine_version_is('1'):\n    from plugin import patch\n", True),
        ("import plugin.patch\n", False),
        ("", False),
    ],
)
def test_a_module_that_is_imported_under_guards_alone_is_guarded(importing: str, guarded: bool) -> None:
    """What patches one version is not installed for another."""
    found = surface({"plugin/__init__.py": importing, "plugin/patch.py": "from engine.core import load\n"})
    [use] = (each for each in found.uses if each.path == "plugin/patch.py")
    assert use.guarded is guarded
