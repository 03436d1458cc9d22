"""Names that leave a module: moved where the commit shows where to, else removed from that module, or still there."""

from collections.abc import Sequence

import pytest

from analysis.facts import facts
from analysis.locale import catalogue
from analysis.models import Fact, FactKind, FileChange, Language
from analysis.writing.by_rules import list_names
from tests.analysis.facts.told import breaking, changed, module, names
from tests.analysis.facts.trees import commit_between, trees
from tests.factories import commit, file, new_file, patch

GONE = changed("engine/pool.py", "-def drain(pool):", "-    return pool")


def test_a_name_that_another_module_gets_has_moved() -> None:
    """Both places are told: the line that it left, and the one that it came to."""
    come = new_file("engine/tanks.py", "import os", "", "def drain(pool):", "    return pool")
    assert facts(commit(files=[GONE, come])) == (
        Fact(
            kind=FactKind.MOVED_NAME,
            name="drain",
            path="engine/pool.py",
            line=40,
            old="engine/pool.py:40",
            new="engine/tanks.py:3",
        ),
    )


@pytest.mark.parametrize(
    "other",
    [
        changed("engine/work.py", "+from engine.tanks import drain"),  # which had it before
        changed("engine/work.py", "+    self.drain()"),
        changed("tests/pools.py", "+def drain(pool):"),
        changed("engine/_pool.py", "+def drain(pool):"),
        changed("engine/tanks.py", "+    def drain(self):", under="class Tank:"),
    ],
)
def test_a_name_that_is_only_mentioned_elsewhere_is_removed_from_its_module(other: FileChange) -> None:
    """Where the commit does not show that another public module gets it, only its own module is spoken of."""
    assert breaking(GONE, other) == [("removed public name", "drain")]


def test_of_two_new_places_none_is_chosen() -> None:
    """What comes to two modules has not moved to one of them."""
    others = [new_file(f"engine/{name}.py", "def drain(pool):") for name in ("one", "two")]
    assert breaking(GONE, *others) == [("removed public name", "drain")]


@pytest.mark.parametrize(
    "answering",
    [
        [changed("engine/pool.py", "-def drain(pool):", "+from engine.tanks import drain")],
        [changed("engine/pool.py", "-def drain(pool):", "+from engine.tanks import *")],
        [changed("engine/pool.py", "-def drain(pool):", "+def __getattr__(name):", "+    return find(name)")],
        [
            file("engine/pool.py", patch("-def drain(pool):"), status="removed"),
            new_file("engine/pool/__init__.py", "from engine.tanks import drain"),
        ],
        [
            file("engine/pool.py", patch("-def drain(pool):"), status="removed"),
            file("engine/pool/__init__.py", None, status="added", additions=5_000),
        ],
        [
            file("engine/pool/__init__.py", patch("-def drain(pool):"), status="removed"),
            new_file("engine/pool.py", "def drain(pool):"),
        ],
    ],
)
def test_a_name_that_its_module_still_answers_to_is_not_missed(answering: Sequence[FileChange]) -> None:
    """What is imported again, may be made on demand, or is in the package or file that took the module's place."""
    assert breaking(*answering, new_file("engine/tanks.py", "def drain(pool):")) == []


def test_what_a_package_hands_to_its_own_module_is_not_missed() -> None:
    """A package may take all of its modules' names without a line of the patch that says so."""
    gone = changed("engine/pool/__init__.py", "-def drain(pool):")
    assert breaking(gone, new_file("engine/pool/tanks.py", "def drain(pool):")) == []
    assert breaking(gone, new_file("engine/tanks.py", "def drain(pool):")) == [("moved public name", "drain")]


