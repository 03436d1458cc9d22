"""The settings that a Python file defines, each with its default: flags, fields of classes, parameters.

Private classes, functions and names are left out, and so are local variables and members of enumerations.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from analysis.facts.settings.values import Scope, Value, default_of, is_enumeration, value_of
from analysis.facts.syntax import Binding, Source, bindings, dotted, is_for_type_checkers

_FLAG_HINT = re.compile(r"\b(?:add_argument|add_option|option)\(")  # cheap: without a match there are no flags
_FLAG_CALLS = frozenset({"add_argument", "add_option", "option"})
_SWITCHES: Mapping[str, bool] = {"store_true": False, "store_false": True}
_WITHOUT_DEFAULT = frozenset({"help", "version", "store_const", "append_const"})
_TESTED_FOR_NONE = re.compile(r"\bself\.(\w+) is (?:not )?None\b")
_INIT_ONLY = re.compile(r"\s+(\w+)\s*:.*\bInitVar\b")

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Setting(NamedTuple):
    """A name that users may set, the value it has if they do not, and the line of its definition.

    The value is None if it is required, or if its default cannot be evaluated.
    """

    name: str
    value: Value | None
    line: int


def settings(source: Source) -> Iterator[Setting]:
    """Yield all settings of a file; a name occurs several times if it is defined several times."""
    yield from _of_block(source, source.module.body, "")
    yield from _flags(source)


def _of_block(source: Source, body: Sequence[ast.stmt], owner: str) -> Iterator[Setting]:
    for each in body:
        match each:
            case ast.ClassDef(name=name) if not name.startswith("_"):
                yield from _of_class(source, each, f"{owner}{name}.")
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from _parameters(source, each, owner)
            case ast.If(test=test) if is_for_type_checkers(test):
                yield from _of_block(source, each.orelse, owner)
            case ast.If() | ast.Try():
                handlers = [line for handler in getattr(each, "handlers", []) for line in handler.body]
                yield from _of_block(source, [*each.body, *handlers, *each.orelse], owner)


def _of_class(source: Source, node: ast.ClassDef, prefix: str) -> Iterator[Setting]:
    """Yield a class's fields and upper-case constants, and what its methods and inner classes define."""
    yield from _of_block(source, node.body, prefix)
    if is_enumeration(node):
        return
    decided_later = _decided_later(node, source)
    scope = Scope(source, (bindings(node.body),))
    for each in node.body:
        name, value = _field(each)
        if value is None or name.startswith("_"):
            continue
        default = value_of(default_of(value), scope)
        if isinstance(value, ast.List | ast.Set | ast.Dict) and default and default.text not in ("[]", "{}"):
            continue  # a table that instances share, which is no default
        if _is_constant(each) and not isinstance(default and default.meaning, str | int | float | None):
            continue
        if default and default.meaning is None and name in decided_later:
            default = None
        yield Setting(prefix + name, default, each.lineno)


def _parameters(source: Source, function: Function, owner: str) -> Iterator[Setting]:
    """Yield the parameters of a public function that have a default; `__init__` and other special methods are public.

    None is for the function's body to replace, so that it is no value.
    """
    name = function.name
    decorators = {(dotted(each) or "").rpartition(".")[2] for each in function.decorator_list}
    if (name.startswith("_") and not name.endswith("__")) or "overload" in decorators:
        return
    for argument, default in _defaults(function):
        if default is not None and not argument.arg.startswith("_"):
            value = value_of(default, Scope(source))
            known = value if value and value.meaning is not None else None
            yield Setting(f"{owner}{name}({argument.arg})", known, argument.lineno)


def _flags(source: Source) -> Iterator[Setting]:
    for call, names in _flag_calls(source):
        callee = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if callee in _FLAG_CALLS and (name := _flag_name(call)):
            is_passed_on = any(each.arg is None for each in call.keywords) and _keyword(call, "default") is None
            default = None if is_passed_on else _flag_default(call, Scope(source, names))  # **options may hold it
            yield Setting(name, default, call.lineno)


def _flag_default(call: ast.Call, scope: Scope) -> Value | None:
    default, action = _keyword(call, "default"), _constant_of(_keyword(call, "action"))
    if action in _WITHOUT_DEFAULT or _constant_of(_keyword(call, "required")) is True:
        return None
    if default is None:
        switch = _SWITCHES.get(str(action), False if _constant_of(_keyword(call, "is_flag")) is True else None)
        default = ast.copy_location(ast.Constant(switch, end_lineno=0), call)
    return value_of(default, scope)


def _field(statement: ast.stmt) -> tuple[str, ast.expr | None]:
    """Return (name, value) of a field with a default, or of a constant in capitals."""
    match statement:
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            return name, value
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if name.isupper():
            return name, value
    return "", None


def _is_constant(statement: ast.stmt) -> bool:
    """Return whether a class assigns a name that its instances share."""
    return isinstance(statement, ast.Assign) or (
        isinstance(statement, ast.AnnAssign) and "ClassVar" in ast.unparse(statement.annotation)
    )


def _defaults(function: Function) -> Iterator[tuple[ast.arg, ast.expr | None]]:
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    without = len(positional) - len(arguments.defaults)
    yield from zip(positional, [*[None] * without, *arguments.defaults], strict=True)
    yield from zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)


def _flag_name(call: ast.Call) -> str:
    """Return the first long option among a call's strings, without its negative form; "" if there is none."""
    texts = [each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return next((text.partition("/")[0] for text in texts if text.startswith("--")), "")


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((each.value for each in call.keywords if each.arg == name), None)


def _constant_of(node: ast.expr | None) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def _decided_later(node: ast.ClassDef, source: Source) -> frozenset[str]:
    """Return the fields for which None means that the class decides: `InitVar`, assigned after `__init__`, or tested."""
    methods = [each for each in node.body if isinstance(each, Function) and _completes(each)]
    assigned = (
        each.attr
        for method in methods
        for each in ast.walk(method)
        if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store)
    )
    lines = source.lines[node.lineno - 1 : node.end_lineno]
    tested = (match[1] for line in lines for match in _TESTED_FOR_NONE.finditer(line))
    passed_on = (match[1] for line in lines if (match := _INIT_ONLY.match(line)))
    return frozenset((*assigned, *tested, *passed_on))


def _completes(method: Function) -> bool:
    marks = {(dotted(each.func if isinstance(each, ast.Call) else each) or "") for each in method.decorator_list}
    return method.name in ("__post_init__", "model_post_init", "__attrs_post_init__") or "model_validator" in marks


def _flag_calls(source: Source) -> Iterator[tuple[ast.Call, tuple[Mapping[str, Binding], ...]]]:
    """Yield each call that may define a flag, with the names bound in the functions around it, innermost first."""
    waiting: list[tuple[ast.AST, tuple[Mapping[str, Binding], ...]]] = [(source.module, ())]
    while waiting:
        node, names = waiting.pop()
        if isinstance(node, ast.Call):
            yield node, names
        if isinstance(node, Function):
            waiting += [(each, names) for each in (*node.decorator_list, node.args)]
            names = (_locals(node), *names)
            waiting += [(each, names) for each in node.body if source.has(each, _FLAG_HINT)]
        else:
            waiting += [(each, names) for each in ast.iter_child_nodes(node) if source.has(each, _FLAG_HINT)]


def _locals(function: Function) -> Mapping[str, Binding]:
    parameters: dict[str, Binding] = dict.fromkeys(each.arg for each, _ in _defaults(function))
    found = bindings(function.body)
    return {**found, **parameters}
