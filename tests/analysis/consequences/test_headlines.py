"""Headlines: the first consequence of a commit in one line, what replaces what it removes, and what titles say."""

from collections.abc import Sequence

import pytest

from analysis.consequences import consequences, headline, title_line
from analysis.consequences.names import LENGTH
from analysis.locale import catalogue
from analysis.models import Analysis, ChangeType, Concern, Entry, Fact, FactKind, Importance, Language, Ranked
from analysis.models.consequences import Effect, Whom
from analysis.writing.replacements import replacement
from analysis.writing.titles import added_feature, concerned_parts, plain_title
from tests.factories import commit, file, patch


def entry(title: str = "Do it", tier: Importance = Importance.MEDIUM, *types: ChangeType) -> Entry:
    ranked = Ranked(score=0, importance=tier, change_types=types or (ChangeType.OTHER,))
    return Entry(commit=commit(title, [file("src/engine/core.py")]), ranked=ranked)


def fact(kind: FactKind, name: str, old: str | None = None, new: str | None = None) -> Fact:
    return Fact(kind=kind, name=name, path="src/engine/core/__init__.py", line=3, old=old, new=new)


LOST_SIZE = [
    Fact(kind=FactKind.REMOVED_PARAMETER, name=f"{name}.__init__(size)", path=f"{path}.py")
    for name, path in (("Pool", "src/core"), ("A", "models/a"), ("B", "models/a"), ("C", "models/a"))
]
NEW_PAGES = [fact(FactKind.ADDED_PARAMETER, f"{'Long' * 4}{n}.propose(pages)") for n in ("Pool", "Queue")]


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        ([fact(FactKind.REMOVED_NAME, "take")], "Removes `take` from `engine.core`"),
        ([fact(FactKind.REMOVED_NAME, n) for n in "abcdef"], "Removes `a`, `b`, `c`, `d`, `e` and `f` from `engine.core`"),
        (
            [fact(FactKind.REMOVED_PARAMETER, "A.__init__(x)"), fact(FactKind.REQUIRED_PARAMETER, "A.__init__(y)")],
            "`A()` takes `y` instead of `x`",
        ),
        (
            [fact(FactKind.REMOVED_PARAMETER, f"{n}(head)") for n in ("Pool.take", "Pool.give")],
            "`Pool.take()` and `Pool.give()` no longer take `head`",
        ),
        (
            [fact(FactKind.ADDED_PARAMETER, "f(b)"), fact(FactKind.MOVED_PARAMETER, "f(a)", None, "f(b, a)")],
            "Inserts `b` before `a` in `f()`",
        ),
        (
            [fact(FactKind.RENAMED_PARAMETER, f"A.__init__({n})", None, f"new_{n}") for n in "ab"]
            + [fact(FactKind.REMOVED_PARAMETER, "A.take(c)")],
            "Renames `a` to `new_a`, `b` to `new_b` in `A()`; `A.take()` no longer takes `c`",
        ),
        (
            [fact(FactKind.RENAMED_PARAMETER, f"{'Pool' * 12}.take(size_of_it)", None, "capacity_of_it")],
            "Renames `size_of_it` to `capacity_of_it` in `take()`",
        ),
        (
            [fact(FactKind.REQUIRED_PARAMETER, f"A.__init__({n}_{'long' * 5})") for n in "abcde"],
            f"`A()` now requires `a_{'long' * 5}`, `b_{'long' * 5}` and 3 more",
        ),
        ([fact(FactKind.RENAMED_METHOD, f"Pool.{n}", None, f"Pool.{n}{n}") for n in "ab"], "Renames methods `Pool.a` to `Pool.aa`, `Pool.b` to `Pool.bb`"),
        (
            [fact(FactKind.REMOVED_METHOD, f"{owner}.fits") for owner in ("Pass", "Base")],
            "Removes method `fits` of `Pass` and `Base`",
        ),
        ([fact(FactKind.MOVED_NAME, "take", "a.py:1", "b/c.py:7")], "Moves `take` to `b.c`"),
        ([fact(FactKind.MOVED_MODULE, "a/b.py", None, "a/c.py")], "Moves `a.b` to `a.c`"),
        (
            [fact(FactKind.MOVED_MODULE, f"src/pkg/layers/{n}/x.py", None, f"pkg/{n}.py") for n in "abcdefghi"],
            "Moves 9 modules of `pkg.layers`",
        ),
        (
            [fact(FactKind.MOVED_MODULE, f"package/long_folder/{name}.py", None, "b/c.py") for name in ("chat_of_servers", "engine_of_servers")],
            "Moves modules `chat_of_servers` and `engine_of_servers` of `package.long_folder` to `b.c`",
        ),
        ([fact(FactKind.MOVED_MODULE, f"a/{n}.py", None, f"a/b/{n}.py") for n in ("queue_of_pages", "queue")], "Moves modules `a.queue_of_pages` and `a.queue` to `a.b`"),
        ([fact(FactKind.MOVED_MODULE, f"a/{n}.py", None, f"a/{n}/{n}.py") for n in "xy"], "Moves modules `a.x` and `a.y`"),
        ([fact(FactKind.MOVED_MODULE, f"a/{n}/old.py", None, f"a/{n}/new.py") for n in "xy"], "Renames modules `old` to `new`"),
        ([fact(FactKind.MOVED_NAME, "Pool", None, f"a/{'long_folder/' * 8}c.py:3")], "Moves `Pool` to `…." + "long_folder." * 6 + "c`"),
        ([Fact(kind=FactKind.REVERT, name="[Pools] " + "Add fair pools " * 6)], "Reverts “Add fair pools Add fair pools Add fair pools Add fair pools Add fair poo...”"),
        (
            [
                *(fact(FactKind.REMOVED_PARAMETER, f"{f}({n}_of_all_the_pages_there)") for f in ("take_all", "give_all") for n in "abcde"),
                *(fact(FactKind.REQUIRED_PARAMETER, f"{f}(all_that_they_selected)") for f in ("take_all", "give_all")),
            ],
            "`take_all()` and `give_all()` take `all_that_they_selected` instead of 5 parameters",
        ),
        (
            [
                fact(FactKind.RENAMED_PARAMETER, f"A.__init__({old}_{'long' * 9})", None, f"{new}_{'long' * 9}")
                for old, new in (("a", "b"), ("c", "d"))
            ],
            "Changes 2 parameters of `A()`",
        ),
        ([fact(FactKind.REMOVED_METHOD, "BasePool.take"), *LOST_SIZE], "`Pool()`, `A()`, `B()` and `C()` no longer take `size`"),
        ([*NEW_PAGES, fact(FactKind.REQUIRED_PARAMETER, "Context.__init__(pages_of_it)")], "Adds `pages` to `propose()`; `Context()` now requires `pages_of_it`"),
        ([fact(FactKind.NEW_SETTING, "--size", None, "4")], "Adds `--size` (default `4`)"),
        ([fact(FactKind.PARAMETER_KIND, f"{n}(size)", None, f"{n}(*, size)") for n in ("take", "give")], "`take()` and `give()` take `size` by name alone"),
        ([fact(FactKind.PARAMETER_KIND, "take(size)", None, "take(size, /)")], "`take()` takes `size` by position alone"),
        ([fact(FactKind.DEFAULT_CHANGED, "--graph", "True", "False")], "`--graph` now defaults to `False` (was `True`)"),
        (
            [fact(FactKind.DEFAULT_CHANGED, f"{n}.__init__(size)", "1", "2") for n in ("Pool", "Base")],
            "`size` of `Pool()` and `Base()` now defaults to `2` (was `1`)",
        ),
        (
            [fact(FactKind.RETURNED_VALUES, f"{'Pool' * 9}.take_all_the_pages_{n}", "2", "3") for n in "abc"],
            "Changes how many values come back from `take_all_the_pages_a` and others",
        ),
        ([fact(FactKind.RENAMED_PARAMETER, "Pool.take(size)", None, "count"), fact(FactKind.ADDED_PARAMETER, "give(page)")], "Renames `size` to `count` in `Pool.take()`; adds `page` to `give()`"),
        ([fact(FactKind.REMOVED_ENV, "ENGINE_A"), fact(FactKind.REMOVED_FLAG, "--b")], "Removes environment variable `ENGINE_A`"),
        ([fact(FactKind.REMOVED_KEY, f"Pool.{n}") for n in ("a", "b")], "Removes configuration keys `Pool.a` and `Pool.b`"),
        (
            [fact(FactKind.REMOVED_METHOD, f"{'Pool' * 9}.{n}") for n in ("take", "give", "keep")],
            f"Removes methods `take`, `give` and `keep` of `{'Pool' * 9}`",
        ),
        (
            [fact(FactKind.REQUIRED_PARAMETER, "f(a)"), fact(FactKind.REQUIRED_PARAMETER, "g(b)")],
            "`f()` now requires `a`; `g()` now requires `b`",
        ),
        ([fact(FactKind.REMOVED_BASE, "Pool(Heron)")], "`Pool` no longer inherits from `Heron`"),
        ([fact(FactKind.REMOVED_BASE, "Pool(Protocol)")], "`Pool` is no longer a protocol: implementations must inherit from it"),
        ([fact(FactKind.MEMBER_KIND, "Pool.size", None, "property")], "`Pool.size` is now a property, not a method"),
        ([fact(FactKind.MEMBER_KIND, "Pool.size", "method", "attribute")], "`Pool.size` is now an attribute, not a method"),
        ([fact(FactKind.MEMBER_KIND, "Pool.size", "attribute", "method")], "`Pool.size` is now a method, not an attribute"),
        ([fact(FactKind.VALUES_DROPPED, "POOL_MODE", "a, b", "c")], "`POOL_MODE` accepts `c`, no longer `a` and `b`"),
        ([fact(FactKind.VALUES_DROPPED, "--mode", "a")], "`--mode` no longer accepts `a`"),
        (
            [fact(FactKind.VALUES_ADDED, f"PoolConfig.{n}", None, "a") for n in ("mode", "kind")],
            "`PoolConfig.mode` and `PoolConfig.kind` also accept `a`",
        ),
        ([fact(FactKind.NEW_SETTING, n) for n in ("--size", "/v1/pools")], "Adds `--size` and `/v1/pools`"),
        (
            [fact(FactKind.REMOVED_NAME, "take"), *(fact(FactKind.REMOVED_METHOD, f"{n}.fits") for n in ("Pass", "Base"))],
            "Removes method `fits` of `Pass` and `Base`",
        ),
        ([fact(FactKind.RETURNED_VALUES, "Pool.take", "2", "1")], "`Pool.take()` now returns one value instead of 2"),
        ([fact(FactKind.RETYPED, "Pool.take(return)", "list[int]", "Tensor")], "`Pool.take()` now returns `Tensor` (was `list[int]`)"),
        ([fact(FactKind.REMOVED_NAME, n) for n in ("POOL_SIZE", "take", "Pool")], "Removes `Pool`, `take` and `POOL_SIZE` from `engine.core`"),
        ([fact(FactKind.ENTRY_RENAMED, "heron", "Pools.heron", "herons")], "Renames `heron` of `Pools` to `herons`"),
        (
            [fact(FactKind.DEPRECATED, "--graph", None, "--plan").model_copy(update={"until": "v0.15"})],
            "Deprecates `--graph`, to be removed in v0.15; use `--plan` instead",
        ),
        (
            [fact(FactKind.DEPRECATED, "a_size", None, "size"), fact(FactKind.DEPRECATED, "b_size", None, "width")],
            "Deprecates `a_size` (now `size`) and `b_size` (now `width`)",
        ),
        ([Fact(kind=FactKind.DEPENDENCY_MOVED, name="heron", old="==1.1", new="==1.2")], "Now requires `heron==1.2` (was `==1.1`)"),
        ([Fact(kind=FactKind.MINIMUM_RAISED, name="requires-python", old="3.9", new="3.10")], "Now requires `Python 3.10` (was `3.9`)"),
        ([Fact(kind=FactKind.SECURITY, name="CVE-2026-1")], "Security: Do it"),
        ([Fact(kind=FactKind.REVERT, name="[Core] Add pools (#3…")], "Reverts “[Core] Add pools”"),
        ([Fact(kind=FactKind.REVERT, name='Revert "Add pools"')], "Lands “Add pools” again"),
    ],
)  # fmt: skip
def test_facts_are_told_by_what_changes_for_others(facts: list[Fact], line: str) -> None:
    """A line names what is gone, what is needed and what is set, and counts what is many by what it has in common."""
    assert headline(entry(), "en", facts) == line


