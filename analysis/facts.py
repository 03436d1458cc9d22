"""What a commit proves: facts with the file and line they stand in, never a guess.

A name counts as removed only when the commit takes its definition away and no added line of the commit defines or
mentions it again, so that moved code is not called removed. Tests, documentation and examples prove nothing about what
others may depend on. Where a rule cannot tell, it says nothing.
"""

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby, pairwise
from typing import NamedTuple

from analysis.diff import DiffLine, changed_lines, hunks
from analysis.models import Commit, Fact, FactKind, FileChange
from analysis.paths import Kind, kind

# Raised whenever a rule changes, so that stored facts are found anew from the stored patches.
VERSION = 1

_ALIKE = 0.6  # names at least this similar, one gone and one come in the same hunk, are a renaming
_PUBLIC = (Kind.SOURCE, Kind.BUILD, Kind.DATA)

_ENV_DEFINITION = re.compile(
    r"""(?x)
      ^\s*["'](?P<key>[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)["']\s*:                              # a registry of variables
    | ^\s*(?P<typed>[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\s*:\s*[\w."'\[\]| ]+=                    # typed, in a file named for it
    | (?:os\.)?(?:environ(?:\.get)?|getenv)\s*[\[(]\s*["'](?P<read>[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)["']
    | (?:std::)?getenv\(\s*"(?P<c>[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)"
    | (?:os\.Getenv|env::var|process\.env\.)\(?"?(?P<other>[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)
    """
)
_ENV_REGISTERED = re.compile(r"""^\s*["']([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)["']\s*:\s*(?:lambda\b|env\w*\()""")
_ENV_FILE = re.compile(r"(^|/)(envs?|environment|env_vars?|settings)\.(py|ts|rs|go)$")
_FLAG = re.compile(
    r"""(?:add_argument|add_cli_args|click\.option|@option|typer\.Option|Option|Flag)\s*\(|^\s*["']--[a-z]"""
)
_FLAG_NAME = re.compile(r"""["'](--[a-z][a-z0-9]*(?:[-_.][a-z0-9]+)*)["']""")
_DEFINITION = re.compile(
    r"^(?P<indent>[ \t]*)(?:export\s+)?(?:pub\s+)?(?:async\s+)?(?P<what>def|class|func|fn|function|struct|interface|trait)\s+"
    r"(?:\([^)]*\)\s*)?(?P<name>[A-Za-z]\w*)"
)
_DEFAULT = re.compile(
    r"""^\s*(?:(?P<field>[A-Za-z]\w*)\s*:\s*[\w."'\[\]| ,]+=\s*(?P<value>[^=\s][^#]*?)|.*?\bdefault\s*=\s*(?P<default>[^,)#]+))\s*(?:[,)#].*)?$"""
)
_PINNED = re.compile(
    r"""^\s*["']?(?P<name>[A-Za-z][\w.-]*)(?:\[[\w,. -]+\])?\s*(?P<spec>(?:[<>=~!^]=?=?\s*v?\d[\w.*+!-]*)(?:\s*,\s*[<>=~!]=?\s*[\w.*+!-]+)*)"""
)
_KEYED = re.compile(
    r"""^\s*["']?(?P<name>[A-Za-z@][\w./@-]*)["']?\s*[=:]\s*["'{](?:\s*version\s*=\s*")?(?P<spec>[\^~<>=v]*\d[\w.*+-]*)"""
)
_CONCURRENCY = re.compile(
    r"\b(threading\.(?:R?Lock|Condition|Event|Semaphore|Thread)|asyncio\.(?:Lock|Condition|Semaphore|Event)|multiprocessing\.\w+"
    r"|std::(?:mutex|atomic|thread|lock_guard|unique_lock|condition_variable)|sync\.(?:RW)?Mutex|cudaStreamSynchronize|__syncthreads"
    r"|\w*_?lock\.(?:acquire|release)\(|with\s+self\.\w*lock\w*)",
)
_SECURITY = re.compile(r"\b(GHSA(?:-[a-z0-9]{4}){3}|CVE-\d{4}-\d{4,7}|CWE-\d{1,4})\b", re.IGNORECASE)
_UNSAFE = re.compile(
    r"\b(pickle\.loads?\(|yaml\.load\(|(?<![\w.])(?:eval|exec)\(|shell\s*=\s*True|torch\.load\(|weights_only\s*=\s*False)"
)
_THREAT = re.compile(
    r"\b(path traversal|directory traversal|SSRF|XSS|ReDoS|denial.of.service|vulnerabilit(?:y|ies)|arbitrary code execution)\b",
    re.IGNORECASE,
)
_TEST_DEFINITION = re.compile(r"^\s*(?:async\s+)?def\s+(?P<name>test_\w+)")
_SKIPPED = re.compile(r"\s*@(?:pytest\.mark\.(?:skip|xfail)|unittest\.skip)\b")
_PRIVATE = re.compile(r"^(tools|scripts|hack|misc|utils/ci)/|(^|/)(_(?!_init__\.py)|\.)")
_REVERT_TITLE = re.compile(
    r"^(?:\[[^\]]*\]\s*)*Revert\b[:\s]*[\"“]?(?P<title>.*?)[\"”]?\s*(?:\(#\d+\)\s*)?$", re.IGNORECASE
)
_REVERT_SHA = re.compile(r"\bThis reverts commit ([0-9a-f]{7,40})", re.IGNORECASE)


