"""Statements of a model about a change: kept where the lines of the diff bear them out, cut where they have it otherwise."""

import pytest

from analysis.facts import facts
from analysis.grounding.check import check, check_analysis
from analysis.grounding.corpus import Corpus
from analysis.grounding.finders import Section
from analysis.models import Analysis
from tests.factories import commit, file, patch

CHANGE = commit(
    "Let the pool grow (#7)",
    [
        file(
            "engine/pool.py",
            patch(
                " class Pool:",
                "-    size: int = 64",
                "+    size: int = 256",
                "+    grows: bool = True",
                "     name: str",
                "-    def take(self, count, fast):",
                "-        return self.fetch(count)",
                "+    def take(self, count, *, owner, retries: int = 3):",
                "+        return self.fetch_many(count)",
            ),
        ),
        file(
            "engine/worker.py",
            patch(
                " def start(pool):",
                "-    run(pool, eager=False)",
                "+    run(pool, lazy=True)",
                "     warn('`spin` is deprecated, use `wait` instead')",
            ),
        ),
    ],
    body="A small pool made long prompts wait.",
)
TRUE = [
    "`Pool.size` now defaults to `256` (was `64`).",
    "The default of `size` goes from 64 to 256.",
    "Adds the field `grows`, which is enabled by default.",
    "`fast` is removed from `Pool.take()`.",
    "`take()` no longer takes `fast`.",
    "`fetch` is replaced by `fetch_many`.",
    "`Pool.name` is unchanged.",
    "`owner` is now required.",
    "`grows` is added to `Pool`.",
    "`Pool.grows` is `True` by default.",
    "`spin` remains as a deprecated name.",
    "Pools no longer wait, because small ones made long prompts wait.",
    "Whoever sets `size`, from `1` to `64`, keeps that size.",
    "If the pool is empty, `take()` fails.",
    "Adds an optional parameter `retries`.",
    "`spin` is deprecated in favour of `wait`.",
    "It removes calls to `fetch`.",
    "The new default of `size` fits more machines.",
    "Adds a note under `take`.",
    "`Pool` fields are renamed or added.",
    "A field with values from `1` to `64` is added.",
    "If `size` is removed one day, this breaks.",
    "`take()` now takes `owner` and `retries`.",
    "`take` is a method of `Pool`.",
    "`fast` is no longer accepted.",
    "The field `grows` of `Pool` is new.",
    "`retries` is optional.",
    "All backends must be told, and 2025 prompts may wait in a thread.",
    "`size` 的默认值从 `64` 改为 `256`。",
    "新增字段 `grows`。",
    "移除了参数 `fast`。",
]
FALSE = [
    "`Pool.size` now defaults to `128`.",
    "`Pool.size` now defaults to `64`.",
    "The default of `size` goes from 256 to 64.",
    "The default stays the same.",
    "`grows` is disabled by default.",
    "Removes the field `grows`.",
    "Adds the parameter `fast`.",
    "`fetch_many` is replaced by `fetch`.",
    "Uses `eager` instead of `lazy`.",
    "`retries` is now required.",
    "`Pool.grows` is `False` by default.",
    "The default of `Pool.size` changes from `32` to `256`.",
    "The default of `grows` changes from `False` to `None`.",
    "`take` loses its `count` parameter, and the method `run()` is deleted.",
    "`fast` is still accepted by `take()`.",
    "`take()` is unaffected: `fast` goes on working.",
    "Leaves every method signature alone.",
    "`grows` becomes deprecated here.",
    "`grows` is added to `Worker` [4].",
    "The setting `grows` is moved into `engine/nothing.py` by `Worker` [4].",
    "`start()` was written to work around a deadlock.",
    "The author calls it a fix for a memory leak.",
    "`take()` raises `PoolEmptyError` when nothing is left.",
    "Masks sensitive data before it is logged.",
    "The change hardens the pool.",
    "为避免死锁，`start` 改为惰性执行。",
    "Adds an optional parameter `owner`.",
    "`wait` is deprecated.",
    "`fast` stays available.",
    "There is no API change.",
    "This is a pure refactoring.",
    "It fixes a security vulnerability.",
    "Allocation is three times faster.",
    "`take()` now takes `owner` and `pool`.",
    "`take` is a method of `Worker`.",
    "`count` is no longer accepted.",
    "The argument `count` of `take` is removed.",
    "The field `size` of `Pool` is deprecated.",
    "`size` is a new field.",
    "`size` is 64 KiB instead of 256 KiB.",
    "`fetch_many` is replaced by `count`.",
    "Calls are made in a background thread.",
    "Waiting is guaranteed to end on all platforms.",
    "It fixes a memory leak.",
    "A `PoolEmptyError` is raised when nothing is left.",
    "Pools of more than 4096 entries wait.",
    "`size` 的默认值从 `256` 改为 `64`。",
    "移除了 `grows`。",
    "接口没有变化。",
]  # fmt: skip


def left(text: str, told: Corpus | None = None) -> str:
    """What the check leaves of a sentence about the change."""
    return check(text, told or Corpus([CHANGE], facts=facts(CHANGE)), Section.CHANGE).text


@pytest.mark.parametrize("text", TRUE)
def test_what_the_lines_bear_out_is_kept(text: str) -> None:
    """Defaults, directions, removals, additions, requirements, notices and what stays, in both languages."""
    assert left(text) == text


@pytest.mark.parametrize("text", FALSE)
def test_what_the_lines_have_otherwise_is_cut(text: str) -> None:
    """A sentence goes though every name in it occurs in the commit."""
    assert left(text) == ""


@pytest.mark.parametrize("text", FALSE[:6])
def test_without_all_lines_nothing_is_judged(text: str) -> None:
    """A file that was not read may have what the others lack."""
    unread = CHANGE.model_copy(update={"files": (*CHANGE.files, file("engine/core.py", additions=9))})
    assert left(text, Corpus([unread])) == text


@pytest.mark.parametrize("cited", ["[2, 3]", "[2-3]", "[lines 2, 3]", "［2，3］".translate({0xFF3B: "[", 0xFF3D: "]"})])
def test_cited_lines_are_read_and_not_shown(cited: str) -> None:
    """The numbers of lines stand before or behind the full stop; readers see the sentence alone."""
    analysis = Analysis(
        by="model", summary=f"`size` now defaults to `256` {cited}. It grows. {cited}", scope=(f"`pool.py` {cited}",)
    )
    checked, _ = check_analysis(analysis, Corpus([CHANGE], facts=facts(CHANGE)))
    assert (checked.summary, checked.scope) == ("`size` now defaults to `256`. It grows.", ("`pool.py`",))
