"""Index of what an answer may cite: lines of the commits' diffs, their files, and the commits themselves."""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from analysis.citations import to_commit, to_fact, to_file, to_line
from analysis.diff import Chunk, DiffLine, hunks
from analysis.models import SHORT_SHA, Citation, Commit, Entry, FileChange
from analysis.paths import Kind, kind

_SHA = re.compile(r"[0-9a-f]{7,40}", re.IGNORECASE)
_PULL = re.compile(r"(?:PR ?)?#(\d{1,9})", re.IGNORECASE)
_PLACE = re.compile(
    r"(?P<path>[^:#]*[^:#\s])(?:(?::|#)\s*[Ll]?(?:ines? )?(?P<sign>[+-]?)(?P<line>\d{1,7})(?:\s*[-–:]\s*[Ll]?\d{1,7})?)?"
)
_KINDS = list(Kind)
_FIRST_CHOICE = {"+": 0, "-": 1, " ": 2}


class _LocatedLine(NamedTuple):
    commit: Commit
    file: FileChange
    line: DiffLine


class Citable:
    """The citable places of some commits: `shown` lines, the places of facts, files, and SHAs named in the evidence."""

    def __init__(self, entries: Sequence[Entry], shown: Sequence[Chunk], text: str) -> None:
        self._entries = entries
        self._shown = shown
        self._text = text

    def resolve(self, label: str, names: Iterable[str]) -> Citation | None:
        """Resolve `label` to a citation; None if it does not exist, or lacks the names while a diff has them."""
        label = label.strip().strip("`").strip()
        if _SHA.fullmatch(label):
            return self._cite_commit(label.lower())
        if pull := _PULL.fullmatch(label):
            return next((to_commit(each.commit) for each in self._entries if each.commit.pr == int(pull[1])), None)
        place = _PLACE.fullmatch(label)
        if not place:
            return None
        owners = self._matching_files(place["path"])
        if len(owners) != 1:
            return None
        commit, file = owners[0]
        if place["line"] is None:
            return to_file(commit, file)
        return self._cite_line(commit, file, int(place["line"]), place["sign"], [name for name in names if name])

    def cite_names(self, names: Iterable[str]) -> Citation | None:
        """Cite the first name found in a diff line (sources and added lines preferred), a path or a message; else None."""
        for name in names:
            whole = _as_word(name)
            in_diff = [each for each in self._all_lines if name in each.line.text and whole.search(each.line.text)]
            if in_diff:
                best = min(
                    in_diff, key=lambda each: (_KINDS.index(kind(each.file.path)), _FIRST_CHOICE[each.line.sign])
                )
                return to_line(best.commit, best.file, best.line)
            if owners := self._matching_files(name):
                return to_file(*owners[0]) if len(owners) == 1 else to_commit(owners[0][0])
            for entry in self._entries:
                if whole.search(_searchable_text(entry)):
                    return to_commit(entry.commit)
        return None

    def cite_quotation(self, lines: Sequence[str]) -> Citation | None:
        """Return a citation of the first line, if the diffs hold all of them."""
        held = {each.line.text.strip(): each for each in reversed(self._all_lines)}
        wanted = [line.strip() for line in lines if line.strip()]
        if not wanted or not all(line in held for line in wanted):
            return None
        first = held[wanted[0]]
        return to_line(first.commit, first.file, first.line)

    def is_changed(self, name: str) -> bool:
        """Return whether a changed line contains the name."""
        whole = _as_word(name)
        return any(each.line.sign != " " and whole.search(each.line.text) for each in self._all_lines)

    def _cite_commit(self, sha: str) -> Citation | None:
        for entry in self._entries:
            if entry.commit.sha.startswith(sha):
                return to_commit(entry.commit)
        named = re.search(rf"(?<![0-9a-zA-Z]){sha}[0-9a-f]*(?![0-9a-zA-Z])", self._text)
        base = self._entries[0].commit.url.rpartition("/")[0] if self._entries else ""
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
        """Cite the shown line of that number; prefer one with the sign, then one with a name, then an added one."""
        words = [_as_word(name) for name in names]

        def has_name(lines: Iterable[DiffLine]) -> bool:
            return any(word.search(line.text) for word in words for line in lines)

        numbered = [
            (line, piece.lines)
            for piece in self._shown
            if piece.file is file
            for line in piece.lines
            if line.number == number or (line.sign == " " and line.old == number)
        ]
        if not numbered:
            facts = [fact for each in self._entries if each.commit is commit for fact in each.facts]
            proven = [fact for fact in facts if fact.line == number and fact.path in (file.path, file.previous_path)]
            return to_fact(commit, proven[0]) if proven else None
        if has_name(each.line for each in self._all_lines) and not any(has_name(hunk) for _, hunk in numbered):
            return None
        best = min(
            numbered, key=lambda each: (each[0].sign != sign, not has_name([each[0]]), _FIRST_CHOICE[each[0].sign])
        )
        return to_line(commit, file, best[0])

    @cached_property
    def _all_lines(self) -> tuple[_LocatedLine, ...]:
        return tuple(
            _LocatedLine(entry.commit, file, line)
            for entry in self._entries
            for file in entry.commit.files
            for hunk in hunks(file.patch)
            for line in hunk
        )


def _as_word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])")


def _searchable_text(entry: Entry) -> str:
    """Return a commit's message, metadata, facts and analysis as text, without its diff."""
    commit, analysis = entry.commit, entry.analysis
    pull = f"{commit.pull.title}\n{commit.pull.body}" if commit.pull else ""
    facts = "\n".join(f"{fact.name} {fact.path or ''} {fact.old or ''} {fact.new or ''}" for fact in entry.facts)
    analysis_json = analysis.model_dump_json() if analysis else ""
    return "\n".join((commit.message, commit.author, pull, *commit.paths, facts, analysis_json))
