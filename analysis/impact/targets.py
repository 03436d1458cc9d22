"""What a Python expression stands for, inferred from its source: a path of steps from a package's name on.

`runner.vllm_config.model_config`, in a function whose `runner` is annotated with an imported class, has the target
`("vllm", "worker", "Runner", "()", "vllm_config", "model_config")`. The step `()` is the result of a call, which makes a
class an instance of it; `[]` is what an object holds. A target that begins with `*` is a container of what follows.
"""

import ast
from collections.abc import Mapping

Target = tuple[str, ...]
Names = Mapping[str, Target | None]

CALL = "()"
ITEM = "[]"
ABOVE = "^"  # what `super` stands for: the bases of a class
_CONTAINER = "*"

_TRANSPARENT = ("Optional", "Union", "Annotated", "ClassVar", "Final", "Required", "NotRequired")
_CONTAINERS = (
    *("list", "List", "Sequence", "Iterable", "Iterator", "Collection", "tuple", "Tuple", "set", "Set", "frozenset"),
    *("dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "deque", "Generator", "AsyncIterator", "AsyncGenerator"),
)
_CLASSES = ("type", "Type")
_MAX_STEPS = 16


def written(target: Target) -> str:
    """Return a target as Python writes it."""
    return ".".join(target).replace(f".{CALL}", CALL).replace(f".{ITEM}", ITEM)


def item(target: Target) -> Target:
    """Return the target of what a container holds."""
    return target[1:] if target[0] == _CONTAINER else (*target, ITEM)


def infer(node: ast.expr | None, names: Names) -> Target | None:
    """Return the target of an expression, `names` being what its names stand for; None if it is unknown."""
    match node:
        case ast.Name():
            return names.get(node.id)
        case ast.Attribute(value=value, attr=attribute):
            owner = infer(value, names)
            if owner is None or owner[0] == _CONTAINER:
                return None
            return (*owner, attribute) if len(owner) < _MAX_STEPS else None
        case ast.Call(func=ast.Name(id="cast"), args=[kind, _]):
            return instance(kind, names)
        case ast.Call(func=function):
            called = infer(function, names)
            return (*called, CALL) if called and called[0] != _CONTAINER else None
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


def instance(annotation: ast.expr | None, names: Names) -> Target | None:
    """Return the target of what an annotation describes: an instance of the class, or a container of instances."""
    match annotation:
        case ast.Constant(value=str() as text):
            return instance(_parsed(text), names)
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


def _parsed(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def parameter_names(function: ast.FunctionDef | ast.AsyncFunctionDef, names: Names) -> dict[str, Target]:
    """Return what the annotated parameters of a function stand for."""
    parameters = function.args
    found: dict[str, Target] = {}
    for each in (*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs):
        if target := instance(each.annotation, names):
            found[each.arg] = target
    return found


def attribute_targets(owner: ast.ClassDef, own: Target, names: Names) -> dict[str, Target | None]:
    """Return what each attribute that a class sets or declares stands for; None where it is unknown or not always the same.

    `own` is the target of the class itself.
    """
    found: dict[str, Target | None] = {}

    def note(name: str, target: Target | None) -> None:
        found[name] = target if found.get(name, target) == target else None

    for statement in owner.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            note(statement.target.id, instance(statement.annotation, names))
        elif isinstance(statement, ast.Assign):
            for each in statement.targets:
                if isinstance(each, ast.Name):
                    note(each.id, infer(statement.value, names))
        elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            if any(_is_property(each) for each in statement.decorator_list):
                note(statement.name, instance(statement.returns, names))
                continue
            for name, target in _set_on_self(statement, own, names):
                if target or name not in found:
                    note(name, target)
    return found


def _is_property(decorator: ast.expr) -> bool:
    name = decorator.attr if isinstance(decorator, ast.Attribute) else getattr(decorator, "id", "")
    return name.endswith("property")


def _set_on_self(
    function: ast.FunctionDef | ast.AsyncFunctionDef, owner: Target, names: Names
) -> list[tuple[str, Target | None]]:
    """Return (attribute, target) for each assignment to an attribute of a method's first parameter."""
    parameters = [*function.args.posonlyargs, *function.args.args]
    if not parameters:
        return []
    own = parameters[0].arg
    inside = {**names, **parameter_names(function, names), own: (*owner, CALL)}
    found: list[tuple[str, Target | None]] = []
    for node in ast.walk(function):
        if isinstance(node, ast.AnnAssign):
            targets: list[ast.expr] = [node.target]
            target = instance(node.annotation, inside)
        elif isinstance(node, ast.Assign):
            targets, target = node.targets, infer(node.value, inside)
        else:
            continue
        for each in targets:
            if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id == own:
                found.append((each.attr, target))
    return found
