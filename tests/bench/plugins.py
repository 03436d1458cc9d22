"""An upstream repository and its plug-ins, served to git: local clones if the settings name them, or else a made-up pair."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, date, datetime, time
from pathlib import Path
from subprocess import run
from typing import Any, NamedTuple

from tests.bench.real_diffs import CLONE
from tests.data import downstream_breaks
from tests.servers.bare import BareRepository, GitServer
from tests.servers.downstream import PLUGIN, UPSTREAM, USES, Pair

DOWNSTREAM = "BENCH_DOWNSTREAM"  # the variable that names the plug-ins' clones: owner/name=PATH[@REF],...
BELIEVED = ("named", "corrected")  # attributions of labels that count
MONTHS = "BENCH_MONTHS"  # the variable that names the months: `work` (the default), `told`, or some of either

_UPSTREAM = "vllm-project/vllm"
_BEFORE = int(datetime(2026, 1, 30, 12, tzinfo=UTC).timestamp())
_WORK = ("2025-08", "2025-10", "2025-12", "2026-02")
# Looked at once, when the rules stand: they are read only where they are asked for.
_TOLD = ("2025-07", "2025-09", "2025-11", "2026-01")


class Plugins(NamedTuple):
    """A server, the bare repositories by name, whose labels there are, the months, and whose histories they are, in words."""

    server: GitServer
    bare: Mapping[str, BareRepository]
    upstream: str
    labels: Sequence[Mapping[str, Any]]
    months: Sequence[str]
    told: str

    @property
    def downstream(self) -> list[str]:
        return [name for name in self.bare if name != self.upstream]

    def head_at(self, name: str, day: date) -> str | None:
        """Return the newest commit of a repository's branch before a day (UTC) began; None if it has none."""
        began = datetime.combine(day, time(), UTC)
        how = ("rev-list", "--first-parent", "--max-count=1", f"--before={int(began.timestamp()) - 1}")
        return self.bare[name].git(*how, "refs/heads/main") or None


@contextmanager
def plugins(folder: Path, settings: Mapping[str, str] = os.environ) -> Iterator[Plugins]:
    """Serve the repositories until the block ends; clones are only read."""
    if not settings.get(DOWNSTREAM):
        with ExitStack() as ending:
            pair, labels = _made_up(folder, ending)
            bare = {str(UPSTREAM): pair.upstream, str(PLUGIN): pair.plugin}
            told = f"a made-up pair; {CLONE}=PATH[@REF] and {DOWNSTREAM}=OWNER/NAME=PATH[@REF],... take clones"
            yield Plugins(pair.server, bare, str(UPSTREAM), labels, ("2026-02",), told)
        return
    clones = {_UPSTREAM: settings[CLONE]}
    for each in settings[DOWNSTREAM].split(","):
        name, _, place = each.partition("=")
        clones[name] = place
    bare = {name: _alternate(folder / f"{name.replace('/', '+')}.git", place) for name, place in clones.items()}
    with GitServer(bare) as server:
        yield Plugins(server, bare, _UPSTREAM, downstream_breaks(), months(settings), ", ".join(clones))


def months(settings: Mapping[str, str]) -> Sequence[str]:
    """The months that the settings choose."""
    chosen = settings.get(MONTHS, "work")
    return _WORK if chosen == "work" else _TOLD if chosen == "told" else chosen.split(",")


def _alternate(folder: Path, place: str) -> BareRepository:
    """Return a repository of its own whose objects are those of a clone, and whose branch ends at the clone's commit."""
    clone, _, ref = place.partition("@")
    bare = BareRepository(folder)
    objects = _git(clone, "rev-parse", "--git-path", "objects")
    (folder / "objects" / "info" / "alternates").write_text(f"{(Path(clone) / objects).resolve()}\n")
    head = _git(clone, "rev-parse", "--verify", "--end-of-options", f"{ref or 'HEAD'}^{{commit}}")
    bare.git("update-ref", "refs/heads/main", head)
    return bare


def _git(folder: str, *arguments: str) -> str:
    return run(["git", "-C", folder, *arguments], check=True, capture_output=True, text=True).stdout.strip()


def _made_up(folder: Path, ending: ExitStack) -> tuple[Pair, list[dict[str, Any]]]:
    """An engine and its plug-in, which the last of three commits breaks, and is blamed for."""
    pair = Pair(folder, ending)
    pair.plugin.commit({"plugin/__init__.py": b"", "plugin/worker.py": USES}, at=_BEFORE)
    row = {"downstream": str(PLUGIN), "upstream_sha": pair.breaking, "kind": "signature changed"}
    return pair, [{**row, "attribution": "named", "provability": "ii"}]