@pytest.mark.parametrize(
    ("title", "facts", "line"),
    [
        ("[Core] Remove LoRA bias (#7)", "--bias --rank", "Remove LoRA bias (`--bias`, `--rank`)"),
        ("Remove the pool", "--pool", "Removes flag `--pool`"),
        ("Remove `--pool` and all", "--pool --size", "Remove `--pool` and all"),
        ("Use fair queues by default", "--queue --size", "Use fair queues by default (`--queue`, `--size`)"),
        ("Remove the pool " + "and more of it " * 9, "--pool --size", "Remove the pool"),
    ],
)
def test_a_title_that_tells_the_whole_stands_before_its_parts(title: str, facts: str, line: str) -> None:
    """What a title says is removed or made the default says more than several names; they prove it."""
    flags = [fact(FactKind.REMOVED_FLAG, name) for name in facts.split()]
    assert headline(entry(title), "en", flags).startswith(line)


@pytest.mark.parametrize(
    ("title", "told"),
    [
        ("Deprecate `pool_size`", ["Removes `take` from `engine.core`", "Deprecate `pool_size`"]),
        ("Fix the colour", ["Removes `take` from `engine.core`", "Fix the colour"]),
        ("Support fair queues", ["Removes `take` from `engine.core`", "Support fair queues"]),
        ("Support it for take", ["Removes `take` from `engine.core`"]),
        ("Tidy up the pool", ["Removes `take` from `engine.core`"]),
    ],
)
def test_a_title_tells_what_its_facts_do_not(title: str, told: list[str]) -> None:
    """What it adds or deprecates stands behind what breaks, unless it says the same by name; what explains nothing does not."""
    assert [each.what for each in consequences(entry(title), "en", [fact(FactKind.REMOVED_NAME, "take")])] == told


