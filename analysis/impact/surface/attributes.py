"""Targets of the attributes of a class and of the parameters of a function, as far as the source tells them."""

import ast
from collections.abc import Iterator

from analysis.facts.syntax import assigned_attributes, assigned_names
from analysis.impact.surface.targets import CALL, Names, Target, infer, instance

Function = ast.FunctionDef | ast.AsyncFunctionDef


def parameter_names(function: Function, names: Names) -> dict[str, Target]:
    """Return what the annotated parameters of a function stand for."""
    parameters = function.args
    found: dict[str, Target] = {}
    for each in (*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs):
        if target := instance(each.annotation, names):
            found[each.arg] = target
    return found


def attribute_targets(owner: ast.ClassDef, own: Target, names: Names) -> dict[str, Target | None]:
    """Return what each attribute that a class sets or declares stands for; None where it is unknown or not always the same.

    `own` is the target of the class itself. What is declared holds, whatever is assigned.
    """
    found: dict[str, Target | None] = {}
    declared: dict[str, Target] = {}
    for statement in owner.body:
        for name, target, is_declared in _set_by(statement, own, names):
            if is_declared and target:
                declared.setdefault(name, target)
            # A placeholder, such as None, says nothing about the class of what replaces it.
            if target or name not in found:
                found[name] = target if found.get(name, target) in (target, None) else None
    return dict.fromkeys((each.id for each in assigned_names(*owner.body)), None) | found | declared


def _set_by(statement: ast.stmt, own: Target, names: Names) -> Iterator[tuple[str, Target | None, bool]]:
    """Yield each attribute that a statement of a class body sets or declares, with its target, and whether it declares it."""
    match statement:
        case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
            yield name, instance(annotation, names), True
        case ast.Assign(targets=targets, value=value):
            yield from ((each.id, infer(value, names), False) for each in targets if isinstance(each, ast.Name))
        case ast.FunctionDef() | ast.AsyncFunctionDef() if any(map(_is_property, statement.decorator_list)):
            yield statement.name, instance(statement.returns, names), True
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield from _set_on_self(statement, own, names)


def _is_property(decorator: ast.expr) -> bool:
    name = decorator.attr if isinstance(decorator, ast.Attribute) else getattr(decorator, "id", "")
    return name.endswith("property")


def _set_on_self(function: Function, owner: Target, names: Names) -> Iterator[tuple[str, Target | None, bool]]:
    """Yield each attribute of its first parameter that a method assigns, as `_set_by` does."""
    parameters = [*function.args.posonlyargs, *function.args.args]
    if not parameters:
        return
    own = parameters[0].arg
    inside = {**names, **parameter_names(function, names), own: (*owner, CALL)}
    for node in ast.walk(function):
        match node:
            case ast.AnnAssign(target=ast.Attribute(value=ast.Name(id=name), attr=attribute)) if name == own:
                yield attribute, instance(node.annotation, inside), True
            case ast.Assign(targets=targets, value=value):
                for each in targets:
                    if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id == own:
                        yield each.attr, infer(value, inside), False
    yield from ((each.attr, None, False) for each in assigned_attributes(function, own))  # of a tuple, by `with ... as`
