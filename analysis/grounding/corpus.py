"""The corpus that claims are checked against: messages, pull requests, authors, paths, patches, facts, links and texts."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import NamedTuple, Self

from analysis.diff import changed_lines, hunks
from analysis.grounding.allowlist import UNITS
from analysis.models import Commit, Entry, Fact, FileChange, Importance
from analysis.paths import kind as kind_of_path
from analysis.text import ACTIVE

SPAN = re.compile(r"`[^`\n]+`")  # code
NUMBER = r"(?<![A-Za-z0-9_.#])(\d+(?:,\d{3})*(?:\.\d+)?)"
MEASURES = {
    unit: re.compile(rf"{NUMBER}[ -]?(?:{names})(?![A-Za-z0-9_])", 0 if unit == "x" else re.IGNORECASE)
    for unit, names in UNITS.items()
}
_HYPHENS_AND_SPACES = str.maketrans(dict.fromkeys("‐‑‒–−", "-") | dict.fromkeys("\u00a0\u2007\u2009\u202f\u3000", " "))
_WIDE = str.maketrans(
    {0xFEE0 + code: chr(code) for code in range(0x21, 0x7F) if chr(code).isalnum() or chr(code) in "#%-./_"}
)
_INVISIBLE = re.compile(f"(?![\t\n\u2028\u2029])[{ACTIVE}\u200c\u200d]")


def plain(text: str) -> str:
    """Normalize `text`: no zero-width characters, one kind of hyphen and space, ASCII for full-width letters."""
    return _INVISIBLE.sub("", text).translate(_HYPHENS_AND_SPACES).translate(_WIDE)


def without_code(line: str) -> str:
    """Return a line whose code spans are blank, each character at its place."""
    return SPAN.sub(lambda span: "\0" * len(span[0]), line)


def number(text: str) -> float:
    return float(text.replace(",", ""))


def _path_pattern(path: str) -> str:
    """Convert a path with stars, {alternatives} and <placeholders> to a regular expression."""
    path = re.sub(r"\$?\{\w*\}|<[^>]*>|\$\w+|\.{3}|…", "*", path.strip("/").removeprefix("./"))
    pieces = re.split(r"((?:\*+/)?\*+|\{[^{}]*\})", path)
    return "".join(
        ".*"
        if piece.startswith("*")
        else f"(?:{'|'.join(map(re.escape, piece[1:-1].split(',')))})"
        if re.fullmatch(r"\{[^{}]*\}", piece)
        else re.escape(piece)
        for piece in pieces
    )


class FileLines(NamedTuple):
    """Lines of a file as of a commit, changed by it or not, that were read: number -> text; of the first commit asked about if None is named.

    Those that the commit removes have negative numbers.
    """

    path: str
    lines: Mapping[int, str]
    commit: Commit | None = None


class ToolResult(NamedTuple):
    """The result of a tool's call as the model reads it, with the evidence in it: lines of files, or the text `told`."""

    call_id: str
    text: str
    read: tuple[FileLines, ...] = ()
    told: str = ""


_CHINESE_NOUNS = {"commit": "个提交", "file": "个文件", "line": "行"}
_FACTORS, _MIN_DIGITS = ("%", "x"), 3  # digits from which a number is unlikely to occur by chance
_MAX_PATH = 500  # maximum characters of a path
_MAX_WILDCARDS = 4  # maximum wildcards in a path


