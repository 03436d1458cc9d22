"""The Python modules of a downstream tree: what their names stand for, and which classes they define."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from analysis.facts.python.module import module_path
from analysis.facts.syntax import parse_module
from analysis.impact.surface.targets import ABOVE, CALL, Function, Target, attribute_targets, infer, instance, joined

_MAX_HOPS = 12  # names followed from module to module, or classes up to their bases


@dataclass
class ClassDefinition:
    """A class of a downstream module: the targets of its bases, and what its attributes stand for."""

    target: Target
    path: str
    node: ast.ClassDef
    bases: tuple[Target, ...]
    methods: Mapping[str, Function]
    attributes: Mapping[str, Target | None]

    def defines(self, name: str) -> bool:
        return name in self.methods or name in self.attributes

    @property
    def members(self) -> Iterator[str]:
        yield from self.methods
        yield from self.attributes


@dataclass
class PythonModule:
    """A parsed module; `names` says what its top level binds."""

    path: str
    target: Target
    tree: ast.Module
    lines: list[str]
    names: dict[str, Target] = field(default_factory=dict)
    classes: dict[str, ClassDefinition] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)

    def code(self, line: int) -> str:
        return self.lines[line - 1].strip() if 0 < line <= len(self.lines) else ""

    def imported(self, node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, Target]]:
        """Yield each name that an import statement binds, and its target; `*` for a star import."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                parts = tuple(alias.name.split("."))
                yield (alias.asname, parts) if alias.asname else (parts[0], parts[:1])
            return
        source = self._source(node)
        if source is not None:
            for alias in node.names:
                yield alias.asname or alias.name, (*source, alias.name)

    def _source(self, node: ast.ImportFrom) -> Target | None:
        named = tuple(node.module.split(".")) if node.module else ()
        if not node.level:
            return named
        package = self.target if self.path.endswith("__init__.py") else self.target[:-1]
        above = node.level - 1
        return (*package[: len(package) - above], *named) if above <= len(package) else None


