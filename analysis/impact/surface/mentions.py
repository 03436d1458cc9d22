"""Names that any downstream file may mention as text: variables, flags, routes, requirements, pull requests.

Unlike an import, a word does not say whose it is: it counts in files that name upstream.
"""

import re
from collections.abc import Collection, Iterator

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from analysis.impact.surface.model import Use, UseKind
from analysis.paths import Kind, kind

VARIABLE, FLAG, ROUTE, REQUIREMENT, PULL = "variable", "flag", "route", "requirement", "pull"

_MAX_FILE = 400_000  # characters
_MAX_CODE = 200
_WORDS = re.compile(
    r"(?P<variable>(?<![\w$.])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b)"
    r"|(?P<flag>(?<![\w-])--[a-z][a-z0-9]*(?:[-_.][a-z0-9]+)*)"
    r"|(?P<route>(?<=[\"'`\s\d])/[a-z_]\w*(?:/[\w{}.-]+)*)"
)
_PULL = re.compile(r"\bgithub\.com/[\w.-]+/([\w.-]+)/pull/(\d+)")
_HISTORY = re.compile(r"(?:^|[/_-])(?:changelog|changes|release[-_]?notes|news|history)[^/]*$", re.IGNORECASE)
_QUOTED_FLAG = re.compile(r"""["']--[a-z]""")
_VARIABLE_READ = re.compile(
    r"""(?:getenv|environ\.get|environ|(?<!set)(?<!del)(?<![a-z])[Ee]nv\w*)[(\[]\s*["'](?P<read>[A-Z][A-Z0-9_]+)["'](?!\]\s*=[^=])"""
    r"""|["'](?P<listed>[A-Z][A-Z0-9_]+)["']\s*:\s*lambda"""
)
_BUILD = "[build-system]"  # of pyproject.toml: upstream is not installed where it is built
_REQUIREMENT = re.compile(r"""(?:^\s*|["'])(?P<requirement>[A-Za-z][\w.-]*(?:\[[^\]]*\])?\s*[<>=~!][^#;"']*)""")


def mentions(path: str, text: str, packages: Collection[str]) -> Iterator[Use]:
    """Yield each name that a file mentions, at its first line; in a file that does not name upstream, only requirements.

    Generated and vendored files mention nothing of their own, and what tells of past releases relies on nothing.
    """
    found = kind(path)
    if len(text) > _MAX_FILE or found in (Kind.GENERATED, Kind.VENDORED) or _HISTORY.search(path):
        return
    names_upstream = any(package in text.lower() for package in packages)
    if not names_upstream and found is not Kind.DEPENDENCY:
        return
    seen: set[tuple[str, ...]] = set()
    section = command = ""
    for number, line in enumerate(text.split("\n"), 1):
        section = line.strip() if line.startswith("[") else section
        command = f"{command} {line}" if command.endswith("\\") else line
        # A flag in quotes is an argument that code passes to a program.
        upstreams = bool(_QUOTED_FLAG.search(line)) or any(package in command.lower() for package in packages)
        # Code names the pull requests that it waits for, of a repository that is called as one of its packages.
        pulls = (each for each in _PULL.finditer(line) if each[1].lower().replace("-", "_") in packages)
        waits = [(PULL, each[2]) for each in pulls if found is Kind.SOURCE]
        for target in (*waits, *_mentioned(found, line)):
            own = names_upstream or target[0] == REQUIREMENT
            other = (target[0] == REQUIREMENT and section == _BUILD) or (target[0] == FLAG and not upstreams)
            if own and target not in seen and not other:
                seen.add(target)
                yield Use(kind=UseKind.MENTION, target=target, path=path, line=number, code=line.strip()[:_MAX_CODE])


def variables_read(text: str) -> Iterator[str]:
    """Yield the environment variables that Python code reads itself, so that they are its own, whoever else reads them."""
    for match in _VARIABLE_READ.finditer(text):
        yield match["read"] or match["listed"]


def _mentioned(found: Kind, line: str) -> Iterator[tuple[str, ...]]:
    for word in _WORDS.finditer(line):
        what = word.lastgroup or ""
        yield (what, word[what])
    for listed in _REQUIREMENT.findall(line) if found is Kind.DEPENDENCY else ():
        if requirement := _requirement(listed):
            yield (REQUIREMENT, canonicalize_name(requirement.name), str(requirement.specifier))


def _requirement(text: str) -> Requirement | None:
    try:
        return Requirement(text.strip().rstrip(",\\ "))
    except InvalidRequirement:
        return None
