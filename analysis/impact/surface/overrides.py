"""The methods of downstream classes that upstream calls: of those that inherit from its classes, or replace them."""

import ast
from collections.abc import Iterator

from analysis.impact.surface.model import Use, UseKind
from analysis.impact.surface.modules import ClassDefinition, DownstreamModules
from analysis.impact.surface.signatures import accepted, annotation
from analysis.impact.surface.targets import CALL, CONSTRUCTOR, Target

_SPECIAL = (CONSTRUCTOR, "__call__", "__new__")  # of the methods that Python calls, those whose parameters are told


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
            returns=annotation(method),
            parameters=None if "property" in decorators else accepted(method)[int("staticmethod" not in decorators) :],
        )
