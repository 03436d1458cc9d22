"""Name resolution within one downstream module, scope by scope, and the guarded parts of its code.

Code that expects a name of upstream to be missing in some version is not broken when it goes.
"""

import ast
from collections import ChainMap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from analysis.facts.syntax import is_for_type_checkers
from analysis.impact.surface.modules import ClassDefinition, PythonModule
from analysis.impact.surface.targets import ABOVE, CALL, Function, Target, held, infer, instance, parameter_names

_IMPORTS = ast.Import | ast.ImportFrom
_LEAVES = ast.Return | ast.Raise | ast.Continue | ast.Break
_SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_TOLERATED = ("ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException")  # a missing name


class ScopedVisitor(ast.NodeVisitor):
    """Visits a module statement by statement, and keeps what its names stand for and which guards it is under."""

    def __init__(self, module: PythonModule) -> None:
        self._module = module
        self._names: ChainMap[str, Target | None] = ChainMap(dict(module.names))
        self._owner: ClassDefinition | None = None
        self._guards = 0
        self._is_latest = False
        self._tested: frozenset[str] = frozenset()
        self._calls_guarded = False

    def _visit_function(self, node: Function) -> None:
        self._visit_all([*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)])
        owner, outer = self._owner, (self._tested, self._calls_guarded)
        is_method = owner is not None and node in owner.methods.values()
        if not is_method:
            self._define(node)
        if self._spells(node, "hasattr", "getattr"):
            self._tested |= _tested_names(node)
        self._calls_guarded |= self._spells(node, "signature") and _inspects_signatures(node)
        names: dict[str, Target | None] = dict.fromkeys(_parameters(node))
        declared = parameter_names(node, self._names)
        names.update(declared)
        if owner and is_method:
            # A mixin says by the annotation of `self` what it is mixed into.
            known = {name for name, target in declared.items() if target[0] != "typing"}
            names.update({name: each for name, each in _first_parameter(node, owner).items() if name not in known})
            names["super"] = (*owner.target, ABOVE)
        with self._scope(names):
            self._visit_all(node.body)
        self._tested, self._calls_guarded = outer

    visit_FunctionDef = visit_AsyncFunctionDef = _visit_function

    def _spells(self, node: Function, *words: str) -> bool:
        """Return whether the lines of a function have one of these words, which is much faster than to walk through it."""
        lines = self._module.lines[node.lineno - 1 : node.end_lineno]
        return any(word in line for line in lines for word in words)

    def _define(self, node: Function | ast.ClassDef) -> None:
        """Bind the name of a definition, which takes it from an import of the same name."""
        own = (*self._module.target, node.name)
        self._names[node.name] = own if self._module.names.get(node.name) == own else None

    def visit_Lambda(self, node: ast.Lambda) -> None:
        with self._scope(dict.fromkeys(_parameters(node))):
            self.visit(node.body)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._visit_all([*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)])
        self._define(node)
        outer, known = self._owner, self._module.classes.get(node.name)
        self._owner = known if known and known.node is node else None
        with self._scope({}):
            self._visit_all(node.body)
        self._owner = outer

    def visit_If(self, node: ast.If) -> None:
        test = node.test
        self.visit(test)
        negated = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else None
        # What runs where a test for one version fails runs with the latest.
        is_named = isinstance(named := negated or test, ast.Call) and _last_name(named.func).endswith("version_is")
        guards = _guards_branches(test)
        wide = {each.id: self._names.get(each.id) for each in ast.walk(test) if isinstance(each, ast.Name)}
        narrowed = self._narrow(test)
        with self._guarded(when=guards, latest=negated is not None and is_named):
            self._visit_all(node.body)
        self._names.update({name: wide.get(name) for name, now in narrowed.items() if self._names[name] is now})
        with self._guarded(when=guards, latest=negated is None and is_named):
            self._visit_all(node.orelse)
        if is_for_type_checkers(test):  # annotations mean these, whatever stands in for them at run time
            for each in node.body:
                self._names.update(self._module.imported(each) if isinstance(each, _IMPORTS) else ())
        if negated and isinstance(node.body[-1], _LEAVES):
            self._narrow(negated)

    def visit_Assert(self, node: ast.Assert) -> None:
        self.visit(node.test)
        self._narrow(node.test)

    def _narrow(self, test: ast.expr) -> dict[str, Target | None]:
        """Bind the names, and attributes of names, that a test by `isinstance` tells the class of, and return them."""
        parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
        found: dict[str, Target | None] = {}
        for part in parts:
            match part:
                case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), kind]):
                    found[name] = instance(kind, self._names)
                case ast.Call(
                    func=ast.Name(id="isinstance"), args=[ast.Attribute(value=ast.Name(id=name), attr=attribute), kind]
                ):
                    found[f"{name}.{attribute}"] = instance(kind, self._names)
        self._names.update(found)
        return found

    def visit_IfExp(self, node: ast.IfExp) -> None:
        with self._guarded(when=_guards_branches(node.test)):
            self.generic_visit(node)

    def visit_Try(self, node: ast.Try) -> None:
        with self._guarded(when=_guards_body(node)):
            self._visit_all(node.body)
        with self._guarded(when=_guards_body(node)):  # what is there instead belongs to another version
            self._visit_all(node.handlers)
        self._visit_all([*node.orelse, *node.finalbody])

    @contextmanager
    def _scope(self, names: dict[str, Target | None]) -> Iterator[None]:
        outer = self._names
        self._names = outer.new_child(names)
        yield
        self._names = outer

    @contextmanager
    def _guarded(self, *, when: bool, latest: bool = False) -> Iterator[None]:
        """Guard what is visited, but not from the latest version if it is for that."""
        outer = self._guards, self._is_latest
        self._guards += when and not latest
        self._is_latest |= latest
        yield
        self._guards, self._is_latest = outer

    # Statements that bind names

    def _visit_iteration(self, node: ast.For | ast.comprehension) -> None:
        self._bind_items(node.target, node.iter)
        self.generic_visit(node)

    visit_For = visit_comprehension = _visit_iteration

    def _visit_comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        with self._scope({}):
            for generator in node.generators:
                self.visit(generator)
            for part in ("elt", "key", "value"):
                if value := getattr(node, part, None):
                    self.visit(value)

    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = _visit_comprehension

    def visit_With(self, node: ast.With) -> None:
        for each in node.items:
            self.visit(each.context_expr)
            if isinstance(each.optional_vars, ast.Name):
                self._names[each.optional_vars.id] = infer(each.context_expr, self._names)
        with self._guarded(when=_suppresses(node)):
            self._visit_all(node.body)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self._names[node.target.id] = infer(node.value, self._names)
        self.visit(node.value)

    def _bind_items(self, target: ast.expr, container: ast.expr) -> None:
        self._forget(target)
        parts = target.elts if isinstance(target, ast.Tuple) else [target]
        found = held(container, self._names)
        if len(parts) == len(found):
            self._names.update(
                (part.id, each) for part, each in zip(parts, found, strict=True) if isinstance(part, ast.Name)
            )

    def _forget(self, target: ast.expr) -> None:
        for node in ast.walk(target):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self._names[node.id] = None

    def _visit_all(self, nodes: Sequence[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)


def _parameters(function: _SCOPES) -> Iterator[str]:
    arguments = function.args
    for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
        if each:
            yield each.arg


def _first_parameter(method: Function, owner: ClassDefinition) -> dict[str, Target | None]:
    """Return what `self` or `cls` stands for."""
    decorators = {each.id for each in method.decorator_list if isinstance(each, ast.Name)}
    parameters = [*method.args.posonlyargs, *method.args.args]
    if not parameters or "staticmethod" in decorators:
        return {}
    target = owner.target if "classmethod" in decorators else (*owner.target, CALL)
    return {parameters[0].arg: target}


def _guards_body(statement: ast.Try) -> bool:
    """Return whether the body of a `try` may fail for a missing name without an error for the caller."""
    return any(
        _catches(handler) and not any(isinstance(each, ast.Raise) for each in handler.body)
        for handler in statement.handlers
    )


def _catches(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = [_last_name(kind) if kind else "Exception" for kind in kinds]
    return any(name in _TOLERATED for name in names)


def _suppresses(statement: ast.With | ast.AsyncWith) -> bool:
    """Return whether a `with suppress(ImportError)` lets its body fail for a missing name."""
    calls = [each.context_expr for each in statement.items if isinstance(each.context_expr, ast.Call)]
    return any(
        _last_name(call.func) == "suppress" and any(_last_name(kind) in _TOLERATED for kind in call.args)
        for call in calls
    )


def _guards_branches(test: ast.expr) -> bool:
    """Return whether an `if` tests a version, or what an object or a package offers, or is for type checkers only."""
    return any(_tests_offer(node) for node in ast.walk(test))


def _tests_offer(node: ast.AST) -> bool:
    if not isinstance(node, ast.Name | ast.Attribute):
        return False
    name = _last_name(node)
    return "version" in name.lower() or name in ("TYPE_CHECKING", "hasattr", "find_spec")


def _tested_names(body: ast.AST) -> frozenset[str]:
    """Return the attribute names that code looks for before it uses them, by `hasattr`, or by `getattr` with a default."""
    found = set()
    for node in ast.walk(body):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) > 1:
            name = node.args[1]
            looks = node.func.id == "hasattr" or (node.func.id == "getattr" and len(node.args) > 2)  # noqa: PLR2004 - with a default
            if looks and isinstance(name, ast.Constant) and isinstance(name.value, str):
                found.add(name.value)
    return frozenset(found)


def _inspects_signatures(body: ast.AST) -> bool:
    """Return whether code looks at a function's parameters before it calls it."""
    return any(
        isinstance(node, ast.Attribute | ast.Name) and _last_name(node) == "signature" for node in ast.walk(body)
    )


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
