"""The uses of upstream names in the code of one downstream module."""

import ast
import re
from collections import ChainMap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from analysis.facts.whole_files.module import Parameter
from analysis.impact.surface import guards
from analysis.impact.surface.attributes import Function, parameter_names
from analysis.impact.surface.model import Arguments, Use, UseKind
from analysis.impact.surface.modules import ClassDefinition, DownstreamModules, PythonModule
from analysis.impact.surface.overrides import overrides
from analysis.impact.surface.signatures import accepted, passed
from analysis.impact.surface.targets import ABOVE, CALL, CONSTRUCTOR, Target, held, infer, instance, owner_of

_MAX_CODE = 200  # characters quoted of a line
_LEAVES = ast.Return | ast.Raise | ast.Continue | ast.Break
_SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class UseFinder(ast.NodeVisitor):
    """Collects the uses in one module, statement by statement, with what the names of each scope stand for."""

    def __init__(self, module: PythonModule, modules: DownstreamModules, packages: frozenset[str]) -> None:
        self.uses: list[Use] = []
        self._module = module
        self._modules = modules
        self._packages = packages
        self._dotted = re.compile(rf"(?:{'|'.join(map(re.escape, sorted(packages)))})(?:[.:]\w+)+")
        self._names: ChainMap[str, Target | None] = ChainMap(dict(module.names))
        self._owner: ClassDefinition | None = None
        self._guards = 0
        self._tested: frozenset[str] = frozenset()
        self._calls_guarded = False

    # Statements that bind names

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._note(UseKind.IMPORT, tuple(alias.name.split(".")), node)
        self._names.update(self._module.imported(node))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias, (name, target) in zip(node.names, self._module.imported(node), strict=False):
            found = target[:-1] if alias.name == "*" else target
            self._note(UseKind.IMPORT, found, alias)
            self._names[name] = target

    def visit_Assign(self, node: ast.Assign) -> None:
        value = infer(node.value, self._names)
        for each in node.targets:
            if isinstance(each, ast.Name):
                self._names[each.id] = value
            elif isinstance(each, ast.Attribute):
                self._replacement(each, each.attr, infer(each.value, self._names), node.value)
                self.visit(each.value)
            else:
                self._forget(each)
                self.visit(each)
        tuples = [each for each in node.targets if isinstance(each, ast.Tuple)]
        self._visit_value(node.value, len(tuples[0].elts) if tuples and not _has_star(tuples[0]) else None)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if isinstance(node.target, ast.Name):
            self._names[node.target.id] = instance(node.annotation, self._names)
        if node.value:
            self.visit(node.value)

    def visit_For(self, node: ast.For) -> None:
        self._bind_items(node.target, node.iter)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        self._bind_items(node.target, node.iter)
        self.generic_visit(node)

    def _visit_comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        with self._scope({}):
            for generator in node.generators:
                self.visit(generator)
            for part in ("elt", "key", "value"):
                if value := getattr(node, part, None):
                    self.visit(value)

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._visit_comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> None:
        self._visit_comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._visit_comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._visit_comprehension(node)

    def visit_With(self, node: ast.With) -> None:
        for each in node.items:
            self.visit(each.context_expr)
            if isinstance(each.optional_vars, ast.Name):
                self._names[each.optional_vars.id] = infer(each.context_expr, self._names)
        with self._guarded(when=guards.suppresses(node)):
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

    # Scopes and guards

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._visit_function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._visit_function(node)

    def _visit_function(self, node: Function) -> None:
        self._visit_all([*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)])
        owner, outer = self._owner, (self._tested, self._calls_guarded)
        if not (owner and node in owner.methods.values()):
            self._define(node)
        self._tested |= guards.tested_names(node)
        self._calls_guarded |= guards.inspects_signatures(node)
        names: dict[str, Target | None] = dict.fromkeys(_parameters(node))
        names.update(parameter_names(node, self._names))
        if owner and node in owner.methods.values():
            names.update(_first_parameter(node, owner))
            names["super"] = (*owner.target, ABOVE)
        with self._scope(names):
            self._visit_all(node.body)
        self._tested, self._calls_guarded = outer

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
        self.visit(node.test)
        with self._guarded(when=guards.guards_branches(node.test)):
            wide = {name: self._names.get(name) for name in _names_in(node.test)}
            narrowed = self._narrow(node.test)
            self._visit_all(node.body)
            self._names.update({name: wide.get(name) for name, now in narrowed.items() if self._names[name] is now})
            self._visit_all(node.orelse)
        if (
            isinstance(node.body[-1], _LEAVES)
            and isinstance(node.test, ast.UnaryOp)
            and isinstance(node.test.op, ast.Not)
        ):
            self._narrow(node.test.operand)

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
        with self._guarded(when=guards.guards_branches(node.test)):
            self.generic_visit(node)

    def visit_Try(self, node: ast.Try) -> None:
        with self._guarded(when=guards.guards_body(node)):
            self._visit_all(node.body)
        with self._guarded(when=guards.guards_body(node)):  # what is there instead belongs to another version
            self._visit_all(node.handlers)
        self._visit_all([*node.orelse, *node.finalbody])

    @contextmanager
    def _scope(self, names: dict[str, Target | None]) -> Iterator[None]:
        outer = self._names
        self._names = outer.new_child(names)
        yield
        self._names = outer

    @contextmanager
    def _guarded(self, *, when: bool) -> Iterator[None]:
        self._guards += when
        yield
        self._guards -= when

    # Expressions that use names

    def visit_Attribute(self, node: ast.Attribute) -> None:
        target = infer(node, self._names)
        if target is None:
            self.visit(node.value)
            return
        if isinstance(node.ctx, ast.Load):
            self._note(UseKind.READ, target, node)
        self._descend(node.value)

    def visit_Name(self, node: ast.Name) -> None:
        """Names by themselves are covered by their import."""

    def visit_Call(self, node: ast.Call) -> None:
        self._visit_call(node, None)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and self._dotted.fullmatch(node.value):
            self._note(UseKind.IMPORT, tuple(re.split("[.:]", node.value)), node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # docstrings
            self.visit(node.value)

    def _visit_value(self, value: ast.expr, unpacked: int | None) -> None:
        if isinstance(value, ast.Call):
            self._visit_call(value, unpacked)
        else:
            self.visit(value)

    def _visit_call(self, node: ast.Call, unpacked: int | None) -> None:
        target = infer(node.func, self._names)
        if target is None:
            self._visit_reflection(node)
            self.visit(node.func)
        else:
            found = self._modules.canonical(target)
            if found and self._modules.class_at(found):
                target = (*found, CALL, CONSTRUCTOR)
            self._note(UseKind.CALL, target, node.func, arguments=passed(node), unpacked=unpacked)
            self._descend(node.func)
        self._visit_all(node.args)
        self._visit_all([each.value for each in node.keywords])

    def _visit_reflection(self, node: ast.Call) -> None:
        """Note `getattr(x, "name")` as a read and `setattr(x, "name", value)` as a replacement."""
        match node:
            case ast.Call(func=ast.Name(id="getattr"), args=[of, ast.Constant(value=str(name))]):
                if owner := infer(of, self._names):
                    self._note(UseKind.READ, (*owner, name), node)
            case ast.Call(func=ast.Name(id="setattr"), args=[of, ast.Constant(value=str(name)), value]):
                self._replacement(node, name, infer(of, self._names), value)

    def _descend(self, node: ast.expr) -> None:
        """Visit what an expression with a known target is made of, without noting its parts as uses of their own."""
        if isinstance(node, ast.Attribute):
            self._descend(node.value)
        else:
            self.visit(node)

    def _replacement(self, node: ast.expr, name: str, owner: Target | None, value: ast.expr) -> None:
        """Note the assignment to an attribute of an upstream module or class."""
        found = self._modules.canonical(owner)
        if found is None or found[0] not in self._packages or CALL in found:
            return
        by = infer(value, self._names)
        function = self._modules.function_at(by) if by else None
        parameters = accepted(function) if function else None
        if parameters and found[-1][:1].isupper():
            parameters = parameters[1:]  # a function that becomes a method
        self._note(UseKind.REPLACEMENT, (*found, name), node, parameters=parameters)
        definition = self._modules.class_at(self._modules.canonical(by) or ())
        if definition and not any(upstream_bases(definition, self._modules, self._packages)):
            self.uses += overrides(definition, self._modules, (*found, name))

    def _visit_all(self, nodes: Sequence[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)

    def _note(
        self,
        kind: UseKind,
        target: Target,
        node: ast.expr | ast.stmt | ast.alias,
        *,
        arguments: Arguments | None = None,
        parameters: tuple[Parameter, ...] | None = None,
        unpacked: int | None = None,
    ) -> None:
        found = self._modules.canonical(target)
        if found is None or not (found[0] in self._packages or self._inherits(found)):
            return
        guarded = self._guards > 0 or (self._calls_guarded and kind is UseKind.CALL)
        self.uses.append(
            Use(
                kind=kind,
                target=found,
                path=self._module.path,
                line=getattr(node, "end_lineno", node.lineno) if kind in (UseKind.CALL, UseKind.READ) else node.lineno,
                code=self._module.code(node.lineno)[:_MAX_CODE],
                guarded=guarded or not self._tested.isdisjoint(target),
                arguments=arguments,
                parameters=parameters,
                unpacked=unpacked,
            )
        )

    def _inherits(self, target: Target) -> bool:
        """Return whether a target is an attribute that a downstream class has from an upstream base."""
        if CALL not in target[:-1]:
            return False
        definition = self._modules.class_at(owner_of(target))
        return definition is not None and any(upstream_bases(definition, self._modules, self._packages))


def upstream_bases(
    definition: ClassDefinition, modules: DownstreamModules, packages: frozenset[str]
) -> Iterator[Target]:
    """Yield the upstream bases of a class and of its downstream bases, in the order of look-up."""
    for each in modules.above(definition):
        if isinstance(each, tuple) and each[0] in packages:
            yield each


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


def _names_in(node: ast.expr) -> Iterator[str]:
    return (each.id for each in ast.walk(node) if isinstance(each, ast.Name))


def _has_star(node: ast.Tuple) -> bool:
    return any(isinstance(each, ast.Starred) for each in node.elts)
