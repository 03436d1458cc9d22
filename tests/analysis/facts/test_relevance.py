"""The changed lines for which both versions of a module are parsed, and those for which neither is."""

import pytest

from analysis.facts.whole_files.relevance import may_change_interface
from tests.analysis.facts.trees import commit_between

PATH = "engine/core.py"

RELEVANT = [
    # A name of the module after a function, which is not local to it.
    ("def f():\n    return 1\n\nSIZE = 1\n", "def f():\n    return 1\n"),
    ("def f(\n    a,\n    b,\n): ...\n", "def f(\n    a,\n): ...\n"),
    ("def f(\n    a,\n): ...\n", "def f(\n    a=1,\n): ...\n"),
    ("def f(a): ...\n", "def f(a, b): ...\n"),
    ("def f(\n    a: int, b: int\n): ...\n", "def f(\n    a: int, b: int, c: int\n): ...\n"),
    ("def f(\n    a: int, b\n): ...\n", "def f(\n    a: int, b, c\n): ...\n"),
    ("def f(\n    a=1\n): ...\n", "def f(\n    a=1, b=2\n): ...\n"),
    ("class A:\n    x: int = 1\n    y: int = 1\n", "class A:\n    x: int = 1\n"),
    ("class A:\n    x: int\n", "class A:\n    x: int\n    y: int\n"),
    ("class A:\n    x: int\n", "class A:\n    x: ClassVar[int]\n"),
    ("class A:\n    x: int\n    y: int\n", "class A:\n    y: int\n    x: int\n"),
    # Another class keeps an attribute of the same name.
    (
        "class A:\n    def f(self):\n        self.x = 1\n\nclass B:\n    def f(self):\n        self.x = 1\n",
        "class A:\n    def f(self):\n        pass\n\nclass B:\n    def f(self):\n        self.x = 1\n",
    ),
    # The methods of one class become another's.
    (
        "class A:\n    def f(self):\n        pass\n\n    def g(self):\n        pass\n",
        "class A:\n    def f(self):\n        pass\n\nclass B:\n    def g(self):\n        pass\n",
    ),
    ("class A:\n    x = 1\n", "class A:\n    x = 1\n\n    @abstractmethod\n    def f(self): ...\n"),
    ("class A:\n    def f(self): ...\n", "class A:\n    @staticmethod\n    def f(self): ...\n"),
    ("class A(\n    B,\n    C,\n): ...\n", "class A(\n    B,\n): ...\n"),
    ("class A:\n    x: int = Field(3)\n", "class A:\n    x: int = Field(...)\n"),
    ("class A:\n    x: int\n", "class A:\n    x: int\n    y: int = Field(description='')\n"),
    ("class A:\n    def f(self): ...\n", "class A:\n    def f(self): ...\n    y: int\n"),
    ("if x:\n    SIZE = 1\n    NAME = 2\n", "if x:\n    NAME = 2\n"),
]

IRRELEVANT = [
    ("def f():\n    a = 1\n    b = 2\n", "def f():\n    a = 3\n"),
    ("def f(\n    a,\n) -> int:\n    b: int = 2\n    return b\n", "def f(\n    a,\n) -> int:\n    return 2\n"),
    ("SIZE = 1\n", "SIZE = 2\n"),
    ("def f(\n    a: Optional[int] = None,\n): ...\n", "def f(\n    a: int | None = None,\n): ...\n"),
    ("def f(\n    a: dict[str, Optional['A']],\n): ...\n", "def f(\n    a: 'dict[str, A | None]',\n): ...\n"),
    ("class A:\n    x: ClassVar[int] = 1\n", "class A:\n    x: ClassVar[int] = 2\n"),
    ("class A:\n    x: int\n", "class A:\n    x: int\n    y: int = 2\n"),
    ("x = 1\n", "x = 1\n\n\ndef f(a): ...\n"),
    ("x = 1\n", "x = 1\n\n\ndef f(\n    a: int,\n): ...\n"),
    ("class A:\n    x = 1\n", "class A:\n    x = 1\n\n    @property\n    def f(self): ...\n"),
    (
        "class A:\n    def f(self):\n        self.x = 1\n        self._y = 1\n",
        "class A:\n    def f(self):\n        self.x, z = 1, 2\n",
    ),
    ("def f():\n    try:\n        g()\n    except E:\n        pass\n", "def f():\n    if g:\n        g()\n"),
]


@pytest.mark.parametrize(("before", "after"), RELEVANT)
def test_a_line_that_may_break_others_is_relevant(before: str, after: str) -> None:
    """What may go, be required or be passed otherwise is compared in both versions."""
    (file,) = commit_between({PATH: before}, {PATH: after}).files
    assert may_change_interface(file, before, after)


@pytest.mark.parametrize(("before", "after"), IRRELEVANT)
def test_a_line_that_alters_no_interface_is_not_relevant(before: str, after: str) -> None:
    """Local variables, new functions, and another type or value of the same name leave a module's interface as it is."""
    (file,) = commit_between({PATH: before}, {PATH: after}).files
    assert not may_change_interface(file, before, after)
