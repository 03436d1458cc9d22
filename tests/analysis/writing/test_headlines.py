"""Commits in one line, what replaces what they remove, and what their titles say."""

import pytest

from analysis.locale import catalogue
from analysis.models import Analysis, Entry, Fact, FactKind, Importance, Language, Ranked
from analysis.report.highlights import by_reach
from analysis.writing.headlines import feature_line, headline
from analysis.writing.replacements import replacement
from analysis.writing.titles import added_feature, concerned_parts, plain_title
from tests.factories import commit, file, patch


def entry(title: str = "Do it", tier: Importance = Importance.MEDIUM, advice: tuple[str, ...] = ()) -> Entry:
    analysis = Analysis(by="model", summary="It does.", advice=advice) if advice else None
    return Entry(commit=commit(title), ranked=Ranked(score=0, importance=tier), analysis=analysis)


def fact(kind: FactKind, name: str, old: str | None = None, new: str | None = None) -> Fact:
    return Fact(kind=kind, name=name, path="src/engine/core/__init__.py", line=3, old=old, new=new)


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        ([fact(FactKind.REMOVED_NAME, "take")], "Removes `take` from `engine.core`"),
        (
            [fact(FactKind.REMOVED_PARAMETER, "A.__init__(x)"), fact(FactKind.REQUIRED_PARAMETER, "A.__init__(y)")],
            "`A()` takes `y` instead of `x`",
        ),
        ([fact(FactKind.REMOVED_PARAMETER, f"f({n})") for n in "abcd"], "`f()` no longer takes `a`, `b` and 2 more"),
        ([fact(FactKind.REQUIRED_PARAMETER, "f(a)")], "`f()` now requires `a`"),
        ([fact(FactKind.MOVED_NAME, "take", "a.py:1", "b/c.py:7")], "Moves `take` to `b.c`"),
        ([fact(FactKind.MOVED_MODULE, "a/b.py", None, "a/c.py")], "Moves `a.b` to `a.c`"),
        (
            [fact(FactKind.DEFAULT_CHANGED, "--graph", "True", "False")],
            "`--graph` now defaults to `False`; to keep the old behaviour, pass `--graph`",
        ),
        (
            [fact(FactKind.REMOVED_ENV, "ENGINE_A"), fact(FactKind.REMOVED_FLAG, "--b")],
            "Removes environment variable `ENGINE_A`; removes command-line flag `--b`",
        ),
        (
            [fact(FactKind.DEPRECATED, "--graph", None, "--plan").model_copy(update={"until": "v0.15"})],
            "Deprecates `--graph`, to be removed in v0.15; use `--plan` instead",
        ),
        (
            [fact(FactKind.DEPRECATED, "a_size", None, "size"), fact(FactKind.DEPRECATED, "b_size", None, "width")],
            "Deprecates `a_size`, `b_size`",
        ),
        ([fact(FactKind.SECURITY, "CVE-2026-1")], "Security: Do it"),
    ],
)
def test_facts_are_told_by_what_changes_for_others(facts: list[Fact], line: str) -> None:
    """A line names what is gone, what is needed and what to set, without counts of lines."""
    assert headline(entry(), facts, "en") == line


def test_a_line_ends_where_it_gets_long() -> None:
    """What does not fit is counted."""
    facts = [fact(FactKind.REMOVED_ENV, "ENGINE_" + "A" * 70), fact(FactKind.REMOVED_FLAG, "--" + "b" * 60)]
    assert headline(entry(), facts, "en").endswith("A`, and 1 more removal")
    assert headline(entry(), facts, "zh").endswith("A`，另有 1 处移除")


def test_what_does_not_fit_is_counted_by_sort() -> None:
    """A reader learns what the other changes are if they are of one sort, and in how many files."""
    kinds = (FactKind.REMOVED_METHOD, FactKind.REMOVED_METHOD, FactKind.MOVED_NAME, FactKind.REQUIRED_METHOD)
    others = [fact(kind, f"Pool.take{n}") for n, kind in enumerate(kinds)]
    elsewhere = others[-1].model_copy(update={"path": "src/engine/pool.py"})
    line = headline(entry(), [fact(FactKind.REMOVED_ENV, "ENGINE_" + "A" * 70), *others[:3], elsewhere], "en")
    assert line.endswith("A`, and 4 more changes in 2 files")
    assert headline(entry(), [fact(FactKind.REMOVED_ENV, "ENGINE_" + "A" * 70), *others[:2]], "en").endswith(
        "2 more removals"
    )