def test_a_class_does_not_become_a_function() -> None:
    """Names of another sort that are alike are two names."""
    lines = ["-class BlockReader:", "-    pass", "+def read_block():", "+    pass", "+def block_reader():", "+    pass"]
    assert breaking(module(lines, "x = 1")) == [("removed public name", "BlockReader")]


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("en", "`drain`, `fill` from `engine/pool.py`, `take` from `engine/tank.py` and 1 more"),
        ("zh", "`drain`、`fill`（原在 `engine/pool.py`）、`take`（原在 `engine/tank.py`） 以及另外 1 项"),
    ],
)
def test_a_removed_name_is_told_with_its_module(language: Language, told: str) -> None:
    """Names of one module share its path, so that none is read as gone from everywhere."""
    gone = [("drain", "pool"), ("fill", "pool"), ("take", "tank"), ("give", "tank")]
    found = [Fact(kind=FactKind.REMOVED_NAME, name=name, path=f"engine/{path}.py", line=1) for name, path in gone]
    assert list_names(found, catalogue(language), 3) == told


def test_a_class_that_moves_is_no_longer_listed_either() -> None:
    """One event is told once."""
    gone = changed("engine/models.py", "-class Owl:", under="x = 1")
    listed = changed("engine/registry.py", '-    "Owl",', under="MODELS = [")
    assert names(FactKind.SUPPORT_DROPPED, gone, listed, new_file("engine/birds.py", "class Owl:")) == []


POOL = "x = 1\n\n{}def pool_fake(size):\n    return size\n\n{}"


@pytest.mark.parametrize(
    ("decorator", "below", "removed"),
    [
        ("", "register_op(\n    name=str(x),\n    fake_impl=pool_fake,\n)\n", []),
        ('@library.register_fake("engine::pool")\n', "", []),
        ("", 'register_op("pool_fake", pool_fake)\n', ["pool_fake"]),
        ("", "", ["pool_fake"]),
        ("", "register_op(fake_impl=pool_fake)\ny = pool_fake(1)\n", ["pool_fake"]),
    ],
)
def test_what_a_file_only_registers_is_nobodys_import(decorator: str, below: str, removed: list[str]) -> None:
    """A function that is there to be registered goes with its registration; one that is used otherwise is removed."""
    old = {"engine/pool.py": POOL.format(decorator, below), "engine/user.py": "use = 0\n"}
    new = {"engine/pool.py": "x = 1\n", "engine/user.py": "use = 1\n"}
    found = facts(commit_between(old, new), trees(old, new))
    assert [fact.name for fact in found if fact.breaking] == removed


def test_a_short_file_that_git_calls_renamed_has_not_moved() -> None:
    """Git compares comments, too: a module has moved where half of its code is."""
    licence = "# Licence: Apache-2.0\n# Copyright of the authors\n"
    code = "".join(f"LIMIT_{number} = {number}\n" for number in range(4))

    def told(after: str) -> list[str]:
        old, new = {"engine/old.py": licence + code}, {"engine/new.py": licence + after}
        made = commit(files=[file("engine/new.py", None, status="renamed", was="engine/old.py")])
        return [fact.name for fact in facts(made, trees(old, new)) if fact.kind is FactKind.MOVED_MODULE]

    assert told(code + "MORE = 1\n") == ["engine/old.py"]
    assert told("def drain(): ...\n") == []


def test_of_a_module_that_became_a_package_only_what_it_no_longer_offers_has_moved() -> None:
    """The package is imported by the old path: names that it takes from its modules still are, others are not."""
    code = "def drain(pool):\n    return pool\n\n\ndef fill(pool):\n    return [pool]\n"
    old = {"engine/pool.py": code}
    new = {"engine/pool/core.py": code, "engine/pool/__init__.py": "from engine.pool.core import drain\n"}
    moved = file("engine/pool/core.py", None, status="renamed", was="engine/pool.py", additions=1)
    made = commit(files=[moved, new_file("engine/pool/__init__.py", "from engine.pool.core import drain")])
    found = [(fact.kind, fact.name, fact.new) for fact in facts(made, trees(old, new)) if fact.breaking]
    assert found == [(FactKind.MOVED_NAME, "fill", "engine/pool/core.py:5")]
