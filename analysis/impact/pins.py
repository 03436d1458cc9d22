"""The upstream version that a downstream tree pins: in requirements, images, workflows, scripts, submodules, or a file of its own."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import PurePosixPath
from typing import NamedTuple

from analysis.models import Repository
from analysis.models.upgrades import Pin, PinKind
from analysis.wordlists import wordlist

_MAX_LINE = 500  # characters
_MAX_FILE = 200_000
_NEAR = 8  # lines after the address of upstream in which a checkout is one of upstream
_SHA = r"(?=[0-9a-f]*\d)[0-9a-f]{7,40}"
_VERSION = r"v?\d+(?:\.\d+)+(?:[.-]?(?:a|b|rc|post|dev|alpha|beta)\.?\d*)*(?:\+[\w.]+)?"
_NAMED = rf"(?:{_SHA}|{_VERSION})(?![\w/-]|\.\w)"
_REF = rf"(?<![\w.@/-]){_NAMED}"
_LITERAL = re.compile(_REF)
_ASSIGNED = re.compile(rf"([A-Za-z][\w.-]*)[\"']?\s*(?::-|[:=]=?|\s)\s*[\"'\[]?\s*((?:{_NAMED}[\"',\s]*)+)")
_CHECKED_OUT = re.compile(
    rf"(?:\bcheckout\s|--branch[\s=]|\s-b\s|\breset\s+--hard\s|\bref\s*[:=]|\brev(?:ision)?\s*[:=]|\btag\s*[:=]|\bcommit\s*[:=])"
    rf"\s*[\"']?({_REF})"
)
_ADDRESS = re.compile(r"github\.com[/:]|\brepository\s*:")  # of any repository
_LOCKED_NAME = re.compile(r'^name = "([\w.-]+)"$')
_LOCKED_VERSION = re.compile(rf'^version = "({_VERSION})"$')
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_OTHER_BRANCH = re.compile(r"\bgit show\s+[\"']?(?:origin/)?(?P<branch>[\w./-]+):(?P<path>[\w./-]+)")

_KINDS = (
    (PinKind.LOCK, re.compile(r"(?:^|/)(?:poetry|uv|pdm)\.lock$")),
    (
        PinKind.REQUIREMENT,
        re.compile(
            r"(?:^|/)(?:[\w.-]*requirements?[\w.-]*\.(?:txt|in)|requirements/[\w./-]+\.(?:txt|in)|constraints?[\w.-]*\.txt"
            r"|pyproject\.toml|setup\.py|setup\.cfg|Pipfile|environment[\w.-]*\.ya?ml)$"
        ),
    ),
    (
        PinKind.IMAGE,
        re.compile(r"(?:^|/)(?:Dockerfile|Containerfile)[^/]*$|\.(?:Dockerfile|dockerfile|Containerfile)$"),
    ),
    (
        PinKind.WORKFLOW,
        re.compile(r"^\.(?:github|gitlab|buildkite|circleci|azure-pipelines)[\w./-]*\.ya?ml$|^\.[\w-]+-ci\.ya?ml$"),
    ),
    (PinKind.SCRIPT, re.compile(r"(?:^|/)(?:Makefile|justfile|[\w.-]+\.(?:sh|bash|mk|env|ya?ml|toml|bat|ps1))$")),
)
_COMMIT_FILE_SUFFIXES = ("", ".txt", ".commit", ".sha", ".version", ".ref", ".pin", ".rev")
_PIN_WORDS = wordlist("pin_words")  # what says of a name that it holds a version
_FILLERS = wordlist("pin_fillers")  # what else such a name may have beside the name of upstream


class _Names(NamedTuple):
    """What upstream is called: its `words`, and the words of its owner, in lower case; and how requirements call it."""

    repository: Repository
    words: tuple[str, ...]
    owner: frozenset[str]
    requirement: re.Pattern[str]
    address: re.Pattern[str]

    @classmethod
    @cache
    def of(cls, upstream: Repository) -> "_Names":
        name = "[-_.]+".join(map(re.escape, re.split(r"[-_.]+", upstream.name)))
        requirement = rf"(?<![\w./@-]){name}(?:\[[^\]]*\])?\s*(?P<operator>===?|~=|>=)\s*(?P<ref>{_VERSION})"
        address = rf"(?<![\w-]){re.escape(upstream.full_name)}(?:\.git)?(?![\w-])(?:@(?P<ref>{_NAMED}))?"
        return cls(
            upstream,
            tuple(_words(upstream.name)),
            frozenset(_words(upstream.owner)),
            re.compile(requirement, re.IGNORECASE),
            re.compile(address, re.IGNORECASE),
        )

    def names_a_version(self, name: str) -> bool:
        """Return whether the name of a variable, a key or a file says that it holds upstream's version: `LIB_COMMIT` of `lib`."""
        words = _words(name)
        for start in range(len(words) - len(self.words) + 1):
            if tuple(words[start : start + len(self.words)]) == self.words:
                rest = words[:start] + words[start + len(self.words) :]
                known = all(each in _PIN_WORDS or each in _FILLERS or each in self.owner for each in rest)
                return known and any(each in _PIN_WORDS for each in rest)
        return False


def may_pin(path: str, upstream: Repository) -> bool:
    """Return whether a file may pin a version of upstream."""
    return _kind(path, _Names.of(upstream)) is not None


