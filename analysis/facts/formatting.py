"""Commits that change formatting, comments or import order only.

Each side of a hunk is read as what a machine makes of it, and the two are compared. Where that cannot be told, or a file's
patch is not here, it is no layout.
"""

import ast
import re
from collections.abc import Callable, Hashable, Iterator
from functools import lru_cache

from analysis.diff import DiffLine, changed_lines, hunks
from analysis.facts.change import Change
from analysis.facts.python import MODULE, SIDES, Side, Statement, statements
from analysis.models import Fact, FactKind, FileChange
from analysis.paths import Kind, kind

_PYTHON = ("py", "pyi")
_BRACED = (
    *("c", "cc", "cpp", "cxx", "cu", "cuh", "h", "hh", "hpp", "hip", "proto"),
    *("rs", "go", "java", "kt", "swift", "cs", "js", "jsx", "mjs", "ts", "tsx"),
)
_CODE = r"""|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\w+|[^\w\s]"""  # strings, words and signs, behind what a remark is
_OF_PYTHON = re.compile(r"(?P<remark>#.*)" + _CODE)
_OF_BRACED = re.compile(r"(?P<remark>//.*|/\*.*?\*/)" + _CODE)
_IMPORT = re.compile(r"\s*(?:from\s+[\w.]+\s+import|import|#\s*include)\b")
_REMARKS = re.compile(r"(?:#|//).*")
_WORD = re.compile(r"\w+")
_QUOTES = ('"""', "'''")


def layout(change: Change) -> Iterator[Fact]:
    """One fact for the whole commit, whatever it does to documentation besides."""
    files = [each for each in change.commit.files if kind(each.path) is not Kind.DOCS]
    if files and all(map(_may_be_same, files)) and all(map(_is_same, files)):
        more = f" (+{len(files) - 1})" if len(files) > 1 else ""
        yield Fact(kind=FactKind.LAYOUT, name=files[0].path + more, path=files[0].path)


def _may_be_same(file: FileChange) -> bool:
    """Whether the lines that come have the words of those that go: what most changes fail, at little cost."""
    if file.status != "modified" or not file.patch:
        return False
    lines = file.patch.split("\n")
    gone, come = ("\n".join(line for line in lines if line.startswith(sign)) for sign in SIDES)
    return set(_WORD.findall(_REMARKS.sub("", gone))) == set(_WORD.findall(_REMARKS.sub("", come)))


def _is_same(file: FileChange) -> bool:
    suffix = file.path.rpartition(".")[2].lower()
    read: Callable[[FileChange, Side], Hashable] = (
        _python if suffix in _PYTHON else _braced if suffix in _BRACED else _lines
    )
    before, after = (read(file, side) for side in SIDES)
    return before == after and any(changed_lines(file))


def _python(file: FileChange, side: Side) -> Hashable:
    """The imports above all else in any order, statements in theirs, and the tokens of changed lines that are in none."""
    imports: set[Hashable] = set()
    others: list[Hashable] = []
    read: set[DiffLine] = set()
    for each in statements(file.patch, side):
        read.update(each.lines)
        if each.owner is MODULE and each.whole and not others and _IMPORT.match(each.text):
            imports.update(_imported(each.text))
        else:
            others.append((each.hunk, each.indent, _meant(each)))
    unread = [
        tuple(_tokens(_OF_PYTHON, line.text))
        for hunk in hunks(file.patch)
        for line in hunk
        if line.sign == side and line not in read
    ]
    return frozenset(imports), tuple(others), tuple(token for line in unread for token in line)


def _meant(statement: Statement) -> Hashable:
    """What a statement means to Python, however it is written; its lines as they are where they hold text of their own."""
    quoted = any(mark in statement.text for mark in _QUOTES)
    if quoted and statement.text.startswith(_QUOTES):
        return tuple(statement.text.split())
    if quoted:
        return tuple(line.text for line in statement.lines)
    return _parsed(statement.text) or tuple(_tokens(_OF_PYTHON, statement.text))


@lru_cache(maxsize=1024)
def _parsed(text: str) -> str:
    text = text.replace("\\ ", " ")
    try:
        return ast.dump(ast.parse(f"{text} ..." if text.endswith(":") else text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""


def _imported(text: str) -> Iterator[Hashable]:
    """Each name that an import takes, and from where."""
    try:
        found = ast.parse(text).body
    except (SyntaxError, ValueError):
        yield text
        return
    for each in found:
        if isinstance(each, ast.Import | ast.ImportFrom):
            where = (each.level, each.module) if isinstance(each, ast.ImportFrom) else ()
            yield from ((where, one.name, one.asname) for one in each.names)


def _braced(file: FileChange, side: Side) -> Hashable:
    """The tokens of each hunk, with what it includes in any order."""
    included: set[str] = set()
    others = []
    for hunk in _sides(file, side):
        included.update(" ".join(_tokens(_OF_BRACED, text)) for text in hunk if _IMPORT.match(text))
        others.append(tuple(token for text in hunk if not _IMPORT.match(text) for token in _tokens(_OF_BRACED, text)))
    return frozenset(included), tuple(others)


def _lines(file: FileChange, side: Side) -> Hashable:
    """The lines of each hunk without their ends, blank ones and whole remarks: where lines and columns may mean something."""
    return tuple(
        tuple(text.rstrip() for text in hunk if text.strip() and not text.lstrip().startswith("#"))
        for hunk in _sides(file, side)
    )


def _sides(file: FileChange, side: Side) -> Iterator[list[str]]:
    return ([line.text for line in hunk if line.sign in (" ", side)] for hunk in hunks(file.patch))


def _tokens(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    return (match[0] for match in pattern.finditer(text) if not match["remark"])
