"""The extraction of a surface from a downstream tree, and what of the tree is not in it. Nothing of it is imported or run."""

import ast
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple, TypeVar

from analysis.impact.surface.mentions import VARIABLE, mentions, variables_read
from analysis.impact.surface.model import Subclass, Substitute, Surface, Use, UseKind
from analysis.impact.surface.modules import ClassDefinition, DownstreamModules, PythonModule
from analysis.impact.surface.targets import CALL, Target
from analysis.impact.surface.usage import UseFinder, overrides
from analysis.models.frozen import Frozen
from analysis.paths import Kind, kind
from analysis.sources.secrets import Redactor
from analysis.wordlists import wordlist

MAX_FILES = 20_000
MAX_CHARACTERS = 100_000_000  # of all files together

_UNREAD_KINDS = (Kind.GENERATED, Kind.VENDORED)
_BINARY = wordlist("binary_extensions")
_BOM = "\ufeff"
_Quoting = TypeVar("_Quoting", Use, Subclass)
_ROOTS = ("", "src", "lib", "python")
_LEAST_COPIED = 3  # Python files
_COPIED_SHARE = 0.5  # of them are at the same place upstream
# Of the rules that extract a surface: raised whenever they change, so that stored surfaces are extracted anew.
VERSION = 12

_BARE_BASES = frozenset(
    ["object", "ABC", "Generic", "Protocol", "NamedTuple", "Enum"]
)  # which have no members to be used
_CODE = (Kind.SOURCE, Kind.BUILD, Kind.DEPENDENCY, Kind.DATA, Kind.TEST, Kind.EXAMPLE)


class UpstreamTree(NamedTuple):
    """The upstream tree: the folders that hold its packages, by their names, and the paths of its files."""

    roots: Mapping[str, str]
    paths: Collection[str]

    def has(self, module: Target) -> bool:
        """Return whether the tree has a module, or a package."""
        path = "/".join(filter(None, [self.roots.get(module[0]), *module]))
        return f"{path}.py" in self.paths or f"{path}/__init__.py" in self.paths


class TreeSurface(Frozen):
    """The surface of a tree. `copies` are folders with a copy of upstream, whose uses of itself are not the tree's own.

    `submodules` are not read, `unread` counts other files that should have been: those too large, too many or not readable.
    """

    surface: Surface
    python_files: int
    copies: tuple[str, ...] = ()
    submodules: tuple[str, ...] = ()
    unread: int = 0


def surface_of_tree(
    paths: Sequence[str],
    read: Callable[[Sequence[str]], Iterable[tuple[str, str | None]]],
    upstream: UpstreamTree,
    submodules: Sequence[str] = (),
) -> TreeSurface:
    """Extract the surface of the tree with these paths.

    `read` yields the path and text of each of some files, no text of those that are binary or cannot be read. What is quoted of them is redacted.
    """
    copied = copies(paths, upstream.paths, upstream.roots)
    below = tuple(f"{folder}/" for folder in copied)
    own = [path for path in paths if _is_read(path) and not path.startswith(below)]
    found: list[str] = []  # the paths of those that were read
    surface = extract(_within_limit(read(own[:MAX_FILES]), found), frozenset(upstream.roots))
    return TreeSurface(
        surface=_redacted(_located(surface, upstream)),
        python_files=sum(path.endswith(".py") for path in found),
        copies=copied,
        submodules=tuple(submodules),
        unread=len(own) - len(found),
    )


