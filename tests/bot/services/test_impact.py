"""What upstream commits break of a plug-in: read from mirrors, kept by tree, and nothing lost in silence."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from analysis.errors import OutsideFailure
from analysis.models import Repository
from analysis.models.impacts import Downstream, ImpactReport
from analysis.report.impacts import comparison, omissions
from bot.models.reference import parse_reference
from bot.services.factory import Services
from bot.services.impact import ReportTerms
from tests.servers.bare import Entry
from tests.servers.downstream import DAY, MORNING_AFTER, PLUGIN, UPSTREAM, USES, Pair
from tests.servers.github import Fault


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    with ExitStack() as ending:
        yield Pair(tmp_path, ending)


def terms(*downstreams: Repository | Path) -> ReportTerms:
    return ReportTerms(downstreams or (PLUGIN,), "en", ZoneInfo("UTC"), MORNING_AFTER)


def report(services: Services, *downstreams: Repository | Path, days: int = 1) -> ImpactReport:
    span = [DAY - timedelta(days=back) for back in reversed(range(days))]
    return services.impacts.of_days(UPSTREAM, span, terms(*downstreams))


def found(given: ImpactReport) -> list[tuple[str, str, int]]:
    return [
        (impact.name, impact.downstream.path, impact.downstream.line)
        for row in given.commits
        for each in row.found
        for impact in each.impacts
    ]


BROKEN = [("engine.core.load", "plugin/worker.py", 1), ("engine.core.Worker.step", "plugin/worker.py", 5)]


def said(downstream: Downstream) -> str:
    return "\n".join([comparison(downstream, "en"), *omissions(downstream, "en")])


def test_a_day_names_what_breaks_and_where(pair: Pair) -> None:
    """Of the day's commits, the one that breaks the plug-in is there with both places; the other is not."""
    whole = report(pair.services(), days=2)
    assert [row.entry.commit.sha for row in whole.commits] == [pair.breaking]
    assert found(whole) == BROKEN
    assert whole.compared == 2
    [downstream] = whole.downstreams
    assert downstream.sha == pair.head
    assert said(downstream) == f"Compared with acme/plugin ({pair.head[:7]}): 2 files, 4 uses of engine"


def test_one_commit_is_compared_alone(pair: Pair) -> None:
    """A commit named by its SHA or its address is compared, whatever its day."""
    services = pair.services()
    for name in (pair.breaking[:8], f"https://github.example/o/engine/commit/{pair.breaking}"):
        alone = services.impacts.of_commit(parse_reference(name), [UPSTREAM], terms())
        assert found(alone) == BROKEN
    harmless = services.impacts.of_commit(parse_reference(pair.harmless), [UPSTREAM], terms())
    assert (harmless.commits, harmless.compared) == ((), 1)


def test_a_surface_is_read_once_a_tree(pair: Pair) -> None:
    """A head that moves to the same tree asks for no file, and one with another tree is read anew."""
    services = pair.services()
    report(services)
    pair.commit({"plugin/__init__.py": b"", "plugin/worker.py": USES}, pair.head)
    later = terms()._replace(now=MORNING_AFTER + timedelta(hours=1))
    again = services.impacts.of_days(UPSTREAM, [DAY], later)
    assert found(again) == BROKEN
    pair.commit({"plugin/__init__.py": b"", "plugin/worker.py": USES.replace(b", load", b"")}, pair.head)
    changed = services.impacts.of_days(UPSTREAM, [DAY], later._replace(now=MORNING_AFTER + timedelta(hours=2)))
    assert found(changed) == BROKEN[1:]


@pytest.mark.parametrize("kind", ["branch", "tag", "sha"])
def test_a_branch_a_tag_and_a_sha_can_be_named(kind: str, pair: Pair) -> None:
    """The ref of a downstream repository is whatever git knows it by."""
    sha = pair.commit({"mine.py": b"from engine.core import load\n"}, branch="next")
    pair.plugin.git("tag", "v1", sha)
    ref = {"branch": "next", "tag": "v1", "sha": sha}[kind]
    named = report(pair.services(), PLUGIN.model_copy(update={"branch": ref}))
    assert found(named) == [("engine.core.load", "mine.py", 1)]
    assert named.downstreams[0].sha == sha


def test_several_downstreams_are_told_apart(pair: Pair, tmp_path: Path) -> None:
    """A folder on disk and a repository are compared with the same commits, each under its name; only one has links."""
    folder = tmp_path / "clone"
    folder.mkdir()
    (folder / "mine.py").write_bytes(USES)
    both = report(pair.services(), PLUGIN, folder)
    [row] = both.commits
    assert [each.downstream.name for each in row.found] == ["acme/plugin", str(folder)]
    urls = [each.downstream.url(each.impacts[0].downstream) for each in row.found]
    assert urls == [f"https://github.example/acme/plugin/blob/{pair.head}/plugin/worker.py#L1", None]


WORDS: tuple[tuple[Mapping[str, Entry | bytes], str], ...] = (
    ({"a.py": USES, "b.py": b"def ("}, "Python files that do not parse were not compared: b.py"),
    ({"a.py": b"import os\n"}, "uses engine (1 file)"),
    (
        {"a.py": USES, "deps/engine": Entry(b"1" * 40, "submodule")},
        "Nested repositories were not read: deps/engine",
    ),
    (
        {
            "a.py": USES,
            "lib/engine/__init__.py": b"",
            "lib/engine/core.py": b"x",
            "lib/engine/other.py": b"from engine import core",
        },
        "Copies of engine were not compared: lib/engine",
    ),
    ({"a.py": USES, "b.py": b"x = 1\n" * 400_000}, "1 file was not read"),
)


@pytest.mark.parametrize(("files", "words"), WORDS, ids=lambda each: each[:20] if isinstance(each, str) else "")
def test_what_is_not_compared_is_said(files: Mapping[str, Entry | bytes], words: str, pair: Pair) -> None:
    """Files that do not parse or are not read, other languages, copies and submodules are named with the result."""
    pair.commit(files, pair.head)
    [downstream] = report(pair.services()).downstreams
    assert words in said(downstream)


def test_a_link_is_not_followed(pair: Pair) -> None:
    """What a symbolic link points to is not read as a file."""
    pair.commit({"a.py": Entry(b"../../etc/passwd", "link"), "b.py": USES}, pair.head)
    [downstream] = report(pair.services()).downstreams
    assert downstream.files == 1


def test_secrets_of_both_sides_are_redacted(pair: Pair) -> None:
    """A token in a quoted line of the plug-in is neither stored nor shown."""
    token = "ghp_" + "a1B2" * 9
    pair.commit({"a.py": USES.replace(b'"r")', f'"{token}")'.encode())}, pair.head)
    services = pair.services()
    breaking = report(services)
    assert token not in breaking.model_dump_json()
    surface = services.impacts.surface(PLUGIN, UPSTREAM, (), MORNING_AFTER)
    assert token not in surface.uses.surface.model_dump_json()
    assert "load(tokens" in surface.uses.surface.model_dump_json()


def test_a_server_that_fails_leaves_the_last_fetch(pair: Pair) -> None:
    """A downstream repository that cannot be fetched is compared as it was; one never fetched is an error."""
    services = pair.services()
    report(services)
    pair.server.faults = [Fault("acme/plugin", 502, times=9)]
    later = terms()._replace(now=MORNING_AFTER + timedelta(hours=1))
    assert found(services.impacts.of_days(UPSTREAM, [DAY], later)) == BROKEN
    pair.server.faults = [Fault("acme/other", 502, times=9)]
    with pytest.raises(OutsideFailure):
        report(services, Repository.parse("acme/other"))
