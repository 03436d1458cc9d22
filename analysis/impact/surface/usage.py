"""The uses of upstream names in the code of one downstream module, with what calls pass and what overrides accept."""

import ast
import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace

from analysis.facts.python.module import Parameter
from analysis.facts.python.parsing import parameters
from analysis.facts.python.signatures import returned_length
from analysis.facts.syntax import body, dotted
from analysis.impact.surface.model import Arguments, Use, UseKind
from analysis.impact.surface.modules import ClassDefinition, DownstreamModules, PythonModule
from analysis.impact.surface.scopes import ScopedVisitor
from analysis.impact.surface.targets import CALL, CONSTRUCTOR, Function, Target, infer, instance, owner_of

_MAX_CODE = 200  # characters quoted of a line
_SPECIAL = (CONSTRUCTOR, "__call__", "__new__")  # of the methods that Python calls, those whose parameters are told


class UseFinder(ScopedVisitor):
    """Collects the uses in one module, statement by statement, with what the names of each scope stand for."""

    def __init__(self, module: PythonModule, modules: DownstreamModules) -> None:
        super().__init__(module)
        self.uses: list[Use] = []
        self.imports: list[tuple[Target, bool]] = []  # of downstream modules, and whether they are guarded
        self.constructed: set[Target] = set()  # downstream classes that the module calls
        self._compared = False
        self._modules = modules
        self._dotted = re.compile(rf"(?:{'|'.join(map(re.escape, sorted(modules.packages)))})(?:[.:]\w+)+")

    # Statements that bind names

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._note_import(tuple(alias.name.split(".")), node)
        self._names.update(self._module.imported(node))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias, (name, target) in zip(node.names, self._module.imported(node), strict=False):
            found = target[:-1] if alias.name == "*" else target
            self._note_import(found, alias)
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
        parts = next((each.elts for each in node.targets if isinstance(each, ast.Tuple)), [])
        if isinstance(node.value, ast.Call):
            starred = any(isinstance(each, ast.Starred) for each in parts)
            self._visit_call(node.value, None if starred else len(parts) or None)
        else:
            self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Attribute) and (target := infer(node.target, self._names)):
            self._note(UseKind.READ, target, node.target)
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if isinstance(node.target, ast.Name):
            self._names[node.target.id] = instance(node.annotation, self._names)
        if node.value:
            self.visit(node.value)

    def _note_import(self, target: Target, node: ast.stmt | ast.alias) -> None:
        self._note(UseKind.IMPORT, target, node)
        self.imports += [(each, self._guards > 0) for each in (target, target[:-1]) if self._modules.has(each)]

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
        if isinstance(node.value, str) and not self._compared and self._dotted.fullmatch(node.value):
            self._note(UseKind.IMPORT, tuple(re.split("[.:]", node.value)), node)

    def visit_Compare(self, node: ast.Compare) -> None:
        with self._comparing():
            self.generic_visit(node)

    @contextmanager
    def _comparing(self) -> Iterator[None]:
        """Strings within are compared with others, and not resolved."""
        outer, self._compared = self._compared, True
        yield
        self._compared = outer

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # docstrings
            self.visit(node.value)

    def _visit_call(self, node: ast.Call, unpacked: int | None) -> None:
        target = infer(node.func, self._names)
        self._visit_reflection(node)
        if target is None:
            self.visit(node.func)
        else:
            found = self._modules.canonical(target)
            if found and self._modules.class_at(found):
                self.constructed.add(found)
                target = (*found, CALL, CONSTRUCTOR)
            self._note(UseKind.CALL, target, node.func, arguments=_passed(node), values=unpacked)
            self._descend(node.func)
        asserts = isinstance(node.func, ast.Attribute) and node.func.attr.startswith("assert")
        with self._comparing() if asserts else nullcontext():
            self._visit_all(node.args)
            self._visit_all([each.value for each in node.keywords])

    def _visit_reflection(self, node: ast.Call) -> None:
        """Note `getattr(x, "name")` as a read, `setattr(x, "name", value)` as a replacement, and `partial(x, ...)` as a call."""
        match node:
            case ast.Call(func=ast.Name(id="getattr"), args=[of, ast.Constant(value=str(name)) as named]):
                if owner := infer(of, self._names):
                    self._note(UseKind.READ, (*owner, name), named)
            case ast.Call(func=ast.Name(id="partial") | ast.Attribute(attr="partial"), args=[function, *given]):
                if target := infer(function, self._names):
                    passed = _passed(ast.Call(node.func, given, node.keywords))
                    later = passed.model_copy(update={"any_positional": True, "any_keywords": True})
                    self._note(UseKind.CALL, target, function, arguments=later)
            case ast.Call(func=ast.Name(id="setattr"), args=[of, ast.Constant(value=str(name)), value]):
                self._replacement(node, name, infer(of, self._names), value)
            # By `patch.object` and `monkeypatch.setattr`, which fail without it.
            case ast.Call(func=ast.Attribute(attr="object" | "setattr"), args=[of, ast.Constant(value=str(name)), *_]):
                lenient = any(each.arg in ("create", "raising") for each in node.keywords)
                if not lenient and (owner := infer(of, self._names)):
                    self._note(UseKind.READ, (*owner, name), node.args[1])

    def _descend(self, node: ast.expr) -> None:
        """Visit what an expression with a known target is made of, without noting its parts as uses of their own."""
        if isinstance(node, ast.Attribute):
            self._descend(node.value)
        else:
            self.visit(node)

    def _replacement(self, node: ast.expr, name: str, owner: Target | None, value: ast.expr) -> None:
        """Note the assignment to an attribute of an upstream module, class or object."""
        found = self._modules.canonical(owner)
        if found is None or found[0] not in self._modules.packages:
            return
        by = infer(value, self._names)
        if self._modules.canonical(by) == (*found, name):
            return  # upstream's own is put back
        function = self._modules.function_at(by) if by else None
        own = _accepted(function) if function else None
        if own and found[-1][:1].isupper():
            own = own[1:]  # a function that becomes a method
        self._note(
            UseKind.REPLACEMENT,
            (*found, name),
            node,
            parameters=own,
            values=returned_length(function) if function else None,
            returns=_annotation(function) if function else "",
            body=body(function) if function else "",
        )
        definition = self._modules.class_at(self._modules.canonical(by) or ())
        if definition and not any(self._modules.upstream_bases(definition)):
            self.uses += overrides(definition, self._modules, (*found, name))

    def _note(
        self,
        kind: UseKind,
        target: Target,
        node: ast.expr | ast.stmt | ast.alias,
        *,
        arguments: Arguments | None = None,
        parameters: tuple[Parameter, ...] | None = None,
        values: int | None = None,
        returns: str = "",
        body: str = "",
    ) -> None:
        found = self._modules.canonical(target)
        if found is None or not (found[0] in self._modules.packages or self._inherits(found)):
            return
        is_inspected = self._calls_guarded and kind is UseKind.CALL
        guarded = self._guards > 0 or is_inspected or not self._tested.isdisjoint(target)
        # The name that an expression over several lines ends in is in the last of them.
        line = getattr(node, "end_lineno", node.lineno) if kind in (UseKind.CALL, UseKind.READ) else node.lineno
        self.uses.append(
            Use(
                kind=kind,
                target=found,
                path=self._module.path,
                line=line,
                code=self._module.code(line)[:_MAX_CODE],
                guarded=guarded or self._is_latest,
                latest=self._is_latest and not guarded,
                arguments=arguments,
                parameters=parameters,
                values=values,
                returns=returns,
                body=body,
            )
        )

    def _inherits(self, target: Target) -> bool:
        """Return whether a target is an attribute that a downstream class has from an upstream base."""
        if CALL not in target[:-1]:
            return False
        definition = self._modules.class_at(owner_of(target))
        return definition is not None and any(self._modules.upstream_bases(definition))


