"""Paths: the kind of a file, determined by its path alone, and the patterns of .gitignore by which people name paths."""

import re
from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from analysis.errors import Misuse
from analysis.locale import Phrase, mark
from analysis.wordlists import wordlist

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


class Kind(StrEnum):
    """The kinds of files, in an excerpt's order of preference."""

    SOURCE = "source"
    BUILD = "build"
    DEPENDENCY = "dependency"
    CI = "ci"
    TEST = "test"
    DOCS = "docs"
    EXAMPLE = "example"
    DATA = "data"
    GENERATED = "generated"
    VENDORED = "vendored"


_LOCKS = wordlist("lock_files")
_GENERATED = re.compile(
    r"(_pb2(_grpc)?\.pyi?|\.pb\.(go|cc|h)|\.min\.(js|css)|\.map|\.snap|\.generated\.\w+|(^|/)(generated|__generated__|dist)/.*)$"
)
_VENDORED = re.compile(r"(^|/)(vendor|third_party|thirdparty|node_modules|external)/")
_TEST = re.compile(
    r"(^|/)(tests?|testing|__tests__|testdata|spec)/|(^|/)(test[_-][^/]*|conftest)\.(py|c|cc|cpp|cu|rs)$|(^|[/_-])tests?\.(py|go|c|cc|cpp|cu|rs)$|\.(test|spec)\.[jt]sx?$"
)
_CI = re.compile(
    r"^(\.github/(workflows|actions|scripts|mergify|dependabot|labeler)|\.buildkite|\.circleci|\.gitlab-ci|\.ci|ci|\.azure-pipelines)(/|\.|$)"
    r"|(^|/)(jenkinsfile|azure-pipelines\.ya?ml|\.travis\.yml|tox\.ini|\.pre-commit-config\.yaml|codecov\.yml|noxfile\.py)$"
    r"|^\.github/"
)
_DEPENDENCY = re.compile(
    r"(^|/)(requirements[^/]*\.(txt|in)|requirements/[^/]+\.(txt|in)|constraints[^/]*\.txt|pyproject\.toml|setup\.(py|cfg)"
    r"|cargo\.toml|go\.mod|package\.json|gemfile|pipfile|environment\.ya?ml)$"
)
_BUILD = re.compile(
    r"(^|/)(cmakelists\.txt|makefile|[^/]*\.cmake|[^/]*dockerfile[^/]*|docker/.*|meson\.build|build\.gradle(\.kts)?|manifest\.in|"
    r"build(\.bazel)?|workspace|use_existing_torch\.py|docker-bake\.hcl)$|^(cmake|docker)/"
)
_DOCS = re.compile(
    r"(^|/)(docs?|documentation)/|\.(md|mdx|rst|adoc|ipynb)$|(^|/)(readme|license|notice|changelog|changes|contributing|authors|codeowners)[^/]*$"
    r"|(^|/)mkdocs\.ya?ml$|\.(png|jpe?g|gif|svg|webp)$"
)
_EXAMPLE = re.compile(r"(^|/)(examples?|samples|benchmarks?|demos?)/|^sample/")
_SOURCE = wordlist("source_extensions")
# Exclusions, comments, drives, parent folders, open brackets, and signs of a regular expression.
_MISLEADING = re.compile(r"^[!#^]|^[A-Za-z]:[\\/]|(^|/)\.\.(/|$)|\[(?![^\]]+\])|\$$|\||\)[+*?]")
_EVERY_FILE = mark("{text!r} matches every file; use a folder such as docs/**, or an extension such as *.py")


@lru_cache(maxsize=65536)
def kind(path: str) -> Kind:
    """Classify the file at `path`, relative to the repository's root."""
    low = path.lower()
    name = low.rsplit("/", 1)[-1]
    if name in _LOCKS or _GENERATED.search(low):
        return Kind.GENERATED
    for pattern, found in (
        (_VENDORED, Kind.VENDORED),
        (_TEST, Kind.TEST),
        (_CI, Kind.CI),
        (_DEPENDENCY, Kind.DEPENDENCY),
        (_BUILD, Kind.BUILD),
        (_DOCS, Kind.DOCS),
        (_EXAMPLE, Kind.EXAMPLE),
    ):
        if pattern.search(low):
            return found
    return Kind.SOURCE if name.rpartition(".")[2] in _SOURCE else Kind.DATA


def area(path: str) -> str:
    """Return the area of the repository that `path` is in: at most its first three folders, or the root file itself."""
    parts = PurePosixPath(path).parts
    return "/".join(parts[: min(3, len(parts) - 1)]) if len(parts) > 1 else path


def path_patterns(patterns: Iterable[str]) -> "GitIgnoreSpec":
    """Return what matches paths by patterns; raise ValueError if one is none, such as a range that runs backwards."""
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(patterns)
    except re.error as exc:  # raised for the expression that pathspec makes of a pattern
        raise ValueError(str(exc)) from exc


def check_pattern(pattern: str) -> None:
    """Raise `Misuse` for a pattern that matches every file, or no file that it seems to mean."""
    if not re.search(r"\w", pattern):
        raise Misuse(Phrase(_EVERY_FILE, text=pattern[:60]))
    try:
        path_patterns([pattern])
        misleading = _MISLEADING.search(pattern) or not pattern.isprintable()
    except ValueError:
        misleading = True
    if misleading:
        raise Misuse(Phrase("{text!r} is not a valid path; use src/, docs/** or *.py", text=pattern[:60]))
