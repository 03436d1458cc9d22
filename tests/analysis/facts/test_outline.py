"""Outlines of Python files: the bodies of functions are left out, and nothing else changes."""

import pytest

from analysis.facts.whole_files.module import Class, Function
from analysis.facts.whole_files.outline import outline
from analysis.facts.whole_files.parsing import parse

_SPREAD = '''\
class Pool:
    def __init__(self):
        self.size = 1

    @staticmethod
    def take(
        count: int = len("(a)"),
    ) -> int:
        """Take some.

        Not all."""
        return [
            count
        ]  # all of them
    # of the class

    async def give(self): return 1

def last():
    def inner():
        return 1
    return inner
'''
_OUTLINE = """\
class Pool:
    def __init__(self):
        self.size = 1

    @staticmethod
    def take(
        count: int = len("(a)"),
    ) -> int:





     ...
    # of the class

    async def give(self): return 1

def last():


 ...
"""


def test_leaves_out_bodies() -> None:
    """Of each function the last line becomes dots and the others empty, but for constructors and those of one line."""
    assert outline(_SPREAD) == _OUTLINE


@pytest.mark.parametrize(
    "text",
    [
        'CODE = """\ndef f():\n    return 1\n"""\n',
        'def f():\n    return """\nclass No:\n    pass\n"""\n',
        "def f(a=1\n",
        "def f():\n    # nothing\n",
        "def f():\r\n    return 1\r\n",
    ],
)
def test_leaves_alone_what_indentation_does_not_tell(text: str) -> None:
    """What is within a string, or ends further left than it begins, stays as it is."""
    assert outline(text) == text


def test_is_declared_as_in_the_whole_text() -> None:
    """A definition has the lines of the whole file, and a misread body does not keep a file from being parsed."""
    module = parse("a.py", _SPREAD + 'def odd(x="{"):\n    return (\n  1)\n\ndef even():\n    return (\n1)\n')
    assert module
    ends = {
        name: module.lines[each.end - 1] for name, each in module.members.items() if isinstance(each, Class | Function)
    }
    assert ends["Pool"] == "    async def give(self): return 1"
    assert ends["last"] == "    return inner"
    assert set(ends) == {"Pool", "last", "odd", "even"}
