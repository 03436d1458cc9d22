"""Removed and renamed configuration keys, API fields and routes."""

import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from analysis.diff import hunks
from analysis.facts.change import Change, is_module, loses, old_path, undefines
from analysis.facts.parameters import narrowed
from analysis.facts.python import SIDES, Definition, Scope, Side, definitions, statements
from analysis.facts.removals import Named, removals
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


def keys(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield removed fields of configuration classes, and removed keys of configuration files meant to be copied."""
    if not undefines(file):
        return
    if is_module(file):
        yield from _fields(change, file, configures, FactKind.REMOVED_KEY, FactKind.RENAMED_KEY)
    elif file.status == "modified" and _CONFIG_FILE.search(file.path.lower()):
        before, after = (list(_file_keys(file, side)) for side in SIDES)
        yield from removals(change, file, before, after, FactKind.REMOVED_KEY, FactKind.RENAMED_KEY)


def entries(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield entries removed from a settings table together with the code that read them.

    Without that code the table may be anything.
    """
    if loses(file) and is_module(file) and _ENTRY.search(file.patch or "") and "config" in change.removed_lines:
        before, after = (list(_entries(change, file, side)) for side in SIDES)
        yield from removals(change, file, before, after, FactKind.REMOVED_KEY, FactKind.RENAMED_KEY)


def fields(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield removed fields of requests, responses and protobuf messages."""
    if not undefines(file):
        return
    if is_module(file):
        yield from _fields(change, file, _is_api_class(file), FactKind.REMOVED_FIELD, FactKind.RENAMED_FIELD)
    elif file.path.endswith(".proto"):
        yield from _messages(change, file)


def routes(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield routes that a server no longer serves."""
    # When a prefix is added or removed, the same route is written differently.
    if loses(file) and _PATH.search(file.patch or "") and not _PREFIX.search(file.patch or ""):
        before, after = (list(_routes(file, side)) for side in SIDES)
        yield from removals(change, file, before, after, FactKind.REMOVED_ROUTE, FactKind.RENAMED_ROUTE)


def retyped(_change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield keys and fields that no longer accept a type they accepted before."""
    if not undefines(file) or not is_module(file):
        return
    speaks = _is_api_class(file)
    before = {each.name: each for each in _declared(file, "-")}
    for new in _declared(file, "+"):
        old = before.get(new.name)
        if old and (configures(new.statement.owner) or speaks(new.statement.owner)):
            was, now = (each.statement.text.partition(":")[2].partition("=")[0].strip() for each in (old, new))
            if narrowed(was, now) and "Literal" not in was:
                line = new.line.number
                yield Fact(kind=FactKind.RETYPED, name=new.name, path=file.path, line=line, old=was, new=now)


def configures(owner: Scope) -> bool:
    """Return whether a class's fields are configuration."""
    return bool(_CONFIG_CLASS.search(owner.name) or any(map(_CONFIG_DECORATOR.match, owner.decorators)))


def _is_api_class(file: FileChange) -> Callable[[Scope], bool]:
    """Return a predicate for the file's request and response classes."""
    an_api = bool(_API_PATH.search(old_path(file)))
    return lambda owner: (
        an_api and bool(_API_CLASS.search(owner.name) or (_MODEL.search(owner.bases or "") and not configures(owner)))
    )


def _fields(
    change: Change, file: FileChange, belongs: Callable[[Scope], bool], removed: FactKind, renamed: FactKind
) -> Iterator[Fact]:
    whole = {each.name for each in definitions(file.patch, "-") if each.what == "class" and each.line.sign == "-"}
    before = [
        each
        for each in _declared(file, "-")
        if belongs(each.statement.owner) and each.statement.owner.name not in whole
    ]
    if any(each.line.sign == "-" for each in before):
        after = [each for each in definitions(file.patch, "+") if each.statement.owner.what == "class"]
        yield from removals(change, file, _names_of(before), _names_of(after), removed, renamed)


def _declared(file: FileChange, side: Side) -> list[Definition]:
    return [each for each in definitions(file.patch, side) if each.what == "field" and each.public]


def _names_of(found: list[Definition]) -> list[Named]:
    return [
        Named(each.last, each.line.sign, each.line.number, each.statement.hunk, each.name.rpartition(".")[0])
        for each in found
    ]


def _entries(change: Change, file: FileChange, side: Side) -> Iterator[Named]:
    for place, hunk in enumerate(hunks(file.patch)):
        for line in hunk:
            match = _ENTRY.match(f"-{line.text}") if line.sign in (" ", side) else None
            if match and (
                line.sign != "-" or re.search(rf"""config(?:\[|\.get\()["']{match[1]}["']""", change.removed_lines)
            ):
                yield Named(match[1], line.sign, line.number, place)


def _file_keys(file: FileChange, side: Side) -> Iterator[Named]:
    for place, hunk in enumerate(hunks(file.patch)):
        for line in hunk:
            if line.sign in (" ", side) and (match := _KEY.match(line.text)):
                yield Named(match["key"], line.sign, line.number, place)


def _proto_fields(file: FileChange, side: Side) -> Iterator[Named]:
    for place, hunk in enumerate(hunks(file.patch)):
        message = ""
        for line in hunk:
            if line.sign in (" ", side):
                if opened := _PROTO_MESSAGE.match(line.text):
                    message = opened[1]
                    yield Named(_WHOLE_MESSAGE, line.sign, line.number, place, message)
                elif field := _PROTO_FIELD.match(line.text):
                    yield Named(field["name"], line.sign, line.number, place, message)


def _messages(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield removed protobuf fields; a removed message counts once, as all of its fields, unless it was moved."""
    before, after = (list(_proto_fields(file, side)) for side in SIDES)
    gone = {each.within for each in before if each.name == _WHOLE_MESSAGE} - {each.within for each in after}
    moved = {message for message in gone if change.adds(message)}
    before = [each for each in before if each.within not in (moved if each.name == _WHOLE_MESSAGE else gone)]
    kinds = (FactKind.REMOVED_FIELD, FactKind.RENAMED_FIELD)
    yield from removals(change, file, before, after, *kinds, lambda name: name != _WHOLE_MESSAGE and change.adds(name))


def _routes(file: FileChange, side: Side) -> Iterator[Named]:
    if PurePosixPath(file.path).suffix == ".py":
        for each in statements(file.patch, side):
            if match := _ROUTE.search(each.text):
                path = next(filter(None, match.groups()))
                line = each.line_of(path)
                yield Named(path, line.sign, line.number, each.hunk)
        return
    for place, hunk in enumerate(hunks(file.patch)):
        for line in hunk:
            if line.sign in (" ", side) and (match := _ROUTE.search(line.text)):
                yield Named(next(filter(None, match.groups())), line.sign, line.number, place)
