"""Signatures: what callers must change, and what they need not."""

from collections.abc import Sequence

import pytest

from analysis.facts.python.signatures import narrowed
from analysis.models import FactKind
from tests.analysis.facts.told import breaking, changed, module, names, told
from tests.factories import file as file_
from tests.factories import patch


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["-def run(a, b):", "+def run(a):"], [("removed parameter", "run(b)")]),
        (["-def run(a, b=1):", "+def run(a, *, c=1):"], [("removed parameter", "run(b)")]),
        (["-def run(a, b: int):", "+def run(a, c: int):"], [("renamed parameter", "run(b)")]),
        (["-def run(a):", "+def run(a, b):"], [("new required parameter", "run(b)")]),
        (["-def run(a):", "+def run(a, *, b):"], [("new required parameter", "run(b)")]),
        (["-def run(a, b=1):", "+def run(a, b):"], [("new required parameter", "run(b)")]),
        (
            [" def run(", "     a: int,", "-    b: int,", " ) -> int:", "     return a"],
            [("removed parameter", "run(b)")],
        ),
        (
            [" async def run(", "     a: int,  # one, of (many", "+    b: dict[str, int],", " ) -> int:"],
            [("new required parameter", "run(b)")],
        ),
    ],
)
def test_a_call_that_fails_from_now_on_is_told(lines: Sequence[str], found: list[tuple[str, str]]) -> None:
    """Parameters that went, have another name, or are needed now, on one line or on several."""
    assert breaking(module(lines, "x = 1")) == found


@pytest.mark.parametrize(
    "lines",
    [
        ["-def run(a, b):", "+def run(a, b, c=1):"],
        ["-def run(a, b):", "+def run(a, **more):"],  # still taken
        ["-def run(a, **more):", "+def run(a, b):"],  # taken before
        ["-def run(a,b):", "+def run(a, b):"],
        ["-def _run(a, b):", "+def _run(a):"],
        ["-def run(a, b", "+def run(a"],
        ["-@triton.jit", "-def run(a, b):", "+@triton.jit", "+def run(a):"],
        ["-@gpu.kernel", "-def run(a, b):", "+@gpu.kernel", "+def run(a):"],
        ["-    def run(a, b):", "+    def run(a):"],
        ["-def run(a, b):", "-    pass", "-def run(a, c):", "+def run(a):"],
    ],
)
def test_a_call_that_may_go_on_is_not_told(lines: Sequence[str]) -> None:
    """Optional, catch-all, private, cut, compiled, local and doubled signatures prove nothing."""
    assert breaking(module(lines, "def other():")) == []


def test_a_method_is_named_with_its_class() -> None:
    """The class is known from the line above the hunk, and one interface's change is told once."""
    one = module(["     def run(", "         self,", "-        a,", "     ):"], "class First(Base):")
    two = file_(
        "engine/other.py", patch("-    def run(self, a):", "+    def run(self):").replace("@@\n", "@@ class B(Base):\n")
    )
    assert breaking(one, two) == [("removed parameter", "First.run(a)")]


def test_a_class_that_gave_way_to_another_has_no_signature() -> None:
    """Below the head of a class that went stand another's methods."""
    first = patch("-class Old(Base):", "+class New:", old=1, new=1)
    second = patch("-    def run(self, a):", "+    def run(self):", old=20, new=20).replace(
        "@@\n", "@@ class Old(Base):\n"
    )
    assert names(FactKind.REMOVED_PARAMETER, file_("engine/core.py", f"{first}\n{second}")) == []


@pytest.mark.parametrize(
    ("was", "now", "less"),
    [
        ("int | None", "int", True),
        ("Optional[Mode]", "Mode", True),
        ("Union[int, str]", "int", True),
        ("list[int]", "np.ndarray", True),
        ("tuple[int, int]", "tuple[int, int, int]", True),
        ("int", "int | None", False),
        ("int", "float", False),
        ("torch.Tensor", "Tensor", False),
        ("List[int]", "list[int]", False),
        ("'Mode'", "Mode", False),
        ("list[int]", "Sequence[int]", False),
        ("Base", "Derived", False),
        ("int", "Mode", False),
        ("", "int", False),
        ("int", "", False),
        ("int", "not a type at all", False),
    ],
)
def test_a_type_that_takes_less(was: str, now: str, *, less: bool) -> None:
    """Only plain types are compared: what inherits from what, and what a name stands for, is not known."""
    assert narrowed(was, now) is less


def test_a_type_is_told_as_it_was_and_is() -> None:
    """Parameters that take less, and returns that promise other things."""
    lines = ["-def run(a: int | None) -> str:", "+def run(a: int) -> float:"]
    found = told(FactKind.RETYPED, module(lines, "x = 1"))
    assert found == [("run(a)", "int | None", "int"), ("run(return)", "str", "float")]


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["     a: int,", "-    b: int = 1,", " ) -> None:", "     return"], [("removed parameter", "run(b)")]),
        (["     a: int,  # one", "+    b: int,  # two", "     c: int,", " ):"], [("new required parameter", "run(b)")]),
        (["     a: int,", "-    b: int = 1,", "     **more: int,", " ):"], []),  # still taken
        (["     a: int,", "-    b: int = 1,", "     c: int,"], []),  # no end: more may follow
        (["         a,", "-        b=1,", "     )", "     return a"], []),  # a call
    ],
)
def test_a_head_that_begins_above_the_hunk_is_read_with_it(lines: Sequence[str], found: list[tuple[str, str]]) -> None:
    """Git shows the function's name above; its parameters up to the end of the head are the hunk's."""
    assert breaking(module(lines, "def run(")) == found


def test_each_constructor_is_told() -> None:
    """Classes that are made with something new are made one by one; methods of one interface are told once."""
    lines = ["-    def __init__(self, a):", "+    def __init__(self, a, b):"]
    one, two = module(lines, "class First:"), changed("engine/other.py", *lines, under="class Second:")
    assert [name for _, name in breaking(one, two)] == ["First.__init__(b)", "Second.__init__(b)"]
