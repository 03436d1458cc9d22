"""Tools that a model may call while it answers a question, or before it analyses a commit.

They only read files, of one repository as of one commit, and of the downstream trees of which a question asks: no tool
has an argument that names a repository or a branch. What they return is text from outside, with its secrets redacted where it was read.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Annotated, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from analysis.diff import headed_hunks, tokens
from analysis.errors import DigestError, Misuse, UnknownCommit
from analysis.grounding.corpus import FileLines, ToolResult
from analysis.models import SHORT_SHA, Commit
from analysis.sources.mirror import Mirror
from analysis.text import one_line

if TYPE_CHECKING:  # the SDK takes half a second to import
    from analysis.llm import Tool, ToolCall

MAX_CALLS = 6  # of one question, those that fail included
MAX_TOKENS = 12_000  # of all results of one question, estimated from above (`analysis.diff.tokens`)

_FOR_NOTES = 1_000  # of them, for errors and notes
_MAX_RESULT = 4_000  # tokens of one result, so that the first leaves room for others
_MAX_LINES = 300  # of a file that one call reads
_DEFAULT_LINES = 150
_MAX_LINE = 300  # characters of a line
_MAX_MATCHES = 40
_MAX_COMMITS = 12
_MAX_MESSAGE = 60  # lines of a commit message
_TIMEOUT = 30  # seconds for the calls of one reply; git may have to fetch files first

_NO_ROOM = "There is no room left for results: answer now, from what you have."
_NO_CALLS = "No call is left: answer now, from what you have."
_NO_FILE = (
    "There is no such text file at this commit. Folders, links, submodules, binary and huge files cannot be read."
)
_UNAVAILABLE = "The repository cannot be read now."
_NOTHING = "Nothing was found."
_CUT = "(more is not shown)"


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("no control characters")
    return text


def _relative(path: str) -> str:
    if path.startswith(("/", "~")) or "\\" in path or ".." in path.split("/"):
        raise ValueError("a path is relative to the repository's root, without ..")
    return path.removeprefix("./").rstrip("/")


_Printable = Annotated[str, AfterValidator(_printable)]
_Text = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_printable)]
_Path = Annotated[str, Field(max_length=400), AfterValidator(_printable), AfterValidator(_relative)]


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ReadFile(_Arguments):
    path: _Path = Field(min_length=1)
    first_line: int = Field(1, ge=1, le=10_000_000)
    last_line: int | None = Field(None, ge=1, le=10_000_000)

    @model_validator(mode="after")
    def _in_order(self) -> "ReadFile":
        if self.last_line is not None and self.last_line < self.first_line:
            raise ValueError("last_line is before first_line")
        return self


class Grep(_Arguments):
    pattern: _Text
    path: _Path = Field("", description="a file or folder; the whole repository without it")
    regex: bool = Field(
        default=False, description="whether the pattern is a POSIX extended expression, not a plain text"
    )


class FindCommits(_Arguments):
    query: _Printable = Field(
        "", max_length=200, description="words, names, paths, or the number of a pull request, as #123"
    )
    author: _Printable = Field("", max_length=80, description="a part of the author's name")
    since: date | None = Field(None, description="the first day, in UTC")
    until: date | None = Field(None, description="the last day, in UTC")
    path: _Path = Field("", description="a file or folder that they change")
    symbol: str = Field("", max_length=100, pattern=r"^\w*$", description="a name that their diffs of the path show")

    @model_validator(mode="after")
    def _of_something(self) -> "FindCommits":
        if not any((self.query.strip(), self.author, self.since, self.until, self.path)):
            raise ValueError("query, author, a day or path is needed")
        if self.symbol and not self.path:
            raise ValueError("symbol needs a path")
        return self


class ShowCommit(_Arguments):
    sha: str = Field(pattern=r"^[0-9a-f]{7,40}$")
    path: _Path = Field("", description="a file or folder, to see the changes of it alone")


class _Row(NamedTuple):
    """A line of a result, and the line of a file that it shows, if any; as of the tools' commit, or another, whose removed lines have negative numbers."""

    text: str
    path: str = ""
    number: int = 0
    content: str = ""
    commit: Commit | None = None


class OwnTree(NamedTuple):
    """A downstream tree, as of a commit, that tools may read for whoever asks about code of their own."""

    name: str
    commit: Commit
    mirror: Mirror


class _Refused(Exception):
    """A call without a result; the message is the reason, for the model."""