class _Gone(NamedTuple):
    name: str
    file: FileChange
    line: DiffLine
    hunk: tuple[DiffLine, ...]
    known: frozenset[str]  # names that the file had before: none of them is what this one became


def facts(commit: Commit) -> tuple[Fact, ...]:
    """Every fact that the rules find in the commit's message and patches, in the order of the kinds."""
    public = [file for file in commit.files if file.patch and kind(file.path) in _PUBLIC]
    added = _added_text(commit)
    rules: Sequence[Iterator[Fact]] = (
        _reverts(commit),
        _removed(public, added, _env_names, FactKind.REMOVED_ENV, FactKind.RENAMED_ENV),
        _removed(public, added, _flag_names, FactKind.REMOVED_FLAG, FactKind.RENAMED_FLAG),
        _removed(public, added, _public_names, FactKind.REMOVED_NAME, FactKind.RENAMED_NAME),
        _moved(commit),
        _defaults(public),
        _dependencies(commit),
        _deleted(commit),
        _tests(commit),
        _concurrency(public),
        _security(commit, public),
    )
    unique: dict[tuple[FactKind, str], Fact] = {}
    for rule in rules:
        for fact in rule:
            unique.setdefault((fact.kind, fact.name), fact)
    return tuple(unique.values())


def reverted_title(commit: Commit) -> str | None:
    """The title that a revert names, without its pull request's number; None for what is no revert."""
    match = _REVERT_TITLE.match(commit.subject)
    return match["title"].strip() if match and match["title"] else None


def reverted_sha(commit: Commit) -> str | None:
    """The SHA (or its beginning) that a revert says it reverts."""
    match = _REVERT_SHA.search(commit.message)
    return match[1].lower() if match else None


def _added_text(commit: Commit) -> str:
    """All that the commit adds outside tests and documentation, where a moved name would turn up."""
    lines = []
    for file in commit.files:
        if kind(file.path) in (Kind.SOURCE, Kind.BUILD, Kind.DATA, Kind.CI):
            lines += [line.text for line in changed_lines(file) if line.sign == "+"]
    return "\n".join(lines)


def _reverts(commit: Commit) -> Iterator[Fact]:
    title, sha = reverted_title(commit), reverted_sha(commit)
    if title or sha:
        yield Fact(kind=FactKind.REVERT, name=title or (sha or "")[:7])


def _removed(
    files: Sequence[FileChange],
    added: str,
    names: Callable[[FileChange, DiffLine], list[str]],
    removed: FactKind,
    renamed: FactKind,
) -> Iterator[Fact]:
    """The names that are defined on removed lines and on no added or kept one, each paired with what replaced it if anything did."""
    for gone in _gone(files, names):
        if re.search(rf"(?<![\w-]){re.escape(gone.name)}(?![\w-])", added):
            continue
        arrived = [
            name
            for line in gone.hunk
            if line.sign == "+"
            for name in names(gone.file, line)
            if name not in gone.known and SequenceMatcher(None, gone.name.lower(), name.lower()).ratio() >= _ALIKE
        ]
        where = {"path": gone.file.previous_path or gone.file.path, "line": gone.line.old}
        if len(arrived) == 1:
            yield Fact(kind=renamed, name=gone.name, new=arrived[0], **where)
        else:
            yield Fact(kind=removed, name=gone.name, **where)


def _gone(files: Sequence[FileChange], names: Callable[[FileChange, DiffLine], list[str]]) -> Iterator[_Gone]:
    for file in files:
        if file.status == "added":
            continue
        parts = hunks(file.patch)
        gone = [(name, line, hunk) for hunk in parts for line in hunk if line.sign == "-" for name in names(file, line)]
        if gone:
            kept = {name for hunk in parts for line in hunk if line.sign != "-" for name in names(file, line)}
            shown = {name for hunk in parts for line in hunk if line.sign == " " for name in names(file, line)}
            known = frozenset(shown | {name for name, _, _ in gone})
            yield from (_Gone(name, file, line, hunk, known) for name, line, hunk in gone if name not in kept)