@dataclass(frozen=True, eq=False)
class Corpus:
    """The searchable text of one or more commits, with their paths, words, figures and facts.

    `entries` are the commits with what is known besides their diffs, for answers; `tiers` are their ranks; `texts` bear out what they say, such as
    the question for a denial; `read` are lines of files that the diffs need not have; `contents` returns the changed files
    as a whole, for names that no diff shows.
    """

    commits: Sequence[Commit]
    _: KW_ONLY
    facts: Sequence[Fact] = ()
    entries: Sequence[Entry] = ()
    tiers: Sequence[Importance] = ()
    texts: Sequence[str] = ()
    read: Sequence[FileLines] = ()
    contents: Callable[[], str] = lambda: ""

    @classmethod
    def of_entries(
        cls, entries: Sequence[Entry], texts: Sequence[str] = (), contents: Callable[[], str] = lambda: ""
    ) -> Self:
        """Return the corpus of commits with their facts, links and analyses."""
        return cls(
            [entry.commit for entry in entries],
            facts=[fact for entry in entries for fact in entry.facts],
            entries=entries,
            tiers=[entry.ranked.importance for entry in entries],
            texts=texts,
            contents=contents,
        )

    def with_texts(self, *texts: str, read: Sequence[FileLines] = ()) -> Self:
        """Return the corpus with more texts, and more lines of files."""
        return replace(self, texts=[*self.texts, *texts], read=[*self.read, *read])

    @cached_property
    def whole(self) -> "Corpus | None":
        """The corpus with the changed files as a whole; None if they cannot be read."""
        contents = self.contents()
        return Corpus(self.commits, texts=[*self.texts, contents]) if contents else None

    @cached_property
    def files(self) -> tuple[FileChange, ...]:
        return tuple(file for commit in self.commits for file in commit.files)

    @cached_property
    def paths(self) -> tuple[str, ...]:
        paths = (path for file in self.files for path in (file.path, file.previous_path) if path)
        return tuple(dict.fromkeys(paths))

    @cached_property
    def told(self) -> str:
        """What the commits' authors, their own names and the other texts say, without paths and patches."""
        told = (text for commit in self.commits for text in (*commit.texts, commit.author))
        return plain("\n".join([*told, *map(_known_text, self.entries), *self.texts]))

    @cached_property
    def text(self) -> str:
        """What is told, the paths and the patches."""
        return plain("\n".join([self.told, *self.paths, *(file.patch or "" for file in self.files)]))

    @cached_property
    def text_with_files(self) -> str:
        """The text, and the lines that were read. A file may name any commit or person: that it does proves nothing of them."""
        read = (text for each in self.read for text in (each.path, *each.lines.values()))
        return "\n".join([self.text, plain("\n".join(read))]) if self.read else self.text

    @cached_property
    def changed_text(self) -> str:
        """The changed lines without their signs."""
        return "\n".join(line.text for file in self.files for line in changed_lines(file))

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", self.text_with_files))

    @cached_property
    def words_in_lower_case(self) -> frozenset[str]:
        return frozenset(word.lower() for word in self.words) | set(self._repository)

    @cached_property
    def folders(self) -> frozenset[str]:
        return frozenset(part for path in self.paths for part in path.split("/")[:-1])

    @cached_property
    def odd_names(self) -> tuple[str, ...]:
        """Return the file names with characters that otherwise end a word, such as `E=8,N=14336.json`."""
        names = {path.rpartition("/")[2] for path in self.paths}
        return tuple(plain(name) for name in sorted(names) if not re.fullmatch(r"[A-Za-z0-9_.+@-]+", name))

    @cached_property
    def sizes(self) -> frozenset[tuple[int, int, int]]:
        """Return the commit's figures as (files, additions, deletions): in total, per file, folder, status and kind."""
        return frozenset().union(*map(_sizes, self.commits))

    def has_count(self, noun: str, count: int) -> bool:
        """Return whether a commit, or a part of it, has `count` of `noun`: "file" or "line"; or there are so many commits; or a text says so."""
        counted = re.compile(rf"(?<!\d){count} ?(?:{noun}s?\b|{_CHINESE_NOUNS[noun]})")
        if any(map(counted.search, self.texts)):
            return True
        if noun == "commit":
            return count in {1, len(self.commits), *(self.tiers.count(tier) for tier in Importance)}
        if noun == "file":
            return any(count == files for files, _, _ in self.sizes)
        return any(count in (added, removed, added + removed) for _, added, removed in self.sizes)

    @cached_property
    def _repository(self) -> tuple[str, ...]:
        """Return the repository's owner and name in lower case, from the commit's URL; empty if it has none."""
        match = re.search(r"//[^/]+/([^/]+)/([^/]+)/commit/", self.commits[0].url if self.commits else "")
        return (match[1].lower(), match[2].lower()) if match else ()

    @cached_property
    def numbers(self) -> frozenset[float]:
        found = re.findall(r"(?<![A-Za-z0-9_.])\d+(?:,\d{3})*(?:\.\d+)?(?![.]?\d)", self.text_with_files)
        return frozenset(map(number, found))

    def mentions(self, text: str) -> bool:
        """Return whether `text` occurs in the corpus, not as part of a longer name."""
        return bool(re.search(rf"(?<![\w-]){re.escape(text)}(?![\w-])", self.text_with_files, re.ASCII))

    def matching_paths(self, path: str) -> tuple[str, ...]:
        """Return the commit's paths that match `path`: in full, as a suffix, folder or pattern, or without extension."""
        if len(path) > _MAX_PATH or len(re.findall(r"[*{<$…]", path)) > _MAX_WILDCARDS:
            return ()
        stem = "" if "." in path.rpartition("/")[2] else r"|\.\w+$"
        pattern = re.compile(rf"(?:^|/){_path_pattern(path)}(?:/|${stem})")
        return tuple(each for each in self.paths if pattern.search(each))

    def shows_lines(self, path: str, first: int, last: int) -> bool:
        """Return whether a hunk of a file that `path` names covers these lines, by old or new numbers, or they were read."""
        if any(each.path == path and first in each.lines and last in each.lines for each in self.read):
            return True
        paths = set(self.matching_paths(path))
        files = [file for file in self.files if not paths.isdisjoint((file.path, file.previous_path))]
        return any(
            numbers and numbers[0] <= first <= last <= numbers[-1]
            for file in files
            for hunk in hunks(file.patch)
            for numbers in ([line.old for line in hunk if line.old], [line.new for line in hunk if line.new])
        )

    def has_word(self, word: str, *, starts: bool = False, ends: bool = False) -> bool:
        """Return whether `word` is a word of the corpus, or, with `starts` or `ends`, the beginning or end of one."""
        return word in self.words or any(
            (starts and ends and word in each) or (starts and each.startswith(word)) or (ends and each.endswith(word))
            for each in (self.words if starts or ends else ())
        )

    def is_project(self, word: str) -> bool:
        return word.lower() in self._repository

    def has_measurement(self, figure: str, unit: str) -> bool:
        """Return whether the corpus has the number with the unit, rounded if need be, or the number alone.

        Code has the units of times and sizes in names, and tables those of others in their headers: there it takes some digits.
        """
        value, digits = number(figure), len(re.sub(r"[.,]", "", figure).strip("0"))
        if value in self.numbers and (unit not in _FACTORS or digits >= _MIN_DIGITS):
            return True
        return any(
            value in (measured, int(measured), round(measured))
            for measured in (number(match[1]) for match in MEASURES[unit].finditer(self.text_with_files))
        )


