"""Names that a Python module still exports after a commit, and the modules that others moved to."""

import re
from collections.abc import Callable, Iterator

from analysis.facts.change import Change, old_path
from analysis.facts.python import CodeStatement, definitions, statements
from analysis.models import FileChange

_IMPORT = re.compile(r"(?:from\s+[\w.]+\s+)?import\b(?P<names>.*)")
# Constructs after which a module's names cannot be determined from its text.
_DYNAMIC = re.compile(r"from\s.*\simport\s*\(?\s*\*|def\s+__getattr__\b")
_SOURCE_ROOT = re.compile(r"^(?:src|lib|python)/")  # what packages are installed from
_NAME = re.compile(r"\w+")
_BINDING = re.compile(r"(?:(?:async\s+)?def\s+|class\s+)?(\w+)\s*(?:[(:=]|$)")
_DEFINING = ("class", "function", "constant")


def still_importable(change: Change, file: FileChange) -> Callable[[str], bool]:
    """Return a predicate: whether a name can still be imported from the module's old path, or from what replaced it."""
    module = module_path(old_path(file))
    successors = [each for each in change.commit.files if each.status != "removed" and module_path(each.path) == module]
    shown = [statement for each in successors for statement in statements(each.patch, "+")]
    if any(_DYNAMIC.match(each.text) for each in shown) or any(_lacks_patch(each) for each in successors):
        return lambda _name: True
    bound = frozenset(name for each in shown for name in _bound_names(each))
    package, _, initial = old_path(file).rpartition("__init__.py")
    # A package may re-export all names of its modules without a line of the patch that shows it.
    within = package if not initial else None
    return lambda name: (
        name in bound or (within and (new_location(change, file, name) or "").startswith(within)) or False
    )


def new_location(change: Change, file: FileChange, name: str) -> str | None:
    """Return the place ("path:line") of the only other module in which the commit defines `name`, else None."""
    places = [
        f"{other.path}:{each.line.number}"
        for other in change.modules_adding(name)
        if other is not file
        for each in definitions(other.patch, "+")
        if each.name == name and each.what in _DEFINING and each.line.sign == "+"
    ]
    return places[0] if len(places) == 1 else None


def imported_names(each: CodeStatement) -> Iterator[str]:
    """Yield the words of an import statement, among them the names it binds."""
    if match := _IMPORT.match(each.text):
        yield from _NAME.findall(match["names"])


def _bound_names(each: CodeStatement) -> Iterator[str]:
    """Yield the names that a statement binds by import, definition or assignment."""
    yield from imported_names(each)
    if each.owner.what in ("module", "types", "unknown") and (match := _BINDING.match(each.text)):
        yield match[1]


def _lacks_patch(file: FileChange) -> bool:
    return file.patch is None and bool(file.additions)


def module_path(path: str) -> str:
    """Return what a module is imported as: its path without suffix and source folder, the same for a file and a package."""
    return _SOURCE_ROOT.sub("", path.removesuffix(".py").removesuffix("/__init__"))
