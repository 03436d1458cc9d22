"""Facts that a commit proves, each with the file and line that prove it."""

from collections.abc import Iterable, Iterator
from enum import StrEnum

from analysis.models.frozen import Frozen


class FactKind(StrEnum):
    """The kinds of facts, in the order of interest to readers.

    The values are part of the store and of the JSON report.
    """

    REMOVED_ENV = "removed environment variable"
    RENAMED_ENV = "renamed environment variable"
    REMOVED_FLAG = "removed flag"
    RENAMED_FLAG = "renamed flag"
    REMOVED_KEY = "removed configuration key"
    RENAMED_KEY = "renamed configuration key"
    REMOVED_ROUTE = "removed HTTP route"
    RENAMED_ROUTE = "renamed HTTP route"
    REMOVED_METRIC = "removed metric"
    RENAMED_METRIC = "renamed metric"
    REMOVED_FIELD = "removed API field"
    RENAMED_FIELD = "renamed API field"
    REQUIRED_FIELD = "new required API field"
    VALUES_DROPPED = "values no longer accepted"
    SUPPORT_DROPPED = "dropped support"
    ENTRY_RENAMED = "renamed registry entry"
    MINIMUM_RAISED = "raised minimum version"
    REMOVED_NAME = "removed public name"
    RENAMED_NAME = "renamed public name"
    MOVED_NAME = "moved public name"
    MOVED_MODULE = "moved module"
    REMOVED_METHOD = "removed method"
    RENAMED_METHOD = "renamed method"
    REMOVED_ATTRIBUTE = "removed attribute"
    MEMBER_KIND = "changed kind of member"
    RETURNED_VALUES = "changed number of returned values"
    REMOVED_BASE = "removed base class"
    REMOVED_PARAMETER = "removed parameter"
    RENAMED_PARAMETER = "renamed parameter"
    REQUIRED_PARAMETER = "new required parameter"
    MOVED_PARAMETER = "moved parameter"
    PARAMETER_KIND = "changed kind of parameter"
    ADDED_PARAMETER = "new parameter of an interface"
    REQUIRED_METHOD = "new abstract method"
    RETYPED = "changed type"
    DEFAULT_CHANGED = "changed default"
    SETTING_ON = "new setting that is on"
    VALUES_ADDED = "newly accepted values"
    NEW_SETTING = "new setting"
    NEW_METHOD = "new method of a base class"
    CONDITIONAL_DEFAULT = "conditional default"
    DEPRECATED = "deprecated name"
    DEPENDENCY_ADDED = "added dependency"
    DEPENDENCY_REMOVED = "removed dependency"
    DEPENDENCY_MOVED = "moved dependency"
    EXTRA_ADDED = "added optional dependency"
    EXTRA_REMOVED = "removed optional dependency"
    EXTRA_MOVED = "moved optional dependency"
    FILE_DELETED = "deleted source file"
    TEST_REMOVED = "removed or skipped test"
    CONCURRENCY = "concurrency touched"
    MEMORY = "memory ownership touched"
    SECURITY = "security-relevant"
    REVERT = "revert"
    LAYOUT = "only layout"


# Kinds that everybody who runs the project or calls it over HTTP can meet.
OPERATIONAL = frozenset(
    {
        FactKind.REMOVED_ENV,
        FactKind.RENAMED_ENV,
        FactKind.REMOVED_FLAG,
        FactKind.RENAMED_FLAG,
        FactKind.REMOVED_KEY,
        FactKind.RENAMED_KEY,
        FactKind.REMOVED_ROUTE,
        FactKind.RENAMED_ROUTE,
        FactKind.REMOVED_METRIC,
        FactKind.RENAMED_METRIC,
        FactKind.REMOVED_FIELD,
        FactKind.RENAMED_FIELD,
        FactKind.REQUIRED_FIELD,
        FactKind.VALUES_DROPPED,
        FactKind.SUPPORT_DROPPED,
        FactKind.ENTRY_RENAMED,
    }
)
DEPENDENCIES = frozenset(
    {
        FactKind.MINIMUM_RAISED,
        FactKind.DEPENDENCY_ADDED,
        FactKind.DEPENDENCY_REMOVED,
        FactKind.DEPENDENCY_MOVED,
    }
)
EXTRAS = frozenset({FactKind.EXTRA_ADDED, FactKind.EXTRA_REMOVED, FactKind.EXTRA_MOVED})
BREAKING = OPERATIONAL | frozenset(
    {
        FactKind.MINIMUM_RAISED,
        FactKind.REMOVED_NAME,
        FactKind.RENAMED_NAME,
        FactKind.MOVED_NAME,
        FactKind.MOVED_MODULE,
        FactKind.REMOVED_METHOD,
        FactKind.RENAMED_METHOD,
        FactKind.REMOVED_ATTRIBUTE,
        FactKind.MEMBER_KIND,
        FactKind.RETURNED_VALUES,
        FactKind.REMOVED_BASE,
        FactKind.REMOVED_PARAMETER,
        FactKind.RENAMED_PARAMETER,
        FactKind.REQUIRED_PARAMETER,
        FactKind.MOVED_PARAMETER,
        FactKind.PARAMETER_KIND,
        FactKind.ADDED_PARAMETER,
        FactKind.REQUIRED_METHOD,
    }
)


class Proof(StrEnum):
    """What proved a fact: the patch alone, or the whole files before and after. The values are part of the store."""

    PATCH = "patch"
    FILES = "files"


# Removed from one file, though another may still define it: a module's name, a server's route, a command's flag.
_FILE_SCOPED = frozenset({FactKind.REMOVED_NAME, FactKind.REMOVED_ROUTE, FactKind.REMOVED_FLAG})
_NEW_REQUIREMENTS = frozenset(
    {
        FactKind.MINIMUM_RAISED,
        FactKind.REQUIRED_FIELD,
        FactKind.REQUIRED_PARAMETER,
        FactKind.MOVED_PARAMETER,
        FactKind.PARAMETER_KIND,
        FactKind.ADDED_PARAMETER,
        FactKind.REQUIRED_METHOD,
    }
)


def by_kind(facts: Iterable["Fact"]) -> Iterator[tuple[FactKind, list["Fact"]]]:
    """Yield each kind that occurs with its facts, in the order of `FactKind`."""
    groups: dict[FactKind, list[Fact]] = {}
    for fact in facts:
        groups.setdefault(fact.kind, []).append(fact)
    if groups:
        yield from ((kind, groups[kind]) for kind in FactKind if kind in groups)


class Fact(Frozen):
    """A fact that the commit proves: what happened to `name`, and where.

    The `line` of a removed name is in the old file. `until` is the version that removes a deprecated one. A method that
    the commit shows in several classes is `overridden`: others may define it, too.
    """

    kind: FactKind
    name: str
    path: str | None = None
    line: int | None = None
    old: str | None = None
    new: str | None = None
    until: str | None = None
    proof: Proof = Proof.PATCH
    overridden: bool = False

    @property
    def breaking(self) -> bool:
        return self.kind in BREAKING

    @property
    def removes(self) -> bool:
        """Whether it breaks by removing something, rather than by requiring something."""
        return self.breaking and self.kind not in _NEW_REQUIREMENTS

    @property
    def removed_from(self) -> str | None:
        """The file it was removed from, if another file may still define it."""
        return self.path if self.kind in _FILE_SCOPED else None

    @property
    def place(self) -> str:
        if self.path is None:
            return ""
        return self.path if self.line is None else f"{self.path}:{self.line}"
