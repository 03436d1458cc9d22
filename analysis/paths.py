"""The kind of a file, determined by its path alone."""

import re
from enum import StrEnum
from functools import lru_cache
from pathlib import PurePosixPath

from analysis.wordlists import wordlist


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
