"""Both kinds of databases answer a search alike."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest
from sqlalchemy import Engine

from analysis.models import Repository
from bot.services.recorded_commits import recorded_commits
from bot.store import Store, open_engine
from tests.data import commit_lines
from tests.servers.databases import empty_database
from tests.servers.postgresql import postgresql_database

REPOSITORY, OTHER = Repository(owner="o", name="n"), Repository(owner="o", name="empty")
SEARCHES = (
    "kv connector",
    "nixl",
    "rocm attention",
    "moe kernel",
    "lora",
    "cuda graph",
    "torch compile",
    "+attention backend",
    '"data parallel" rank',
    "fix deadlock",
    "docker image",
    "structured output",
    "vllm/v1/core",
    "the of",
    "#30532",
)


class Stores(NamedTuple):
    """A store of each kind, and the engine of the latter."""

    sqlite: Store
    postgresql: Store
    engine: Engine


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stores]:
    """The same real commits on both."""
    folder: Path = tmp_path_factory.mktemp("agreement")
    commits = list(recorded_commits(commit_lines().splitlines()[:300]))
    with postgresql_database() as url:
        engines = [open_engine(each) for each in (empty_database(folder / "a.db"), url)]
        opened = [Store(each) for each in engines]
        for store in opened:
            for each in commits:
                store.save_commit(REPOSITORY, each, ())
        with closing(opened[0]), closing(opened[1]):
            yield Stores(opened[0], opened[1], engines[1])


def first_ten(store: Store, words: str, among: Sequence[Repository] = ()) -> list[str]:
    return [each.commit.sha for each in store.search_index.search(words, among, limit=10)]


def test_both_find_the_same_commits_first(stores: Stores) -> None:
    """Of the ten best commits of a search nearly all are the same, and mostly in the same order."""
    found = [[first_ten(store, words) for store in stores[:2]] for words in SEARCHES]
    overlaps = [len({*one} & {*other}) / max(len(one), 1) for one, other in found]
    assert all(one for one, _ in found)
    assert min(overlaps) >= 0.9
    assert sum(one == other for one, other in found) >= 0.8 * len(SEARCHES)


def test_a_repository_of_which_nothing_is_stored_has_no_matches(stores: Stores) -> None:
    """A search within a repository that the store does not know finds nothing, and nothing of the others."""
    unknown = Repository(owner="o", name="unknown")
    assert [first_ten(store, "fix", [unknown]) for store in stores[:2]] == [[], []]
