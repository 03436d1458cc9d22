"""An upstream repository and a plug-in of it, written with git and served together."""

from collections.abc import Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from analysis.models import Repository
from analysis.sources.github import GitHub
from analysis.sources.mirrors import Mirrors
from bot.services.commit_sources import CommitSources
from bot.services.factory import Services
from bot.store import Store, open_engine
from tests.servers.bare import BareRepository, Entry, GitServer
from tests.servers.databases import empty_database

UPSTREAM = Repository.parse("o/engine")
PLUGIN = Repository.parse("acme/plugin")
DAY = datetime(2026, 2, 5, tzinfo=UTC).date()
MORNING_AFTER = datetime(2026, 2, 6, 8, tzinfo=UTC)

_NOON = int(datetime(2026, 2, 5, 12, tzinfo=UTC).timestamp())
_DAY = 86_400
_CORE = (
    b"class Worker:\n    def step(self, tokens):\n        return tokens\n\n\ndef load(path, mode):\n    return path\n"
)
_CORE_AFTER = b"class Worker:\n    def step(self, tokens, cache):\n        return tokens\n"
PACKAGE = b"from engine.core import load\n"  # the package itself, which no commit changes
USES = b"""from engine.core import Worker, load


class Mine(Worker):
    def step(self, tokens):
        return load(tokens, "r")
"""


class Pair:
    """The two repositories on one server. The last upstream commit, at noon of DAY, breaks the plug-in."""

    def __init__(self, folder: Path, ending: ExitStack) -> None:
        self.upstream = BareRepository(folder / "engine.git")
        self.plugin = BareRepository(folder / "plugin.git")
        before = {"engine/__init__.py": PACKAGE, "engine/core.py": _CORE, "README.md": b"Engine"}
        first = self.upstream.commit(before, message=b"Begin", at=_NOON - 9 * _DAY)
        harmless = before | {"engine/other.py": b"SIZE = 1\n"}
        self.harmless = self.upstream.commit(harmless, first, message=b"Add a size", at=_NOON - _DAY)
        after = harmless | {"engine/core.py": _CORE_AFTER}
        self.breaking = self.upstream.commit(after, self.harmless, message=b"Pass the cache (#7)", at=_NOON)
        self.head = self.commit({"plugin/__init__.py": b"", "plugin/worker.py": USES})
        self.server = ending.enter_context(GitServer({"o/engine": self.upstream, "acme/plugin": self.plugin}))
        self._folder = folder
        self._ending = ending

    def commit(self, files: Mapping[str, Entry | bytes], *parents: str, branch: str = "main") -> str:
        """Commit a whole tree of the plug-in."""
        return self.plugin.commit(files, *parents, branch=branch)

    def services(self, *, mirrored: bool = True) -> Services:
        github = GitHub(self.server.url, None, retries=0)
        self._ending.callback(github.close)
        store = Store(open_engine(empty_database(self._folder / "impact.db")))
        self._ending.callback(store.close)
        mirrors = Mirrors(self._folder / "mirrors", github, None) if mirrored else None
        return Services(github, store, None, CommitSources(github, mirrors, lambda _: True))
