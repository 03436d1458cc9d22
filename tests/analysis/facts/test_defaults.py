"""Defaults of environment variables, and what only looks like one."""

from collections.abc import Sequence

import pytest

from analysis.models import FactKind
from tests.analysis.facts.told import changed, told


@pytest.mark.parametrize(
    "lines",
    [
        ['-    return os.getenv("POOL_FAST", "0") == "1"', '+    return os.getenv("POOL_FAST", "1") == "1"'],
        ["-    return environ.get('POOL_FAST', \"0\")", "+    return environ.get('POOL_FAST', default=\"1\")"],
        ['-    "POOL_FAST": env_bool("POOL_FAST", "0"),', '+    "POOL_FAST": env_bool("POOL_FAST", "1"),'],
        [
            '-    "POOL_FAST": lambda: bool(int(os.getenv("POOL_FAST", "0"))),',
            '+    "POOL_FAST": lambda: bool(int(os.getenv("POOL_FAST", "1"))),',
        ],
        [
            '     "POOL_FAST": lambda: bool(',
            '-        int(os.getenv("POOL_FAST", "0"))',
            '+        int(os.getenv("POOL_FAST", "1"))',
            "     ),",
        ],
        [
            '     "POOL_FAST": lambda: os.environ.get(',
            '         "POOL_FAST",',
            "         # since the pool became fast",
            '-        "0",',
            '+        "1",',
            "     ),",
        ],
        [
            '-    "POOL_FAST": lambda: bool(int(os.getenv("POOL_FAST", "0"))),',
            '+    "POOL_FAST": lambda: (',
            '+        os.environ.get("POOL_FAST", "1").lower() in ("true", "1")',
            "+    ),",
        ],
        [
            '-    fast = os.getenv("POOL_FAST", "").lower() or "0"',
            '+    fast = os.getenv("POOL_FAST", "").lower() or "1"',
        ],
    ],
)
def test_another_value_of_an_unset_variable_is_a_changed_default(lines: Sequence[str]) -> None:
    """A variable that is read with another default has a changed one, however the call is written."""
    under = "variables = {" if '": ' in lines[0] else ""
    found = told(FactKind.DEFAULT_CHANGED, changed("pool/core.py", *lines, under=under))
    assert found == [("POOL_FAST", '"0"', '"1"')]


@pytest.mark.parametrize(
    "lines",
    [
        ['-    x = os.getenv("POOL_FAST", "0")', '+    x = os.getenv("POOL_SLOW", "1")'],
        ['-    x = os.getenv("POOL_FAST", "0") == "1"', '+    x = bool(int(os.getenv("POOL_FAST", "0")))'],
        ['-    x = os.getenv("POOL_FAST", "False").lower() == "true"', '+    x = int(os.getenv("POOL_FAST", "0")) > 0'],
        ['-    x = os.getenv("POOL_FAST", first())', '+    x = os.getenv("POOL_FAST", "1")'],
        ['-    x = os.getenv("POOL_FAST", "0")', '+    x = os.getenv("POOL_FAST")'],
        ['-    x = get("POOL_FAST", "0")', '+    x = get("POOL_FAST", "1")'],
        ['     x = os.getenv("POOL_FAST", "0")', '+    y = os.getenv("POOL_FAST", "1")'],
        ['-    # os.getenv("POOL_FAST", "0")', '+    # os.getenv("POOL_FAST", "1")'],
    ],
)
def test_what_leaves_a_variables_default_or_may_is_none(lines: Sequence[str]) -> None:
    """Another variable, another spelling of the same, what is computed, and what is read in several ways change no default."""
    assert told(FactKind.DEFAULT_CHANGED, changed("pool/core.py", *lines)) == []


@pytest.mark.parametrize(
    ("path", "under", "lines"),
    [
        ("pool/core.py", "import os", [" if TYPE_CHECKING:", "-    SIZE: int = 1", "+    SIZE: int = 2"]),
        ("pool/core.py", "import os", [" if typing.TYPE_CHECKING:", "     A: int = 1", "-    SIZE: int = 1", "+    SIZE: int = 2"]),
        ("pool/core.py", "if TYPE_CHECKING:", ["     A: int = 1", "-    SIZE: int = 1", "+    SIZE: int = 2"]),
        ("pool/envs.py", "", ["     POOL_A: int = 1", "-    POOL_SIZE: int = 1", "+    POOL_SIZE: int = 2"]),
    ],
)  # fmt: skip
def test_a_stub_for_type_checkers_is_no_default(path: str, under: str, lines: Sequence[str]) -> None:
    """What only type checkers read is worth nothing to a program, whether the hunk shows the block's head or not."""
    assert told(FactKind.DEFAULT_CHANGED, changed(path, *lines, under=under)) == []


def test_a_stub_and_its_variable_are_told_once_as_it_is_set() -> None:
    """Where stub and variable change together, the value that people would set is told, at its own line."""
    stub = ["@@ -40,1 +40,1 @@ if TYPE_CHECKING:", "-    POOL_FAST: bool = False", "+    POOL_FAST: bool = True"]
    read = ["@@ -90,1 +90,1 @@ variables = {", '-    "POOL_FAST": lambda: os.getenv("POOL_FAST", "0") == "1",']
    read += ['+    "POOL_FAST": lambda: os.getenv("POOL_FAST", "1") == "1",']
    file = changed("pool/envs.py").model_copy(update={"patch": "\n".join([*stub, *read])})
    assert told(FactKind.DEFAULT_CHANGED, file) == [("POOL_FAST", '"0"', '"1"')]
