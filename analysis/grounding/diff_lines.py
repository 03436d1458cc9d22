"""The lines of commits' diffs, searched by name: on which side a name stands, where, in which class, and with which default."""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from analysis.diff import numbered_hunks
from analysis.grounding.statements import bare, squeezed, word_pattern
from analysis.models import Commit

_TEST = re.compile(r"(?:^|/)(?:tests?|docs?|examples?|benchmarks?)/|(?:^|/)test_")
_SCOPE = re.compile(r"(?P<indent>\s*)(?:async )?(?P<kind>def|class) (?P<name>\w+)")
_LITERAL = r"\"[^\"]*\"|'[^']*'|-?\d[\w.]*|True|False|None"


class NumberedLine(NamedTuple):
    """A line of the diff with its number, the place of its hunk, and its sign."""

    number: int
    path: str
    hunk: int
    sign: str
    text: str

    @property
    def place(self) -> tuple[str, int]:
        """The file and the hunk."""
        return self.path, self.hunk

    @property
    def is_test(self) -> bool:
        """Whether the line is of a test, a document, an example or a benchmark."""
        return bool(_TEST.search(self.path))


class DiffLines:
    """The numbered lines of commits, and the headings of their hunks."""

    def __init__(self, commits: Iterable[Commit]) -> None:
        hunks = [hunk for commit in commits for hunk in numbered_hunks(commit)]
        self._headings = [hunk.heading for hunk in hunks]
        self._hunks = [
            [
                NumberedLine(hunk.first + place, hunk.file.path, index, line.sign, line.text)
                for place, line in enumerate(hunk.lines)
            ]
            for index, hunk in enumerate(hunks)
        ]
        self.all = [each for lines in self._hunks for each in lines]
        self._found: dict[str, list[NumberedLine]] = {}

    def having(self, name: str, signs: str = "-+ ") -> list[NumberedLine]:
        """Return the lines of some signs that have a name or a value as a whole word; `--a-b` is `a_b`.

        Tests and documents count where nothing else has it.
        """
        found = self._found.get(name)
        if found is None:
            word = re.compile(word_pattern(name))
            found = [each for each in self.all if word.search(each.text)]
            self._found[name] = found = [each for each in found if not each.is_test] or found
        return [each for each in found if each.sign in signs]

    def has(self, name: str, signs: str = "-+ ") -> bool:
        """Return whether a line of some signs has a name."""
        return bool(self.having(name, signs))

    def cited(self, numbers: Collection[int]) -> list[NumberedLine]:
        """Return the lines with these numbers."""
        return [each for each in self.all if each.number in numbers] if numbers else []

    def defaults(self, name: str, signs: str) -> set[str]:
        """Return the literals that annotated definitions of a name, or lists of it as a string, give it."""
        defined = re.compile(
            rf"^\s*{word_pattern(name)}\s*:[^=]+=\s*(?P<value>{_LITERAL})\s*,?\s*(?:#.*)?$|[\"']{re.escape(name)}[\"'],\s*(?P<listed>{_LITERAL})\s*[,)]"
        )
        found = (defined.search(each.text) for each in self.having(name, signs))
        return {bare(match["value"] or match["listed"]) for match in found if match}

    def defining(self, name: str, signs: str) -> list[NumberedLine]:
        """Return the lines of some signs that begin the definition of a function, a class or a variable."""
        defines = re.compile(
            rf"\s*(?:(?:async )?(?:def|class) {re.escape(name)}\b|(?:self\.)?{re.escape(name)} ?[:=][^=])"
        )
        return [each for each in self.having(name, signs) if defines.match(each.text)]

    def signature(self, name: str) -> str:
        """Return the parameters of a function after the change, as far as they are shown whole; else ""."""
        for line in self.defining(name, "+ "):
            after = "".join(
                each.text for each in self._hunks[line.hunk] if each.number >= line.number and each.sign != "-"
            )
            if shown := re.match(r"[^(]*\(((?:[^()]|\([^()]*\))*)\)", after):
                return shown[1]
        return ""

    def balance(self, name: str) -> int:
        """Return how many more lines have a name than had it."""
        return len(self.having(name, "+")) - len(self.having(name, "-"))

    def scopes(self, line: NumberedLine, kind: str = "") -> list[str]:
        """Return the classes and functions around a line, or only one `kind`, as far as its hunk and the hunk's heading show them."""
        around: list[str] = []
        depth = len(line.text) - len(line.text.lstrip()) if line.text.strip() else 0
        heading = NumberedLine(0, line.path, line.hunk, " ", self._headings[line.hunk])
        above = [
            each for each in self._hunks[line.hunk] if each.number <= line.number and each.sign in (" ", line.sign)
        ]
        for each in (*reversed(above), heading):
            scope = _SCOPE.match(each.text)
            if scope and (len(scope["indent"]) < depth or each.number == line.number):
                depth = len(scope["indent"])
                around += [scope["name"]] if kind in ("", scope["kind"]) else []
        return around

    def files_of(self, lines: Iterable[NumberedLine]) -> Iterator[str]:
        """Yield the text of each line, and each heading, of the files in which some lines are."""
        paths = {each.path for each in lines}
        for each in self.all:
            if each.path in paths:
                yield each.text
                yield self._headings[each.hunk]

    def became(self, old: str, new: str, near: Collection[tuple[str, int]]) -> bool:
        """Return whether a removed line with one value for the other is an added line of the same hunk; else, whether a hunk has both."""
        removed, added = (
            [each for each in self.having(value, sign) if not near or each.place in near]
            for value, sign in ((old, "-"), (new, "+"))
        )
        places = {(*each.place, squeezed(each.text)) for each in added}
        word = re.compile(word_pattern(old))
        if any((*each.place, squeezed(word.sub(new, each.text))) in places for each in removed):
            return True
        return bool({each.place for each in removed} & {each.place for each in added})

    def leaves(self, name: str, *, gone: bool) -> bool:
        """Return whether a hunk has a name only on removed lines, or with `gone` false only on added ones."""
        elsewhere = {each.place for each in self.having(name, " +" if gone else " -")}
        return any(each.place not in elsewhere for each in self.having(name, "-" if gone else "+"))