@pytest.mark.parametrize(
    ("path", "others", "line"),
    [
        ("requirements/cpu.txt", (), "Adds the dependency `heron` (`>=1.2`) in `requirements/cpu.txt`"),
        ("requirements/cpu.txt", ("requirements/test.txt",), "Adds the dependency `heron` (`>=1.2`) in `requirements/cpu.txt`"),
        ("requirements/cpu.txt", ("requirements/cuda.txt",), "Adds the dependency `heron` (`>=1.2`)"),
        ("requirements/common.txt", (), "Adds the dependency `heron` (`>=1.2`)"),
        ("pyproject.toml", (), "Adds the dependency `heron` (`>=1.2`)"),
    ],
)  # fmt: skip
def test_a_platforms_requirement_is_told_with_its_file(path: str, others: tuple[str, ...], line: str) -> None:
    """A dependency that changes in one requirements file does not change for everybody."""
    made = commit("Need it", [file(each, patch("+heron>=1.2")) for each in (path, *others)])
    added = Fact(kind=FactKind.DEPENDENCY_ADDED, name="heron", path=path, line=1, new=">=1.2")
    assert headline(entry().model_copy(update={"commit": made}), [added], "en") == line


@pytest.mark.parametrize(
    ("title", "tier", "advice", "line"),
    [
        ("[Core][KV Connector] Keep blocks (#7)", Importance.HIGH, (), "Keep blocks (KV Connector)"),
        ("[2/N] fix: hang at exit", Importance.MEDIUM, (), "Fix: hang at exit"),
        ("Keep blocks", Importance.HIGH, ("Set `x`.",), "Keep blocks; Set `x`."),
        ("Keep blocks", Importance.MEDIUM, ("Set `x`.",), "Keep blocks"),
    ],
)
def test_without_facts_the_title_tells(title: str, tier: Importance, advice: tuple[str, ...], line: str) -> None:
    """It stands without tags and number, with the part that it concerns; a high one with what a model advises."""
    assert headline(entry(title, tier, advice), (), "en") == line


@pytest.mark.parametrize(
    ("title", "plain", "parts", "added"),
    [
        ("[Model] Add support for Heron (#1)", "Add support for Heron", (), "Heron"),
        ("feat(scheduler): support fair queues", "Support fair queues", ("scheduler",), "Fair queues"),
        ("[XPU][Bugfix] Support of Eagle", "Support of Eagle", ("XPU",), "Eagle"),
        ("Remove the cache", "Remove the cache", (), ""),
    ],
)
def test_titles_are_read(title: str, plain: str, parts: tuple[str, ...], added: str) -> None:
    """Tags, numbers and verbs of adding are taken off; tags that name a part of the project are kept apart."""
    made = commit(title)
    assert (plain_title(made), concerned_parts(made), added_feature(made)) == (plain, parts, added)


@pytest.mark.parametrize(
    ("message", "instead"),
    [
        ("Replace `ENGINE_OLD` with `ENGINE_NEW`", "ENGINE_NEW"),
        ("x\n\nENGINE_OLD is replaced by `--new-flag`.", "--new-flag"),
        ("x\n\nRemoves ENGINE_OLD. Use `ENGINE_NEW` instead of ENGINE_OLD.", "ENGINE_NEW"),
        ("x\n\nENGINE_OLD is gone in favor of engine.new_option", "engine.new_option"),
        ("x\n\nENGINE_OLD is replaced by something better", ""),
        ("x\n\nENGINE_OLDER is replaced by `ENGINE_NEW`", ""),
        ("Remove ENGINE_OLD and add ENGINE_NEW", ""),
    ],
)
def test_a_removal_is_paired_with_what_the_author_says_replaces_it(message: str, instead: str) -> None:
    """The name is taken from a sentence that says so about exactly this name, or from nowhere."""
    assert replacement(commit(message), fact(FactKind.REMOVED_ENV, "ENGINE_OLD")) == instead


