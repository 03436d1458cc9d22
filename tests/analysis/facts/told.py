"""Facts of small invented diffs, as (name, old, new)."""

from collections.abc import Sequence

from analysis.facts import facts
from analysis.models import FactKind, FileChange
from tests.factories import commit, file, patch

Told = tuple[str, str | None, str | None]


def told(
    kind: FactKind, *files: FileChange, title: str = "Do it", body: str = "", pull: str | None = None
) -> list[Told]:
    """(name, old, new) of the facts of one kind."""
    found = facts(commit(title, files, body=body, pull=pull))
    return [(fact.name, fact.old, fact.new) for fact in found if fact.kind is kind]


def names(kind: FactKind, *files: FileChange) -> list[str]:
    return [name for name, _, _ in told(kind, *files)]


def breaking(*files: FileChange, title: str = "Do it") -> list[tuple[str, str]]:
    """(kind, name) of every fact that breaks those downstream."""
    return [(fact.kind.value, fact.name) for fact in facts(commit(title, files)) if fact.breaking]


def changed(path: str, *lines: str, under: str = "", at: int = 40) -> FileChange:
    """A file changed in one hunk; `under` is the line that git shows above it."""
    text = patch(*lines, old=at, new=at)
    head, _, rest = text.partition("\n")
    return file(path, f"{head} {under}\n{rest}" if under else text)


def module(lines: Sequence[str], under: str = "") -> FileChange:
    return changed("engine/core.py", *lines, under=under)
