"""The names in a traceback, a log or a described failure: clues to search for the commit that caused it."""

import builtins
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from analysis.search.reports import Frame, Report
from analysis.search.words import names, searchable, split_words
from analysis.wordlists import wordlist

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
