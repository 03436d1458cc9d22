"""Both kinds of databases answer a search alike."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from analysis.models import Repository
from bot.services.recorded_commits import recorded_commits
from bot.store import Store, open_engine
from tests.data import commit_lines
from tests.servers.databases import empty_database
from tests.servers.postgresql import postgresql_database

REPOSITORY = Repository(owner="o", name="n")
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


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Store]]:
    """The same real commits on both."""
    folder: Path = tmp_path_factory.mktemp("agreement")
    commits = list(recorded_commits(commit_lines().splitlines()[:300]))
    with postgresql_database() as url:
        opened = [Store(open_engine(each)) for each in (empty_database(folder / "a.db"), url)]
        for store in opened:
            for each in commits:
                store.save_commit(REPOSITORY, each, ())
        with closing(opened[0]), closing(opened[1]):
            yield opened


def test_both_find_the_same_commits_first(stores: list[Store]) -> None:
    """Of the ten best commits of a search nearly all are the same, and mostly in the same order."""
    found = [
        [[each.commit.sha for each in store.search_index.search(words, limit=10)] for store in stores]
        for words in SEARCHES
    ]
    overlaps = [len({*one} & {*other}) / max(len(one), 1) for one, other in found]
    assert all(one for one, _ in found)
    assert min(overlaps) >= 0.9
    assert sum(one == other for one, other in found) >= 0.8 * len(SEARCHES)
