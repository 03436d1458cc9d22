"""Commits that change only formatting, comments, docstrings or import order.

Both sides of each hunk are reduced to what a compiler sees, and compared. When that is undecidable, or a file's patch
is missing, the commit does not count as formatting only.
"""

import ast
import re
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import lru_cache

from analysis.diff import DiffLine, changed_lines, hunks
from analysis.facts.change import Change, old_path
from analysis.facts.python import MODULE, SIDES, CodeStatement, Side, statements
from analysis.facts.syntax import Source, parse_module
from analysis.models import Fact, FactKind, FileChange
from analysis.paths import Kind, kind

_PYTHON = ("py", "pyi")
_BRACED = (
    *("c", "cc", "cpp", "cxx", "cu", "cuh", "h", "hh", "hpp", "hip", "proto"),
    *("rs", "go", "java", "kt", "swift", "cs", "js", "jsx", "mjs", "ts", "tsx"),
)
_CODE = r"""|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\w+|[^\w\s]"""  # strings, words, punctuation
_PYTHON_TOKEN = re.compile(r"(?P<remark>#.*)" + _CODE)
_BRACED_TOKEN = re.compile(r"(?P<remark>//.*|/\*.*?\*/)" + _CODE)
_IMPORT = re.compile(r"\s*(?:from\s+[\w.]+\s+import|import|#\s*include)\b")
_COMMENTS = re.compile(r"(?:#|//).*")
# A changed line that can hardly be one of a docstring: a cheap check before a file is parsed.
_STATEMENT = re.compile(
    r"^[-+]\s*(?:def \w|class \w+[(:]|return\b|import \w|(?:el)?if .*:$|[)\]}]|.*[(\[{]$|[\w.]+(?:\(|=|(?:: .*)? [-+*/|]?= ))",
    re.MULTILINE,
)
_WORD = re.compile(r"\w+")
_QUOTES = ('"""', "'''")


def formatting_only(change: Change) -> Iterator[Fact]:
    """Yield one fact for a commit whose changes outside documentation are all formatting."""
    files = [each for each in change.commit.files if kind(each.path) is not Kind.DOCS]
    if files and all(changes_only_layout(each) or _changes_docstrings(change, each) for each in files):
        more = f" (+{len(files) - 1})" if len(files) > 1 else ""
        yield Fact(kind=FactKind.LAYOUT, name=files[0].path + more, path=files[0].path)


def _has_same_words(file: FileChange) -> bool:
    """Return whether the added lines have the same words as the removed ones: a cheap check that most changes fail."""
    if file.status != "modified" or not file.patch:
        return False
    lines = file.patch.split("\n")
    removed, added = ("\n".join(line for line in lines if line.startswith(sign)) for sign in SIDES)
    return set(_WORD.findall(_COMMENTS.sub("", removed))) == set(_WORD.findall(_COMMENTS.sub("", added)))


def _changes_docstrings(change: Change, file: FileChange) -> bool:
    """Return whether a Python file's changed lines are blank, comments or in docstrings, as its whole texts show."""
    if not change.sources or not file.path.endswith(_PYTHON) or _STATEMENT.search(file.patch or "-return"):
        return False
    sides = [
        (tree.source(old_path(file)), changed_lines(file, side))
        for tree, side in zip(change.sources, SIDES, strict=True)
    ]
    return all(source is not None and _are_documentation(source, lines) for source, lines in sides)


def _are_documentation(source: Source, lines: Iterable[DiffLine]) -> bool:
    nodes = [
        each for each in ast.walk(source.module) if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)
    ]
    inside = {number for node in nodes for number in range(node.lineno, (node.end_lineno or 0) + 1)}
    return all(line.number in inside or line.text.strip()[:1] in ("", "#") for line in lines)


def changes_only_layout(file: FileChange) -> bool:
    """Return whether a file's change is formatting, comments or import order."""
    if not _has_same_words(file):
        return False
    suffix = file.path.rpartition(".")[2].lower()
    read: Callable[[FileChange, Side], Hashable] = (
        _python_content if suffix in _PYTHON else _braced_content if suffix in _BRACED else _line_content
    )
    before, after = (read(file, side) for side in SIDES)
    return before == after and any(changed_lines(file))


def _python_content(file: FileChange, side: Side) -> Hashable:
    """Return one side's leading imports as a set, its statements in order, and the other changed lines as tokens."""
    imports: set[Hashable] = set()
    others: list[Hashable] = []
    read: set[DiffLine] = set()
    for each in statements(file.patch, side):
        read.update(each.lines)
        if each.owner is MODULE and each.whole and not others and _IMPORT.match(each.text):
            imports.update(_imports(each.text))
        else:
            others.append((each.hunk, each.indent, _normalized_statement(each)))
    unread = [
        tuple(_code_tokens(_PYTHON_TOKEN, line.text))
        for hunk in hunks(file.patch)
        for line in hunk
        if line.sign == side and line not in read
    ]
    return frozenset(imports), tuple(others), tuple(token for line in unread for token in line)


def _normalized_statement(statement: CodeStatement) -> Hashable:
    """Return a statement normalized by its AST; its raw lines where it contains a multi-line string."""
    quoted = any(mark in statement.text for mark in _QUOTES)
    if quoted and statement.text.startswith(_QUOTES):
        return tuple(statement.text.split())
    if quoted:
        return tuple(line.text for line in statement.lines)
    return _ast_dump(statement.text) or tuple(_code_tokens(_PYTHON_TOKEN, statement.text))


@lru_cache(maxsize=1024)
def _ast_dump(text: str) -> str:
    text = text.replace("\\ ", " ")
    module = parse_module(f"{text} ..." if text.endswith(":") else text)
    try:
        return ast.dump(module) if module else ""
    except RecursionError:
        return ""


def _imports(text: str) -> Iterator[Hashable]:
    """Yield each imported name with the module it comes from."""
    module = parse_module(text)
    if module is None:
        yield text
        return
    for each in module.body:
        if isinstance(each, ast.Import | ast.ImportFrom):
            where = (each.level, each.module) if isinstance(each, ast.ImportFrom) else ()
            yield from ((where, one.name, one.asname) for one in each.names)


def _braced_content(file: FileChange, side: Side) -> Hashable:
    """Return one side's includes as a set and the tokens of each hunk."""
    included: set[str] = set()
    others = []
    for hunk in _texts_of_hunks(file, side):
        included.update(" ".join(_code_tokens(_BRACED_TOKEN, text)) for text in hunk if _IMPORT.match(text))
        others.append(
            tuple(token for text in hunk if not _IMPORT.match(text) for token in _code_tokens(_BRACED_TOKEN, text))
        )
    return frozenset(included), tuple(others)


def _line_content(file: FileChange, side: Side) -> Hashable:
    """Return the lines of each hunk without trailing whitespace, blank lines and comments, where layout may matter."""
    return tuple(
        tuple(text.rstrip() for text in hunk if text.strip() and not text.lstrip().startswith("#"))
        for hunk in _texts_of_hunks(file, side)
    )


def _texts_of_hunks(file: FileChange, side: Side) -> Iterator[list[str]]:
    return ([line.text for line in hunk if line.sign in (" ", side)] for hunk in hunks(file.patch))


def _code_tokens(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    return (match[0] for match in pattern.finditer(text) if not match["remark"])