def test_a_conditional_default_is_told_with_its_value() -> None:
    """Without the title, which says when, what it is set to is what a reader has to know."""
    size, fair = (
        fact(FactKind.DEFAULT_CHANGED, "--size", "1", "2"),
        fact(FactKind.CONDITIONAL_DEFAULT, "PoolConfig.fair", None, "False"),
    )
    assert (
        consequences(entry(), "en", [size, fair])[1].what == "Sets `PoolConfig.fair` to `False` in some configurations"
    )
    assert headline(entry("Share pools by turns"), "en", [fair]) == "Share pools by turns (`PoolConfig.fair=False`)"


@pytest.mark.parametrize(
    ("lines", "zh", "en"),
    [
        (["-  def take(self):", "+  def take_all(self):", "-  pool.take()", "+  pool.take_all()"], "将方法 `Pool.take` 重命名为 `take_all`", "Renames method `Pool.take` to `take_all`"),
        (["-    a.take(1)", "+    a.give(1)"], "移除方法 `Pool.take`", "Removes method `Pool.take`"),
        (["-  a.take()", "-  b.take()", "+  a.give()", "+  b.keep()"], "移除方法 `Pool.take`", "Removes method `Pool.take`"),
    ],
)  # fmt: skip
def test_lines_that_differ_by_a_name_alone_prove_that_it_is_renamed(lines: list[str], zh: str, en: str) -> None:
    """Two with one other name do, or one whose name has the old one in it; several names do not."""
    made = entry().model_copy(update={"commit": commit("Do it", [file("src/engine/core.py", patch(*lines))])})
    gone = [fact(FactKind.REMOVED_METHOD, "Pool.take")]
    assert (headline(made, "zh", gone), headline(made, "en", gone)) == (zh, en)