def _within_limit(files: Iterable[tuple[str, str | None]], found: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the files that have a text, until there are too many characters, and add their paths to `found`."""
    characters = 0
    for path, text in files:
        if text is None:
            continue
        characters += len(text)
        if characters > MAX_CHARACTERS:
            return
        found.append(path)
        yield path, text.removeprefix(_BOM)


def _is_read(path: str) -> bool:
    return path.rpartition(".")[2].lower() not in _BINARY and kind(path) not in _UNREAD_KINDS


def _located(surface: Surface, upstream: UpstreamTree) -> Surface:
    """Take each class from where the tree imports one of its name, if upstream lacks the module: for types alone nothing fails."""
    classes = defaultdict[str, set[Target]](set)
    for each in surface.uses:
        if each.kind is UseKind.IMPORT and upstream.has(each.target[:-1] or each.target):
            classes[each.target[-1]].add(each.target)

    def located(use: Use) -> Use:
        *module, name = use.target[: use.target.index(CALL)] if CALL in use.target else ("",)
        is_lost = name[:1].isupper() and module and module[0] in upstream.roots and not upstream.has(tuple(module))
        found = list(classes.get(name, ())) if is_lost else []
        if len(found) != 1:
            return use
        return use.model_copy(update={"target": (*found[0], *use.target[len(module) + 1 :])})

    return surface.model_copy(update={"uses": tuple(map(located, surface.uses))})


def _redacted(surface: Surface) -> Surface:
    """Redact what a surface has of the tree's lines; all are scanned at once, which is much faster than one by one."""
    texts = [text for use in surface.uses for text in (use.code, use.body)]
    texts += [each.code for each in surface.subclasses.values()]
    lines = list(dict.fromkeys(line for text in texts for line in text.split("\n")))
    shown = Redactor()("\n".join(lines)).split("\n")
    pairs = zip(lines, shown if len(shown) == len(lines) else map(Redactor(), lines), strict=True)
    changed = {line: now for line, now in pairs if line != now}
    if not changed:
        return surface
    return surface.model_copy(
        update={
            "uses": tuple(_with_lines(each, changed) for each in surface.uses),
            "subclasses": {target: _with_lines(each, changed) for target, each in surface.subclasses.items()},
        }
    )


def _with_lines(each: _Quoting, changed: Mapping[str, str]) -> _Quoting:
    texts = {"code": each.code, **({"body": each.body} if isinstance(each, Use) else {})}
    shown = {name: "\n".join(changed.get(line, line) for line in text.split("\n")) for name, text in texts.items()}
    return each.model_copy(update=shown) if shown != texts else each


def packages(paths: Iterable[str]) -> dict[str, str]:
    """Return the name of each package among a repository's files, and the folder that it is installed from."""
    found: dict[str, str] = {}
    for path in paths:
        folder = PurePosixPath(path).parent
        root = "" if str(folder.parent) == "." else str(folder.parent)
        if path.endswith("/__init__.py") and root in _ROOTS and kind(path) is Kind.SOURCE:
            found[folder.name] = root
    return found


def copies(paths: Iterable[str], upstream_paths: Collection[str], roots: Mapping[str, str]) -> tuple[str, ...]:
    """Return the folders of a downstream tree that hold a copy of an upstream package, or of upstream's own tests.

    `roots` are the folders that hold the upstream packages, by their names.
    """
    files: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        *folders, name = path.split("/")
        is_test = kind(path) is Kind.TEST
        for depth, folder in enumerate(folders, 1) if name.endswith(".py") else ():
            if is_test or folder in roots:
                files["/".join(folders[:depth])].append(path)
    found = [folder for folder, own in files.items() if _is_copy(folder, own, upstream_paths, roots)]
    return tuple(each for each in found if not each.startswith(tuple(f"{other}/" for other in found)))


def _is_copy(folder: str, own: list[str], upstream_paths: Collection[str], roots: Mapping[str, str]) -> bool:
    name = folder.rpartition("/")[2]
    if len(own) < _LEAST_COPIED or (name in roots and f"{folder}/__init__.py" not in own):
        return False
    upstream = "/".join(filter(None, (roots[name], name))) if name in roots else folder
    shared = sum(f"{upstream}{path.removeprefix(folder)}" in upstream_paths for path in own)
    return shared >= _COPIED_SHARE * len(own)


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
        modules = DownstreamModules(self._python(files), self._packages)
        for module in list(modules):
            self._visit(module, modules)
        for definition in modules.classes():
            self._add_class(definition, modules)
        # A module that is imported under guards alone is for another version.
        guarded = {each.path for each in modules if self._importers[each.target] and all(self._importers[each.target])}
        own_variables = {(VARIABLE, name) for name in self._own_variables}
        return Surface(
            packages=self._packages,
            uses=tuple(
                each.model_copy(update={"guarded": True, "latest": False}) if each.path in guarded else each
                for each in self._uses
                if each.kind is not UseKind.MENTION or each.target not in own_variables
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
        finder = UseFinder(module, modules)
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
        bases = tuple(modules.upstream_bases(definition))
        if not bases:
            return
        own = definition.target
        lineage = [definition, *(each for each in modules.above(definition) if isinstance(each, ClassDefinition))]
        decorators = (each for method in definition.methods.values() for each in method.decorator_list)
        self._subclasses[own] = Subclass(
            target=own,
            bases=bases,
            members=frozenset(name for each in lineage for name in each.members),
            path=definition.path,
            line=definition.node.lineno,
            code=modules.module_of(definition).code(definition.node.lineno),
            abstract=any("abstract" in ast.unparse(each) for each in decorators),
            substitutes=dict(_substitutes(lineage, modules)),
        )
        if kind(definition.path) is not Kind.TEST:  # whose classes upstream does not call
            self._uses += overrides(definition, modules, own, constructed=own in self._constructed)


def _substitutes(lineage: Sequence[ClassDefinition], modules: DownstreamModules) -> Iterator[tuple[str, Substitute]]:
    """Yield each attribute that always holds an object of one downstream class, all of whose members are known."""
    for name, target in (item for each in reversed(lineage) for item in each.attributes.items()):
        found = modules.canonical(target) if target and target[-1] == CALL else None
        definition = modules.class_at(found[:-1]) if found else None
        if definition is None or "__getattr__" in definition.methods:
            continue
        own = [definition, *(each for each in modules.above(definition) if isinstance(each, ClassDefinition))]
        is_upstreams = any(modules.upstream_bases(definition))
        if all(_BARE_BASES.issuperset(modules.foreign_bases(each)) for each in own):
            yield (
                name,
                Substitute(
                    target=definition.target,
                    members=None if is_upstreams else frozenset(member for each in own for member in each.members),
                    path=definition.path,
                    line=definition.node.lineno,
                    code=modules.module_of(definition).code(definition.node.lineno),
                ),
            )
