"""Invented repositories as text: an upstream package before and after a commit, and a plug-in that uses it."""

from collections.abc import Mapping

from analysis.facts import facts
from analysis.impact.matching import impacts
from analysis.impact.surface.extraction import extract
from analysis.impact.surface.model import Surface, SurfaceIndex
from analysis.models import Commit
from analysis.models.impacts import Impact
from tests.analysis.facts.trees import Files, commit_between, trees

UPSTREAM = "engine/core.py"
PLUGIN = "plugin/worker.py"

Texts = Files | str


def surface(downstream: Texts) -> Surface:
    """The surface of a plug-in of `engine`; a text stands for its one module."""
    return extract(_files(downstream, PLUGIN).items(), frozenset({"engine"}))


def impacts_of(
    before: Texts, after: Texts, downstream: Texts, renamed: Mapping[str, str] | None = None
) -> list[Impact]:
    """What the commit that turns one upstream tree into the other breaks of a plug-in.

    `renamed` are the new paths of files that git calls renamed, by their old ones.
    """
    old, new = ({"engine/__init__.py": "", **_files(each, UPSTREAM)} for each in (before, after))
    sides = trees(old, new)
    commit = with_renames(commit_between(old, new), renamed or {})
    return list(impacts(commit, sides, SurfaceIndex(surface(downstream)), {"engine": ""}, facts(commit, sides)))


def told(before: Texts, after: Texts, downstream: Texts, renamed: Mapping[str, str] | None = None) -> list[str]:
    """The impacts in words: kind, cause, upstream name and, in brackets, the parameter."""
    return [_words(each) for each in impacts_of(before, after, downstream, renamed)]


def with_renames(commit: Commit, renamed: Mapping[str, str]) -> Commit:
    """The commit with each removed and added file of these as one that was renamed, as git lists it."""
    by_path = {each.path: each for each in commit.files}
    files = [each for each in commit.files if each.path not in renamed and each.path not in renamed.values()]
    for old, new in renamed.items():
        update = {"status": "renamed", "previous_path": old, "patch": None, "additions": 0, "deletions": 0}
        files.append(by_path[new].model_copy(update=update))
    return commit.model_copy(update={"files": tuple(files)})


def _words(impact: Impact) -> str:
    subject = f" ({', '.join(impact.subjects)})" if impact.subjects else ""
    return f"{impact.kind.value}: {impact.cause.value}: {impact.name}{subject}"


def _files(texts: Texts, path: str) -> Files:
    return {path: texts} if isinstance(texts, str) else texts
