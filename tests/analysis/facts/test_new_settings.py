"""Settings that a commit adds and that are on where nobody sets them."""

import pytest

from analysis.facts import facts
from analysis.models import FactKind
from tests.analysis.facts.trees import commit_between, trees


def new_settings(before: str, after: str) -> list[str]:
    """The names of the settings that a commit adds, and that are on."""
    whole = {"pool/core.py": before}, {"pool/core.py": after}
    return [each.name for each in facts(commit_between(*whole), trees(*whole)) if each.kind is FactKind.SETTING_ON]


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
