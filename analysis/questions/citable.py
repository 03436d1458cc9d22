"""Index of what an answer may cite: lines of diffs, files, the commits themselves, and what was read in the repository."""

import re
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from analysis.citations import to_commit, to_fact, to_file, to_line, to_repository_line
from analysis.diff import Chunk, DiffLine, hunks
from analysis.grounding.corpus import Corpus
from analysis.locale import Catalogue, mark
from analysis.models import SHORT_SHA, Citation, Commit, Entry, FileChange
from analysis.paths import Kind, kind
from analysis.questions.code_sides import has_word
from analysis.questions.terms import STOPWORDS
from analysis.search.words import searchable, split_words, stem

_SHA = re.compile(r"[0-9a-f]{7,40}", re.IGNORECASE)
_PULL = re.compile(r"(?:PR ?)?#(\d{1,9})", re.IGNORECASE)
_PLACE = re.compile(
    r"(?P<path>[^:#]*[^:#\s])(?:(?::|#)\s*[Ll]?(?:ines? )?(?P<sign>[+-]?)(?P<line>\d{1,7})(?:\s*[-–:]\s*[Ll]?\d{1,7})?)?"
)
_KINDS = list(Kind)
_FIRST_CHOICE = {"+": 0, "-": 1, " ": 2}
_NEAR = 8  # lines from a line of the repository that bear out what cites it
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


class Claimed(NamedTuple):
    """What a statement needs to be borne out by the places that it cites: its names of code, and its values."""

    text: str
    names: Sequence[str] = ()
    values: Sequence[str] = ()