@dataclass(eq=False)
class CommitTools:
    """The tools for one question, or the analysis of a commit, whose files are read as of the commit `at`, with what is left of the limits.

    `search` returns the stored commits of the repository that match some words, the best first; `own` trees are read by tools of theirs.
    """

    at: Commit
    mirror: Mirror
    search: Callable[[str], Sequence[Commit]]
    own: Sequence[OwnTree] = ()
    calls_left: int = field(default=MAX_CALLS, init=False)
    _tokens_left: int = field(default=MAX_TOKENS - _FOR_NOTES, init=False)

    def offered(self) -> "tuple[Tool, ...]":
        """Return the tools as a model is offered them."""
        from analysis.llm import Tool

        return tuple(Tool(name, description, arguments) for name, (description, arguments) in self._tools.items())

    def run(self, calls: "Sequence[ToolCall]") -> list[ToolResult]:
        """Run the calls of one reply beside each other; return a result or an error for each, within the limits."""
        allowed, refused = calls[: self.calls_left], calls[self.calls_left :]
        self.calls_left -= len(allowed)
        pool = ThreadPoolExecutor(max_workers=MAX_CALLS, thread_name_prefix="tool")
        futures = [pool.submit(self._rows, each) for each in allowed]
        wait(futures, timeout=_TIMEOUT)
        pool.shutdown(wait=False, cancel_futures=True)
        results = [self._result(call.id, future) for call, future in zip(allowed, futures, strict=True)]
        results += [ToolResult(each.id, _NO_CALLS) for each in refused]
        if not (self.calls_left or refused):
            results[-1] = results[-1]._replace(text=f"{results[-1].text}\n{_NO_CALLS}")
        return results

    def _result(self, call_id: str, future: "Future[list[_Row]]") -> ToolResult:
        try:
            rows = future.result(timeout=0)
        except TimeoutError:
            return ToolResult(call_id, "This took too long: do without it.")
        except _Refused as exc:
            return ToolResult(call_id, str(exc))
        except DigestError:
            return ToolResult(call_id, _UNAVAILABLE)
        if not rows:
            return ToolResult(call_id, _NOTHING)
        taken = _fitting(rows, min(self._tokens_left, _MAX_RESULT))
        self._tokens_left -= tokens("\n".join(row.text for row in taken)) if taken else 0
        if not taken:
            return ToolResult(call_id, _NO_ROOM)
        text = "\n".join([*(row.text for row in taken), *([_CUT] if len(taken) < len(rows) else [])])
        told = "\n".join(row.text for row in taken if not row.path)
        return ToolResult(call_id, text, tuple(self._lines_of(taken)), told)

    def _rows(self, call: "ToolCall") -> list[_Row]:
        """Return what a call finds. Raise `_Refused` for one that is invalid, or `DigestError` if git fails."""
        tools = self._tools
        if call.name not in tools:
            raise _Refused(f"There is no such tool; there are {', '.join(tools)}.")
        try:
            arguments = tools[call.name][1].model_validate_json(call.arguments or "{}")
        except ValidationError as exc:
            error = exc.errors(include_url=False, include_input=False, include_context=False)[0]
            where = ".".join(map(str, error["loc"]))[:_MAX_LINE]
            raise _Refused(f"Invalid arguments: {f'{where}: ' if where else ''}{error['msg']}") from exc
        trees = self.own if call.name in _OWN_TOOLS else [OwnTree("", self.at, self.mirror)]
        match arguments:
            case ReadFile():
                return _read_file(arguments, trees)
            case Grep():
                return [row for tree in trees for row in _grep(arguments, tree)]
            case FindCommits():
                return self._find_commits(arguments)
            case ShowCommit():
                return self._show_commit(arguments)
        return []

    @property
    def _tools(self) -> "Mapping[str, tuple[str, type[_Arguments]]]":
        return {**_TOOLS, **(_OWN_TOOLS if self.own else {})}

    def _find_commits(self, wanted: FindCommits) -> list[_Row]:
        """Return the commits whose messages have all the words, and how many; then the stored ones that the search finds."""
        at, words, days = self.at.sha, wanted.query.split(), (wanted.since, wanted.until)
        if wanted.symbol:
            titled = self.mirror.history(wanted.path, at=at, symbol=wanted.symbol, limit=_MAX_COMMITS)
        else:
            titled = self.mirror.matching(at, words, wanted.author, days, wanted.path)
        known = {each.sha for each in titled}
        meant = self.search(wanted.query) if words and not any((wanted.author, wanted.path, *days)) else ()
        further = [each for each in meant if each.sha not in known]
        rows = (
            [_Row(f"{len(titled)} commits, newest first:"), *map(_commit_row, titled[:_MAX_COMMITS])] if titled else []
        )
        near = [_Row("by what they change:"), *map(_commit_row, further[: _MAX_COMMITS // 2])] if further else []
        return [*rows, *near]

    def _show_commit(self, wanted: ShowCommit) -> list[_Row]:
        try:
            commit = self.mirror.read_commit(wanted.sha)
        except UnknownCommit as exc:
            raise _Refused("There is no such commit here.") from exc
        rows = [_commit_row(commit), *map(_Row, commit.message.splitlines()[1:_MAX_MESSAGE])]
        for file in commit.files:
            if not f"{file.path}/".startswith(f"{wanted.path}/" if wanted.path else ""):
                continue
            rows.append(_Row(f"{file.status} {file.path} +{file.additions} -{file.deletions}"))
            for line in (line for hunk in headed_hunks(file.patch) for line in hunk.lines):
                text = line.text[:_MAX_LINE]
                number = -line.number if line.sign == "-" else line.number
                rows.append(_Row(f"{line.sign} {line.number} | {text}", file.path, number, text, commit))
        return rows

    def _lines_of(self, rows: Iterable[_Row]) -> Iterable[FileLines]:
        files: dict[tuple[str, str], tuple[Commit, dict[int, str]]] = {}
        for row in (row for row in rows if row.path):
            commit = row.commit or self.at
            files.setdefault((commit.sha, row.path), (commit, {}))[1][row.number] = row.content
        return [FileLines(path, lines, commit) for (_, path), (commit, lines) in files.items()]


_TOOLS: Mapping[str, tuple[str, type[_Arguments]]] = {
    "read_file": (f"Read lines of a text file as of this commit, at most {_MAX_LINES}.", ReadFile),
    "grep": ("Find the lines of the files as of this commit that contain a text.", Grep),
    "commits": (
        f"Count the commits up to this one by words of their messages, author, days and path, and list the newest {_MAX_COMMITS}.",
        FindCommits,
    ),
    "show_commit": ("Show a commit of this repository: its message and its diff.", ShowCommit),
}
_OWN_TOOLS: Mapping[str, tuple[str, type[_Arguments]]] = {
    "read_own_file": (f"Read lines of a text file of the code of whoever asks, at most {_MAX_LINES}.", ReadFile),
    "grep_own_code": ("Find the lines of the code of whoever asks that contain a text.", Grep),
}


def _read_file(wanted: ReadFile, trees: Iterable[OwnTree]) -> list[_Row]:
    """Return lines of a file of the first tree that has it."""
    read = ((tree, tree.mirror.read_file(tree.commit.sha, wanted.path)) for tree in trees)
    tree, text = next(((tree, text) for tree, text in read if text is not None), (None, None))
    if tree is None or text is None:
        raise _Refused(_NO_FILE)
    lines = text.removesuffix("\n").split("\n")
    first = wanted.first_line
    last = min(wanted.last_line or first + _DEFAULT_LINES - 1, first + _MAX_LINES - 1, len(lines))
    if first > len(lines):
        raise _Refused(f"The file has only {len(lines)} lines.")
    title = _Row(f"{wanted.path}, lines {first} to {last} of {len(lines)}")
    numbered = ((number, lines[number - 1][:_MAX_LINE]) for number in range(first, last + 1))
    return [title, *(_Row(f"{number} | {line}", wanted.path, number, line, tree.commit) for number, line in numbered)]


def _grep(wanted: Grep, tree: OwnTree) -> list[_Row]:
    """Return the lines of a tree that have a text."""
    folders = (wanted.path,) if wanted.path else ()
    try:
        found = tree.mirror.search(
            tree.commit.sha, wanted.pattern, regex=wanted.regex, folders=folders, limit=_MAX_MATCHES
        )
    except Misuse as exc:
        raise _Refused("This is not a POSIX extended expression; leave regex out to search for a text.") from exc
    title = [_Row(f"in {tree.name}:")] if found and tree.name else []
    lines = ((each, each.text[:_MAX_LINE]) for each in found)
    return [
        *title,
        *(_Row(f"{each.path}:{each.line} | {text}", each.path, each.line, text, tree.commit) for each, text in lines),
    ]


def _commit_row(commit: Commit) -> _Row:
    title = one_line(commit.title)[:_MAX_LINE]
    return _Row(f"{commit.sha[:SHORT_SHA]} {commit.committed_at:%Y-%m-%d} {one_line(commit.author)[:80]} | {title}")


def _fitting(rows: Sequence[_Row], budget: int) -> list[_Row]:
    """Return the first rows that fit a number of tokens."""
    taken: list[_Row] = []
    for row in rows:
        budget -= tokens(row.text + "\n")
        if budget < 0:
            break
        taken.append(row)
    return taken
