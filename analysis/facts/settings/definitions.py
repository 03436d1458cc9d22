"""The settings that a Python file defines, each with its default: flags, fields of classes, parameters, constants.

Private classes, functions and names are left out, and so are local variables and members of enumerations.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from analysis.facts.interfaces import ENV_FILE
from analysis.facts.settings.values import Evaluator, Scope, Value, default_of, is_enumeration
from analysis.facts.syntax import Binding, Source, bindings, dotted, is_for_type_checkers

FLAG_HINT = re.compile(r"\b(?:add_argument|add_option|option)\(")  # cheap: without a match there are no flags
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


class SettingsReader:
    """SettingsReader of the settings of one file on one side of a commit."""

    def __init__(self, source: Source, evaluator: Evaluator) -> None:
        self._source = source
        self._evaluator = evaluator

    def settings(self) -> Iterator[Setting]:
        """Yield all settings of the file; a name occurs several times if it is defined several times."""
        yield from self._of_block(self._source.module.body, "")
        if FLAG_HINT.search(self._source.text):
            yield from self._flags()

    def constants(self) -> Iterator[Setting]:
        """Yield the module's constants whose name says that they are defaults or variables of the environment."""
        named_for_variables = bool(ENV_FILE.search(self._source.path.lower()))
        for name, node in self._source.bindings.items():
            says_so = named_for_variables or "DEFAULT" in name.split("_")
            if isinstance(node, ast.expr) and says_so and name.isupper() and not name.startswith("_"):
                yield Setting(name, self._value(node), node.lineno)

    def _of_block(self, body: Sequence[ast.stmt], owner: str) -> Iterator[Setting]:
        for each in body:
            match each:
                case ast.ClassDef(name=name) if not name.startswith("_"):
                    yield from self._of_class(each, f"{owner}{name}.")
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    yield from self._parameters(each, owner)
                case ast.If(test=test) if is_for_type_checkers(test):
                    yield from self._of_block(each.orelse, owner)
                case ast.If() | ast.Try():
                    handlers = [line for handler in getattr(each, "handlers", []) for line in handler.body]
                    yield from self._of_block([*each.body, *handlers, *each.orelse], owner)

    def _of_class(self, node: ast.ClassDef, prefix: str) -> Iterator[Setting]:
        """Yield a class's fields and upper-case constants, and what its methods and inner classes define."""
        yield from self._of_block(node.body, prefix)
        if is_enumeration(node):
            return
        decided_later = _decided_later(node, self._source)
        scope = Scope(self._source, (bindings(node.body),))
        for each in node.body:
            name, value = _field(each)
            if value is None or name.startswith("_"):
                continue
            default = self._evaluator.value(default_of(value), scope)
            if isinstance(value, ast.List | ast.Set | ast.Dict) and default and default.text not in ("[]", "{}"):
                continue  # a table that instances share, which is no default
            if _is_constant(each) and not isinstance(default and default.meaning, str | int | float | None):
                continue
            if default and default.meaning is None and name in decided_later:
                default = None
            yield Setting(prefix + name, default, each.lineno)

    def _parameters(self, function: Function, owner: str) -> Iterator[Setting]:
        """Yield the parameters of a public function; `__init__` and other special methods are public."""
        name = function.name
        decorators = {(dotted(each) or "").rpartition(".")[2] for each in function.decorator_list}
        if (name.startswith("_") and not name.endswith("__")) or "overload" in decorators:
            return
        for argument, default in _defaults(function):
            option = _option_of(argument, default)
            if option is not None:
                value = self._option_default(option, default, Scope(self._source))
                yield Setting(_flag_name(option) or f"--{argument.arg.replace('_', '-')}", value, argument.lineno)
            elif not argument.arg.startswith("_") and default is not None:
                yield Setting(
                    f"{owner}{name}({argument.arg})", self._in_effect(function, argument.arg, default), argument.lineno
                )

    def _in_effect(self, function: Function, name: str, default: ast.expr) -> Value | None:
        """Return a parameter's default; for None, what the function's body uses in its place."""
        value = self._value(default)
        if value is None or value.meaning is not None:
            return value
        scope = Scope(self._source, (bindings(function.body),))
        replaced = next(_replacements_of_none(function, name), default)
        return self._evaluator.value(replaced, scope) if replaced else None

    def _flags(self) -> Iterator[Setting]:
        for call, names in _flag_calls(self._source):
            callee = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            if callee in _FLAG_CALLS and (name := _flag_name(call)):
                if any(each.arg is None for each in call.keywords) and _keyword(call, "default") is None:
                    continue  # **options may hold it
                yield Setting(name, self._flag_default(call, Scope(self._source, names)), call.lineno)

    def _flag_default(self, call: ast.Call, scope: Scope) -> Value | None:
        default, action = _keyword(call, "default"), _constant_of(_keyword(call, "action"))
        if action in _WITHOUT_DEFAULT or _constant_of(_keyword(call, "required")) is True:
            return None
        if default is None:
            switch = _SWITCHES.get(str(action), False if _constant_of(_keyword(call, "is_flag")) is True else None)
            default = ast.copy_location(ast.Constant(switch, end_lineno=0), call)
        return self._evaluator.value(default, scope)

    def _option_default(self, option: ast.Call, default: ast.expr | None, scope: Scope) -> Value | None:
        """Return the default of a parameter that Typer makes an option of; `typer.Option(...)` requires one."""
        if default is option:
            default = option.args[0] if option.args else _keyword(option, "default")
        return self._evaluator.value(default, scope) if default else None

    def _value(self, node: ast.expr) -> Value | None:
        return self._evaluator.value(node, Scope(self._source))


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


