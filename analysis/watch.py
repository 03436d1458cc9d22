"""Watched terms (paths, names, flags, variables, routes), and the places where a commit touches them.

A path is touched by a change of any file it matches. A name is touched by a changed line that defines or mentions it,
or that lies within its definition. Tests, documentation and CI mention names constantly: only a path can watch those.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from analysis.citations import to_file, to_line
from analysis.diff import DiffLine, changed_lines, headed_hunks
from analysis.errors import Misuse
from analysis.locale import Phrase
from analysis.models import Commit, FileChange, Touch
from analysis.paths import Kind, check_pattern, kind, path_patterns

_MAX_TERMS = 20
_MAX_LENGTH = 200  # characters of a term
_MIN_NAME = 3  # characters of a name: shorter ones occur on every other line
_NAME_KINDS = (Kind.SOURCE, Kind.BUILD, Kind.DEPENDENCY, Kind.DATA)
_DEFINITION = re.compile(
    r"(?P<indent>\s*)(?:(?:export|default|pub|public|abstract|static|async)\s+)*"
    r"(?P<what>def|class|func|fn|function|struct|interface|trait)\s+(?:\([^)]*\)\s*)?(?P<name>\w+)"
)
_FUNCTIONS = ("def", "func", "fn", "function")
_CLOSING = re.compile(r"\s*[)\]}]")  # closes what an earlier line opened, at that line's indent
_DEFINED, _WITHIN, _MENTIONED = range(3)


def parse_watch(text: str) -> tuple[str, ...]:
    """Parse comma-separated terms; `Misuse` names a term that cannot be watched."""
    # Chat clients write an em dash instead of `--`, and make addresses of file names.
    bare = (each.strip().strip("`").removeprefix("http://") for each in re.split("[,，、]", text) if each.strip())
    found = tuple(dict.fromkeys(re.sub(r"^[—–]", "--", each) for each in bare))
    if len(found) > _MAX_TERMS:
        raise Misuse(
            Phrase("{count} watched terms are too many; use at most {most}", count=len(found), most=_MAX_TERMS)
        )
    for each in found or ([text] if text.strip() else []):
        _validate_term(each)
    return found


def touches(commit: Commit, terms: Sequence[str]) -> tuple[Touch, ...]:
    """Return the most significant place where a commit (with patches) touches each term, in the order of the terms."""
    found = (_touch(commit, term) for term in terms)
    return tuple(each for each in found if each)


def _validate_term(term: str) -> None:
    shown = term[:60]
    if len(term) > _MAX_LENGTH or not term.isprintable() or re.search(r"\s", term) or term.startswith(("!", "#")):
        raise Misuse(
            Phrase("{text!r} cannot be watched; use src/api, HTTP_TIMEOUT, Client.send or --timeout", text=shown)
        )
    if _is_path(term):
        check_pattern(term)
    elif len(re.sub(r"[^\w]", "", term)) < _MIN_NAME:
        raise Misuse(
            Phrase(
                "{text!r} is too short to watch; use at least {least} letters or digits", text=shown, least=_MIN_NAME
            )
        )


def _is_path(term: str) -> bool:
    """Return whether a term is a path: it has a wildcard or a slash; a leading slash makes it a route."""
    return bool(re.search(r"[*?\[]", term)) or ("/" in term and not term.startswith("/"))


def _touch(commit: Commit, term: str) -> Touch | None:
    is_named = _path_matcher(term)
    file = next((each for each in commit.files if is_named(each.path) or is_named(each.previous_path or "")), None)
    if file:
        return _touch_at(commit, file, next(changed_lines(file), None), term)
    if _is_path(term):
        return None
    name = _TermPatterns.of(term)
    found = [(weight, file, line) for file in commit.files for weight, line in _occurrences(file, name)]
    if not found:
        return None
    _, file, line = min(found, key=lambda each: (each[0], each[2].sign == "-"))
    return _touch_at(commit, file, line, term)


def _path_matcher(term: str) -> Callable[[str], bool]:
    """Return a predicate: whether a term matches a path or one of its folders.

    A bare word matches a folder at the root, or a file name.
    """
    if _is_path(term):
        return path_patterns([term]).match_file
    return lambda path: path.startswith(f"{term}/") or path.rpartition("/")[2] == term


def _touch_at(commit: Commit, file: FileChange, line: DiffLine | None, term: str) -> Touch:
    place = to_line(commit, file, line) if line else to_file(commit, file)
    return Touch(term=term, path=file.path, line=line.number if line else None, url=place.url)


class _TermPatterns(NamedTuple):
    """Patterns for a term in code: lines that mention it, lines that assign it, and the scope of that name."""

    mention: re.Pattern[str]
    assignment: re.Pattern[str]
    scope: tuple[str, ...]
    needles: tuple[str, ...]  # a patch without any of them need not be searched

    @classmethod
    def of(cls, term: str) -> "_TermPatterns":
        scope = tuple(term.split(".")[-2:])
        if not term.startswith("-"):
            assignment = re.compile(rf"""\s*["']?{re.escape(term)}["']?\s*(?::|=(?!=))""")
            return cls(re.compile(_whole_word(term)), assignment, scope, (term, scope[-1]))
        # A flag is often defined by a field: --enforce-eager is `enforce_eager: bool`.
        field = term.lstrip("-").replace("-", "_")
        mention = re.compile(rf"(?<![\w-]){re.escape(term)}(?![\w-])")
        return cls(mention, re.compile(rf"\s*{re.escape(field)}\s*:"), scope, (term, field))

    def is_among(self, scopes: Sequence[str]) -> bool:
        size = len(self.scope)
        return any(tuple(scopes[at : at + size]) == self.scope for at in range(len(scopes) - size + 1))


def _whole_word(term: str) -> str:
    """Return a pattern for a whole word; a term that begins or ends with a sign needs no boundary there."""
    before = r"(?<!\w)" if re.match(r"\w", term) else ""
    after = r"(?!\w)" if re.search(r"\w$", term) else ""
    return f"{before}{re.escape(term)}{after}"


def _occurrences(file: FileChange, name: _TermPatterns) -> Iterator[tuple[int, DiffLine]]:
    """Yield (kind of touch, changed line) for each changed line that touches the name."""
    patch = file.patch or ""
    if kind(file.path) not in _NAME_KINDS or not any(needle in patch for needle in name.needles):
        return
    for line, scopes, defines in _lines_with_scopes(patch):
        if line.sign == " ":
            continue
        if name.assignment.match(line.text) or (defines and tuple(scopes[-len(name.scope) :]) == name.scope):
            yield _DEFINED, line
        elif line.text.strip() and name.is_among(scopes):
            yield _WITHIN, line
        elif name.mention.search(line.text):
            yield _MENTIONED, line


class _NamedScope(NamedTuple):
    indent: int
    name: str


def _lines_with_scopes(patch: str) -> Iterator[tuple[DiffLine, list[str], bool]]:
    """Yield (line, names of its scopes, outermost first, whether it belongs to the last one's signature)."""
    for heading, lines in headed_hunks(patch):
        outer = _DEFINITION.match(heading)
        scopes = [_NamedScope(-1, outer["name"])] if outer else []
        in_signature = False
        for line in lines:
            defined = _DEFINITION.match(line.text)
            if line.text.strip() and not _CLOSING.match(line.text):
                indent = _indent_columns(line.text)
                # git does not give the heading's indent: the next function, or anything at the margin, ends it.
                ends = indent == 0 or (defined and outer and outer["what"] in _FUNCTIONS)
                scopes = [each for each in scopes if (each.indent < indent if each.indent >= 0 else not ends)]
                if defined:
                    scopes.append(_NamedScope(indent, defined["name"]))
                    in_signature = line.text.rstrip().endswith(("(", ","))
            elif in_signature and line.text.strip():
                in_signature = False
            yield line, [each.name for each in scopes], in_signature or bool(defined)


def _indent_columns(text: str) -> int:
    expanded = text.expandtabs(4)
    return len(expanded) - len(expanded.lstrip())