class DownstreamModules:
    """The modules of a downstream tree, and what targets that begin in them come to."""

    def __init__(self, sources: Iterable[tuple[str, str]], packages: frozenset[str]) -> None:
        """Parse (path, text) pairs; `packages` are those of upstream."""
        self.packages = packages
        self.unparsed: list[str] = []
        self._modules: dict[Target, PythonModule] = {}
        for path, text in sources:
            if tree := parse_module(text):
                target = tuple(module_path(path).split("/"))
                self._modules[target] = PythonModule(path, target, tree, text.split("\n"))
            else:
                self.unparsed.append(path)
        for step in (self._bind, self._define):
            for module in list(self):
                try:
                    step(module)
                except RecursionError:
                    self.drop(module)

    def drop(self, module: PythonModule) -> None:
        """Leave out a module that is nested too deep to be followed."""
        del self._modules[module.target]
        self.unparsed.append(module.path)

    def __iter__(self) -> Iterator[PythonModule]:
        return iter(self._modules.values())

    def _bind(self, module: PythonModule) -> None:
        """Note what the top level's imports, definitions and aliases stand for."""
        for statement in top_level(module.tree.body):
            match statement:
                case ast.Import() | ast.ImportFrom():
                    for name, target in module.imported(statement):
                        module.names.setdefault(name, target)  # of `try` and `except`, the first
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    module.names.setdefault(statement.name, (*module.target, statement.name))
                    module.functions.setdefault(statement.name, statement)
                case ast.ClassDef():
                    module.names.setdefault(statement.name, (*module.target, statement.name))
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    if inferred := infer(value, module.names):
                        module.names.setdefault(name, inferred)

    def _define(self, module: PythonModule) -> None:
        for node in top_level(module.tree.body):
            if isinstance(node, ast.ClassDef):
                target = (*module.target, node.name)
                bases = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
                methods = {each.name: each for each in node.body if isinstance(each, Function)}
                attributes = attribute_targets(node, target, module.names)
                module.classes[node.name] = ClassDefinition(
                    target,
                    module.path,
                    node,
                    tuple(each for base in bases if (each := infer(base, module.names))),
                    methods,
                    attributes,
                )

    def has(self, target: Target) -> bool:
        """Return whether a target is a module."""
        return target in self._modules

    def classes(self) -> Iterator[ClassDefinition]:
        """Yield the classes at the top level of all modules."""
        for module in self:
            yield from module.classes.values()

    def module_of(self, definition: ClassDefinition) -> PythonModule:
        return self._modules[definition.target[:-1]]

    def function_at(self, target: Target) -> Function | None:
        """Return the function, or the method of a class, that a target names."""
        if owner := self.class_at(self.canonical(target[:-1]) or ()):
            return owner.methods.get(target[-1])
        found = self.canonical(target) or target
        module = self._modules.get(found[:-1])
        return module.functions.get(found[-1]) if module else None

    def class_at(self, target: Target) -> ClassDefinition | None:
        module = self._modules.get(target[:-1])
        return module.classes.get(target[-1]) if module else None

    def above(self, definition: ClassDefinition, hops: int = _MAX_HOPS) -> Iterator[ClassDefinition | Target]:
        """Yield the downstream classes above a class, and the targets of its bases from elsewhere, in the order of look-up."""
        yield from self._above(definition, {definition.target}, hops)

    def upstream_bases(self, definition: ClassDefinition) -> Iterator[Target]:
        """Yield the upstream bases of a class and of its downstream bases, in the order of look-up."""
        for each in self.above(definition):
            if isinstance(each, tuple) and each[0] in self.packages:
                yield each

    def foreign_bases(self, definition: ClassDefinition) -> Iterator[str]:
        """Yield the names of the bases of a class that are neither downstream nor upstream, as far as they are known."""
        for base in definition.node.bases:
            named = base.value if isinstance(base, ast.Subscript) else base
            target = self.canonical(infer(named, self.module_of(definition).names))
            if target is None or not (self.class_at(target) or target[0] in self.packages):
                yield ast.unparse(named).rpartition(".")[2]

    def _above(self, definition: ClassDefinition, seen: set[Target], hops: int) -> Iterator[ClassDefinition | Target]:
        for base in definition.bases:
            target = self.canonical(base, hops - 1) if hops else None
            if target is None or target in seen:
                continue
            seen.add(target)
            found = self.class_at(target)
            if found is None:
                yield target
            else:
                yield found
                yield from self._above(found, seen, hops - 1)

    def canonical(self, target: Target | None, hops: int = _MAX_HOPS) -> Target | None:
        """Follow a target through downstream modules to what they take it from.

        Return the target at its source: of another repository, of a downstream definition, or of an attribute that an instance
        of a downstream class inherits from elsewhere. None where downstream code itself provides it, or for what is unknown.
        """
        while target and hops:
            hops -= 1
            step = self._followed(target)
            if step == target:
                return target
            target = step
        return None

    def _followed(self, target: Target) -> Target | None:
        for length in range(len(target) - 1, 0, -1):
            module = self._modules.get(target[:length])
            if module is None:
                continue
            name, rest = target[length], target[length + 1 :]
            if definition := module.classes.get(name):
                return self._through_class(definition, target, rest)
            if rest[:1] == (CALL,) and (function := module.functions.get(name)):
                returned = instance(function.returns, module.names)
                return joined(returned, rest[1:]) if returned else None
            bound = module.names.get(name)
            return (*bound, *rest) if bound and bound != target[: length + 1] else (target if not rest else None)
        return target if target not in self._modules else None

    def _through_class(self, definition: ClassDefinition, target: Target, rest: Target) -> Target | None:
        """Return what an attribute of an instance, or of `super()`, comes to."""
        own = rest[:1] != (ABOVE,)
        rest = rest if own else rest[1:]
        if rest in ((), (CALL,)):
            return target
        if rest[0] != CALL:  # an attribute of the class itself is looked up as one of its instances
            rest = (CALL, *rest)
        attribute, rest = rest[1], rest[2:]
        for each in (*([definition] if own else []), *self.above(definition)):
            if isinstance(each, ClassDefinition) and each.defines(attribute):
                return self._through_member(each, attribute, rest)
        return (*definition.target, *(() if own else (ABOVE,)), CALL, attribute, *rest)

    def _through_member(self, owner: ClassDefinition, name: str, rest: Target) -> Target | None:
        """Return what follows on a member of a downstream class: on what it holds, or on what it returns."""
        if rest[:1] == (CALL,) and name in owner.methods:
            returned = instance(owner.methods[name].returns, self.module_of(owner).names)
            return joined(returned, rest[1:]) if returned else None
        held = owner.attributes.get(name)
        return joined(held, rest) if held and rest else None


_BLOCKS = ("body", "orelse", "finalbody")


def top_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a module or class body, also those within `if`, `try` and `with`."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.If | ast.Try | ast.With):
            for block in _BLOCKS:
                yield from top_level(getattr(statement, block, []))
            for handler in getattr(statement, "handlers", []):
                yield from top_level(handler.body)