def _env_names(file: FileChange, line: DiffLine) -> list[str]:
    """Environment variables that the line defines; reading one elsewhere proves nothing about the others who read it."""
    pattern = _ENV_DEFINITION if _ENV_FILE.search(file.path.lower()) else _ENV_REGISTERED
    match = pattern.search(line.text)
    return [next(name for name in match.groups() if name)] if match else []


def _flag_names(_file: FileChange, line: DiffLine) -> list[str]:
    return _FLAG_NAME.findall(line.text) if _FLAG.search(line.text) else []


def _public_names(file: FileChange, line: DiffLine) -> list[str]:
    """A public function or class at the top level of a module, or a class's public method."""
    match = _DEFINITION.match(line.text)
    if not match or kind(file.path) is not Kind.SOURCE:
        return []
    depth = len(match["indent"].expandtabs(4))
    private_module = _PRIVATE.search(file.path)
    if depth > 0 or private_module or match["name"].startswith("test"):
        return []
    return [match["name"]]


def _defaults(files: Sequence[FileChange]) -> Iterator[Fact]:
    """A default that differs between a removed line and the added one that takes its place."""
    for file in files:
        for hunk in hunks(file.patch):
            for context, before, after in _replaced(hunk):
                yield from _default(file, context, before, after)


def _replaced(hunk: Sequence[DiffLine]) -> Iterator[tuple[Sequence[DiffLine], DiffLine, DiffLine]]:
    """(the lines above, a removed line, the added line in its place): where as many lines come as go."""
    runs = [(sign, list(lines)) for sign, lines in groupby(hunk, key=lambda line: line.sign)]
    above: list[DiffLine] = []
    for (sign, gone), (next_sign, come) in pairwise([*runs, (" ", [])]):
        if sign == "-" and next_sign == "+" and len(gone) == len(come):
            for place, (before, after) in enumerate(zip(gone, come, strict=True)):
                yield [*above, *gone[:place]], before, after
        above += gone


def _default(file: FileChange, above: Sequence[DiffLine], before: DiffLine, after: DiffLine) -> Iterator[Fact]:
    old, new = _DEFAULT.match(before.text), _DEFAULT.match(after.text)
    if not old or not new or old["field"] != new["field"]:
        return
    was, now = (match["value"] or match["default"] or "" for match in (old, new))
    name = old["field"] or _flag_of(before.text, above)
    if name and _simple(was) and _simple(now) and _value(was) != _value(now):
        yield Fact(
            kind=FactKind.DEFAULT_CHANGED, name=name, path=file.path, line=after.new, old=was.strip(), new=now.strip()
        )


def _flag_of(line: str, above: Sequence[DiffLine]) -> str:
    """The flag whose definition the line is in: on the line itself, or on the last lines above it."""
    for text in [line, *(each.text for each in reversed(above[-3:]))]:
        found = _FLAG_NAME.findall(text)
        if found or ")" in text:
            return "".join(found[:1])
    return ""


def _simple(value: str) -> bool:
    return re.fullmatch(r"""\s*(?:-?\d[\d_.e+-]*|True|False|None|true|false|["'][^"']*["'])\s*""", value) is not None


def _value(text: str) -> object:
    """What a simple default is worth: '' and "" are the same, and so are 10. and 10.0."""
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError):
        return text.strip()


def _dependencies(commit: Commit) -> Iterator[Fact]:
    for file in commit.files:
        if kind(file.path) is not Kind.DEPENDENCY:
            continue
        before, after = _pins(file, "-"), _pins(file, "+")
        added = "\n".join(line.text for line in changed_lines(file) if line.sign == "+")
        for name in {**before, **after}:
            old, new = before.get(name), after.get(name)
            if old and new and old[0] != new[0]:
                found = FactKind.DEPENDENCY_MOVED
            elif old and not new and not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", added):
                found = FactKind.DEPENDENCY_REMOVED
            elif new and not old:
                found = FactKind.DEPENDENCY_ADDED
            else:
                continue
            spec, line = new or old or ("", None)
            yield Fact(
                kind=found,
                name=name,
                path=file.path,
                line=line,
                old=old[0] if old else None,
                new=spec if new else None,
            )