@pytest.mark.parametrize(
    ("path", "lines"),
    [
        ("CHANGELOG.md", ["+- `ENGINE_OLD` is replaced by `ENGINE_NEW`"]),
        ("engine/envs.py", ['-    warn("ENGINE_OLD is deprecated, use ENGINE_NEW instead")']),
        ("engine/envs.py", ['-    warn("ENGINE_OLD is deprecated; "', '-         "set ENGINE_NEW", stacklevel=2)']),
    ],
)
def test_a_changelog_and_a_deprecation_tell_the_replacement(path: str, lines: list[str]) -> None:
    """A new line of the changelog counts as the author's word, and so does the notice that goes with what it announced."""
    made = commit("Clean up", [file(path, patch(*lines))])
    gone = fact(FactKind.REMOVED_ENV, "ENGINE_OLD")
    assert replacement(made, gone) == "ENGINE_NEW"
    line = headline(entry().model_copy(update={"commit": made}), [gone], "en")
    assert line == "Removes environment variable `ENGINE_OLD`; use `ENGINE_NEW` instead"


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("kind", FactKind)
def test_every_kind_of_fact_has_a_line(kind: FactKind, language: Language) -> None:
    """No line leaves a blank unfilled."""
    line = headline(entry(), [fact(kind, "NAME", "1", "2")], language)
    assert line
    assert "{" not in line


@pytest.mark.parametrize(
    "lines",
    [
        ['-    old = env("ENGINE_OLD")', '-    warn("normalize is deprecated, use use_activation instead")'],
        ["-def ENGINE_OLD(self):", '-    """normalize is deprecated, use use_activation instead"""'],
    ],
)
def test_a_notice_about_another_name_tells_no_replacement(lines: list[str]) -> None:
    """A name in the code beside a deprecation notice is not what the notice is about."""
    made = commit("Clean up", [file("engine/envs.py", patch(*lines))])
    assert replacement(made, fact(FactKind.REMOVED_ENV, "ENGINE_OLD")) == ""


def test_functions_that_change_alike_are_told_together() -> None:
    """One clause names them all; a function that changes otherwise has its own."""
    alike = [fact(FactKind.REMOVED_PARAMETER, f"{name}(head)") for name in ("Pool.take", "Pool.give")]
    line = headline(entry(), [*alike, fact(FactKind.REQUIRED_PARAMETER, "Pool.keep(room)")], "en")
    assert line == "`Pool.take()`, `Pool.give()` no longer take `head`; `Pool.keep()` now requires `room`"


def test_a_deleted_module_is_told_as_one() -> None:
    """What is gone is the module, with the classes that it had first."""
    made = commit("Remove the pool", [file("src/engine/pool.py", patch("-class Pool:"), status="removed")])
    gone = [
        Fact(kind=FactKind.REMOVED_NAME, name=name, path="src/engine/pool.py", line=1)
        for name in ("SIZE", "Pool", "take")
    ]
    line = headline(entry().model_copy(update={"commit": made}), by_reach(gone), "en")
    assert line == "Removes the module `engine.pool` with `Pool`, `SIZE` and 1 more"


def test_a_dependency_that_had_no_limit_is_told_by_its_limit() -> None:
    """Nobody can act on what it was before."""
    moved = fact(FactKind.DEPENDENCY_MOVED, "heron").model_copy(update={"old": "*", "new": ">=1.2"})
    assert headline(entry(), [moved], "en") == "Now requires `heron>=1.2`"


@pytest.mark.parametrize(
    ("title", "line"),
    [
        ("[CPU] Support for Heron (#1)", "Heron (CPU)"),
        ("[Feat] Implement update_length for workers", "Implement update_length for workers"),
        ("Enable Heron on CPU", "Enable Heron on CPU"),
        ("Add back the opening session", "Add back the opening session"),
    ],
)
def test_a_feature_keeps_what_its_title_means(title: str, line: str) -> None:
    """Whom it concerns stays, and a verb after which another may follow."""
    assert feature_line(commit(title), catalogue("en")) == line