class Citable:
    """The citable places of some commits: `shown` lines, the places of facts, files, SHAs and lines read in the evidence."""

    def __init__(self, entries: Sequence[Entry], shown: Sequence[Chunk], corpus: Corpus, say: Catalogue) -> None:
        self._entries = entries
        self._shown = shown
        self._corpus = corpus
        self._read = corpus.read
        self._say = say

    def resolve(self, label: str, claimed: Claimed) -> Citation | None:
        """Resolve the `label` of a statement to a citation; None if there is no such place, or it does not bear it out."""
        label = label.strip(" `")
        if _SHA.fullmatch(label):
            return self._cite_commit(label.lower(), claimed.names)
        if pull := _PULL.fullmatch(label):
            return next((to_commit(each.commit) for each in self._entries if each.commit.pr == int(pull[1])), None)
        place = _PLACE.fullmatch(label)
        if not place:
            return None
        number = int(place["line"]) if place["line"] else None
        owners = self._matching_files(place["path"])
        if len(owners) == 1:
            commit, file = owners[0]
            if number is None:
                return to_file(commit, file)
            if found := self._cite_line(commit, file, number, place["sign"], claimed):
                return found
        return None if place["sign"] == "-" else self._cite_read(place["path"], number, claimed)

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
            for read in self._read:
                if found := self._cite_read(read.path, None, Claimed("", names)):
                    return found
        return None

    def cite_quotation(self, lines: Sequence[tuple[str, str]]) -> Citation | None:
        """Return a citation of the first of some lines, each with its sign or none, if the evidence holds all of them.

        A line without a sign must be there now; one that was removed is quoted with its sign.
        """
        wanted = [(sign, text.strip()) for sign, text in lines if text.strip()]
        held: dict[tuple[str, str], _LocatedLine] = {}
        for each in reversed(self._all_lines):
            for sign in (each.line.sign, *([""] if each.line.sign != "-" else [])):
                held[sign, each.line.text.strip()] = each
        if wanted and all(line in held for line in wanted):
            return held[wanted[0]].citation
        texts = [text for _, text in wanted]
        for read in self._read if wanted and not any(sign for sign, _ in wanted) else ():
            numbers = {text.strip(): number for number, text in reversed([*read.lines.items()])}
            if all(text in numbers for text in texts):
                return self._repository_line(read.path, numbers[texts[0]])
        return None

    def _cite_text(self, entry: Entry, name: str) -> Citation:
        """Cite a commit, and say so where its message or pull request has the name."""
        found = to_commit(entry.commit)
        in_message = has_word(entry.commit.texts, name)
        return found.model_copy(update={"place": self._say(_MESSAGE)}) if in_message else found

    def _cite_read(self, path: str, number: int | None, claimed: Claimed) -> Citation | None:
        """Cite a line that was read in the repository; None unless the lines read of that file bear the statement out."""
        path = path.strip().removeprefix("./")
        files = [each for each in self._read if path in (each.path, each.path.rpartition("/")[2])]
        if len({each.path for each in files}) != 1:
            return None
        path, lines = files[0].path, {line: code for each in files for line, code in each.lines.items()}
        named = [name for name in claimed.names if not path.endswith(name)]
        if not all(_bear_out(lines.values(), each) for each in (*named, *claimed.values)):
            return None
        parts = [part for name in named for part in (name, *re.findall(r"[A-Za-z_]\w+", name))]
        wanted = parts or claimed.values
        matching = [line for line, code in lines.items() if any(has_word([code], each) for each in wanted)]
        if number is None:
            return self._repository_line(path, matching[0]) if matching else None
        near = {line: code for line, code in lines.items() if abs(line - number) <= _NEAR}
        borne_out = not near.keys().isdisjoint(matching) if wanted else _shares_words(claimed.text, near.values())
        return self._repository_line(path, number) if number in lines and borne_out else None

    def _repository_line(self, path: str, number: int) -> Citation:
        found = to_repository_line(self._entries[0].commit, path, number)
        return found.model_copy(update={"place": self._say(_REPOSITORY)})

    def _cite_commit(self, sha: str, names: Iterable[str]) -> Citation | None:
        for entry in self._entries:
            if entry.commit.sha.startswith(sha):
                lines = [each.line.text for each in self._all_lines]
                shown = next((name for name in names if not has_word(lines, name)), None)
                return self._cite_text(entry, shown) if shown else to_commit(entry.commit)
        named = re.search(rf"(?<![0-9a-zA-Z]){sha}[0-9a-f]*(?![0-9a-zA-Z])", self._corpus.text)
        base = self._entries[0].commit.url.rpartition("/")[0] if self._entries else ""
        return Citation(label=sha[:SHORT_SHA], url=f"{base}/{named[0]}") if named and base else None

    def _matching_files(self, path: str) -> list[tuple[Commit, FileChange]]:
        """Return the files that `path` matches in full, else those it is a suffix of."""
        path = path.strip().removeprefix("./")
        owned = [(entry.commit, file) for entry in self._entries for file in entry.commit.files]
        whole = [each for each in owned if path in (each[1].path, each[1].previous_path)]
        return whole or [each for each in owned if path and each[1].path.endswith(f"/{path}")]

    def _cite_line(self, commit: Commit, file: FileChange, number: int, sign: str, claimed: Claimed) -> Citation | None:
        """Cite the shown line of that number; prefer one with the sign, then one with a name, then an added one.

        None if a diff has one of the names, but none is in the same hunk, or if neither that nor the message has a value.
        """

        def has_name(lines: Iterable[DiffLine]) -> bool:
            texts = [line.text for line in lines]
            return any(has_word(texts, name) for name in claimed.names)

        numbered = [
            (line, piece.lines)
            for piece in self._shown
            if piece.file is file
            for line in piece.lines
            if (line.old if sign == "-" else line.number) == number
            and all(has_word((*(each.text for each in piece.lines), *commit.texts), each) for each in claimed.values)
            # An old line says nothing of what is only in new ones.
            and (
                line.sign != "-"
                or not has_name(piece.lines)
                or has_name(each for each in piece.lines if each.sign != "+")
            )
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


def _shares_words(text: str, lines: Iterable[str]) -> bool:
    """Return whether most of the words of a sentence without names occur in some lines, whatever their endings."""
    words = {stem(word) for word in split_words(text) if word not in STOPWORDS}
    found = {stem(word) for line in lines for word in split_words(searchable(line))}
    return bool(words) and 2 * len(words & found) >= len(words)


def _bear_out(lines: Collection[str], name: str) -> bool:
    """Return whether some lines have a name, or at least each of its parts."""
    parts = re.findall(r"[A-Za-z_]\w*|\d+", name)
    return has_word(lines, name) or (bool(parts) and all(has_word(lines, part) for part in parts))
