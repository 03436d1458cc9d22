"""Index of what an answer may cite: lines of diffs, files, the commits themselves, and what was read in the repository."""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from analysis.citations import to_commit, to_fact, to_file, to_line, to_repository_line
from analysis.diff import Chunk, DiffLine, hunks
from analysis.grounding.corpus import Corpus
from analysis.locale import Catalogue, mark
from analysis.models import SHORT_SHA, Citation, Commit, Entry, FileChange
from analysis.paths import Kind, kind

_SHA = re.compile(r"[0-9a-f]{7,40}", re.IGNORECASE)
_PULL = re.compile(r"(?:PR ?)?#(\d{1,9})", re.IGNORECASE)
_PLACE = re.compile(
    r"(?P<path>[^:#]*[^:#\s])(?:(?::|#)\s*[Ll]?(?:ines? )?(?P<sign>[+-]?)(?P<line>\d{1,7})(?:\s*[-–:]\s*[Ll]?\d{1,7})?)?"
)
_KINDS = list(Kind)
_FIRST_CHOICE = {"+": 0, "-": 1, " ": 2}
_REPOSITORY = mark("repository")
_MESSAGE = mark("commit message")


class _LocatedLine(NamedTuple):
    commit: Commit
    file: FileChange
    line: DiffLine

    @property
    def preference(self) -> tuple[int, int]:
        """The order in which lines are cited: of sources first, and those that are there now."""
        return _KINDS.index(kind(self.file.path)), _FIRST_CHOICE[self.line.sign]

    @property
    def citation(self) -> Citation:
        return to_line(self.commit, self.file, self.line)


