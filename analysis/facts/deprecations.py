"""Deprecations: what a commit announces to go, with what replaces it and the version that removes it if it says so.

Read are warnings with the name in their text, decorators, and the descriptions of flags and fields. A name that the
commit's removed lines, or one of its files before it, already called deprecated is no news, nor is what a new file brings along.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from analysis.diff import changed_lines
from analysis.facts.change import Change, Side, is_module, old_path
from analysis.facts.flags_variables_routes import FLAG_CALL, FLAG_NAME
from analysis.facts.python.module import module_path
from analysis.facts.syntax import constant_strings, dotted
from analysis.models import Fact, FactKind, FileChange

_HINT = "deprecat"  # without which, in lower case, there is no notice
_HINT_LINE = re.compile(_HINT, re.IGNORECASE)
_WARNING = re.compile(r"(?:\w+\.)*_?warn\w*$")
_DECORATOR = re.compile(r"(?:\w+\.)*deprecated\b")
_QUOTED = r"[`'\"](?:[\w.]|--?(?=\w)|-(?=\w))+(?:\(\))?(?: [\w-]+)?[`'\"]"
# A word of a sentence that can only be code: a flag, or one with a point, an underscore, or capitals within.
_CODE_WORD = r"(?:--[a-z][\w-]+|(?=\w*(?:[._]\w|[a-z][A-Z]))[A-Za-z][\w.]*\w(?:\(\))?)"
_NAME = rf"(?P<name>{_QUOTED}|{_CODE_WORD})"
_IS_GOING = r"(?:(?:is|are|has been|have been|will be) (?:now )?(?:deprecated|removed in|renamed to|split into)|was deprecated)\b"
_SUBJECT = re.compile(
    r"(?:^|[.;!]\s+)(?:(?P<passing>Passing)|(?:Using|Use of|Setting|Importing|Calling|Accessing))?\s*(?:[Tt]he\s+)?(?:old\s+)?"
    rf"{_NAME}(?P<between>(?:(?!\b(?:is|are|was|has|have|will|if|when|because|since)\b)(?:[^.;]|\.(?=\w))){{0,80}}?)\b{_IS_GOING}"
)
_INSTEAD = re.compile(
    r"\b(?:[Uu]se|[Pp]ass|[Ss]et|[Ii]mport|[Cc]all|switch to|in favou?r of|renamed to|replaced (?:by|with))\s+(?:the\s+)?"
    + _NAME
)
_UNTIL = re.compile(
    r"\b(?:removed|supported|removal)\b[^.;]{0,20}?\bin (?P<until>(?:[A-Z]\w+ )?v?\d+(?:\.\d+)+)", re.IGNORECASE
)
_DESCRIBED = re.compile(
    r"""\bdeprecated\s*=\s*(?:True|["'(f])|["']\W*deprecated\b|\b(?:this|it|flag|option|argument|field|parameter) (?:is|has been|will be) deprecated\b""",
    re.IGNORECASE,
)


_Function = ast.FunctionDef | ast.AsyncFunctionDef


class _Notice(NamedTuple):
    """A deprecated name, the text that says so, and the lines that hold it."""

    name: str
    text: str
    lines: range

    @property
    def replacement(self) -> str | None:
        """The name that takes its place, as the text says."""
        found = (_bare(match["name"]) for match in _INSTEAD.finditer(self.text))
        return next((each for each in found if each != self.name), None)

    @property
    def until(self) -> str | None:
        """The version that removes the name, as the text says."""
        match = _UNTIL.search(self.text)
        return match["until"] if match else None


def deprecations(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield what the added lines of a public module announce as deprecated."""
    gained = "\n".join(line for line in (file.patch or "").split("\n") if line.startswith("+"))
    if file.status == "removed" or not is_module(file) or not _has_hint(gained):
        return
    before = "\n".join(change.read_before(old_path(each)) or "" for each in change.commit.files if is_module(each))
    known = {each.name for other in change.commit.files if is_module(other) for each in _notices(change, other, "-")}
    added = {line.new for line in changed_lines(file, "+")}
    for each in _notices(change, file, "+"):
        line = next((number for number in each.lines if number in added), None)
        is_copied = file.status in ("added", "copied") and each.name != module_path(file.path).replace("/", ".")
        bare = each.name.rstrip(")").rpartition("(")[2]  # of a parameter
        if line is None or each.name in known or is_copied or _was_deprecated(bare, before):
            continue
        known |= {each.name, each.name.rpartition(".")[2]}  # a field, and the warning that names it alone
        yield Fact(
            kind=FactKind.DEPRECATED, name=each.name, path=file.path, line=line, new=each.replacement, until=each.until
        )


def _has_hint(text: str | None) -> bool:
    return text is not None and _HINT in text.lower()


def _was_deprecated(name: str, before: str) -> bool:
    """Return whether a line of the file before the commit, or the one below it, called the name deprecated."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)[^\n]*\n?[^\n]*deprecat", before, re.IGNORECASE) is not None


def _notices(change: Change, file: FileChange, side: Side) -> Iterator[_Notice]:
    """Yield the notices on one side of a file."""
    source = change.source(file, side) if _has_hint(file.patch) else None
    functions: dict[str, _Function] = {}
    for parent, node in source.nodes_with(_HINT_LINE) if source else ():
        owner = f"{parent.name}." if isinstance(parent, ast.ClassDef) else ""
        if isinstance(node, _Function):
            functions[owner + node.name] = node
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                marks = (each for each in node.decorator_list if _DECORATOR.match(ast.unparse(each)))
                yield from (_Notice(owner + name, _said(each), _lines(each)) for each in marks if name[0] != "_")
            case ast.Expr(value=ast.Call() as call):
                yield from (_of_parameter(each, functions) for each in _of_call(call))
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Call() as call) if owner and name[0] != "_":
                if (dotted(call.func) or "").rpartition(".")[2].lower() == "field" and _is_described(call):
                    yield _Notice(owner + name, _said(call), _lines(node))
        if isinstance(node, ast.ClassDef):
            yield from _of_documented_fields(node)