def test_a_title_that_names_a_move_is_not_told_after_it() -> None:
    """The line already has both places."""
    made = entry().model_copy(update={"commit": commit("Move a.layers to b.layers", [file("b/layers/x.py")])})
    moved = [fact(FactKind.MOVED_MODULE, f"a/layers/{name}.py", None, f"b/layers/{name}.py") for name in "xyzuvwstq"]
    assert [each.what for each in consequences(made, "en", moved)] == ["Moves 9 modules of `a.layers` to `b.layers`"]


def test_a_title_leads_what_is_only_new_and_follows_what_is_required() -> None:
    """A method that a base class gained is what a change needed, not what it is; a new version seldom is all of it."""
    made = entry("Share pools among engines")
    new, needed = fact(FactKind.NEW_METHOD, "BasePool.close"), fact(FactKind.DEPENDENCY_MOVED, "heron", "==1", "==2")
    assert [each.what for each in consequences(made, "en", [new])] == [
        "Share pools among engines",
        "Adds method `BasePool.close`",
    ]
    assert [each.what for each in consequences(made, "en", [needed])][1:] == ["Share pools among engines"]


def test_one_change_is_told_once_with_what_takes_its_place() -> None:
    """What others of a commit's facts imply is not told; a new method and a platform are."""
    lost, kept = (fact(FactKind.REMOVED_ATTRIBUTE, name) for name in ("Pool.size", "Queue.kept"))
    taken, new = fact(FactKind.REMOVED_PARAMETER, "Queue.__init__(kept)"), fact(FactKind.NEW_METHOD, "Base.get_size")
    renamed = fact(FactKind.DEPRECATED, "PoolConfig.just", None, "fair")
    found = (lost, kept, taken, new, renamed, fact(FactKind.CONDITIONAL_DEFAULT, "PoolConfig.fair"))
    made = entry("[CPU] Tidy up").model_copy(update={"facts": found})
    assert [each.what for each in consequences(made, "en")][:3] == [
        "Deprecates `PoolConfig.just`; use `fair` instead (CPU)",
        "Removes attribute `Pool.size`; use `Base.get_size` instead",
        "`Queue()` no longer takes `kept`",
    ]