def find_pins(files: Iterable[tuple[str, str | None]], upstream: Repository) -> Iterator[Pin]:
    """Yield each version of upstream that the files (path and text) pin, in their order."""
    names = _Names.of(upstream)
    for path, text in files:
        found = _kind(path, names)
        if text is None or found is None or len(text) > _MAX_FILE:
            continue
        lines = text.split("\n")
        if found is PinKind.COMMIT_FILE:
            yield from _whole_file(path, lines)
            continue
        seen: set[tuple[int, str]] = set()
        for line, ref, exact in _in_lines(lines, names, found):
            if (line, ref) not in seen:
                seen.add((line, ref))
                yield Pin(ref=ref, kind=found, path=path, line=line, exact=exact)


def files_of_other_branches(text: str, upstream: Repository) -> Iterator[tuple[str, str]]:
    """Yield branch and path of each file of another branch that a script reads upstream's version from, with `git show`."""
    names = _Names.of(upstream)
    for found in _OTHER_BRANCH.finditer(text):
        if names.names_a_version(PurePosixPath(found["path"]).name):
            yield found["branch"], found["path"]


def submodule_paths(text: str, upstream: Repository) -> Iterator[str]:
    """Yield the paths of upstream's submodules in the text of a `.gitmodules`."""
    address = _Names.of(upstream).address
    for section in text.split("[submodule ")[1:]:
        path = re.search(r"^\s*path\s*=\s*(\S+)\s*$", section, re.MULTILINE)
        if path and address.search(section):
            yield path[1]


def by_strength(pins: Iterable[Pin]) -> list[list[Pin]]:
    """Group pins by their versions, the one that binds most first: exact ones, then by kind, then by how many places name it."""
    groups: dict[str, list[Pin]] = {}
    for pin in pins:
        groups.setdefault(pin.ref.removeprefix("v"), []).append(pin)
    kinds = list(PinKind)

    def strength(group: Sequence[Pin]) -> tuple[bool, int, int]:
        exact = [each for each in group if each.exact]
        strongest = min(kinds.index(each.kind) for each in exact or group)
        return not exact, strongest, -sum(kinds.index(each.kind) == strongest for each in group)

    ordered = sorted(groups.values(), key=strength)
    return [sorted(group, key=lambda each: (not each.exact, kinds.index(each.kind))) for group in ordered]


def tag_names(ref: str, upstream: Repository) -> list[str]:
    """Return the names that a pinned version may have upstream: its tags, or the SHA itself."""
    plain = ref.partition("+")[0]
    bare = plain.removeprefix("v")
    if not re.fullmatch(_VERSION, plain):
        return [ref]
    return list(dict.fromkeys([plain, f"v{bare}", bare, f"{upstream.name}-{bare}", f"release-{bare}"]))


def _kind(path: str, names: _Names) -> PinKind | None:
    place = PurePosixPath(path)
    if place.suffix.lower() in _COMMIT_FILE_SUFFIXES and names.names_a_version(place.name):
        return PinKind.COMMIT_FILE
    return next((kind for kind, pattern in _KINDS if pattern.search(path)), None)


def _whole_file(path: str, lines: Sequence[str]) -> Iterator[Pin]:
    """Yield the pin of a file that holds nothing else, but for comments."""
    told = [(number, line.strip()) for number, line in enumerate(lines, 1) if line.strip() and line.strip()[0] != "#"]
    if len(told) == 1 and _LITERAL.fullmatch(told[0][1]):
        yield Pin(ref=told[0][1], kind=PinKind.COMMIT_FILE, path=path, line=told[0][0])


def _in_lines(lines: Sequence[str], names: _Names, kind: PinKind) -> Iterator[tuple[int, str, bool]]:
    """Yield line, version, and whether it is exact, of each pin."""
    if kind is PinKind.LOCK:
        yield from _locked(lines, names)
        return
    addressed = -_NEAR  # the line that named upstream's address last
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith(("#", "//")) or len(line) > _MAX_LINE:
            continue
        if _ADDRESS.search(line):
            addressed = number if names.address.search(line) else -_NEAR
        for ref, exact in _in_line(line, names, checked_out=number - addressed < _NEAR):
            yield number, ref, exact


def _in_line(line: str, names: _Names, *, checked_out: bool) -> Iterator[tuple[str, bool]]:
    """Yield the versions in a line, each with whether it is exact; what is `checked_out` here is upstream's."""
    yield from ((found["ref"], found["operator"] != ">=") for found in names.requirement.finditer(line))
    yield from ((found["ref"], True) for found in names.address.finditer(line) if found["ref"])
    if checked_out:
        yield from ((found[1], True) for found in _CHECKED_OUT.finditer(line))
    for found in _ASSIGNED.finditer(line):
        if names.names_a_version(found[1]):
            yield from ((ref, True) for ref in _LITERAL.findall(found[2]))


def _locked(lines: Sequence[str], names: _Names) -> Iterator[tuple[int, str, bool]]:
    """Yield the version that a lock file gives upstream, in the line after its name."""
    for number, (name, version) in enumerate(pairwise(lines), 2):
        found, locked = _LOCKED_NAME.match(name), _LOCKED_VERSION.match(version)
        if found and locked and _words(found[1]) == list(names.words):
            yield number, locked[1], True


def _words(name: str) -> list[str]:
    return [each.lower() for each in _WORD.findall(name)]