class Citable:
    """The citable places of some commits: `shown` lines, the places of facts, files, SHAs and lines read in the evidence, `at` a commit."""

    def __init__(
        self,
        entries: Sequence[Entry],
        shown: Sequence[Chunk],
        corpus: Corpus,
        say: Catalogue,
        at: Commit | None = None,
    ) -> None:
        self._entries = entries
        self._shown = shown
        self._corpus = corpus
        self._say = say
        self._at = at or (entries[0].commit if entries else None)

    def resolve(self, label: str, names: Sequence[str] = ()) -> Citation | None:
        """Resolve the `label` of a statement about some names of code to a citation; None if there is no such place."""
        label = label.strip(" `")
        if _SHA.fullmatch(label):
            return self._cite_commit(label.lower(), names)
        if pull := _PULL.fullmatch(label):
            return next((to_commit(each.commit) for each in self._entries if each.commit.pr == int(pull[1])), None)
        place = _PLACE.fullmatch(label)
        if not place:
            return None
        number = int(place["line"]) if place["line"] else None
        owners = self._matching_files(place["path"])
        if number is None and len({file.path for _, file in owners}) == 1:
            return to_file(*owners[0])
        if number is not None:
            lines = (self._cite_line(commit, file, number, place["sign"], names) for commit, file in owners)
            if found := next(filter(None, lines), None):
                return found
        return None if place["sign"] == "-" else self._cite_read(place["path"], number, names)

    def cite_names(self, names: Sequence[str]) -> Citation | None:
        """Cite the first name found in a diff line (sources and added lines preferred), a path or a message; else None."""
        for name in names:
            in_diff = (each for each in self._all_lines if has_word([each.line.text], name))
            if best := min(in_diff, key=lambda each: each.preference, default=None):
                return best.citation
            if owners := self._matching_files(name):
                return to_file(*owners[0]) if len(owners) == 1 else to_commit(owners[0][0])
            for entry in self._entries:
                corpus = Corpus.of_entries([entry])
                if has_word([corpus.told, *corpus.paths], name):
                    return self._cite_text(entry, name)
            for read in self._corpus.read:
                if found := self._cite_read(read.path, None, names):
                    return found
        return None

    def _cite_text(self, entry: Entry, name: str) -> Citation:
        """Cite a commit, and say so where its message or pull request has the name."""
        found = to_commit(entry.commit)
        in_message = has_word(entry.commit.texts, name)
        return found.model_copy(update={"place": self._say(_MESSAGE)}) if in_message else found

    def _cite_read(self, path: str, number: int | None, names: Sequence[str]) -> Citation | None:
        """Cite a line that was read in the repository, without a `number` the first with a name; None if there is none."""
        path = path.strip().removeprefix("./")
        files = [each for each in self._corpus.read if path in (each.path, each.path.rpartition("/")[2])]
        if len({each.path for each in files}) != 1:
            return None
        lines = [(line, code, each.commit) for each in files for line, code in each.lines.items()]
        wanted = (
            (line, commit)
            for line, code, commit in sorted(lines, key=lambda each: each[0] < 0)
            if (abs(line) == number if number is not None else any(has_word([code], each) for each in names))
        )
        if not (found := next(wanted, None)):
            return None
        line, commit = found
        if commit and line < 0:  # it stands in no file
            return to_commit(commit)
        cited = to_repository_line(commit or self._entries[0].commit, files[0].path, line)
        is_own = commit and self._at and commit.url.rpartition("/")[0] != self._at.url.rpartition("/")[0]
        return cited if is_own else cited.model_copy(update={"place": self._say(_REPOSITORY)})

    def _cite_commit(self, sha: str, names: Iterable[str]) -> Citation | None:
        for entry in self._entries:
            if entry.commit.sha.startswith(sha):
                lines = [each.line.text for each in self._all_lines]
                shown = next((name for name in names if not has_word(lines, name)), None)
                return self._cite_text(entry, shown) if shown else to_commit(entry.commit)
        named = re.search(rf"(?<![0-9a-zA-Z]){sha}[0-9a-f]*(?![0-9a-zA-Z])", self._corpus.text)
        base = self._at.url.rpartition("/")[0] if self._at else ""
        return Citation(label=sha[:SHORT_SHA], url=f"{base}/{named[0]}") if named and base else None

    def _matching_files(self, path: str) -> list[tuple[Commit, FileChange]]:
        """Return the files that `path` matches in full, else those it is a suffix of."""
        path = path.strip().removeprefix("./")
        owned = [(entry.commit, file) for entry in self._entries for file in entry.commit.files]
        whole = [each for each in owned if path in (each[1].path, each[1].previous_path)]
        return whole or [each for each in owned if path and each[1].path.endswith(f"/{path}")]

    def _cite_line(
        self, commit: Commit, file: FileChange, number: int, sign: str, names: Sequence[str]
    ) -> Citation | None:
        """Cite the shown line of that number, or the fact there; prefer one with the sign, then with a name, then an added one."""

        def preference(line: DiffLine) -> tuple[bool, bool, int]:
            has_name = any(has_word([line.text], name) for name in names)
            return line.sign != sign, not has_name, _FIRST_CHOICE[line.sign]

        shown = (line for piece in self._shown if piece.file is file for line in piece.lines)
        numbered = [line for line in shown if (line.old if sign == "-" else line.number) == number]
        if numbered:
            return to_line(commit, file, min(numbered, key=preference))
        facts = [fact for each in self._entries if each.commit is commit for fact in each.facts]
        proven = [fact for fact in facts if fact.line == number and fact.path in (file.path, file.previous_path)]
        if proven:
            return to_fact(commit, proven[0])
        is_destination = any(fact.new == f"{file.path}:{number}" for fact in facts)
        return to_repository_line(commit, file.path, number) if is_destination else None

    @cached_property
    def _all_lines(self) -> tuple[_LocatedLine, ...]:
        return tuple(
            _LocatedLine(entry.commit, file, line)
            for entry in self._entries
            for file in entry.commit.files
            for hunk in hunks(file.patch)
            for line in hunk
        )


def has_word(lines: Iterable[str], name: str) -> bool:
    """Return whether a line has a name or a figure as a whole word; the number of a pull request is no figure."""
    word = re.compile(rf"(?<![A-Za-z0-9_#]){re.escape(name)}(?![A-Za-z0-9_])")
    return any(name in line and word.search(line) for line in lines)