@pytest.mark.parametrize(
    ("title", "told"),
    [
        ("Add fair queues", ["Removes `take` from `engine.core`", "Add fair queues (`--fair`)"]),
        ("[Pools] Add fair queues", ["Removes `take` from `engine.core`", "Add fair queues (Pools, `--fair`)"]),
        ("Tidy up the queues", ["Removes `take` from `engine.core`", "Adds `--fair`"]),
        ("Add " + "fair queues " * 7, ["Removes `take` from `engine.core`", ("Add " + "fair queues " * 7).strip(), "Adds `--fair`"]),
    ],
)  # fmt: skip
def test_a_new_setting_is_told_with_the_title_that_explains_it(title: str, told: list[str]) -> None:
    """It stands behind what breaks, and by itself where the title explains nothing or has no room for it."""
    found = [fact(FactKind.NEW_SETTING, "--fair"), fact(FactKind.REMOVED_NAME, "take")]
    assert [each.what for each in consequences(entry(title), "en", found)] == told


@pytest.mark.parametrize(("line", "told"), [("-    keep()", []), ("-    keep_all()", ["Remove `keep_all`"])])
def test_a_title_that_the_diff_contradicts_is_no_headline(line: str, told: list[str]) -> None:
    """What it says is removed has to be in a changed line of the source."""
    made = entry("Remove `keep_all`", Importance.HIGH)
    changed = commit("Remove `keep_all`", [file("src/engine/core.py", patch(" def run():", line))])
    assert [each.what for each in consequences(made.model_copy(update={"commit": changed}), "en")] == told


