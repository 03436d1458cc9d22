"""Index of what an answer may cite: lines of diffs, files, the commits themselves, and what was read in the repository."""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from analysis.citations import to_commit, to_fact, to_file, to_line, to_repository_line
from analysis.diff import Chunk, DiffLine, hunks
from analysis.grounding.corpus import Corpus, FileLines
from analysis.locale import Catalogue, mark
from analysis.models import SHORT_SHA, Citation, Commit, Entry, FileChange
from analysis.paths import Kind, kind
from analysis.questions.terms import STOPWORDS, stem
from analysis.search.words import searchable, split_words

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
        self._text = corpus.text
        self._read = corpus.read
        self._say = say

    def resolve(self, label: str, claimed: Claimed) -> Citation | None:
        """Resolve the `label` of a statement to a citation; None if there is no such place, or it does not bear it out."""
        label = label.strip().strip("`").strip()
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
                    return self._cite_text(entry, whole)
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
            first = held[wanted[0]]
            return to_line(first.commit, first.file, first.line)
        texts = [text for _, text in wanted]
        for read in self._read if wanted and not any(sign for sign, _ in wanted) else ():
            numbers = {text.strip(): number for number, text in reversed([*read.lines.items()])}
            if all(text in numbers for text in texts):
                return self._repository_line(read.path, numbers[texts[0]])
        return None

    def _cite_text(self, entry: Entry, name: re.Pattern[str]) -> Citation:
        """Cite a commit, and say so where its message or pull request has the name."""
        found = to_commit(entry.commit)
        in_message = any(name.search(text) for text in entry.commit.texts)
        return found.model_copy(update={"place": self._say(_MESSAGE)}) if in_message else found

    def _cite_read(self, path: str, number: int | None, claimed: Claimed) -> Citation | None:
        """Cite a line that was read in the repository; None unless the lines read of that file bear the statement out."""
        path = path.strip().removeprefix("./")
        files = [each for each in self._read if path in (each.path, each.path.rpartition("/")[2])]
        if len({each.path for each in files}) != 1:
            return None
        file = FileLines(files[0].path, {line: code for each in files for line, code in each.lines.items()})
        code = "\n".join(file.lines.values())
        named = [name for name in claimed.names if not file.path.endswith(name)]
        if not all(_bears_out(code, each) for each in (*named, *claimed.values)):
            return None
        parts = [part for name in named for part in (name, *re.findall(r"[A-Za-z_]\w+", name))]
        wanted = [_as_word(each) for each in parts or claimed.values]
        matching = [line for line, code in file.lines.items() if any(each.search(code) for each in wanted)]
        if number is None:
            return self._repository_line(file.path, matching[0]) if matching else None
        near = [code for line, code in file.lines.items() if abs(line - number) <= _NEAR]
        borne_out = (
            any(abs(line - number) <= _NEAR for line in matching) if wanted else _shares_words(claimed.text, near)
        )
        return self._repository_line(file.path, number) if number in file.lines and borne_out else None

    def _repository_line(self, path: str, number: int) -> Citation:
        found = to_repository_line(self._entries[0].commit, path, number)
        return found.model_copy(update={"place": self._say(_REPOSITORY)})

    def _cite_commit(self, sha: str, names: Iterable[str]) -> Citation | None:
        for entry in self._entries:
            if entry.commit.sha.startswith(sha):
                words = [_as_word(name) for name in names]
                elsewhere = (word for word in words if not any(word.search(each.line.text) for each in self._all_lines))
                shown = next(elsewhere, None)
                return self._cite_text(entry, shown) if shown else to_commit(entry.commit)
        named = re.search(rf"(?<![0-9a-zA-Z]){sha}[0-9a-f]*(?![0-9a-zA-Z])", self._text)
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
        words = [_as_word(name) for name in claimed.names if name]

        def has_name(lines: Iterable[DiffLine]) -> bool:
            return any(word.search(line.text) for word in words for line in lines)

        numbered = [
            (line, piece.lines)
            for piece in self._shown
            if piece.file is file
            for line in piece.lines
            if (line.old if sign == "-" else line.number) == number
            and all(
                _has_figure((*(each.text for each in piece.lines), *commit.texts), value) for value in claimed.values
            )
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


def _has_figure(texts: Iterable[str], value: str) -> bool:
    figure = re.compile(rf"(?<![\w#]){re.escape(value)}(?!\w)")
    return any(map(figure.search, texts))


def _bears_out(code: str, name: str) -> bool:
    """Return whether some code has a name, or at least each of its parts."""
    parts = re.findall(r"[A-Za-z_]\w*|\d+", name)
    return bool(_as_word(name).search(code)) or (bool(parts) and all(_as_word(part).search(code) for part in parts))


def _as_word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])")


def _searchable_text(entry: Entry) -> str:
    """Return a commit's message, metadata, facts and analysis as text, without its diff."""
    commit, analysis = entry.commit, entry.analysis
    pull = f"{commit.pull.title}\n{commit.pull.body}" if commit.pull else ""
    facts = "\n".join(f"{fact.name} {fact.path or ''} {fact.old or ''} {fact.new or ''}" for fact in entry.facts)
    analysis_json = analysis.model_dump_json() if analysis else ""
    return "\n".join((commit.message, commit.author, pull, *commit.paths, facts, analysis_json))
