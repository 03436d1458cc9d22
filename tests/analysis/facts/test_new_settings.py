"""Settings that a commit adds, told apart by whether they are on where nobody sets them, and the values that they accept."""

import pytest

from analysis.facts import facts
from analysis.models import FactKind
from tests.analysis.facts.trees import commit_between, trees


def new_settings(
    before: str, after: str, kind: FactKind = FactKind.SETTING_ON, path: str = "pool/core.py"
) -> list[str]:
    """The names of the settings that a commit adds: those that are on, or the others."""
    whole = {path: before}, {path: after}
    return [each.name for each in facts(commit_between(*whole), trees(*whole)) if each.kind is kind]


@pytest.mark.parametrize(
    ("before", "after", "names"),
    [
        ("class PoolConfig:\n    a: int = 1\n", "class PoolConfig:\n    a: int = 1\n    fast: bool = True\n", ["PoolConfig.fast"]),
        ("class PoolConfig:\n    a: int = 1\n", "class PoolConfig:\n    a: int = 1\n    fast: bool = False\n", []),
        ("class PoolConfig:\n    fast: bool = False\n", "class PoolConfig:\n    fast: bool = True\n", []),
        ("class Pool:\n    a: int = 1\n", "class Pool:\n    a: int = 1\n    fast: bool = True\n", []),
        ("def take(a):\n    ...\n", "def take(a, fast=True):\n    ...\n", []),
        ("def f(p):\n    p.add_argument('--a')\n", "def f(p):\n    p.add_argument('--a')\n    p.add_argument('--fast', default=True)\n", ["--fast"]),
        ("import os\n", "import os\nFAST = bool(int(os.environ.get('POOL_FAST', '1')))\n", ["POOL_FAST"]),
        ("import os\n", "import os\nFAST = bool(int(os.environ.get('POOL_FAST', '0')))\n", []),
        ("import os\n", "import os\nSLOW = os.environ.get('POOL_FAST') != 'TRUE'\n", []),
    ],
)  # fmt: skip
def test_a_new_setting_that_is_on_is_told(before: str, after: str, names: list[str]) -> None:
    """A field of a configuration, a flag or a variable that is on by default changes what a deployment does; a parameter does not."""
    assert new_settings(before, after) == names


CONFIG = "class PoolConfig:\n    a: int = 1\n"
FLAGS = "def f(p):\n    p.add_argument('--a')\n"


@pytest.mark.parametrize(
    ("path", "before", "after", "names"),
    [
        ("core.py", CONFIG, f"{CONFIG}    fast: bool = False\n", ["PoolConfig.fast"]),
        ("core.py", CONFIG, f"{CONFIG}class QueueConfig:\n    fast: bool = False\n", []),
        ("core.py", f"{CONFIG}    fast: int = 0\n", f"{CONFIG}class OtherConfig:\n    b: int = 0\n    fast: int = 0\n", []),
        ("core.py", "class PoolRequest:\n    a: int = 1\n", "class PoolRequest:\n    a: int = 1\n    fast: bool = False\n", ["PoolRequest.fast"]),
        ("core.py", FLAGS, f"{FLAGS}    p.add_argument('--fast')\n", ["--fast"]),
        ("core.py", FLAGS, f"{FLAGS}    p.add_argument('--fast', **options['fast'])\n", ["--fast"]),
        ("core.py", f"{FLAGS}{CONFIG}", f"{FLAGS}    p.add_argument('--fast', **known)\n{CONFIG}    fast: bool = True\n", []),
        ("core.py", f"{FLAGS}{CONFIG}", f"{FLAGS}    p.add_argument('--fast')\n{CONFIG}    fast: int = 0\n", ["--fast"]),
        ("envs.py", "import os\n", "import os\nFAST = os.environ.get('POOL_FAST', '0')\n", ["POOL_FAST"]),
        ("core.py", "import os\n", "import os\nFAST = os.environ.get('POOL_FAST', '0')\n", []),
        ("api.py", "", "@router.get('/pools')\ndef pools(): ...\n", ["/pools"]),
        ("core.py", "class PoolRequest:\n    a: int = 1\nclass QueueRequest:\n    fast: int = 0\n", "class PoolRequest:\n    a: int = 1\n    fast: int = 0\nclass QueueRequest:\n    fast: int = 0\n", ["PoolRequest.fast"]),
        ("core.py", "", "taken = counter('pool:taken', 'pools taken')\n", ["pool:taken"]),
        ("api.py", "@app.get('/pools')\ndef pools(): ...\n", "@router.get('/pools')\ndef pools(): ...\n", []),
    ],
)  # fmt: skip
def test_a_new_setting_is_a_fact(path: str, before: str, after: str, names: list[str]) -> None:
    """A flag, a field of a configuration that was there, a listed variable, a metric and a route; what another file may have is not."""
    assert new_settings(before, after, FactKind.NEW_SETTING, f"pool/{path}") == names


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("    mode: Literal['a', 'b'] = 'a'\n", "    mode: Literal['a', 'c'] = 'a'\n", ("PoolConfig.mode", "b", "c")),
        ("    mode: Literal['a'] | None = 'a'\n", "    mode: Literal['a', 'c'] | None = 'a'\n", ("PoolConfig.mode", None, "c")),
        ("    mode: Literal['a', 'b'] = 'a'\n", "    mode: Literal['b', 'a'] = 'a'\n", None),
        ("    mode: Mode = 'a'\nMode = Literal['a', 'b']\n", "    mode: Mode = 'a'\nMode = Literal['a']\n", ("PoolConfig.mode", "b", None)),
        ("Mode = Literal['a']\n", "Mode = Literal['a', 'b']\n", ("Mode", None, "b")),
        ("    mode: Literal['a', 'b'] = 'a'\n", "    mode: Literal['a'] | Literal['b'] | None = 'a'\n", None),
        ("_MODES = Literal['a']\n", "_MODES = Literal['a', 'b']\n", None),
        ("p.add('--mode', choices=['a'])\n", "p.add('--mode', choices=['b'])\n", None),
        ("p.add_argument('--mode', choices=['a'])\n", "p.add_argument('--mode', choices=['a', 'b'])\n", ("--mode", None, "b")),
        ("A = env_of('POOL_MODE', 'a', ['a', 'b'])\n", "A = env_of('POOL_MODE', 'c', ['c'])\n", ("POOL_MODE", "a, b", "c")),
        ("A = env_of('POOL_MODE', 'a', VALUES)\n", "A = env_of('POOL_MODE', 'c', ['c'])\n", None),
    ],
)  # fmt: skip
def test_other_accepted_values_are_a_fact(
    before: str, after: str, told: tuple[str, str | None, str | None] | None
) -> None:
    """Of a field's type, also by another name, of a type that other modules use, of a flag's choices and of a variable's list; their order does not matter."""
    whole = {"pool/core.py": CONFIG + before}, {"pool/core.py": CONFIG + after}
    kinds = (FactKind.VALUES_DROPPED, FactKind.VALUES_ADDED)
    found = [
        (each.name, each.old, each.new) for each in facts(commit_between(*whole), trees(*whole)) if each.kind in kinds
    ]
    assert found == ([told] if told else [])