def test_what_breaks_by_its_title_is_no_internal() -> None:
    """A private name that the title names is the headline; another one stands behind the title."""
    private = fact(FactKind.REMOVED_METHOD, "Pool._keep_pages")
    assert headline(entry("Let `_keep_pages` go"), "en", [private]) == "Removes method `Pool._keep_pages`"
    assert headline(entry("Let pages go", Importance.HIGH), "en", [private]) == "Let pages go"


def order_of(*facts: Fact) -> Sequence[tuple[Whom, Effect]]:
    return [(each.whom, each.effect) for each in consequences(entry(), "en", facts)]


def test_consequences_stand_by_whom_they_concern_then_by_what_they_do() -> None:
    """Users, operators, those who extend it, internals; and for each what breaks before what behaves differently."""
    kinds = [FactKind.CONCURRENCY, FactKind.REMOVED_NAME, FactKind.DEPENDENCY_REMOVED]
    found = [
        fact(kind, "take").model_copy(update={"path": "setup.py" if "DEP" in kind.name else "engine.py"})
        for kind in kinds
    ]
    assert order_of(*found, fact(FactKind.DEFAULT_CHANGED, "--size"), fact(FactKind.REMOVED_FLAG, "--graph")) == [
        (Whom.USERS, Effect.BREAK),
        (Whom.USERS, Effect.BEHAVIOUR),
        (Whom.OPERATORS, Effect.REQUIREMENT),
        (Whom.EXTENDERS, Effect.BREAK),
        (Whom.INTERNALS, Effect.BEHAVIOUR),
    ]


def test_a_chinese_line_names_the_class_before_its_member() -> None:
    """The class stands with the member, not before the verb."""
    gone = [fact(FactKind.REMOVED_METHOD, f"{owner}.fits") for owner in ("Pass", "Base")]
    assert headline(entry(), "zh", gone) == "移除 `Pass` 和 `Base` 的方法 `fits`"


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("count", [1, 2, 9])
def test_every_kind_of_fact_has_a_short_line(count: int, language: Language) -> None:
    """No line leaves a blank unfilled, is longer than 90 characters, or ends in how many more there are."""
    for kind in FactKind:
        facts = [fact(kind, f"Engine{'e' * 60}.take{n}", "1", "2") for n in range(count)]
        for each in consequences(entry(), language, facts):
            assert each.what, kind
            assert "{" not in each.what
            assert len(each.what.replace("`", "")) <= LENGTH


@pytest.mark.parametrize(
    ("path", "others", "line"),
    [
        ("requirements/cpu.txt", (), "Adds dependency `heron` in `requirements/cpu.txt`"),
        ("requirements/cpu.txt", ("requirements/cuda.txt",), "Adds dependency `heron`"),
        ("requirements/common.txt", (), "Adds dependency `heron`"),
    ],
)  # fmt: skip
def test_a_platforms_requirement_is_told_with_its_file(path: str, others: tuple[str, ...], line: str) -> None:
    """A dependency that changes in one requirements file does not change for everybody."""
    made = commit("Need it", [file(each, patch("+heron>=1.2")) for each in (path, *others)])
    added = Fact(kind=FactKind.DEPENDENCY_ADDED, name="heron", path=path, line=1, new=">=1.2")
    assert headline(entry().model_copy(update={"commit": made}), "en", [added]) == line
    for_all = added.model_copy(update={"name": "lark", "path": "pyproject.toml"})
    told = consequences(entry().model_copy(update={"commit": made}), "en", [for_all, added])
    assert len([each for each in told if each.facts]) == (2 if path in line else 1)


def test_a_limit_that_goes_is_no_requirement() -> None:
    """What any version satisfies from now on is told with the limit that it had."""
    made = commit("Relax it", [file("requirements/common.txt", patch("-heron>=1.2", "+heron"))])
    gone = Fact(kind=FactKind.DEPENDENCY_MOVED, name="heron", path="requirements/common.txt", old=">=1.2", new="*")
    line = headline(entry().model_copy(update={"commit": made}), "en", [gone])
    assert line == "No longer limits the version of `heron` (was `>=1.2`)"


