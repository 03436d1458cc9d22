"""Deprecations: what a commit announces to go, with what replaces it and the version that removes it if it says so.

Read are warnings with the name in their text, decorators, and the descriptions of flags and fields. A name that the
commit's removed lines, or one of its files before it, already called deprecated is no news, nor is what a new file brings along.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from analysis.facts.change import Change, is_module, old_path
from analysis.facts.modules import module_path
from analysis.facts.options import FLAG_NAME, PARSER
from analysis.facts.python import CodeStatement, Definition, Side, definitions, statements
from analysis.models import Fact, FactKind, FileChange

_HINT = "deprecat"  # without which, in lower case, there is no notice
_WARNING = re.compile(r"(?:\w+\.)*_?warn\w*\(")
_HELPER = re.compile(r"(?:\w+\.)*_?(?:deprecate\w*|(?:handle|warn|mark|set|get|emit)_\w*deprecat\w*)\(")
_DECORATOR = re.compile(r"@(?:\w+\.)*deprecated\b")
_STRING = re.compile(r'"((?:\\.|[^"\\])*)"|\'((?:\\.|[^\'\\])*)\'')
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
_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_IDENTIFIER = re.compile(r"(?:--)?[A-Za-z][\w.-]*")
_VERSION = re.compile(r"v?\d+\.\d+(?:\.\d+)*")
_DOCSTRING = re.compile(r"""[rf]?(?:\"{3}|'{3})\s*deprecated\b""", re.IGNORECASE)
_FIELD_CALL = re.compile(r"=\s*(?:\w+\.)?[Ff]ield\(")


class _Notice(NamedTuple):
    """A deprecated name, the text that says so, and the statement with that text."""

    name: str
    text: str
    statement: CodeStatement
    new: str | None = None

    @property
    def replacement(self) -> str | None:
        """The name that takes its place, as the text says."""
        found = (_bare(match["name"]) for match in _INSTEAD.finditer(self.text))
        return self.new or next((each for each in found if each != self.name), None)

    @property
    def until(self) -> str | None:
        """The version that removes the name, as the text says."""
        match = _UNTIL.search(self.text)
        return match["until"] if match else None


def deprecations(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield what the added lines of a public module announce as deprecated."""
    if file.status == "removed" or not is_module(file) or not _has_hint(file.patch) or not _has_hint(_added(file)):
        return
    before = "\n".join(change.read_before(old_path(each)) or "" for each in change.commit.files if is_module(each))
    known = {each.name for other in change.commit.files if is_module(other) for each in _notices(other, "-")}
    for each in _notices(file, "+"):
        line = next((line for line in each.statement.lines if line.sign == "+"), None)
        is_copied = file.status in ("added", "copied") and each.name != module_path(file.path).replace("/", ".")
        if line is None or each.name in known or is_copied or _was_deprecated(each.name, before):
            continue
        known |= {each.name, each.name.rpartition(".")[2]}  # a field, and the warning that names it alone
        yield Fact(
            kind=FactKind.DEPRECATED,
            name=each.name,
            path=file.path,
            line=line.number,
            new=each.replacement,
            until=each.until,
        )


def _has_hint(text: str | None) -> bool:
    return text is not None and _HINT in text.lower()


def _added(file: FileChange) -> str:
    return "\n".join(line for line in (file.patch or "").split("\n") if line.startswith("+"))


def _was_deprecated(name: str, before: str) -> bool:
    """Return whether a line of the file before the commit, or the one below it, called the name deprecated."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)[^\n]*\n?[^\n]*deprecat", before, re.IGNORECASE) is not None


def _notices(file: FileChange, side: Side) -> Iterator[_Notice]:
    """Yield the notices on one side of a file."""
    if not _has_hint(file.patch):
        return
    found, defined = statements(file.patch, side), definitions(file.patch, side)
    marks = {(each.hunk, each.text): each for each in found if _DECORATOR.match(each.text)}
    for each in filter(lambda each: each.public, defined):
        yield from _of_definition(each, marks)
    for statement in found:
        yield from _of_statement(statement)
    fields = {id(each.statement): each.name for each in defined if each.what == "field" and each.public}
    for above, below in pairwise(found):
        if (name := fields.get(id(above))) and above.indent == below.indent and _DOCSTRING.match(below.text):
            yield _Notice(name, " ".join(below.text.split()), below)


def _of_definition(found: Definition, marks: Mapping[tuple[int, str], CodeStatement]) -> Iterator[_Notice]:
    """Yield the notice of a decorated class or function, or of a field that is described as deprecated."""
    statement = found.statement
    for text in statement.decorators:
        if mark := marks.get((statement.hunk, text)):
            yield _Notice(found.name, _said(text), mark)
    if found.what == "field" and _FIELD_CALL.search(statement.text) and _is_described(statement):
        yield _Notice(found.name, _said(statement.text), statement)


def _of_statement(statement: CodeStatement) -> Iterator[_Notice]:
    text = statement.text
    if not _has_hint(text):
        return
    if _WARNING.match(text):
        said = _said(text)
        match = _SUBJECT.search(said)
        if match and _is_subject(match):
            yield _Notice(_bare(match["name"]), said, statement)
    elif _HELPER.match(text):
        yield from _of_helper(statement)
    elif PARSER.search(text) and (flags := FLAG_NAME.findall(text)) and _is_described(statement):
        yield _Notice(flags[0], _said(text), statement)


def _is_subject(match: re.Match[str]) -> bool:
    """Return whether a sentence deprecates the name: passing an object to something says nothing about its class."""
    return not (match["passing"] and " to " in match["between"] and _bare(match["name"])[:1].isupper())


def _of_helper(statement: CodeStatement) -> Iterator[_Notice]:
    """Yield the notice of a call such as `handle_deprecated(self, "old", "new", "v2.0")`; a variable comes before a field."""
    said = [match[1] or match[2] or "" for match in _STRING.finditer(statement.text)]
    names = [each for each in said if _IDENTIFIER.fullmatch(each) and not _VERSION.fullmatch(each)]
    variables = [each for each in names if _VARIABLE.fullmatch(each)]
    version = next((f"removed in {match[0]}" for each in said if (match := _VERSION.match(each))), "")
    if variables:
        yield _Notice(variables[0], version, statement)
    elif names:
        yield _Notice(names[0], version, statement, names[1] if len(names) == 2 else None)  # noqa: PLR2004 (old and new)


def _is_described(statement: CodeStatement) -> bool:
    return _DESCRIBED.search(statement.text) is not None


def _said(text: str) -> str:
    """Return the strings of a statement in one."""
    return "".join(match[1] or match[2] or "" for match in _STRING.finditer(text))


def _bare(name: str) -> str:
    return name.strip("`'\"").removesuffix("()")
