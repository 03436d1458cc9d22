"""Removed and renamed configuration keys, API fields and routes."""

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import PurePosixPath

from analysis.diff import hunks, side_lines
from analysis.facts.change import Change, is_module, may_remove_definition, old_path, removes_lines
from analysis.facts.parameters import narrowed
from analysis.facts.python import SIDES, Definition, Scope, Side, definitions, statements
from analysis.facts.removals import Occurrence, removals, removed_between_sides
from analysis.models import Fact, FactKind, FileChange

_CONFIG_CLASS = re.compile(r"(?:Config|Configuration|Settings|Args|Arguments|Options|Params)$")
_CONFIG_DECORATOR = re.compile(r"@(?:\w+\.)?config\b")
_API_CLASS = re.compile(r"(?:Request|Response|Choice|Delta|Payload)$|(?:Request|Response)(?=[A-Z])")
_MODEL = re.compile(r"\b(?:\w*BaseModel|Schema|Struct)\b")
_API_PATH = re.compile(
    r"(^|/)(api|apis|entrypoints|openai|server|serving|routers?|routes|schemas?|protocol)(/|\.py$|_)"
)

_ROUTE = re.compile(
    r"""(?x)
      ^@[\w.]+\.(?:get|post|put|patch|delete|head|options|route|api_route|websocket)\(\s*(?:path\s*=\s*)?["'](?P<decorated>/[^"']*)["']
    | \.(?:add_api_route|add_api_websocket_route|add_route|add_url_rule|add_websocket_route|add_get|add_post|add_put|add_delete)
      \(\s*(?:path\s*=\s*)?["'](?P<added>/[^"']*)["']
    | \b(?:Route|WebSocketRoute|Mount)\(\s*["'](?P<routed>/[^"']*)["']
    | ^\s*(?:app|router|server)\.(?:get|post|put|patch|delete|all|use)\(\s*["'`](?P<express>/[^"'`]*)["'`]
    | \bHandle(?:Func)?\(\s*"(?:[A-Z]+\s)?(?P<handled>/[^"]*)"
    """
)
_PREFIX = re.compile(r"^[+-].*\bprefix\s*=", re.MULTILINE)
_PATH = re.compile(r"""["'`](?:[A-Z]+ )?/""")
_CONFIG_FILE = re.compile(
    r"(^|/)(values|settings|defaults?|config|configuration)(\.default|\.example)?\.(ya?ml|toml|json|ini)$"
)
_KEY = re.compile(r"""^(?P<indent>\s*)["']?(?P<key>[A-Za-z][\w.-]*)["']?\s*[:=](?:\s|$)""")
_ENTRY = re.compile(r"""^-[ \t]+["']([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)["']\s*:\s*\S.*,$""", re.MULTILINE)
_PROTO_MESSAGE = re.compile(r"^\s*message\s+(\w+)\s*\{")
_WHOLE_MESSAGE = "*"  # stands for the message as a whole
_PROTO_FIELD = re.compile(
    r"^\s*(?:optional\s+|repeated\s+|required\s+)?(?:map<[^>]+>|[\w.]+)\s+(?P<name>\w+)\s*=\s*\d+\s*[;\[]"
)