@pytest.mark.parametrize(
    ("title", "line"),
    [
        ("[Core][KV Connector] Keep blocks (#7)", "Keep blocks (KV Connector)"),
        ("[2/N] fix: hang at exit", "Fix: hang at exit"),
        ("Keep blocks of the pool for the next request that wants them (Heron) + NewPool: the pool of a much longer name", "Keep blocks of the pool for the next request that wants them (Heron)"),
        ("Keep blocks of the pool that nobody has asked for in a while, so that the next request finds them there", "Keep blocks of the pool that nobody has asked for in a while"),
    ],
)  # fmt: skip
def test_without_facts_the_title_tells(title: str, line: str) -> None:
    """It stands without tags and number, with the part that it concerns, and ends where a clause of it ends."""
    assert title_line(entry(title), catalogue("en")) == line


@pytest.mark.parametrize(
    ("title", "plain", "parts", "added"),
    [
        ("[Model] Add support for Heron (#1)", "Add support for Heron", (), "Heron"),
        ("feat: Complete pools Fixes #12 (#13)", "Complete pools", (), ""),
        ("feat(scheduler): support fair queues", "Support fair queues", ("scheduler",), "Fair queues"),
        ("[XPU][Bugfix] Support of Eagle", "Support of Eagle", ("XPU",), "Eagle"),
        ("Remove the cache", "Remove the cache", (), ""),
        ("[Core] Heron 1.1 Support", "Heron 1.1 Support", (), "Heron 1.1"),
        ("Fix Heron support", "Fix Heron support", (), ""),
        (r"Load with --set \{\"layers\":8\}", 'Load with --set {"layers":8}', (), ""),
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
    line = headline(entry().model_copy(update={"commit": made}), "en", [gone])
    assert line == "Removes environment variable `ENGINE_OLD`; use `ENGINE_NEW` instead"


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


def test_a_deleted_module_is_told_as_one() -> None:
    """What is gone is the module, and its names with it."""
    made = commit("Tidy up", [file("src/engine/pool.py", patch("-class Pool:"), status="removed")])
    gone = [Fact(kind=FactKind.REMOVED_NAME, name=name, path="src/engine/pool.py") for name in ("SIZE", "Pool", "take")]
    line = headline(entry().model_copy(update={"commit": made}), "en", gone)
    assert line == "Removes the module `engine.pool`"


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("Pools no longer give engines back", "Pools no longer give engines back (`take`)"),
        ("`take` is gone", "`take` is gone"),
        ("Pools " + "no longer " * 11, "Removes `take` from `engine.core`"),
        ("", "It changes (`take`)"),
    ],
)
def test_a_models_headline_stands_before_the_proven_name(written: str, told: str) -> None:
    """It, or the first sentence, is told in place of ours if it is short enough; the name that proves the first consequence follows."""
    analysis = Analysis(by="model", headline=written, summary="It changes.")
    made = entry().model_copy(update={"facts": (fact(FactKind.REMOVED_NAME, "take"),), "analysis": analysis})
    assert headline(made, "en") == told


def test_a_models_headline_loses_no_value_and_repeats_no_removal() -> None:
    """A default that it does not name comes first, with its values, but one that is decided later; of what it says nothing follows."""
    graph, turbo = fact(FactKind.DEFAULT_CHANGED, "--graph", "False", "True"), fact(FactKind.REMOVED_FLAG, "--turbo")
    now = "`--graph` now defaults to `True` (was `False`)"

    def told(written: str, *facts: Fact) -> list[str]:
        made = entry().model_copy(update={"analysis": Analysis(by="model", headline=written, summary="It changes.")})
        return [each.what for each in consequences(made, "en", facts)]

    assert told("Pools start on their own", graph) == [now, "Pools start on their own"]
    later = fact(FactKind.CONDITIONAL_DEFAULT, "Config.graph", None, "False")
    assert told("Pools start on their own with `graph`", later) == ["Pools start on their own with `graph`"]
    assert told("Pools share lanes") == ["Pools share lanes"]
    assert told("Pools check keys", fact(FactKind.SECURITY, "CVE-2026-1")) == ["Security: Pools check keys"]
    new = fact(FactKind.NEW_SETTING, "FrontendArgs.share_lanes")
    assert told("`--share-lanes` lets pools share", new) == ["`--share-lanes` lets pools share"]
    assert told("`--turbo` is gone", graph, turbo) == ["`--turbo` is gone", now]
    assert told("`--turbo`/`--slow` are gone", graph, turbo) == ["`--turbo`/`--slow` are gone", now]
    assert told("Turbo is gone (CPU)", turbo) == ["Turbo is gone (CPU, `--turbo`)"]