def _of_parameter(notice: _Notice, functions: Mapping[str, _Function]) -> _Notice:
    """Return a notice whose name is a parameter of the innermost function that gives it as one of that: `Pool.take(size)`."""
    for function, node in reversed([*functions.items()]):
        if notice.lines.start in _lines(node):
            arguments = node.args
            names = {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
            return notice._replace(name=f"{function}({notice.name})") if notice.name in names else notice
    return notice


def _of_documented_fields(owner: ast.ClassDef) -> Iterator[_Notice]:
    """Yield the notices of fields whose docstrings, the statements below them, begin with the word."""
    for above, below in pairwise(owner.body):
        match above, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                if name[0] != "_" and text.lstrip().lower().startswith("deprecated"):
                    yield _Notice(f"{owner.name}.{name}", " ".join(text.split()), _lines(below))


def _of_call(call: ast.Call) -> Iterator[_Notice]:
    """Yield the notice of a call that stands alone: a warning, or the definition of a flag."""
    callee, said = dotted(call.func) or "", _said(call)
    if _WARNING.match(callee):
        match = _SUBJECT.search(said)
        if match and _is_subject(match):
            yield _Notice(_bare(match["name"]), said, _lines(call))
    elif FLAG_CALL.match(callee) and (flags := FLAG_NAME.findall(ast.unparse(call))) and _is_described(call):
        yield _Notice(flags[0], said, _lines(call))


def _is_subject(match: re.Match[str]) -> bool:
    """Return whether a sentence deprecates the name: passing an object to something says nothing about its class."""
    return not (match["passing"] and " to " in match["between"] and _bare(match["name"])[:1].isupper())


def _is_described(call: ast.Call) -> bool:
    return _DESCRIBED.search(ast.unparse(call)) is not None


def _said(node: ast.AST) -> str:
    """Return the strings of an expression in one."""
    return "".join(text for text, _ in constant_strings(node))


def _lines(node: ast.stmt | ast.expr) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _bare(name: str) -> str:
    return name.strip("`'\"").removesuffix("()")
