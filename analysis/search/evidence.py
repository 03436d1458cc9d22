"""The changed lines of a commit that hold what a failure names."""

from collections.abc import Iterator, Sequence

from analysis.citations import to_line
from analysis.diff import DiffLine, changed_lines
from analysis.models import Commit, FileChange
from analysis.models.suspects import ChangedLine
from analysis.paths import Kind, kind
from analysis.search.words import names, searchable, split_words

_SHOWN = 300  # characters of a line
_LOW = (Kind.TEST, Kind.DOCS, Kind.EXAMPLE, Kind.CI)


def telling_lines(commit: Commit, shared: Sequence[str], most: int) -> tuple[ChangedLine, ...]:
    """Return the changed lines that hold the most telling of the shared names and words; `shared` has the best first."""
    worth = {each: 1 / (place + 1) for place, each in enumerate(shared)}
    found: dict[str, tuple[float, bool, str, FileChange, DiffLine]] = {}
    for file, line in _lines(commit):
        held = {*map(str.lower, names(line.text)), *split_words(searchable(line.text))} & worth.keys()
        if held:
            best = max(held, key=lambda each: worth[each])
            # What is gone breaks rather than what is new.
            row = (sum(worth[each] for each in held), line.sign == "-", best, file, line)
            found.setdefault(line.text.strip(), row)
    ranked = sorted(found.values(), key=lambda row: row[:2], reverse=True)
    return tuple(_changed_line(commit, name, file, line) for *_, name, file, line in ranked[:most])


def _lines(commit: Commit) -> Iterator[tuple[FileChange, DiffLine]]:
    for file in sorted(commit.files, key=lambda each: kind(each.path) in _LOW):
        for line in changed_lines(file):
            yield file, line


def _changed_line(commit: Commit, name: str, file: FileChange, line: DiffLine) -> ChangedLine:
    return ChangedLine(
        name=name,
        path=(file.previous_path or file.path) if line.sign == "-" else file.path,
        line=line.number,
        sign="-" if line.sign == "-" else "+",
        code=line.text.strip()[:_SHOWN],
        url=to_line(commit, file, line).url,
    )
