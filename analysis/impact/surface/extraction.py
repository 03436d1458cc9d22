"""The extraction of a surface from the files of a downstream tree. Nothing of it is imported or run."""

import ast
from collections.abc import Iterable, Iterator

from analysis.impact.surface.mentions import mentions
from analysis.impact.surface.model import Subclass, Surface, Use
from analysis.impact.surface.modules import ClassDefinition, DownstreamModules
from analysis.impact.surface.overrides import overrides
from analysis.impact.surface.targets import Target
from analysis.impact.surface.usage import UseFinder, upstream_bases
from analysis.paths import Kind, kind

# Of the rules that extract a surface: raised whenever they change, so that stored surfaces are extracted anew.
VERSION = 4

_CODE = (Kind.SOURCE, Kind.BUILD, Kind.DEPENDENCY, Kind.DATA, Kind.TEST, Kind.EXAMPLE)


def extract(files: Iterable[tuple[str, str]], packages: frozenset[str]) -> Surface:
    """Return the surface of a tree, given as (path, text) of its files."""
    read = 0
    uses: list[Use] = []

    def sources() -> Iterator[tuple[str, str]]:
        nonlocal read
        for path, text in files:
            read += 1
            uses.extend(mentions(path, text, packages))
            if path.endswith(".py") and kind(path) in _CODE:
                yield path, text

    modules = DownstreamModules(sources())
    constructed: set[Target] = set()
    for module in list(modules):
        finder = UseFinder(module, modules, packages)
        try:
            finder.visit(module.tree)
        except RecursionError:
            modules.drop(module)
            continue
        uses += finder.uses
        if kind(module.path) is not Kind.TEST:
            constructed |= finder.constructed
    subclasses: dict[Target, Subclass] = {}
    for definition in modules.classes():
        if bases := tuple(upstream_bases(definition, modules, packages)):
            subclasses[definition.target] = _subclass(definition, bases, modules)
            if kind(definition.path) is not Kind.TEST:  # whose classes upstream does not call
                own = definition.target
                uses += overrides(definition, modules, own, constructed=own in constructed)
    return Surface(
        packages=packages,
        uses=tuple(uses),
        subclasses=subclasses,
        files=read,
        members=frozenset(name for each in modules.classes() for name in each.members),
        unparsed=tuple(modules.unparsed),
    )


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
