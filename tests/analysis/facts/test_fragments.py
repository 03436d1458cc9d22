"""Python as hunks show it: what is in the scope that it has in the file, and what is left out."""

from collections.abc import Sequence

import pytest

from analysis.facts.fragments import fragment
from analysis.facts.python.module import Class
from analysis.facts.python.parsing import declarations
from tests.factories import patch


def declared(heading: str, lines: Sequence[str]) -> list[tuple[str, int]]:
    """The names that a hunk at line 40 declares, those of classes with their owner, and their lines."""
    text = patch(*(f" {line}" for line in lines), old=40, new=40).replace("@@\n", f"@@ {heading}\n")
    module = declarations(fragment("engine/core.py", text, "+"))
    assert module
    found = []
    for name, each in module.members.items():
        inside = each.members.items() if isinstance(each, Class) else ()
        found += [(f"{name}.{own}", member.line) for own, member in inside] or [(name, each.line)]
    return [each for each in found if "__unknown__" not in each[0]]


@pytest.mark.parametrize(
    ("heading", "lines", "found"),
    [
        ("class Pool:", ["    size: int = 1", "    def take(self): ..."], [("Pool.size", 40), ("Pool.take", 41)]),
        ("class Pool:", ["        size = 1", "    def take(self):"], [("Pool.take", 41)]),  # within a method
        ("class Pool:", ["            )", "        x = 1", "", "    def take(self): ..."], [("Pool.take", 43)]),
        ("def run(", ["    a: int,", ") -> None:", "    x = 1"], [("run", 39)]),
        ("", ["    size: int = 1", "MAX = 1"], [("MAX", 41)]),
        ("", ["of the pool.", '"""', "def take(): ..."], [("take", 42)]),  # a docstring that began above
        ("", ["def take():", "    x = (", "def give(): ..."], [("take", 40), ("give", 42)]),
        ("class Pool(", ["    def take(self): ..."], [("Pool.take", 40)]),
        ("class Pool:", ["        a: int,", "    ):", "        super().__init__()"], [("Pool.__init__", 39)]),
        ("class Pool:", ["        a: int,", "    ):", "        return a"], []),  # of any method
        (
            "def run(a):",
            ["            x,", "        )", "def take(", "    a: int,  # new"],
            [("run", 38), ("take", 42)],
        ),
        (
            "class Pool:",
            [
                "        of a pool.",
                '        """',
                "        pass",
                "    def take(self):",
                '        """Take',
                "        one.",
            ],
            [("Pool.take", 43)],
        ),
    ],
)
def test_a_statement_is_in_the_scope_that_it_has_in_the_file(
    heading: str, lines: Sequence[str], found: list[tuple[str, int]]
) -> None:
    """Git shows the class or function above a hunk; what else is indented is local, and what is no statement is left out."""
    assert declared(heading, lines) == found


def test_the_head_above_a_hunk_is_that_of_its_side() -> None:
    """Git shows a class as it was called before; on the new side its methods belong to what took its place."""
    text = "\n".join(
        [
            *("@@ -1,2 +1,2 @@", "-class Pool:", "+class Store:", "     size = 1"),
            *("@@ -40,1 +40,1 @@ class Pool:", "-    def take(self): ...", "+    def take(self, a): ..."),
        ]
    )
    for side, name in (("-", "Pool"), ("+", "Store")):
        module = declarations(fragment("engine/core.py", text, side))
        owner = module.members[name] if module else None
        assert isinstance(owner, Class)
        assert list(owner.members) == ["size", "take"]
