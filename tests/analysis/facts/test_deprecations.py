"""Deprecations that a commit announces, with what replaces the name and the version that removes it."""

from collections.abc import Sequence

import pytest

from analysis.facts import facts
from analysis.models import Fact, FactKind, FileChange
from tests.analysis.facts.told import changed
from tests.analysis.facts.trees import commit_between, trees
from tests.factories import commit, new_file

WARNED = ["+    warnings.warn(", "+        {!r}", "+        {!r},", "+        DeprecationWarning,", "+    )"]


def announced(*files: FileChange) -> list[tuple[str, str | None, str | None]]:
    """(name, replacement, the version that removes it) of each deprecation."""
    return [told(fact) for fact in facts(commit(files=files)) if fact.kind is FactKind.DEPRECATED]


def told(fact: Fact) -> tuple[str, str | None, str | None]:
    return fact.name, fact.new, fact.until


def warned(first: str, second: str = "") -> FileChange:
    lines = [line.format(first if place == 1 else second) for place, line in enumerate(WARNED)]
    return changed("engine/pool.py", *lines, under="def take(pool):")


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("The 'drain' method is deprecated and will be", " removed in Engine 3.3.", ("drain", None, "Engine 3.3")),
        ("`--graph` is deprecated and will be removed", " in v0.15. Please use `--plan`.", ("--graph", "--plan", "v0.15")),
        ("ENGINE_OLD environment variable is deprecated.", " Set ENGINE_NEW.", ("ENGINE_OLD", "ENGINE_NEW", None)),
        ("Using pool.drain is deprecated", " in favor of `pool.empty()`", ("pool.drain", "pool.empty", None)),
        ("Passing max_size to Pool is deprecated.", "", ("max_size", None, None)),
        ("`drain` has been renamed to `empty`. The old", " name will be removed in v2.1", ("drain", "empty", "v2.1")),
    ],
)  # fmt: skip
def test_a_warning_names_what_is_deprecated(
    first: str, second: str, expected: tuple[str, str | None, str | None]
) -> None:
    """The name stands before the verb; a replacement and a version are told where the text has them."""
    assert announced(warned(first, second)) == [expected]


@pytest.mark.parametrize(
    ("path", "under", "lines", "expected"),
    [
        (
            "engine/pool.py",
            "",
            [" class Pool:", "     def take(self, size=None):", '+        warn("`size` is deprecated, use `count`")'],
            ("Pool.take(size)", "count", None),
        ),
        (
            "engine/pool.py",
            "class Pool:",
            ['+    @deprecated("Will be removed in v0.17. Use `empty` instead.")', "     def drain(self):"],
            ("Pool.drain", "empty", "v0.17"),
        ),
        (
            "engine/cli.py",
            "def make(parser):",
            ['+    parser.add_argument("--graph", help="Deprecated: use `--plan` instead")'],
            ("--graph", "--plan", None),
        ),
        (
            "engine/api.py",
            "class Request(BaseModel):",
            ['+    size: int = Field(1, deprecated="use `count`")'],
            ("Request.size", "count", None),
        ),
        (
            "engine/config.py",
            "class PoolConfig:",
            ["     size: int = 1", '+    """Deprecated in v0.2. Use max_size instead. Will be removed in v0.3."""'],
            ("PoolConfig.size", "max_size", "v0.3"),
        ),
    ],
)
def test_marks_and_descriptions_deprecate(
    path: str, under: str, lines: Sequence[str], expected: tuple[str, str | None, str | None]
) -> None:
    """Decorators, help texts and described fields announce it as well; a parameter has its function."""
    assert announced(changed(path, *lines, under=under)) == [expected]


@pytest.mark.parametrize(
    "change",
    [
        warned("This function is deprecated"),
        warned("%s is deprecated and will be removed", " in v0.15"),
        warned("{old_name} is deprecated"),
        warned("Passing EngineRequest to Engine.add() is deprecated"),
        warned("`drain` is empty because the pool is deprecated"),
        changed("engine/cli.py", '+    p.add_argument("--all", help="Allow deprecated methods")'),
        changed("engine/pool.py", '+    log("`drain` is deprecated")'),
        changed(
            "engine/pool.py", '-    warn("`drain` is deprecated")', '+    warn("`drain` is deprecated, use `empty`")'
        ),
        changed("tests/pool.py", '+    warn("`drain` is deprecated")'),
    ],
)
def test_what_names_nothing_new_is_no_announcement(change: FileChange) -> None:
    """Placeholders, words, the class of an argument, other subjects, tests, and what was deprecated before."""
    assert announced(change) == []


def test_what_the_file_already_called_deprecated_is_no_news() -> None:
    """A second warning about a name repeats the first."""
    notice = 'def {}():\n    warn("`drain` is deprecated")\n'
    before = {"engine/pool.py": notice.format("one")}
    after = {"engine/pool.py": notice.format("one") + notice.format("two")}
    made = commit_between(before, after)
    assert [fact for fact in facts(made, trees(before, after)) if fact.kind is FactKind.DEPRECATED] == []


@pytest.mark.parametrize(("name", "expected"), [("drain", []), ("engine.old.pool", ["engine.old.pool"])])
def test_what_a_new_file_warns_of_came_with_it(name: str, expected: list[str]) -> None:
    """A copied file announces nothing but that it is itself deprecated, as the old place of a module does."""
    made = new_file("engine/old/pool.py", "def take():", f'    warn("`{name}` is deprecated")')
    assert [each[0] for each in announced(made)] == expected
