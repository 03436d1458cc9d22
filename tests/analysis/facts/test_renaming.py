"""Definitions under a new name, though their bodies differ more than a name would make them."""

import pytest

from analysis.facts import facts
from tests.analysis.facts.trees import commit_between, trees

USER = "engine/user.py"  # a second changed file, without which a definition may be an internal of its own file
RANK = """class Pool:
    def size(self):
        return self._size

    def target_rank(self, size: int) -> int:
        share = self.ranks(size)
        if share > 1:
            return self.rank // share
        return self.rank * share
"""
RANKS = """class Pool:
    def size(self):
        return self._size

    def target_ranks(self, size: int) -> list[int]:
        share = self.ranks(size)
        if share > 1:
            return [self.rank // share]
        return [self.rank * share + i for i in range(share)]
"""
TOKENS = """import torch

TokensOutput = list[torch.Tensor] | torch.Tensor | list[TokensItem]

class TokensHead:
    def forward(self, output: TokensOutput) -> TokensOutput:
        return TokensOutput(output, self)

class Other:
    x = 1
"""


def renamings(before: str, after: str) -> list[tuple[str, str, str | None]]:
    """(kind, name, new) of each breaking fact about a module."""
    old, new = ({"engine/pool.py": text, USER: f"use = {number}\n"} for number, text in enumerate((before, after)))
    found = facts(commit_between(old, new), trees(old, new))
    return [(fact.kind.value, fact.name, fact.new) for fact in found if fact.breaking]


def test_a_method_in_the_same_place_with_a_similar_name_is_renamed() -> None:
    """Its signature and half of its words may change."""
    assert renamings(RANK, RANKS) == [("renamed method", "Pool.target_rank", "Pool.target_ranks")]


def test_definitions_that_mention_each_other_are_renamed_together() -> None:
    """Classes, and names of types, each line of which has a new name in it."""
    assert renamings(TOKENS, TOKENS.replace("Tokens", "Tokenwise")) == [
        ("renamed public name", "TokensOutput", "TokenwiseOutput"),
        ("renamed public name", "TokensHead", "TokenwiseHead"),
    ]


@pytest.mark.parametrize(
    ("before", "after", "name"),
    [
        (RANK, RANKS.replace("target_ranks", "choose"), "Pool.target_rank"),
        (RANK, "class Pool:\n" + RANKS.partition("\n\n")[2] + "\n    def size(self):\n        return self._size\n", "Pool.target_rank"),
        (RANK, RANK.partition("        share")[0].replace("_rank", "_ranks") + "        return None\n", "Pool.target_rank"),
        ("MAX_SIZE = 3\nx = 1\n", "MAX_SIZES = 4\nx = 1\n", "MAX_SIZE"),
    ],
    ids=["another name", "another place", "another body", "a constant"],
)  # fmt: skip
def test_what_only_resembles_it_is_no_new_name(before: str, after: str, name: str) -> None:
    """The old definition is gone."""
    [(kind, gone, new)] = renamings(before, after)
    assert (kind.split()[0], gone, new) == ("removed", name, None)


def test_of_two_old_names_the_closer_one_is_renamed() -> None:
    """The other is gone."""
    other = RANK.partition("    def target_rank")[2].replace("share", "part")
    before = f"{RANK}\n    def target_ran{other}"
    assert [(kind, name) for kind, name, _ in renamings(before, RANKS)] == [
        ("removed method", "Pool.target_ran"),
        ("renamed method", "Pool.target_rank"),
    ]


def test_a_renamed_name_that_its_package_no_longer_exports_is_told_once() -> None:
    """The renaming says more than that the package lost it."""
    text = 'from engine.pool import {0}\n\n__all__ = ["{0}"]\n'
    body = "class {}:\n    def run(self):\n        return 1\n\n    def stop(self):\n        return 2\n"
    old, new = (
        {"engine/__init__.py": text.format(name), "engine/pool.py": body.format(name)} for name in ("Pool", "Tank")
    )
    found = facts(commit_between(old, new), trees(old, new))
    assert [(fact.kind.value, fact.name, fact.new) for fact in found if fact.breaking] == [
        ("renamed public name", "Pool", "Tank")
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("class DPActor(Core):\n    def run(self):\n        return self.step()\n\n    def stop(self):\n        return self.end()\n", "class ActorMixin:\n    def run(self):\n        return self.step()\n\n    def stop(self):\n        return self.end()\n"),
        (RANK, RANK.replace("target_rank(self, size: int)", "target_ranks(self, group: str, world: int, size: int)")),
    ],
    ids=["a class without its base", "a method that needs more arguments"],
)  # fmt: skip
def test_what_does_not_serve_as_the_old_one_is_no_new_name(before: str, after: str) -> None:
    """Who replaced the name alone would break."""
    assert {(kind.split()[0], new) for kind, _, new in renamings(before, after)} == {("removed", None)}