def overrides(
    definition: ClassDefinition, modules: DownstreamModules, owner: Target, *, constructed: bool = False
) -> Iterator[Use]:
    """Yield each method of a class as an override of the one of `owner`: the class itself, or the one that it replaces.

    The constructor of a class that downstream code constructs itself is none: upstream does not call it.
    """
    for name, method in definition.methods.items():
        if (name.startswith("__") and name not in _SPECIAL) or (constructed and name == CONSTRUCTOR):
            continue
        decorators = " ".join(ast.unparse(each) for each in method.decorator_list)
        yield Use(
            kind=UseKind.OVERRIDE,
            target=(*owner, CALL, name),
            path=definition.path,
            line=method.lineno,
            code=modules.module_of(definition).code(method.lineno),
            values=returned_length(method),
            returns=_annotation(method),
            body=body(method),
            parameters=None if "property" in decorators else _accepted(method)[int("staticmethod" not in decorators) :],
        )


def _accepted(function: Function) -> tuple[Parameter, ...]:
    """Return the parameters that a function accepts, without their annotations."""
    return tuple(replace(each, annotation="") for each in parameters(function.args))


def _annotation(function: Function) -> str:
    """Return what a function says that it returns; "" if it says nothing."""
    return ast.unparse(function.returns) if function.returns else ""


def _passed(node: ast.Call) -> Arguments:
    """Return what a call passes."""
    return Arguments(
        positional=sum(not isinstance(each, ast.Starred) for each in node.args),
        keywords=tuple(each.arg for each in node.keywords if each.arg),
        any_positional=any(isinstance(each, ast.Starred) for each in node.args),
        any_keywords=any(each.arg is None for each in node.keywords),
        names=tuple(name.rpartition(".")[2] for name in map(dotted, node.args) if name),
    )