def _option_of(argument: ast.arg, default: ast.expr | None) -> ast.Call | None:
    """Return the call of Typer's `Option` in a parameter's default or annotation."""
    annotation = argument.annotation
    metadata = annotation.slice if isinstance(annotation, ast.Subscript) else None
    described = metadata.elts if isinstance(metadata, ast.Tuple) else []
    for each in (default, *described):
        if isinstance(each, ast.Call) and (dotted(each.func) or "").rpartition(".")[2] == "Option":
            return each
    return None


def _flag_name(call: ast.Call) -> str:
    """Return the first long option among a call's strings, without its negative form; "" if there is none."""
    texts = [each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return next((text.partition("/")[0] for text in texts if text.startswith("--")), "")


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((each.value for each in call.keywords if each.arg == name), None)


def _constant_of(node: ast.expr | None) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def _replacements_of_none(function: Function, name: str) -> Iterator[ast.expr | None]:
    """Yield what a body uses for a parameter that is None; None if that depends on more.

    Such are `if p is None: p = ...`, `p or ...` and `p if p is not None else ...`.
    """
    for each in function.body:
        match each:
            case ast.If(test=ast.Compare(left=ast.Name(id=left), ops=[ast.Is()])) if left == name:
                assigned = bindings(each.body)
                if name in assigned:
                    binding = assigned[name]
                    yield binding if isinstance(binding, ast.expr) else None
            case ast.Assign(value=ast.BoolOp(op=ast.Or(), values=[ast.Name(id=left), value])) if left == name:
                yield value
            case ast.Assign(
                value=ast.IfExp(
                    test=ast.Compare(left=ast.Name(id=left), ops=[ast.IsNot()]), body=ast.Name(id=same), orelse=value
                )
            ) if left == same == name:
                yield value


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
            waiting += [(each, names) for each in node.body if source.has(each, FLAG_HINT)]
        else:
            waiting += [(each, names) for each in ast.iter_child_nodes(node) if source.has(each, FLAG_HINT)]


def _locals(function: Function) -> Mapping[str, Binding]:
    parameters: dict[str, Binding] = dict.fromkeys(each.arg for each, _ in _defaults(function))
    found = bindings(function.body)
    return {**found, **parameters}
