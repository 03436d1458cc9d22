"""Python modules as they are imported, and those that a commit's names move to."""

import re
from collections.abc import Iterator

from analysis.diff import changed_lines
from analysis.facts.change import Change, is_public, old_path
from analysis.facts.whole_files.module import Import
from analysis.models import Fact, FactKind, FileChange

_SOURCE_ROOT = re.compile(r"^(?:src|lib|python)/")  # what packages are installed from
_CODE = re.compile(r"^[ \t]*([^\s#].*)", re.MULTILINE)


def moved_modules(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield the fact that a Python module's import path changed."""
    old = old_path(file)
    is_named = old.endswith(".py") and not old.endswith("/__init__.py")  # for empty files the renaming is a guess
    if file.status != "renamed" or not is_named or module_path(file.path) == module_path(old) or not is_public(file):
        return
    texts = change.read_before(old), change.read_after(file.path)
    before, after = (frozenset(_CODE.findall(each or "")) for each in texts)
    if None not in texts and 2 * len(before & after) < max(len(before), 1):
        return  # of a short file git may have compared the comments
    if not any(each.path == old and each.status != "removed" for each in change.commit.files):
        yield Fact(kind=FactKind.MOVED_MODULE, name=old, path=file.path, new=file.path)


def new_location(change: Change, file: FileChange, name: str) -> str | None:
    """Return the place ("path:line") of the only other module in which the commit defines `name`, else None."""
    places = []
    for other in change.modules_by_added_name.get(name, ()):
        sides = change.sides(other) if other is not file else None
        module = sides.after.module(other.path) if sides else None
        member = module.members.get(name) if module else None
        defined = member.line if member and not isinstance(member, Import) else None
        places += [f"{other.path}:{line.new}" for line in changed_lines(other, "+") if line.new == defined]
    return places[0] if len(places) == 1 else None


def module_path(path: str) -> str:
    """Return what a module is imported as: its path without suffix and source folder, the same for a file and a package."""
    return _SOURCE_ROOT.sub("", path.removesuffix(".py").removesuffix("/__init__"))
