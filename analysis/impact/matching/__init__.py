"""The impacts of a commit on a surface: uses that worked before the commit and no longer do after it."""

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from analysis.errors import DigestError
from analysis.facts.python.module import module_path
from analysis.facts.python.revision import Revision
from analysis.facts.syntax import collecting_no_garbage, parse_module
from analysis.impact.matching.broken_uses import Matching
from analysis.impact.matching.callers import Callers, missing_members
from analysis.impact.matching.changes import Successors, changed_names
from analysis.impact.matching.lost_variables import lost_variables
from analysis.impact.matching.quotation import import_advice
from analysis.impact.matching.upstream import ABSENT, Upstream
from analysis.impact.surface.model import SurfaceIndex, Use
from analysis.locale import Phrase
from analysis.models import Commit, Fact, FileChange, Trees
from analysis.models.impacts import Certainty, Impact, ImpactKind

__all__ = ["MAX_CHARACTERS", "changes_imported_modules", "impacts", "worst_first"]

MAX_CHARACTERS = 60_000_000  # read of one tree; a package of 1,400 files has 20 million


@collecting_no_garbage()
def impacts(
    commit: Commit,
    trees: Trees,
    index: SurfaceIndex,
    roots: Mapping[str, str],
    facts: Sequence[Fact],
    *,
    most: int = MAX_CHARACTERS,
) -> tuple[Impact, ...]:
    """Return what a commit breaks of a surface, what is proven first.

    `roots` are the folders that hold the upstream packages, by their names; `facts` are those of the commit. Raise
    `DigestError` if nothing is found in the `most` characters that are read of each tree, and there are more: nothing is denied.
    """
    revisions = Revision(trees.before, most), Revision(trees.after, most)
    before, after = (Upstream(each, roots, index.surface.subclasses) for each in revisions)
    matching = Matching(
        before,
        after,
        Successors(commit.files, facts, before, after, commit.title),
        Callers(commit.files, revisions[1], index),
        index,
    )
    few = index.few
    found = _of_few(commit.files, matching, few) if few is not None else _of_files(commit.files, matching)
    found += missing_members(commit.files, before, after, index)
    found += lost_variables(facts, index, before)
    told = worst_first(found, index)
    if not told and any(each.is_exhausted for each in revisions):
        raise DigestError(Phrase("too much code to compare"))
    return tuple(_proven(each, after, {path for file in commit.files for path in file.paths}) for each in told)


def _of_files(files: Sequence[FileChange], matching: Matching) -> list[Impact]:
    return list(matching.impacts(changed_names(files, matching.before.revision, matching.after.revision)))


def _of_few(files: Sequence[FileChange], matching: Matching, few: Sequence[Use]) -> list[Impact]:
    """Return the impacts on a few uses, which are followed sooner than names are compared: mostly in the files that break them."""
    broken = [each for use in few for each in matching.of_use(use)]
    paths = {each.upstream.path for each in broken}
    near = [each for each in files if "abstractmethod" in (each.patch or "abstractmethod") or paths & {*each.paths}]
    found = _of_files(near, matching)
    return found if all(each in found for each in broken) else _of_files(files, matching)


def _proven(impact: Impact, after: Upstream, changed: Collection[str]) -> Impact:
    """Return an impact without an advice that does not resolve, and without lines of a file that the commit leaves as it is."""
    advice = impact.advice if _resolves(impact.advice, after) else None
    quoted = {} if impact.upstream.path in changed else {"before": None, "after": None}
    return impact.model_copy(update={"advice": advice, "upstream": impact.upstream.model_copy(update=quoted)})


def _resolves(advice: str | None, after: Upstream) -> bool:
    """Return whether upstream has after the commit all that an advice imports, as far as that is known."""
    tree = parse_module(advice or "")
    return not any(
        after.find((*str(node.module).split("."), each.name)).presence in ABSENT
        for node in (tree.body if tree else ())
        if isinstance(node, ast.ImportFrom) and not node.level
        for each in node.names
    )


def changes_imported_modules(commit: Commit, index: SurfaceIndex, roots: Mapping[str, str]) -> bool:
    """Return whether a commit changes a Python file from which the code of a surface imports. `roots` are as for `impacts`."""
    paths = (path for file in commit.files for path in (file.path, file.previous_path) if path and path.endswith(".py"))
    return any(
        tuple(module_path(path.removeprefix(folder).strip("/")).split("/")) in index.modules
        for path in paths
        for folder in roots.values()
        if path.startswith(folder)
    )


def worst_first(found: Iterable[Impact], index: SurfaceIndex) -> tuple[Impact, ...]:
    """Return each impact once, what is proven first, and of that the places in the order of `SurfaceIndex.rank`.

    Of a name that a file can no longer import, nothing else there is told.
    """
    unique: dict[object, Impact] = {}
    for each in found:
        unique.setdefault((each.downstream.path, each.downstream.line, each.name, each.cause, each.subjects), each)
    imported = {(each.downstream.path, each.name) for each in unique.values() if each.kind is ImpactKind.IMPORT}
    kept = [
        each
        for each in unique.values()
        # What is imported at the top of a file fails there.
        if each.kind is ImpactKind.IMPORT or (each.downstream.path, each.name) not in imported
    ]
    return tuple(
        sorted(
            _with_whole_imports(kept),
            key=lambda each: (each.certainty is not Certainty.PROVEN, index.rank(each.downstream.path)),
        )
    )


def _with_whole_imports(found: Sequence[Impact]) -> Iterator[Impact]:
    """Yield impacts with one advice for each line that imports several of their names."""
    lines: dict[tuple[str, int], list[Impact]] = {}
    for each in found:
        if each.kind is ImpactKind.IMPORT:
            lines.setdefault((each.downstream.path, each.downstream.line), []).append(each)
    for each in found:
        alike = lines.get((each.downstream.path, each.downstream.line), []) if each.kind is ImpactKind.IMPORT else []
        if len(alike) > 1:
            renamed = [(other.name, other.new) for other in alike if other.new]
            whole = import_advice(each.downstream.code, renamed) if len(renamed) == len(alike) else None
            yield each.model_copy(update={"advice": whole})
        else:
            yield each
