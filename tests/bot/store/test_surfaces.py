"""Stored surfaces: as they were, for the tree and the packages that they were extracted for, and not for ever."""

from datetime import timedelta

from analysis.impact.surface.extraction import TreeSurface, UpstreamTree, surface_of_tree
from analysis.models import Repository
from bot.store import Store
from tests.conftest import NOON

PLUGIN = Repository.parse("Acme/Plugin")
CODE = """from engine.core import Worker, load


class Mine(Worker):
    def step(self, tokens, *rest, flag=None):
        return load(tokens, mode="r")
"""


def surface() -> TreeSurface:
    return surface_of_tree(["a.py"], lambda paths: [(path, CODE) for path in paths], UpstreamTree({"engine": ""}, ()))


def test_a_surface_comes_back_as_it_was(store: Store) -> None:
    """Uses, subclasses and parameters are the same after they were stored; another tree or package has none."""
    store.surfaces.save(PLUGIN, "1" * 40, ["engine"], surface(), NOON)
    assert store.surfaces.get(Repository.parse("acme/plugin@next"), "1" * 40, ["engine"]) == surface()
    assert store.surfaces.get(PLUGIN, "2" * 40, ["engine"]) is None
    assert store.surfaces.get(PLUGIN, "1" * 40, ["engine", "other"]) is None
    assert surface().surface.subclasses


def test_old_trees_are_removed(store: Store) -> None:
    """Of a repository's trees the newest few stay, and another repository's are left alone."""
    other = Repository.parse("acme/other")
    store.surfaces.save(other, "0" * 40, ["engine"], surface(), NOON - timedelta(days=99))
    trees = [f"{number}" * 40 for number in range(9)]
    for hours, tree in enumerate(trees):
        store.surfaces.save(PLUGIN, tree, ["engine"], surface(), NOON + timedelta(hours=hours))
    kept = [tree for tree in trees if store.surfaces.get(PLUGIN, tree, ["engine"])]
    assert kept == trees[-6:]
    assert store.surfaces.get(other, "0" * 40, ["engine"])
