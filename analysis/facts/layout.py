"""Commits that change only formatting, comments, docstrings or import order.

Both sides of a file are reduced to what a compiler sees, and compared. When that is undecidable, or a file's patch is
missing, the commit does not count as formatting only.
"""

import ast
import re
from collections.abc import Hashable, Iterator, Sequence
from itertools import takewhile, zip_longest

from analysis.diff import changed_lines, hunks
from analysis.facts.change import SIDES, Change, Side
from analysis.facts.syntax import Source
from analysis.models import Fact, FactKind, FileChange
from analysis.paths import Kind, kind

_PYTHON = (".py", ".pyi")
_BRACED = (
    *("c", "cc", "cpp", "cxx", "cu", "cuh", "h", "hh", "hpp", "hip", "proto"),
    *("rs", "go", "java", "kt", "swift", "cs", "js", "jsx", "mjs", "ts", "tsx"),
)
_CODE = r"""|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\w+|[^\w\s]"""  # strings, words, punctuation
_BRACED_TOKEN = re.compile(r"(?P<remark>//.*|/\*.*?\*/)" + _CODE)
_IMPORT = re.compile(r"\s*(?:import|#\s*include)\b")
_COMMENTS = re.compile(r"(?:#|//).*")
_WORD = re.compile(r"\w+")


def formatting_only(change: Change) -> Iterator[Fact]:
    """Yield one fact for a commit whose changes outside documentation are all formatting."""
    files = [each for each in change.commit.files if kind(each.path) is not Kind.DOCS]
    if files and all(changes_only_layout(change, each) for each in files):
        more = f" (+{len(files) - 1})" if len(files) > 1 else ""
        yield Fact(kind=FactKind.LAYOUT, name=files[0].path + more, path=files[0].path)


def changes_only_layout(change: Change, file: FileChange) -> bool:
    """Return whether a file's change is formatting, comments or import order, or docstrings of a file that is known whole."""
    if file.status != "modified" or not file.patch or not any(changed_lines(file)):
        return False
    same_words = _has_same_words(file.patch)
    if file.path.endswith(_PYTHON):
        before, after = (change.source(file, side) for side in SIDES)
        if before and after and not (before.has_gaps or after.has_gaps):
            return (same_words or not after.partial) and _is_same_code(before, after)
    read = _braced_content if file.path.rpartition(".")[2].lower() in _BRACED else _line_content
    return same_words and read(file, "-") == read(file, "+")


def _has_same_words(patch: str) -> bool:
    """Return whether the added lines have the same words as the removed ones: a cheap check that most changes fail."""
    lines = patch.split("\n")
    removed, added = ("\n".join(line for line in lines if line.startswith(sign)) for sign in SIDES)
    return set(_WORD.findall(_COMMENTS.sub("", removed))) == set(_WORD.findall(_COMMENTS.sub("", added)))


def _is_same_code(*sources: Source) -> bool:
    """Return whether two Python files import the same first, in any order, and do the same: docstrings are no part of it."""
    bodies = [[each for each in source.module.body if not _is_docstring(each)] for source in sources]
    leading = [list(takewhile(lambda each: isinstance(each, ast.Import | ast.ImportFrom), body)) for body in bodies]
    imported = [{name for each in some for name in _imports(each)} for some in leading]
    rests = (_parts(body[len(some) :]) for body, some in zip(bodies, leading, strict=True))
    return imported[0] == imported[1] and all(old == new for old, new in zip_longest(*rests))


def _parts(body: Sequence[ast.stmt]) -> Iterator[Hashable]:
    """Yield what statements consist of, in one fixed order, without docstrings."""
    waiting: list[object] = [list(body)]
    while waiting:
        match waiting.pop():
            case ast.AST() as node:
                yield type(node).__name__
                waiting += [getattr(node, field, None) for field in node._fields]
            case list() as nodes:
                kept = [each for each in nodes if not _is_docstring(each)]
                yield len(kept)
                waiting += kept
            case other:
                yield repr(other)


def _is_docstring(each: object) -> bool:
    return isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)


def _imports(each: ast.stmt) -> Iterator[Hashable]:
    """Yield each name that a statement imports with the module it comes from."""
    if isinstance(each, ast.Import | ast.ImportFrom):
        where = (each.level, each.module) if isinstance(each, ast.ImportFrom) else ()
        yield from ((where, one.name, one.asname) for one in each.names)


def _braced_content(file: FileChange, side: Side) -> Hashable:
    """Return one side's includes as a set and the tokens of each hunk."""
    included: set[str] = set()
    others = []
    for hunk in _texts_of_hunks(file, side):
        included.update(" ".join(_tokens(text)) for text in hunk if _IMPORT.match(text))
        others.append(tuple(token for text in hunk if not _IMPORT.match(text) for token in _tokens(text)))
    return frozenset(included), tuple(others)


def _line_content(file: FileChange, side: Side) -> Hashable:
    """Return the lines of each hunk without trailing whitespace, blank lines and comments, where layout may matter."""
    return tuple(
        tuple(text.rstrip() for text in hunk if text.strip() and not text.lstrip().startswith("#"))
        for hunk in _texts_of_hunks(file, side)
    )


def _texts_of_hunks(file: FileChange, side: Side) -> Iterator[list[str]]:
    return ([line.text for line in hunk if line.sign in (" ", side)] for hunk in hunks(file.patch))


def _tokens(text: str) -> Iterator[str]:
    return (match[0] for match in _BRACED_TOKEN.finditer(text) if not match["remark"])