def _sizes(commit: Commit) -> frozenset[tuple[int, int, int]]:
    groups: dict[str, list[FileChange]] = {}
    for file in commit.files:
        folders = [str(folder) for folder in PurePosixPath(file.path).parents]
        within = f"just within {folders[0]}"
        for name in (file.path, *folders, within, f"a status: {file.status}", f"a kind: {kind_of_path(file.path)}"):
            groups.setdefault(name, []).append(file)
    counted = {
        (len(files), sum(file.additions for file in files), sum(file.deletions for file in files))
        for files in groups.values()
    }
    return frozenset(counted | {(len(commit.files), commit.additions, commit.deletions)})


def _known_text(entry: Entry) -> str:
    """Return what is known of a commit besides its diff: its SHA, links, facts and analysis by rules; a model's proves nothing."""
    links = entry.links
    series = links.series.commits if links.series else ()
    others = (*links.all_reverted, links.reverted_by, *links.fixes, *links.fixed_by, *series)
    facts = (f"{each.name} {each.path or ''} {each.old or ''} {each.new or ''}" for each in entry.facts)
    pull = f"#{entry.commit.pull.number}" if entry.commit.pull else ""
    analysis = entry.analysis.texts if entry.analysis and entry.analysis.by == "rules" else ()
    return "\n".join((entry.commit.sha, pull, " ".join(filter(None, others)), *facts, *analysis))
