"""The extraction of a surface from the files of a downstream tree. Nothing of it is imported or run."""

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator

from analysis.impact.surface.mentions import VARIABLE, mentions, variables_read
from analysis.impact.surface.model import Subclass, Surface, Use, UseKind
from analysis.impact.surface.modules import ClassDefinition, DownstreamModules, PythonModule
from analysis.impact.surface.overrides import overrides
from analysis.impact.surface.targets import Target
from analysis.impact.surface.usage import UseFinder, upstream_bases
from analysis.paths import Kind, kind

# Of the rules that extract a surface: raised whenever they change, so that stored surfaces are extracted anew.
VERSION = 5

_CODE = (Kind.SOURCE, Kind.BUILD, Kind.DEPENDENCY, Kind.DATA, Kind.TEST, Kind.EXAMPLE)


def extract(files: Iterable[tuple[str, str]], packages: frozenset[str]) -> Surface:
    """Return the surface of a tree, given as (path, text) of its files."""
    return _Extraction(packages).surface(files)


class _Extraction:
    """The extraction of one surface."""

    def __init__(self, packages: frozenset[str]) -> None:
        self._packages = packages
        self._files = 0
        self._uses: list[Use] = []
        self._subclasses: dict[Target, Subclass] = {}
        self._own_variables: set[str] = set()
        self._constructed: set[Target] = set()
        self._importers: defaultdict[Target, list[bool]] = defaultdict(list)  # whether each is guarded

    def surface(self, files: Iterable[tuple[str, str]]) -> Surface:
        modules = DownstreamModules(self._python(files))
        for module in list(modules):
            self._visit(module, modules)
        for definition in modules.classes():
            self._add_class(definition, modules)
        # A module that is imported under guards alone is for another version.
        guarded = {each.path for each in modules if self._importers[each.target] and all(self._importers[each.target])}
        return Surface(
            packages=self._packages,
            uses=tuple(
                each.model_copy(update={"guarded": True}) if each.path in guarded else each
                for each in self._uses
                if not self._is_own_variable(each)
            ),
            subclasses=self._subclasses,
            files=self._files,
            members=frozenset(name for each in modules.classes() for name in each.members),
            unparsed=tuple(modules.unparsed),
        )

    def _python(self, files: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        """Note what each file mentions, and yield those with code that may use upstream's."""
        for path, text in files:
            self._files += 1
            self._uses.extend(mentions(path, text, self._packages))
            if path.endswith(".py") and kind(path) in _CODE:
                self._own_variables.update(variables_read(text))
                yield path, text

    def _visit(self, module: PythonModule, modules: DownstreamModules) -> None:
        finder = UseFinder(module, modules, self._packages)
        try:
            finder.visit(module.tree)
        except RecursionError:
            modules.drop(module)
            return
        self._uses += finder.uses
        for target, guarded in finder.imports:
            self._importers[target].append(guarded)
        if kind(module.path) is not Kind.TEST:
            self._constructed |= finder.constructed

    def _add_class(self, definition: ClassDefinition, modules: DownstreamModules) -> None:
        bases = tuple(upstream_bases(definition, modules, self._packages))
        if not bases:
            return
        own = definition.target
        self._subclasses[own] = _subclass(definition, bases, modules)
        if kind(definition.path) is not Kind.TEST:  # whose classes upstream does not call
            self._uses += overrides(definition, modules, own, constructed=own in self._constructed)

    def _is_own_variable(self, use: Use) -> bool:
        return use.kind is UseKind.MENTION and use.target[0] == VARIABLE and use.target[1] in self._own_variables


def _subclass(definition: ClassDefinition, bases: tuple[Target, ...], modules: DownstreamModules) -> Subclass:
    lineage = [definition, *(each for each in modules.above(definition) if isinstance(each, ClassDefinition))]
    members = frozenset(name for each in lineage for name in each.members)
    abstract = any(_is_abstract(method) for method in definition.methods.values())
    return Subclass(
        target=definition.target,
        bases=bases,
        members=members,
        path=definition.path,
        line=definition.node.lineno,
        code=modules.module_of(definition).code(definition.node.lineno),
        abstract=abstract,
    )


def _is_abstract(method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any("abstract" in ast.unparse(each) for each in method.decorator_list)
