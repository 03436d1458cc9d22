"""The only door to griffe: a module's declarations from its source text, without importing or running anything."""

import gc
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

import griffe

from analysis.facts.syntax import assigned_names, warnings_ignored
from analysis.facts.whole_files.module import (
    Attribute,
    Base,
    Class,
    Function,
    Import,
    Member,
    Module,
    Parameter,
    ParameterKind,
)
from analysis.facts.whole_files.outline import outline

MAX_CHARACTERS = 400_000  # of one file; the longest hand-written modules have about 300,000
# For each attribute griffe walks over the statements before it: 0.7 µs for one of these steps.
_MAX_STEPS = 1_000_000


class _TooLargeError(Exception):
    """The file holds more attributes than can be visited in a second."""


class _Visit(griffe.Extension):
    """Abort the visit of a file in which griffe would take quadratic time, and add the assignments that it leaves out."""

    def __init__(self) -> None:
        super().__init__()
        self._steps = 0

    def on_attribute_node(self, *, node: Any, **_others: Any) -> None:
        self._steps += len(getattr(node.parent, "body", ())) + len(getattr(node.parent, "orelse", ()))
        if self._steps > _MAX_STEPS:
            raise _TooLargeError

    def on_members(self, *, node: Any, obj: Any, **_others: Any) -> None:
        for each in assigned_names(*node.body):  # such as `a, b = ...`
            if each.id not in obj.members:
                obj.set_member(each.id, griffe.Attribute(each.id, lineno=each.lineno))


# The file after one commit is the file before the next, and the commits of a day are compared with the same modules: 100 MB.
@lru_cache(maxsize=512)
def parse(path: str, text: str) -> Module | None:
    """Return the module at `path` with the given source; None if it is no valid Python, too large or too deep."""
    if len(text) > MAX_CHARACTERS:
        return None
    logging.getLogger("griffe").setLevel(logging.CRITICAL + 1)
    declarations = outline(text)
    module = _visited(path, text, declarations)
    return _visited(path, text, text) if module is None and declarations != text else module


def _visited(path: str, text: str, declarations: str) -> Module | None:
    """Return the module of a text, of which the `declarations` are parsed; None if that is impossible."""
    *folders, name = PurePosixPath(path).with_suffix("").parts
    parent: Any = None
    for folder in folders:
        parent = griffe.Module(folder, filepath=Path(folder, "__init__.py"), parent=parent)
    if name == "__init__" and parent is not None:
        name, parent = parent.name, parent.parent
    try:
        with warnings_ignored(), _garbage_kept():
            extensions = griffe.Extensions(_Visit())
            visited = griffe.visit(name, Path(path), declarations, parent=parent, extensions=extensions)
            found: Mapping[str, Any] = visited.members
            members = dict(_members(found, text.split("\n")))
    except Exception:  # noqa: BLE001 - any source may be given, and griffe raises whatever it stumbles over
        return None
    stars = tuple(each.target_path for key, each in found.items() if each.is_alias and key.endswith("/*"))
    return Module(path, text, members, stars)


@contextmanager
def _garbage_kept() -> Iterator[None]:
    """Collect no garbage meanwhile: a syntax tree is a million objects, among which there is none to be found."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _members(found: Mapping[str, Any], lines: Sequence[str]) -> Iterator[tuple[str, Member]]:
    for name, each in found.items():
        if each.is_alias:
            if not name.endswith("/*"):
                yield name, Import(name, each.alias_lineno or 1, each.target_path)
        elif each.is_class:
            yield name, _class(each, lines)
        elif each.is_function:
            yield name, _function(each, lines)
        elif each.is_attribute:
            yield name, _attribute(each)


def _class(each: Any, lines: Sequence[str]) -> Class:
    return Class(
        each.name,
        _head(each, lines),
        each.lineno,
        each.endlineno,
        tuple(map(_base, each.bases)),
        tuple(str(decorator.value) for decorator in each.decorators),
        tuple(each.keywords),
        dict(_members(each.members, lines)),
    )


def _base(each: Any) -> Base:
    return Base(str(each), getattr(each, "canonical_path", str(each)))


def _function(each: Any, lines: Sequence[str]) -> Function:
    return Function(
        each.name,
        _head(each, lines),
        each.lineno,
        each.endlineno,
        tuple(map(_parameter, each.parameters)),
        tuple(str(decorator.value) for decorator in each.decorators),
        "" if each.returns is None else str(each.returns),
    )


def _parameter(each: Any) -> Parameter:
    return Parameter(
        each.name,
        ParameterKind(each.kind.value),
        each.required,
        "" if each.annotation is None else str(each.annotation),
    )


def _attribute(each: Any) -> Attribute:
    computed = "property" in each.labels
    return Attribute(
        each.name,
        each.lineno or 1,
        field=each.annotation is not None and not computed and "module-attribute" not in each.labels,
        required=each.value is None,
        value="" if each.value is None else str(each.value)[:200],
        annotation="" if each.annotation is None else str(each.annotation),
        computed=computed,
    )


def _head(each: Any, lines: Sequence[str]) -> int:
    """Return the line of `def` or `class`, which follows the decorators."""
    heads = (f"def {each.name}", f"async def {each.name}", f"class {each.name}")
    numbers = range(each.lineno, (each.endlineno or each.lineno) + 1)
    return next((number for number in numbers if lines[number - 1].lstrip().startswith(heads)), each.lineno)
