"""Reports of a failure: recognized among other messages, decoded from a file, and read as frames, exceptions and text.

The names in a traceback, a log or a described failure are clues to search for the commit that caused it.
"""

import builtins
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from analysis.errors import Misuse
from analysis.locale import Phrase
from analysis.search.words import names, searchable, split_words
from analysis.wordlists import wordlist

_SHORT = 20_000  # characters of a text that is read as a whole
_MOST_LINES = 400  # of a longer one, the last of those that report something
_LINE = 2_000  # characters of a line
_CHECKED = 8_192  # bytes that tell a binary file
_LOG_LINES = 3  # of a log at least
_LEAST_SHARE = 0.5  # of its lines that begin as those of a log do
_LOOKED_AT = 2_000  # lines

_FRAME = re.compile(
    r'^\W*(?:\([^)]*\)\s*)?File "(?P<path>[^"\n]{1,500})", line (?P<line>\d{1,7})(?:, in (?P<function>[\w.<>]+))?'
)
_PYTEST_FRAME = re.compile(r"^(?:E\s+)?(?P<path>[\w./-]{1,300}\.py):(?P<line>\d{1,7}): (?:in )?(?P<function>\w+)")
_EXCEPTION = re.compile(
    r"(?:^|\s)(?P<type>(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Warning|Timeout|Expired))(?::\s*(?P<message>.*))?$"
)
_TELLS_OF_FAILURE = re.compile(
    "error|exception|traceback|fail|fatal|assert|abort|critical|undefined symbol|not found|no such|cannot|unrecognized"
    '|deprecat|segfault|file "',
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d+")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_HEADER = re.compile(r"^\W*(?:\([^)]*\)\s*)?Traceback \(most recent call last\)", re.MULTILINE)
_RAISED = re.compile(
    r"^(?:E\s+)?(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Timeout|Expired)(?::\s|\s*$)"
)
_LOGGED = re.compile(
    r"^\W*(?:\([^)]*\)\s*)?(?:"
    r"(?:DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL)\b"  # a level
    r"|[IWEF]\d{4}\s"  # of glog
    r"|\d{4}[-/]\d\d[-/]\d\d[T ]|\d\d:\d\d:\d\d"  # a time
    r"|[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d )"  # of syslog
)
_FENCE = "```"

_MOST_NAMES = 60
_MOST_WORDS = 150

_NUMBER = re.compile(r"\b(?:0x)?[0-9a-f]*\d[0-9a-f]*\b")
_ROOTS = ("", "src/", "lib/", "python/")  # of packages in a repository
_IMPORTED = re.compile(
    r"No module named '([\w.]+)'|cannot import name '\w+' from (?:partially initialized module )?'([\w.]+)'"
)
_LIBRARY = re.compile(r"/(?:site|dist)-packages/|/lib/python\d|/Lib/|^<")  # frames of what is installed
_BUILT_IN = frozenset(
    name for name, each in vars(builtins).items() if isinstance(each, type) and issubclass(each, BaseException)
)
_INSTALLED = re.compile(r"^.*/(?:site|dist)-packages/")
_REFERENCE = re.compile(
    r"https?://\S+|\b[0-9a-f]{7,64}\b|#\d+|^(?:signed-off|co-authored)-by:.*$", re.IGNORECASE | re.MULTILINE
)
_CODE_NAME = re.compile(r"^[-_]|\w_\w|[a-z0-9][A-Z]|[A-Z]{2}[a-z]")


class Frame(NamedTuple):
    """A frame of a traceback; `code` is the line that was shown of it, or ""."""

    path: str
    line: int
    function: str
    code: str


class Report(NamedTuple):
    """A failure as it was reported: the frames, innermost last, the exceptions with their messages, and the text that was read."""

    frames: tuple[Frame, ...]
    exceptions: tuple[str, ...]
    text: str


def parse_report(text: str) -> Report:
    """Read a traceback, a log or a sentence. Of a long text only the last lines that report something are read."""
    text = _COLOUR.sub("", text)
    lines = text.splitlines() if len(text) <= _SHORT else _telling_lines(text)
    frames: list[Frame] = []
    exceptions: list[str] = []
    prose: list[str] = []
    for index, line in enumerate(lines):
        if match := _frame(line):
            code = lines[index + 1].strip() if index + 1 < len(lines) else ""
            frames.append(Frame(match["path"], int(match["line"]), match["function"] or "", _code(code)))
        else:
            if found := _EXCEPTION.search(line):
                exceptions.append(found[0].strip())
            prose.append(line)
    return Report(tuple(frames), tuple(dict.fromkeys(exceptions)), "\n".join(prose))


def reads_as_failure(text: str) -> bool:
    """Return whether a text has the form of a pasted traceback or log: its header, frames, lines of a log, a block of code.

    A sentence about a failure, or one with an error's name in it, has not.
    """
    lines = [each[:_LINE] for each in text.replace(_FENCE, "\n").splitlines() if each.strip()][:_LOOKED_AT]
    if len(lines) == 1:
        return bool(_RAISED.match(lines[0]))
    if not lines:
        return False
    if _HEADER.search(text) or any(map(_frame, lines)) or any(map(_RAISED.match, lines)):
        return True
    if not any(map(_TELLS_OF_FAILURE.search, lines)):
        return False
    logged = sum(bool(_LOGGED.match(each)) for each in lines)
    fenced = text.count(_FENCE) > 1
    return fenced or (len(lines) >= _LOG_LINES and logged >= _LEAST_SHARE * len(lines))