def _pins(file: FileChange, sign: str) -> dict[str, tuple[str, int]]:
    """Package -> (version specification, line) on the lines of one sign."""
    pattern = _KEYED if file.path.endswith((".toml", ".json")) else _PINNED
    found = {}
    for line in changed_lines(file):
        if line.sign != sign:
            continue
        match = _PINNED.match(line.text) or pattern.match(line.text)
        if match and match["name"].lower() not in (
            "version",
            "python",
            "requires-python",
            "target-version",
            "line-length",
        ):
            found[match["name"]] = (re.sub(r"\s+", "", match["spec"]), line.number)
    return found


def _moved(commit: Commit) -> Iterator[Fact]:
    """A Python module that others import by a path it no longer has."""
    present = {file.path for file in commit.files if file.status != "removed"}
    for file in commit.files:
        old = file.previous_path
        if file.status != "renamed" or not old or old in present or not old.endswith(".py"):
            continue
        if kind(old) is Kind.SOURCE and not _PRIVATE.search(old):
            yield Fact(kind=FactKind.MOVED_MODULE, name=old, path=file.path, new=file.path)


def _deleted(commit: Commit) -> Iterator[Fact]:
    for file in commit.files:
        if file.status == "removed" and kind(file.path) is Kind.SOURCE:
            yield Fact(kind=FactKind.FILE_DELETED, name=file.path, path=file.path)


def _tests(commit: Commit) -> Iterator[Fact]:
    """Tests that the commit takes away or has skipped from now on; one that moved, or that is new, is neither."""
    files = [file for file in commit.files if kind(file.path) is Kind.TEST and file.status != "added"]
    added = {
        match["name"]
        for file in commit.files
        for line in changed_lines(file)
        if line.sign == "+" and (match := _TEST_DEFINITION.match(line.text))
    }
    for file in files:
        for hunk in hunks(file.patch):
            renamed = any(line.sign == "+" and _TEST_DEFINITION.match(line.text) for line in hunk)
            for line in () if renamed else hunk:
                gone = _TEST_DEFINITION.match(line.text) if line.sign == "-" else None
                if gone and gone["name"] not in added:
                    yield Fact(kind=FactKind.TEST_REMOVED, name=gone["name"], path=file.path, line=line.old)
            yield from _skipped(file, hunk)


def _skipped(file: FileChange, hunk: Sequence[DiffLine]) -> Iterator[Fact]:
    """Tests that were there, and have a mark to be skipped that they did not have."""
    unmarked = {_squeezed(line.text) for line in hunk if line.sign == "-"}
    marked: DiffLine | None = None
    for line in hunk:
        test = _TEST_DEFINITION.match(line.text)
        if line.sign == "+" and _SKIPPED.match(line.text) and _squeezed(line.text) not in unmarked:
            marked = line
        elif test and line.sign == " " and marked:
            yield Fact(kind=FactKind.TEST_REMOVED, name=test["name"], path=file.path, line=marked.new)
            marked = None
        elif test or (line.text.strip() and not line.text.lstrip().startswith(("@", ")", "]", "reason", '"'))):
            marked = None


def _squeezed(text: str) -> str:
    """A line without what a formatter may change."""
    return re.sub(r"[\s'\"]", "", text)


def _concurrency(files: Sequence[FileChange]) -> Iterator[Fact]:
    """Locks, threads and their like that a file has more or fewer of than before: lines that only moved say nothing."""
    for file in files:
        lines = [(line, match[1]) for line in changed_lines(file) if (match := _CONCURRENCY.search(line.text))]
        balance = Counter(name for line, name in lines if line.sign == "+")
        balance.subtract(name for line, name in lines if line.sign == "-")
        changed = [(line, name) for line, name in lines if balance[name]]
        if changed:
            line, name = changed[0]
            yield Fact(
                kind=FactKind.CONCURRENCY, name=name.removeprefix("with ").strip(), path=file.path, line=line.number
            )


def _security(commit: Commit, files: Sequence[FileChange]) -> Iterator[Fact]:
    told = f"{commit.message}\n{commit.pull.title if commit.pull else ''}\n{commit.pull.body if commit.pull else ''}"
    for match in _SECURITY.finditer(told):
        yield Fact(kind=FactKind.SECURITY, name=match[1].upper() if match[1][0] in "cC" else match[1])
    for match in _THREAT.finditer(f"{commit.subject}\n{commit.body}"):
        yield Fact(kind=FactKind.SECURITY, name=match[1].lower())
    added = "\n".join(line.text for file in commit.files for line in changed_lines(file) if line.sign == "+")
    for file in files:
        if file.status == "removed":
            continue  # a file that goes is no repair
        for line in changed_lines(file):
            unsafe = _UNSAFE.search(line.text) if line.sign == "-" else None
            if unsafe and unsafe[0] not in added:
                yield Fact(kind=FactKind.SECURITY, name=unsafe[0].rstrip("("), path=file.path, line=line.old)
                break
