"""The corpus that claims are checked against: a commit's message, pull request, author, paths and patches."""

import re
from functools import cached_property
from pathlib import PurePosixPath

from analysis.diff import hunks
from analysis.grounding.allowlist import UNITS
from analysis.models import Commit, FileChange
from analysis.paths import kind as kind_of_path

NUMBER = r"(?<![A-Za-z0-9_.#])(\d+(?:,\d{3})*(?:\.\d+)?)"
MEASURES = {
    unit: re.compile(rf"{NUMBER}[ -]?(?:{names})(?![A-Za-z0-9_])", 0 if unit == "x" else re.IGNORECASE)
    for unit, names in UNITS.items()
}
# A unit of one letter is too often a variable to be looked for around a number.
_SHORT = re.compile(r"^(?:%|[a-z]|\[xX\][^|]*)[|]")
_NEAR = {
    unit: re.compile(rf"(?<![a-z])(?:{_SHORT.sub('', names)})(?![a-z])", re.IGNORECASE) for unit, names in UNITS.items()
}
_HYPHENS_AND_SPACES = str.maketrans(dict.fromkeys("‐‑‒–−", "-") | dict.fromkeys("\u00a0\u2007\u2009\u202f\u3000", " "))
_WIDE = str.maketrans(
    {
        0xFEE0 + code: chr(code)
        for code in map(ord, "".join(map(chr, range(0x21, 0x7F))))
        if chr(code).isalnum() or chr(code) in "#%-./_"
    }
)
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)


def plain(text: str) -> str:
    """`text` as it reads: without what has no width, with one kind of hyphen and space, and no letters of full width."""
    return _UNSEEN.sub("", text).translate(_HYPHENS_AND_SPACES).translate(_WIDE)


def number(text: str) -> float:
    return float(text.replace(",", ""))


def _as_pattern(path: str) -> str:
    """A path with stars, {alternatives} and <placeholders> as a regular expression."""
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


_TELLING = 3  # figures of a number that is not there by chance
_LONGEST = 500  # characters of a path, and
_WILDEST = 4  # stars in it, beyond which nobody means a file


class Corpus:
    """What a commit says and shows."""

    def __init__(self, commit: Commit) -> None:
        self.commit = commit
        self.paths = tuple(
            dict.fromkeys(path for file in commit.files for path in (file.path, file.previous_path) if path)
        )
        pull = commit.pull
        said = plain("\n".join([commit.message, commit.author, *([pull.title, pull.body] if pull else [])]))
        self._said = len(said)
        self.text = plain("\n".join([said, *self.paths, *(file.patch or "" for file in commit.files)]))

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", self.text))

    @cached_property
    def words_in_lower_case(self) -> frozenset[str]:
        return frozenset(word.lower() for word in self.words) | set(self._repository)

    @cached_property
    def folders(self) -> frozenset[str]:
        return frozenset(part for path in self.paths for part in path.split("/")[:-1])

    @cached_property
    def odd_names(self) -> tuple[str, ...]:
        """The names of files that hold what ends a word elsewhere, such as `E=8,N=14336.json`."""
        names = {path.rpartition("/")[2] for path in self.paths}
        return tuple(plain(name) for name in sorted(names) if not re.fullmatch(r"[A-Za-z0-9_.+@-]+", name))

    @cached_property
    def sizes(self) -> frozenset[tuple[int, int, int]]:
        """The commit's own figures, as (files, additions, deletions): of all, of a file, a folder, a status and a kind."""
        groups: dict[str, list[FileChange]] = {}
        for file in self.commit.files:
            folders = [str(folder) for folder in PurePosixPath(file.path).parents]
            within = f"just within {folders[0]}"
            for name in (file.path, *folders, within, f"a status: {file.status}", f"a kind: {kind_of_path(file.path)}"):
                groups.setdefault(name, []).append(file)
        counted = {
            (len(files), sum(file.additions for file in files), sum(file.deletions for file in files))
            for files in groups.values()
        }
        return frozenset(counted | {(len(self.commit.files), self.commit.additions, self.commit.deletions)})

    def counts(self, noun: str, count: int) -> bool:
        """Whether the commit, or a part of it, has so many of "file", "line" or "commit"."""
        if noun == "commit":
            return count == 1
        if noun == "file":
            return any(count == files for files, _, _ in self.sizes)
        return any(count in (added, removed, added + removed) for _, added, removed in self.sizes)

    @cached_property
    def _repository(self) -> tuple[str, ...]:
        """The owner and the name of the repository, from the commit's address."""
        match = re.search(r"//[^/]+/([^/]+)/([^/]+)/commit/", self.commit.url)
        return (match[1].lower(), match[2].lower()) if match else ()

    @cached_property
    def _numbers(self) -> dict[float, list[int]]:
        """Where each number stands in the text."""
        places: dict[float, list[int]] = {}
        for match in re.finditer(r"(?<![A-Za-z0-9_.])\d+(?:,\d{3})*(?:\.\d+)?(?![.]?\d)", self.text):
            places.setdefault(number(match[0]), []).append(match.end())
        return places

    def mentions(self, text: str) -> bool:
        """Whether `text` stands in the evidence, not as a part of a longer name."""
        return bool(re.search(rf"(?<![\w-]){re.escape(text)}(?![\w-])", self.text, re.ASCII))

    def touched(self, path: str) -> tuple[str, ...]:
        """The commit's paths that `path` names: in full, by its end, a folder of theirs, without an extension, by a pattern."""
        if len(path) > _LONGEST or len(re.findall(r"[*{<$…]", path)) > _WILDEST:
            return ()
        stem = "" if "." in path.rpartition("/")[2] else r"|\.\w+$"
        pattern = re.compile(rf"(?:^|/){_as_pattern(path)}(?:/|${stem})")
        return tuple(each for each in self.paths if pattern.search(each))

    def shows(self, path: str, first: int, last: int) -> bool:
        """Whether a hunk of a file that `path` names covers these lines, by old or by new numbers."""
        touched = set(self.touched(path))
        for file in self.commit.files:
            if file.path not in touched and file.previous_path not in touched:
                continue
            for hunk in hunks(file.patch):
                for numbers in ([line.old for line in hunk if line.old], [line.new for line in hunk if line.new]):
                    if numbers and numbers[0] <= first <= last <= numbers[-1]:
                        return True
        return False

    def has_word(self, word: str, *, starts: bool = False, ends: bool = False) -> bool:
        """Whether `word` is a word of the evidence, or one only has to start or to end with it."""
        if not starts and not ends:
            return word in self.words
        return any(
            (starts and ends and word in each) or (starts and each.startswith(word)) or (ends and each.endswith(word))
            for each in self.words
        )

    def is_project(self, word: str) -> bool:
        return word.lower() in self._repository

    def measures(self, figure: str, unit: str) -> bool:
        """Whether the evidence has the number with the unit, if need be rounded, or near it.

        A number of three figures is hardly in the message by chance: a table there names the unit far above it.
        """
        value = number(figure)
        places = self._numbers.get(value, ())
        if len(re.sub(r"[.,]", "", figure).strip("0")) >= _TELLING and any(end <= self._said for end in places):
            return True
        return any(_NEAR[unit].search(self.text, max(0, end - 40), end + 24) for end in places) or any(
            value in (told, int(told), round(told))
            for told in (number(match[1]) for match in MEASURES[unit].finditer(self.text))
        )
