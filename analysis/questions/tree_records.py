"""Requirements of dependencies, and members of enumerations that a question counts, read from whole files."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from analysis.facts.syntax import parse_module
from analysis.models import DEPENDENCIES
from analysis.paths import Kind, kind
from analysis.questions.kinds import QuestionKind
from analysis.questions.question import ParsedQuestion
from analysis.search.words import split_words, stem
from analysis.sources.mirror import FileMatch, Mirror

_REQUIRING = re.compile(r"(?:^|/)(?:requirements[^/]*\.(?:txt|in)|requirements/[^/]+\.(?:txt|in)|pyproject\.toml)$")
_REQUIREMENT = re.compile(r"""^[\s"']*([A-Za-z][\w.-]*)(?:\[[^\]]*\])?\s*((?:===?|[~<>!]=|[<>])\s*[^"';#\\]+)""")
_PYTHON = re.compile(r"""^\s*requires-python\s*=\s*["']([^"']+)["']""")
_COUNTED = re.compile(
    r"\bhow many ((?:(?!(?:does|do|did|are|is|was|were|has|have|can|there|in|of)\b)[\w-]+ ?){1,4})|(?:多少|几)[个种条项款]?([\w-]+(?: [\w-]+)*)",
    re.IGNORECASE,
)
_COMMITS = re.compile(r"commit|change|patch|\bprs?\b|pull|提交|改动|变更|合并", re.IGNORECASE)
_AT_LEAST = 2  # words of what is counted


class Requirement(NamedTuple):
    """A version that a file requires of a dependency, or of Python; lines are counted from 1."""

    path: str
    line: int
    name: str
    versions: str

    def allows(self, version: str) -> bool:
        """Return whether a version is one of those required."""
        try:
            return SpecifierSet(self.versions).contains(version, prereleases=True)
        except InvalidSpecifier:
            return False


def requirements_in(path: str, text: str) -> Iterator[Requirement]:
    """Yield what a file of requirements requires; nothing of another file."""
    if not _REQUIRING.search(path):
        return
    for number, line in enumerate(text.split("\n"), 1):
        if match := _PYTHON.match(line):
            yield Requirement(path, number, "python", match[1].strip())
        elif match := _REQUIREMENT.match(line):
            yield Requirement(path, number, match[1].lower(), re.sub(r"\s|,$", "", match[2]))


def required(mirror: Mirror, sha: str, asked: ParsedQuestion) -> list[Requirement]:
    """Return what a commit's files require of the dependency that a question names, if it asks for that: what most say first.

    The files that the question names, too, come before others.
    """
    asks = QuestionKind.REQUIREMENT in asked.kinds or not asked.facts.kinds.isdisjoint(DEPENDENCIES)
    words = {each.text.lower() for each in asked.terms if each.text.isascii()}
    words |= {each.removesuffix("s") for each in words}
    if asked.symbols or not asks or not words:
        return []
    files = mirror.trees_between(None, sha, strict=True).after
    paths = [each.path for each in mirror.list_files(sha) if _REQUIRING.search(each.path)]
    held = [each for path in paths for each in requirements_in(path, files.read(path) or "")]
    found = [each for each in held if each.name in words]
    named = [each for each in found if any(word in each.path.lower() for word in words - {each.name})]
    counts = Counter(each.versions for each in found)
    return sorted(named or found, key=lambda each: (-counts[each.versions], each.path.count("/"), each.path))


def counted(asked: ParsedQuestion) -> str | None:
    """Return what is to be counted, if that is no commits; None if nothing is."""
    match = _COUNTED.search(asked.text) if QuestionKind.HOW_MANY in asked.kinds else None
    thing = (match[1] or match[2]).strip() if match else ""
    return thing if thing and not _COMMITS.search(asked.text) else None


def enumeration_of(mirror: Mirror, sha: str, thing: str) -> tuple[FileMatch, str, int] | None:
    """Return where the enumeration of what is counted begins, its name and the number of its members; None if no one name says so."""
    words = [stem(each) for each in split_words(thing)]
    if len(words) < _AT_LEAST:
        return None
    spelled = f"^class ([A-Z].*)?{'[a-z]*'.join(map(str.capitalize, words))}.*[(].*Enum"
    lines = [each for each in mirror.lines_having(sha, spelled) if kind(each.path) is Kind.SOURCE]
    for best in sorted(lines, key=lambda each: len(each.text))[:1]:
        for node in getattr(parse_module(mirror.read_file(sha, best.path) or ""), "body", ()):
            if isinstance(node, ast.ClassDef) and node.lineno == best.line:
                return best, node.name, sum(isinstance(each, ast.Assign) for each in node.body)
    return None
