"""The surface of a whole downstream tree, and what of the tree is not in it."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from analysis.impact.surface.extraction import extract
from analysis.impact.surface.model import Subclass, Surface, Use
from analysis.impact.surface.packages import copies
from analysis.models.frozen import Frozen
from analysis.paths import Kind, kind
from analysis.sources.secrets import Redactor
from analysis.wordlists import wordlist

MAX_FILES = 20_000
MAX_CHARACTERS = 100_000_000  # of all files together

_UNREAD_KINDS = (Kind.GENERATED, Kind.VENDORED)
_BINARY = wordlist("binary_extensions")
_BOM = "\ufeff"
_Quoting = TypeVar("_Quoting", Use, Subclass)
_CHUNK = 1_000_000  # characters of code scanned for secrets at once


class UpstreamTree(NamedTuple):
    """The upstream tree: the folders that hold its packages, by their names, and the paths of its files."""

    roots: Mapping[str, str]
    paths: Collection[str]


class TreeSurface(Frozen):
    """The surface of a tree. `copies` are folders with a copy of upstream, whose uses of itself are not the tree's own.

    `submodules` are not read, `unread` counts other files that should have been: those too large, too many or not readable.
    """

    surface: Surface
    python_files: int
    copies: tuple[str, ...] = ()
    submodules: tuple[str, ...] = ()
    unread: int = 0


def surface_of_tree(
    paths: Sequence[str],
    read: Callable[[Sequence[str]], Iterable[tuple[str, str | None]]],
    upstream: UpstreamTree,
    submodules: Sequence[str] = (),
) -> TreeSurface:
    """Extract the surface of the tree with these paths.

    `read` yields the path and text of each of some files, no text of those that are binary or cannot be read. What is quoted of them is redacted.
    """
    copied = copies(paths, upstream.paths, upstream.roots)
    own = [path for path in paths if _is_read(path) and not _is_below(path, copied)]
    files = _Files(read(own[:MAX_FILES]))
    surface = extract(files, frozenset(upstream.roots))
    return TreeSurface(
        surface=_redacted(surface),
        python_files=files.python,
        copies=copied,
        submodules=tuple(submodules),
        unread=len(own) - files.read,
    )


class _Files:
    """The texts of files, counted, until there are too many characters."""

    def __init__(self, files: Iterable[tuple[str, str | None]]) -> None:
        self._files = files
        self.read = 0
        self.python = 0

    def __iter__(self) -> Iterator[tuple[str, str]]:
        characters = 0
        for path, text in self._files:
            if text is None:
                continue
            characters += len(text)
            if characters > MAX_CHARACTERS:
                return
            self.read += 1
            self.python += path.endswith(".py")
            yield path, text.removeprefix(_BOM)


def _is_read(path: str) -> bool:
    return path.rpartition(".")[2].lower() not in _BINARY and kind(path) not in _UNREAD_KINDS


def _is_below(path: str, folders: Collection[str]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)


def _redacted(surface: Surface) -> Surface:
    """Redact what a surface quotes."""
    quoted = dict.fromkeys([*(use.code for use in surface.uses), *(each.code for each in surface.subclasses.values())])
    changed = {line: shown for line, shown in _redacted_lines(list(quoted)) if line != shown}
    if not changed:
        return surface

    return surface.model_copy(
        update={
            "uses": tuple(_with_code(each, changed) for each in surface.uses),
            "subclasses": {target: _with_code(each, changed) for target, each in surface.subclasses.items()},
        }
    )


def _with_code(each: _Quoting, changed: Mapping[str, str]) -> _Quoting:
    return each.model_copy(update={"code": changed[each.code]}) if each.code in changed else each


def _redacted_lines(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each line with its redacted text; many are scanned at once, which is much faster than one by one."""
    start = 0
    while start < len(lines):
        size, end = 0, start
        while end < len(lines) and size < _CHUNK:
            size += len(lines[end]) + 1
            end += 1
        shown = Redactor()("\n".join(lines[start:end])).split("\n")
        if len(shown) == end - start:
            yield from zip(lines[start:end], shown, strict=True)
        else:
            yield from ((line, Redactor()(line)) for line in lines[start:end])
        start = end
