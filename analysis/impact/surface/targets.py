"""Targets of Python expressions, parameters and attributes, inferred from their source: paths of steps from a package's name on.

`runner.vllm_config.model_config`, in a function whose `runner` is annotated with an imported class, has the target
`("vllm", "worker", "Runner", "()", "vllm_config", "model_config")`. The step `()` is the result of a call, which makes a
class an instance of it; `[]` is what an object holds. A target that begins with `*` is a container of what follows.
"""

import ast
from collections.abc import Iterator, Mapping

from analysis.facts.syntax import assigned_attributes, assigned_names, parse_expression

Target = tuple[str, ...]
Names = Mapping[str, Target | None]

CALL = "()"
ITEM = "[]"
ABOVE = "^"  # what `super` stands for: the bases of a class
CONSTRUCTOR = "__init__"
_CONTAINER = "*"

_TRANSPARENT = ("Optional", "Union", "Annotated", "ClassVar", "Final", "Required", "NotRequired")
_CONTAINERS = (
    *("list", "List", "Sequence", "Iterable", "Iterator", "Collection", "tuple", "Tuple", "set", "Set", "frozenset"),
    *("dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "deque"),
    *("Generator", "AsyncIterator", "AsyncGenerator"),
)
_CLASSES = ("type", "Type")
_MAX_STEPS = 16
Function = ast.FunctionDef | ast.AsyncFunctionDef


def written(target: Target) -> str:
    """Return a target as Python writes it."""
    return ".".join(target).replace(f".{CALL}", CALL).replace(f".{ITEM}", ITEM)


def owner_of(target: Target) -> Target:
    """Return the class that an attribute of an instance, or of `super()`, is looked up in."""
    owner = target[: target.index(CALL)]
    return owner[:-1] if owner[-1] == ABOVE else owner


def held(container: ast.expr, names: Names) -> list[Target | None]:
    """Return the targets of what an iteration yields: several where it yields tuples, such as `enumerate` and `items`."""
    match container:
        case ast.Call(func=ast.Name(id="enumerate"), args=[first, *_]):
            return [None, *held(first, names)]
        case ast.Call(func=ast.Name(id="reversed" | "sorted" | "list" | "tuple" | "iter"), args=[first, *_]):
            return held(first, names)
        case ast.Call(func=ast.Attribute(value=mapping, attr="items"), args=[]):
            return [None, *held(mapping, names)]
        case ast.Call(func=ast.Attribute(value=mapping, attr="values"), args=[]):
            return held(mapping, names)
    found = infer(container, names)
    return [item(found) if found else None]


def item(target: Target) -> Target:
    """Return the target of what a container holds."""
    return joined(target, (ITEM,))


def joined(target: Target, steps: Target) -> Target:
    """Return a target after more steps; an item of a container is what it holds."""
    while is_container(target) and steps[:1] == (ITEM,):
        target, steps = target[1:], steps[1:]
    return (*target, *steps)


def infer(node: ast.expr | None, names: Names) -> Target | None:  # noqa: PLR0911 (a return a kind of expression)
    """Return the target of an expression, `names` being what its names stand for; None if it is unknown."""
    match node:
        case ast.Name():
            return names.get(node.id)
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if names.get(f"{name}.{attribute}"):
            return names[f"{name}.{attribute}"]  # of which a test told the class
        case ast.Attribute(value=value, attr=attribute):
            owner = infer(value, names)
            if owner is None or is_container(owner):
                return None
            return (*owner, attribute) if len(owner) < _MAX_STEPS else None
        case ast.Call():
            return _returned(node, names)
        case ast.Subscript(value=value):
            container = infer(value, names)
            return item(container) if container else None
        case ast.Await(value=value) | ast.NamedExpr(value=value) | ast.Starred(value=value):
            return infer(value, names)
        case ast.BoolOp(values=values):
            return next(filter(None, (infer(each, names) for each in values)), None)
        case ast.IfExp(body=body, orelse=other):
            return infer(body, names) or infer(other, names)
    return None


def _returned(call: ast.Call, names: Names) -> Target | None:
    match call:
        case ast.Call(func=ast.Name(id="cast") | ast.Attribute(attr="cast"), args=[kind, _]):
            return instance(kind, names)
        case (
            ast.Call(func=ast.Attribute(value=container, attr="pop" | "popleft"))
            | ast.Call(func=ast.Name(id="max" | "min" | "next"), args=[container])
        ):
            return item(found) if (found := infer(container, names)) else None
        case ast.Call(
            func=ast.Name(id="import_module") | ast.Attribute(attr="import_module"),
            args=[ast.Constant(value=str(path))],
        ):
            return tuple(path.split("."))
        case ast.Call(func=ast.Name(id="copy" | "deepcopy") | ast.Attribute(attr="copy" | "deepcopy"), args=[original]):
            return infer(original, names)
    called = infer(call.func, names)
    return (*called, CALL) if called and not is_container(called) else None


def is_container(target: Target | None) -> bool:
    """Return whether a target is a container of what it names."""
    return target is not None and target[0] == _CONTAINER


def instance(annotation: ast.expr | None, names: Names) -> Target | None:
    """Return the target of what an annotation describes: an instance of the class, or a container of instances."""
    match annotation:
        case ast.Constant(value=str() as text):
            return instance(parse_expression(text), names)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return instance(left, names) or instance(right, names)
        case ast.Subscript(value=generic, slice=inner):
            return _generic(generic, inner, names)
        case ast.Name() | ast.Attribute():
            described = infer(annotation, names)
            return (*described, CALL) if described else None
    return None


def _generic(generic: ast.expr, inner: ast.expr, names: Names) -> Target | None:
    name = generic.attr if isinstance(generic, ast.Attribute) else generic.id if isinstance(generic, ast.Name) else ""
    arguments = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    if name in _TRANSPARENT:
        return next(filter(None, (instance(each, names) for each in arguments)), None)
    if name in _CLASSES:
        return infer(arguments[0], names)
    held = arguments[-2:-1] if isinstance(arguments[-1], ast.Constant) and len(arguments) > 1 else arguments[-1:]
    if name in _CONTAINERS:
        found = instance(held[0], names)
        return (_CONTAINER, *found) if found else None
    return instance(generic, names)


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
    nodes = list(ast.walk(function))
    for node in nodes:
        match node:
            case ast.AnnAssign(target=ast.Attribute(value=ast.Name(id=name), attr=attribute)) if name == own:
                yield attribute, instance(node.annotation, inside), True
            case ast.Assign(targets=targets, value=value):
                for each in targets:
                    if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id == own:
                        yield each.attr, infer(value, inside), False
    yield from ((each.attr, None, False) for each in assigned_attributes(nodes, own))  # of a tuple, by `with ... as`
