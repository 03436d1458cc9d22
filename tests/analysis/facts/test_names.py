"""Names of a module and of its classes: what is gone, and what only seems to be."""

from collections.abc import Sequence

import pytest

from analysis.models import FactKind, FileChange
from tests.analysis.facts.told import breaking, changed, module, names
from tests.factories import file, new_file, patch


@pytest.mark.parametrize(
    ("under", "lines", "name"),
    [
        ("class Pool:", ["     x = 1", "-    def take(self):", "-        return 1"], "Pool.take"),
        ("class Pool(ABC, Generic[T]):", ["-    async def take(self):", "-        return 1"], "Pool.take"),
        ("class Pool(nn.Module):", ["-    @property", "-    def size(self):", "-        return 1"], "Pool.size"),
        ("class Mode(str, Enum):", ['-    SLOW = "slow"', '     FAST = "fast"'], "Mode.SLOW"),
        ("class Mode(Enum):", ['-    SLOW = "slow"', '     FAST = "fast"'], "Mode.SLOW"),
        ("", [" class Pool:", "-    def take(self):", "-        return 1", "     def give(self):"], "Pool.take"),
        ("x = 1", ["-MAX_TOKENS = 5"], "MAX_TOKENS"),
        ("x = 1", ["-Prompt: TypeAlias = str | int"], "Prompt"),
        ("x = 1", ["-def take(", "-    one: int,", "-    two: int,", "-) -> int:", "-    return 1"], "take"),
        ("x = 1", ["-@cache", "-def take():", "-    return 1"], "take"),
        ("x = 1", ["-class Pool:  # noqa (again)", '-    """', "-    def fake():", '-    """'], "Pool"),
    ],
)
def test_what_others_import_or_call_is_missed(under: str, lines: Sequence[str], name: str) -> None:
    """Functions, classes, constants, members of enumerations, and methods of a class that inherits nothing which could answer."""
    assert [found for _, found in breaking(module(lines, under))] == [name]


@pytest.mark.parametrize(
    ("under", "lines"),
    [
        ("class Pool(Base):", ["-    def take(self):"]),  # Base may have it
        ("class Pool(", ["-    def take(self):"]),
        ("class _Pool:", ["-    def take(self):"]),
        ("def build():", ["-    def take(self):"]),
        ("class Pool:", ["-        def take(self):"]),  # within a method
        ("class Pool:", ["-    def _take(self):"]),
        ("class Pool:", ["-    def take(self):", "+    take = give"]),
        ("class Pool:", ["-    def take(self):", "+    def take(self, one=1):"]),
        ("x = 1", ["-logger = init_logger(__name__)"]),
        ("x = 1", ['-T = TypeVar("T")', '-Item = TypeVar("Item")']),
        ("x = 1", ["-def take():", "+from engine.pool import take"]),
        ("x = 1", [" try:", "     from fast import Pool as Fast", "     Pool = Fast", "-class Pool:", "-    pass"]),
        ("x = 1", [" if TYPE_CHECKING:", "     from pool import Pool", "-class Pool:", "-    pass"]),
        ("def f():", ['     """Gives what was taken.', " ", "-def take():", '     """']),  # a docstring's example
    ],
)
def test_what_lives_on_is_hidden_or_unknown_is_not_missed(under: str, lines: Sequence[str]) -> None:
    """What may be inherited, is private, local, bound otherwise or quoted proves no removal."""
    assert breaking(module(lines, under)) == []


def test_what_was_there_twice_is_not_missed() -> None:
    """An author who takes away what is redundant loses nothing, though the diff does not show the other."""
    gone = module(["-    def take(self):"], "class Pool:")
    assert breaking(gone, title="Remove redundant take of Pool") == []
    assert breaking(gone) == [("removed method", "Pool.take")]


def test_a_class_that_goes_takes_its_members_along() -> None:
    """A class is told, its methods are not told again."""
    lines = ["-class Pool:", "-    def take(self):", "-        return 1", "-    def give(self):", "-        return 2"]
    assert names(FactKind.REMOVED_NAME, module(lines, "x = 1")) == ["Pool"]


def test_a_module_without_content_has_not_moved() -> None:
    """Which empty package became which is git's guess."""
    assert names(FactKind.MOVED_MODULE, file("a/b/__init__.py", status="renamed", was="a/c/__init__.py")) == []


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        (["+    @abstractmethod", "+    def take(self): ..."], ["Pool.take"]),
        (["+    def take(self): ..."], []),
        (["     @abstractmethod", "-    def take(self): ...", "+    def take(self, one): ..."], []),
        (["+    @abstractmethod", "+    def _take(self): ..."], []),
    ],
)
def test_a_new_abstract_method_asks_something_of_subclasses(lines: Sequence[str], name: list[str]) -> None:
    """What a class that was there demands from now on is told."""
    assert names(FactKind.REQUIRED_METHOD, module(lines, "class Pool(ABC):")) == name


@pytest.mark.parametrize(
    "files",
    [
        [new_file("engine/pool.py", "class Pool(ABC):", "    @abstractmethod", "    def take(self): ...")],
        [module(["+class Pool(ABC):", "+    @abstractmethod", "+    def take(self): ..."], "x = 1")],
        [changed("tests/pool.py", "+    @abstractmethod", "+    def take(self): ...", under="class Pool(ABC):")],
    ],
)
def test_a_new_class_asks_nothing_of_anybody(files: Sequence[FileChange]) -> None:
    """Nothing inherits from what was not there, nor from a test."""
    assert breaking(*files) == []


def test_two_hunks_are_one_file() -> None:
    """What one hunk takes away and another brings back was moved within the file."""
    both = patch("-def take():", old=3, new=3) + "\n" + patch("+def take():", old=90, new=89)
    assert breaking(file("engine/core.py", both)) == []


@pytest.mark.parametrize(
    ("head", "found"),
    [
        ("+class Pool(ABC):", [("removed method", "Pool.take")]),
        ("+class Pool(Base):", []),  # which may have it
        ("+class Tank:", [("removed public name", "Pool")]),
    ],
)
def test_a_class_that_is_written_anew_may_lose_a_method(head: str, found: list[tuple[str, str]]) -> None:
    """Its head comes back; what it inherits from now on could answer to the method's name."""
    lines = [
        "-class Pool:",
        "-    def take(self):",
        "-        return 1",
        head,
        "+    def give(self):",
        "+        pass",
    ]
    assert breaking(module(lines, "x = 1")) == found


def test_an_abstract_method_that_only_moves_asks_nothing_new() -> None:
    """What is taken away elsewhere in the file may have been the same class's, though the hunk does not tell."""
    come = patch("+    @abstractmethod", "+    def take(self): ...", old=40, new=40).replace(
        "@@\n", "@@ class Pool(ABC):\n"
    )
    gone = patch('     """', "-    @abstractmethod", "-    def take(self): ...", old=90, new=92)
    assert names(FactKind.REQUIRED_METHOD, file("engine/core.py", come)) == ["Pool.take"]
    assert names(FactKind.REQUIRED_METHOD, file("engine/core.py", f"{come}\n{gone}")) == []
