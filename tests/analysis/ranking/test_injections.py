"""Instructions in a commit, and its rank."""

import json
from typing import Any

import pytest

from analysis.facts import facts
from analysis.models import BREAKING, Commit, FactKind, PullRequest, Ranked
from analysis.ranking import may_move, rank
from bot.services.recorded_commits import recorded_commits
from loopback.sample import sample_repository
from tests.factories import commit, file, new_file, patch
from tests.injections import PLACES, injected, injections

SAMPLE = list(sample_repository().commits.values())


def read(recorded: Any) -> Commit:
    (made,) = recorded_commits([json.dumps(recorded).encode()])
    pull = recorded.get("pull")
    return made.model_copy(update={"pull": PullRequest.model_validate(pull)}) if pull else made


def ranked(recorded: Any) -> Ranked:
    made = read(recorded)
    return rank(made, facts(made))


@pytest.fixture(scope="module")
def before() -> list[Ranked]:
    return [ranked(each) for each in SAMPLE]


@pytest.mark.parametrize("place", PLACES)
def test_a_hundred_injections_move_no_tier(place: str, before: list[Ranked]) -> None:
    """Wherever an instruction stands in a commit of the sample day, its tier and its score stay what they were."""
    # Of a hundred those of one place: each meets the places that follow each other, and over all of them every commit.
    first = PLACES.index(place)
    for number, instruction in list(enumerate(injections(100)))[first % 3 :: 3]:
        number_of = number % len(SAMPLE)
        after = ranked(injected(SAMPLE[number_of], instruction, place))
        assert (after.importance, after.score) == (before[number_of].importance, before[number_of].score), instruction


LOCK = file(
    "engine/core.py", patch(" def step(self):", "+    with self._lock:", "-    self.run()", "+        self.run()")
)
REMARKS = file("engine/core.py", patch("-# one remark", "+# another remark"))
CODE = file("engine/core.py", patch("-x = 1", "+x = 2"))
DOCS = file("docs/a.md", patch("-a", "+b"))


def test_a_model_moves_a_commit_up_only_by_a_proof() -> None:
    """The reason must name what the rules found in the diff, or cite a line that changes."""
    made = commit("Tidy the step", [LOCK])
    found = facts(made)
    (fact,) = (each for each in found if each.kind is FactKind.CONCURRENCY)
    assert may_move(made, found, f"It takes `{fact.name}` around each step.", (), up=True)
    assert not may_move(made, found, "It is critical.", (), up=True)
    assert not may_move(made, (), f"It takes `{fact.name}` around each step.", (), up=True)
    assert [may_move(made, (), "It waits.", {number}, up=True) for number in range(4)] == [False, False, True, True]
    assert fact.kind not in BREAKING


def test_a_model_moves_a_commit_down_only_where_nothing_runs_otherwise() -> None:
    """Remarks and documentation may be found less important than the rules thought; code may not."""
    assert may_move(commit("Fix the engine", [REMARKS, DOCS]), (), "", (), up=False)
    assert not may_move(commit("Fix the engine", [REMARKS, CODE]), (), "", (), up=False)
    assert not may_move(commit("Fix the engine", [file("engine/core.py", additions=3)]), (), "", (), up=False)
    assert not may_move(commit("Fix the engine"), (), "", (), up=False)


@pytest.mark.parametrize("instruction", list(injections(12)))
def test_a_commit_that_speaks_to_its_reader_is_not_moved(instruction: str) -> None:
    """A model that has read an instruction is not believed, neither way."""
    body, text = commit("Tidy", [LOCK], body=instruction), commit("Tidy", [REMARKS], pull=instruction)
    remark = new_file("engine/a.py", *(f"# {line}" for line in instruction.split("\n")))
    diff = commit("Tidy", [LOCK, remark])
    assert not may_move(body, facts(body), "self._lock", (), up=True)
    assert not may_move(diff, facts(diff), "self._lock", (), up=True)
    assert not may_move(text, (), "", (), up=False)