def configuration_keys(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield removed fields of configuration classes, and removed keys of configuration files meant to be copied."""
    if not may_remove_definition(file):
        return
    if is_module(file):
        yield from _removed_fields(change, file, FactKind.REMOVED_KEY, is_configuration)
    elif file.status == "modified" and _CONFIG_FILE.search(file.path.lower()):
        yield from removed_between_sides(change, file, FactKind.REMOVED_KEY, _keys_of_file)


def table_entries(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield entries removed from a settings table together with the code that read them.

    Without that code the table may be anything.
    """
    if removes_lines(file) and is_module(file) and _ENTRY.search(file.patch or "") and "config" in change.removed_lines:
        yield from removed_between_sides(change, file, FactKind.REMOVED_KEY, partial(_table_entries, change))


def api_fields(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield removed fields of requests, responses and protobuf messages."""
    if not may_remove_definition(file):
        return
    if is_module(file):
        yield from _removed_fields(change, file, FactKind.REMOVED_FIELD, _is_api_class(file))
    elif file.path.endswith(".proto"):
        yield from _removed_proto_fields(change, file)


def routes(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield routes that a server no longer serves."""
    # When a prefix is added or removed, the same route is written differently.
    if removes_lines(file) and _PATH.search(file.patch or "") and not _PREFIX.search(file.patch or ""):
        yield from removed_between_sides(change, file, FactKind.REMOVED_ROUTE, _routes)


def narrowed_types(_change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield keys and fields that no longer accept a type they accepted before."""
    if not may_remove_definition(file) or not is_module(file):
        return
    is_api_class = _is_api_class(file)
    before = {each.name: each for each in _declared_fields(file, "-")}
    for new in _declared_fields(file, "+"):
        old = before.get(new.name)
        if old and (is_configuration(new.statement.owner) or is_api_class(new.statement.owner)):
            was, now = (each.statement.text.partition(":")[2].partition("=")[0].strip() for each in (old, new))
            if narrowed(was, now) and "Literal" not in was:
                yield Fact(kind=FactKind.RETYPED, name=new.name, path=file.path, line=new.line.number, old=was, new=now)


def is_configuration(owner: Scope) -> bool:
    """Return whether a class's fields are configuration."""
    return bool(_CONFIG_CLASS.search(owner.name) or any(map(_CONFIG_DECORATOR.match, owner.decorators)))


def _is_api_class(file: FileChange) -> Callable[[Scope], bool]:
    """Return a predicate for the file's request and response classes."""
    in_api_module = bool(_API_PATH.search(old_path(file)))
    return lambda owner: (
        in_api_module
        and bool(_API_CLASS.search(owner.name) or (_MODEL.search(owner.bases or "") and not is_configuration(owner)))
    )


def _removed_fields(
    change: Change, file: FileChange, kind: FactKind, has_fields: Callable[[Scope], bool]
) -> Iterator[Fact]:
    """Yield fields removed from the classes that `has_fields` accepts; a class removed as a whole is no such fact."""
    removed = {each.name for each in definitions(file.patch, "-") if each.what == "class" and each.line.sign == "-"}
    before = [
        each
        for each in _declared_fields(file, "-")
        if has_fields(each.statement.owner) and each.statement.owner.name not in removed
    ]
    if any(each.line.sign == "-" for each in before):
        after = [each for each in definitions(file.patch, "+") if each.statement.owner.what == "class"]
        yield from removals(change, file, kind, _field_occurrences(before), _field_occurrences(after))


def _declared_fields(file: FileChange, side: Side) -> list[Definition]:
    return [each for each in definitions(file.patch, side) if each.what == "field" and each.public]


def _field_occurrences(found: list[Definition]) -> list[Occurrence]:
    return [Occurrence(each.last, each.line, each.statement.hunk, each.name.rpartition(".")[0]) for each in found]


def _table_entries(change: Change, file: FileChange, side: Side) -> Iterator[Occurrence]:
    for hunk, line in side_lines(file, side):
        match = _ENTRY.match(f"-{line.text}")
        if match and (
            line.sign != "-" or re.search(rf"""config(?:\[|\.get\()["']{match[1]}["']""", change.removed_lines)
        ):
            yield Occurrence(match[1], line, hunk)


def _keys_of_file(file: FileChange, side: Side) -> Iterator[Occurrence]:
    for hunk, line in side_lines(file, side):
        if match := _KEY.match(line.text):
            yield Occurrence(match["key"], line, hunk)


def _proto_fields(file: FileChange, side: Side) -> Iterator[Occurrence]:
    for index, hunk in enumerate(hunks(file.patch)):
        message = ""
        for line in hunk:
            if line.sign in (" ", side):
                if opened := _PROTO_MESSAGE.match(line.text):
                    message = opened[1]
                    yield Occurrence(_WHOLE_MESSAGE, line, index, message)
                elif field := _PROTO_FIELD.match(line.text):
                    yield Occurrence(field["name"], line, index, message)


def _removed_proto_fields(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield removed protobuf fields; a removed message counts once, as all of its fields, unless it was moved."""
    before, after = (list(_proto_fields(file, side)) for side in SIDES)
    removed = {each.owner for each in before if each.name == _WHOLE_MESSAGE} - {each.owner for each in after}
    moved = {message for message in removed if change.adds(message)}
    before = [each for each in before if each.owner not in (moved if each.name == _WHOLE_MESSAGE else removed)]
    yield from removals(
        change,
        file,
        FactKind.REMOVED_FIELD,
        before,
        after,
        lambda name: name != _WHOLE_MESSAGE and change.adds(name),
    )


def _routes(file: FileChange, side: Side) -> Iterator[Occurrence]:
    if PurePosixPath(file.path).suffix == ".py":
        for each in statements(file.patch, side):
            if match := _ROUTE.search(each.text):
                path = next(filter(None, match.groups()))
                yield Occurrence(path, each.line_of(path), each.hunk)
        return
    for hunk, line in side_lines(file, side):
        if match := _ROUTE.search(line.text):
            yield Occurrence(next(filter(None, match.groups())), line, hunk)
