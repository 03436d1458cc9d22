"""A place with a repository, its server and its mirrors."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.servers.mirrored import Place


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with ExitStack() as ending:
        yield Place(tmp_path, ending)
