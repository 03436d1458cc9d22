"""Conditional defaults: settings that a commit makes the program set itself in some configurations."""

import pytest

from analysis.facts import facts
from analysis.models import FactKind
from tests.factories import commit, file

BEFORE = "@@ -1,2 +1,3 @@\n def check(pool_config):\n     if pool_config.device:\n"


@pytest.mark.parametrize(
    ("path", "patch", "found"),
    [
        ("pool/platforms/cpu.py", "+        self.pool_config.eager = True\n", [("PoolConfig.eager", "True")]),
        ("pool/config/pool.py", "+        pool_config.mode = Mode.NONE  # slow\n", [("PoolConfig.mode", "Mode.NONE")]),
        ("pool/config/pool.py", "+        pool_config.size = size\n", []),
        ("pool/config/pool.py", "+        if pool_config.size == 3:\n", []),
        ("pool/config/pool.py", "+        self.hf_config.kind = 'draft'\n", []),
        ("pool/config/pool.py", "-        pool_config.eager = False\n+        pool_config.eager = True\n", []),
        ("pool/models/heron.py", "+        pool_config.eager = True\n", []),
        ("tests/config/test_pool.py", "+        pool_config.eager = True\n", []),
    ],
)
def test_a_setting_that_the_program_sets_in_some_configurations_is_told(
    path: str, patch: str, found: list[tuple[str, str]]
) -> None:
    """A constant newly given to a field of a configuration, where the program decides its settings."""
    made = commit("Change it", [file(path, patch=BEFORE + patch)])
    told = [(each.name, each.new) for each in facts(made) if each.kind is FactKind.CONDITIONAL_DEFAULT]
    assert told == found
