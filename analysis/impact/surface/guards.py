"""Guards: code that expects a name of upstream to be missing in some version is not broken when it goes."""

import ast

_MISSING = ("ImportError", "ModuleNotFoundError", "AttributeError")
_ANYTHING = ("Exception", "BaseException")


def guards_body(statement: ast.Try) -> bool:
    """Return whether the body of a `try` may fail for a missing name without an error for the caller."""
    return any(_catches(handler) and not _raises(handler) for handler in statement.handlers)


def _catches(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = [_last_name(kind) if kind else "Exception" for kind in kinds]
    return any(name in _MISSING or name in _ANYTHING for name in names)


def _raises(handler: ast.ExceptHandler) -> bool:
    return any(isinstance(statement, ast.Raise) for statement in handler.body)


def suppresses(statement: ast.With | ast.AsyncWith) -> bool:
    """Return whether a `with suppress(ImportError)` lets its body fail for a missing name."""
    calls = [each.context_expr for each in statement.items if isinstance(each.context_expr, ast.Call)]
    return any(
        _last_name(call.func) == "suppress" and any(_last_name(kind) in (*_MISSING, *_ANYTHING) for kind in call.args)
        for call in calls
    )


def guards_branches(test: ast.expr) -> bool:
    """Return whether an `if` tests a version, or what an object or a package offers, or is for type checkers only."""
    return any(_tests_offer(node) for node in ast.walk(test))


def _tests_offer(node: ast.AST) -> bool:
    if not isinstance(node, ast.Name | ast.Attribute):
        return False
    name = _last_name(node)
    return "version" in name.lower() or name in ("TYPE_CHECKING", "hasattr", "find_spec")


def is_for_type_checkers(test: ast.expr) -> bool:
    """Return whether the body of an `if` is never run."""
    return _last_name(test) == "TYPE_CHECKING"


def tested_names(body: ast.AST) -> frozenset[str]:
    """Return the attribute names that code looks for before it uses them, by `hasattr`, or by `getattr` with a default."""
    found = set()
    for node in ast.walk(body):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) > 1:
            name = node.args[1]
            looks = node.func.id == "hasattr" or (node.func.id == "getattr" and len(node.args) > 2)  # noqa: PLR2004 - with a default
            if looks and isinstance(name, ast.Constant) and isinstance(name.value, str):
                found.add(name.value)
    return frozenset(found)


def inspects_signatures(body: ast.AST) -> bool:
    """Return whether code looks at a function's parameters before it calls it."""
    return any(
        isinstance(node, ast.Attribute | ast.Name) and _last_name(node) == "signature" for node in ast.walk(body)
    )


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