def decoded(content: bytes, name: str) -> str:
    """Return the text of a file or of another source, called `name`. Raise `Misuse` if it is binary or empty."""
    if b"\0" in content[:_CHECKED]:
        raise Misuse(Phrase("{name} is binary; paste the text of a traceback or log", name=name))
    text = content.decode("utf-8", "replace")
    if not text.strip():
        raise Misuse(Phrase("{name} is empty; give a traceback, a log or a description of the failure", name=name))
    return text


def _frame(line: str) -> re.Match[str] | None:
    """Return the head of a traceback's frame, as Python or pytest writes it, if a line is one."""
    return _FRAME.search(line) or _PYTEST_FRAME.search(line)


def _code(line: str) -> str:
    """Return the line of code below a frame, if it is one."""
    return "" if _FRAME.search(line) or _EXCEPTION.match(line) else line


def _telling_lines(text: str) -> list[str]:
    """Return the last different lines that report something, in their order, and the code below frames."""
    lines = [line[:_LINE] for line in text.splitlines()]
    found: dict[str, list[str]] = {}
    for line, next_line in zip(lines, [*lines[1:], ""], strict=True):
        if _TELLS_OF_FAILURE.search(line):
            key = _DIGITS.sub("0", line)
            found.pop(key, None)  # so that the last of equal lines gives the order
            found[key] = [line, next_line] if _FRAME.search(line) else [line]
    return [each for telling in [*found.values()][-_MOST_LINES:] for each in telling]


class Clues(NamedTuple):
    """What to search for: names of code and words in lower case, with their weights, and upstream paths.

    `frames` says whether there was a traceback, `upstream` whether anything in it is of the upstream packages.
    """

    names: Mapping[str, float]
    words: Mapping[str, float]
    paths: tuple[str, ...] = ()
    frames: bool = False
    upstream: bool = True

    def __bool__(self) -> bool:
        return bool((self.names or self.words or self.paths) and (self.upstream or not self.frames))


def clues_of(
    report: Report, packages: Collection[str], mapped: Iterable[str] = (), ignored: Collection[str] = ()
) -> Clues:
    """Return what a report names. `packages` are the upstream ones, `mapped` the upstream names that own frames use.

    Words of `ignored`, such as those of the downstream repository's name, say nothing of upstream.
    """
    mapped = tuple(mapped)
    upstream_frames = [(frame, path) for frame in report.frames if (path := upstream_path(frame.path, packages))]
    text = _REFERENCE.sub(" ", report.text)
    found_names: dict[str, float] = {}
    words: dict[str, float] = {}
    passed_over = wordlist("stopwords") | wordlist("report_words") | {each.lower() for each in ignored}
    for part, weight in _weighted_parts(report, text, [frame for frame, _ in upstream_frames], mapped):
        for name in names(part):
            if _CODE_NAME.search(name) and len(found_names) < _MOST_NAMES:
                found_names[name.lower()] = max(weight, found_names.get(name.lower(), 0.0))
        for word in split_words(searchable(part)):
            if len(word) > 1 and word not in passed_over and not _NUMBER.fullmatch(word) and len(words) < _MOST_WORDS:
                words[word] = max(weight, words.get(word, 0.0))
    named = any(package.lower() in split_words(report.text) for package in packages)
    files = [*_imported_files(report, packages), *(path for _, path in reversed(upstream_frames))]
    paths = tuple(dict.fromkeys(root + path for path in files for root in _ROOTS))
    upstream = bool(files or mapped or named)
    if not upstream and report.frames and not _LIBRARY.search(report.frames[-1].path):
        # It ends in the person's own code and may be nobody else's doing: names of code say so, words do not.
        return Clues(found_names, {}, frames=True)
    return Clues(found_names, words, paths, bool(report.frames), upstream)


def _imported_files(report: Report, packages: Collection[str]) -> Iterator[str]:
    """Yield the upstream files that an import asked for in vain."""
    for module, source in _IMPORTED.findall("\n".join(report.exceptions)):
        parts = (module or source).split(".")
        if parts[0] in packages:
            yield "/".join(parts) + ".py"
            yield "/".join(parts) + "/__init__.py"


def _without_built_in(exception: str) -> str:
    """Return what an exception says, without its type if that is one of Python's own, which says nothing."""
    kind, _, message = exception.partition(":")
    return message if kind in _BUILT_IN else exception


def upstream_path(path: str, packages: Collection[str]) -> str:
    """Return the path of an upstream file, from the name of its package on, from where it is installed or checked out; else ""."""
    path = path.replace("\\", "/")
    installed = _INSTALLED.sub("", path)
    if installed != path:
        return installed if installed.partition("/")[0] in packages else ""
    parts = path.split("/")
    last = max((place for place, part in enumerate(parts[:-1]) if part in packages), default=None)
    return "" if last is None else "/".join(parts[last:])


def _weighted_parts(
    report: Report, text: str, upstream: Iterable[Frame], mapped: Iterable[str]
) -> Iterator[tuple[str, float]]:
    """Yield the texts of a report with their weights: what the exception says before the frames, the innermost first."""
    if not report.frames:
        yield text, 1.0
        return
    for exception in reversed(report.exceptions):
        yield _REFERENCE.sub(" ", _without_built_in(exception)), 1.0
    for name in mapped:
        yield name, 1.0
    weight = 0.8
    for frame in reversed([*upstream]):
        yield f"{frame.function.strip('<>')} {frame.code}", weight
        weight = max(0.2, weight - 0.2)
    if not report.exceptions:
        yield text, 0.5
