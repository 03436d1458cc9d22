"""What to write instead of a line of downstream code, where the upstream change says it; it always parses."""

import ast
import re

from analysis.models.impacts import Cause, ImpactKind


def advised(
    kind: ImpactKind, cause: Cause, code: str, *, name: str, new: str | None, subject: str | None
) -> str | None:
    """Return the line to write instead of `code`; None if it cannot be told from that line alone.

    `name` and `new` are dotted names before and after, or names of parameters where the cause is about `subject`.
    """
    proposed = None
    if cause in (Cause.MOVED, Cause.RENAMED) and new:
        proposed = _imported(code, name, new) if kind is ImpactKind.IMPORT else _renamed(code, name, new)
    elif cause is Cause.PARAMETER_RENAMED and subject and new:
        proposed = re.sub(rf"\b{re.escape(subject)}(?=\s*=(?!=))", new, code)
    elif cause is Cause.PARAMETER_REMOVED and subject and kind is ImpactKind.CALL:
        proposed = _without_keyword(code, subject)
    return proposed if proposed and proposed != code and parses(proposed) else None


def parses(code: str) -> bool:
    """Return whether a line is valid Python by itself, or as the head of a block."""
    return any(_parsed(text) is not None for text in (code, f"{code.rstrip()} pass"))


def _parsed(code: str) -> ast.Module | None:
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _imported(code: str, name: str, new: str) -> str:
    if re.search(whole := rf"(?<![\w.]){re.escape(name)}(?!\w)", code):  # a module, or one of its packages
        return re.sub(whole, new, code)
    module, _, imported = new.rpartition(".")
    own = name.rpartition(".")[2]
    alias = re.search(rf"\b{re.escape(own)}\s+as\s+(\w+)", code)
    bound = alias[1] if alias else own
    as_before = f" as {bound}" if bound != imported else ""
    if code.lstrip().startswith("import "):
        return f"import {new}{f' as {alias[1]}' if alias else ''}"
    return f"from {module} import {imported}{as_before}" if module else f"import {imported}{as_before}"


def _renamed(code: str, name: str, new: str) -> str:
    old, now = name.rpartition(".")[2], new.rpartition(".")[2]
    return re.sub(rf"\b{re.escape(old)}\b", now, code) if old != now else code


def _without_keyword(code: str, keyword: str) -> str | None:
    tree = _parsed(code)
    if tree is None:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            node.keywords = [each for each in node.keywords if each.arg != keyword]
    return ast.unparse(tree)