@pytest.mark.parametrize(
    ("concerns", "facts", "told"),
    [
        (None, [], (Whom.INTERNALS, Effect.OTHER)),
        ("operators", [], (Whom.OPERATORS, Effect.BEHAVIOUR)),
        ("fixes", [fact(FactKind.REMOVED_METHOD, "Pool.take")], (Whom.USERS, Effect.FIX)),
        ("users", [fact(FactKind.REMOVED_METHOD, "Pool.take")], (Whom.USERS, Effect.BREAK)),
        ("nobody", [fact(FactKind.REMOVED_METHOD, "Pool.take")], (Whom.EXTENDERS, Effect.BREAK)),
        ("nobody", [fact(FactKind.NEW_METHOD, "Pool.take")], (Whom.INTERNALS, Effect.OTHER)),
        ("new", [fact(FactKind.REMOVED_FLAG, "--turbo")], (Whom.USERS, Effect.BREAK)),
    ],
)
def test_a_model_says_whom_its_headline_concerns(
    concerns: Concern | None, facts: list[Fact], told: tuple[Whom, Effect]
) -> None:
    """It decides the group; what is proven to break users still does, and nothing that breaks others concerns nobody."""
    analysis = Analysis(
        by="model", headline="Pools share `take` and `--turbo`", concerns=concerns, summary="It changes."
    )
    first = consequences(entry().model_copy(update={"analysis": analysis}), "en", facts)[0]
    assert (first.what, first.whom, first.effect) == (analysis.headline, *told)


@pytest.mark.parametrize(
    ("headline", "also", "summary", "told"),
    [
        ("`--turbo` is gone", "Who runs `turbo` has to stop", "Long.", ["Who runs `turbo` has to stop"]),
        ("`--turbo` is gone", "long " * 21, "Long. Longer.", []),
        ("", "", "`--turbo` is gone. Pools keep their keys.", ["Pools keep their keys"]),
    ],
)
def test_what_else_a_model_says_follows_its_headline(headline: str, also: str, summary: str, told: list[str]) -> None:
    """Right behind it and before what facts prove, if it is short enough; of a low commit it is the second sentence."""
    analysis = Analysis(by="model", headline=headline, also=also, summary=summary)
    made = entry().model_copy(update={"analysis": analysis})
    facts = [fact(FactKind.REMOVED_FLAG, "--turbo"), fact(FactKind.REMOVED_METHOD, "Pool.give")]
    lines = [each.what for each in consequences(made, "en", facts)]
    assert lines == ["`--turbo` is gone", *told, "Removes method `Pool.give`"]


def test_a_revert_is_told_before_what_a_model_says_of_it() -> None:
    """It names what it takes back, and behind that what the model says that it does."""
    analysis = Analysis(by="model", headline="Prefill is slow again", also="Outputs differ", summary="It changes.")
    made = entry('Revert "Speed up prefill"').model_copy(update={"analysis": analysis})
    lines = [each.what for each in consequences(made, "en", [fact(FactKind.REVERT, "Speed up prefill")])]
    assert lines == ["Reverts “Speed up prefill”", "Prefill is slow again", "Outputs differ"]


def test_a_heading_is_not_said_twice() -> None:
    """A headline with which the summary begins stands there alone."""
    made = Analysis(by="model", headline="Pools share lanes", summary="Pools share lanes. So do queues.")
    assert made.heading == ""
    assert made.model_copy(update={"summary": "Queues do, too."}).heading == "Pools share lanes"
    assert made.model_copy(update={"also": "Set `lanes`"}).heading == "Set `lanes`"
