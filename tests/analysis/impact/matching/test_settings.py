"""Settings that any file may mention: variables, flags, keys, routes, requirements and defaults."""

import pytest

from analysis.impact.matching import impacts
from analysis.impact.surface.model import SurfaceIndex
from analysis.models import Fact, FactKind
from analysis.models.impacts import Certainty, Impact
from tests.analysis.facts.trees import Files, commit_between, trees
from tests.analysis.impact.repositories import surface, told

SCRIPT = "run.sh"


def found(fact: Fact, downstream: Files, before: str = "") -> list[Impact]:
    """What a commit of which this fact is known breaks in a plug-in."""
    old, new = {"engine/core.py": before}, {"engine/core.py": "x = 1\n"}
    index = SurfaceIndex(surface(downstream))
    return list(impacts(commit_between(old, new), trees(old, new), index, {"engine": ""}, [fact]))


def fact(kind: FactKind, name: str, new: str | None = None, old: str | None = None) -> Fact:
    return Fact(kind=kind, name=name, new=new, old=old, path="engine/core.py", line=1)


@pytest.mark.parametrize(
    ("kind", "name", "path", "text", "certainty"),
    [
        (FactKind.REMOVED_ENV, "ENGINE_MODE", SCRIPT, "export ENGINE_MODE=1\n", Certainty.PROVEN),
        (FactKind.REMOVED_ENV, "ENGINE_MODE", "Dockerfile", "ENV ENGINE_MODE=1\n", Certainty.PROVEN),
        (FactKind.REMOVED_ENV, "ENGINE_MODE", "plugin/a.py", "os.environ['ENGINE_MODE'] = '1'\n", Certainty.PROVEN),
        (FactKind.REMOVED_ENV, "ENGINE_MODE", "docs/a.md", "Set `ENGINE_MODE`.\n", Certainty.PROVEN),
        (FactKind.REMOVED_FLAG, "--fast-mode", SCRIPT, "engine serve --fast-mode\n", Certainty.LIKELY),
        (
            FactKind.REMOVED_FLAG,
            "--fast-mode",
            ".github/workflows/t.yml",
            "run: engine --fast-mode=1\n",
            Certainty.LIKELY,
        ),
        (
            FactKind.REMOVED_ROUTE,
            "POST /v1/start",
            "tests/a.py",
            "import engine\npost('/v1/start')\n",
            Certainty.LIKELY,
        ),
    ],
)
def test_a_mention_of_a_removed_setting_is_found(
    kind: FactKind, name: str, path: str, text: str, certainty: Certainty
) -> None:
    """A variable is upstream's own wherever it stands; flags and routes may be another program's."""
    [impact] = found(fact(kind, name), {path: text})
    assert (impact.kind.value, impact.cause.value, impact.certainty) == ("mentioned name", "removed", certainty)
    assert impact.downstream.path == path


@pytest.mark.parametrize(
    ("kind", "name", "text"),
    [
        (FactKind.REMOVED_ENV, "ENGINE_MODE", "export ENGINE_MODEL=1\nexport MY_ENGINE_MODE=2\n"),
        (FactKind.REMOVED_FLAG, "--fast", "engine --fast-mode --faster\n"),
        (FactKind.REMOVED_FLAG, "--fast-mode", "curl --fast-mode\n"),  # names no upstream
        (FactKind.REMOVED_ROUTE, "POST /v1/start", "engine: /v1/start/more\n"),
    ],
)
def test_a_name_that_only_looks_alike_is_none(kind: FactKind, name: str, text: str) -> None:
    """Longer names, files that do not name upstream, and words in the wrong kind of file are no mentions."""
    assert found(fact(kind, name), {SCRIPT: text}) == []


def test_a_renamed_setting_names_its_new_one() -> None:
    """What takes its place is told, and longer names are left alone."""
    renamed = fact(FactKind.RENAMED_ENV, "ENGINE_MODE", new="ENGINE_KIND")
    [impact] = found(renamed, {SCRIPT: "export ENGINE_MODE=$ENGINE_MODE_2\n"})
    assert (impact.cause.value, impact.new) == ("renamed", "ENGINE_KIND")


@pytest.mark.parametrize(
    ("pinned", "required", "broken"),
    [
        ("numpy==1.26", ">=2.0", True),
        ("numpy<2", "==2.1", True),
        ("numpy>=1.26", ">=2.0", False),
        ("numpy==2.1", ">=2.0", False),
        ("numpy", ">=2.0", False),
        ("numpy==1.26 ; python_version < '3.9'", ">=2.0", True),
        ("numpy==1.26", "==2.0+cpu", False),
        ("other==1.26", ">=2.0", False),
        ("numpy==1.*", ">=2.0", True),
        ("numpy<2.0", ">=2.1", True),
        ("numpy>1.9,<3", ">=2.1", False),
        ("numpy~=1.26", ">=1.26.1", False),
        ("numpy!=2.0", "==2.0", True),
    ],
)
def test_a_pin_that_excludes_what_upstream_requires_is_broken(pinned: str, required: str, broken: bool) -> None:
    """Two requirements that no version meets together are a break; a range may be met."""
    raised = fact(FactKind.MINIMUM_RAISED, "numpy", new=required)
    assert bool(found(raised, {"requirements.txt": f"{pinned}\n"})) is broken


def test_a_pin_that_excluded_the_last_requirement_too_is_not_broken() -> None:
    """What upstream asked for before did not fit either."""
    raised = fact(FactKind.MINIMUM_RAISED, "numpy", new="==2.9").model_copy(update={"old": "==2.8"})
    assert found(raised, {"requirements.txt": "numpy==2.7\n"}) == []
    assert found(raised, {"requirements.txt": "numpy==2.8\n"}) != []


def test_a_pin_in_a_list_on_one_line_is_found() -> None:
    """As `pyproject.toml` writes short lists."""
    raised = fact(FactKind.MINIMUM_RAISED, "numpy", new=">=2.1")
    [impact] = found(raised, {"pyproject.toml": '[project]\ndependencies = ["torch", "numpy<2.0"]\n'})
    assert impact.downstream.line == 2


def test_what_a_build_needs_is_no_pin() -> None:
    """Upstream is not installed where the plug-in is built."""
    raised = fact(FactKind.MINIMUM_RAISED, "numpy", new=">=2.1")
    assert found(raised, {"pyproject.toml": '[build-system]\nrequires = ["numpy<2.0"]\n[project]\nname = "x"\n'}) == []


def test_what_tells_of_past_releases_relies_on_nothing() -> None:
    """Release notes and changelogs of the plug-in are no uses."""
    gone = fact(FactKind.REMOVED_ENV, "ENGINE_MODE")
    assert found(gone, {"docs/release_notes.md": "`ENGINE_MODE` is gone\n", "CHANGELOG.md": "ENGINE_MODE\n"}) == []


def test_a_removed_variable_breaks_who_reads_it_from_upstreams_module() -> None:
    """A module may provide its variables on demand."""
    before = (
        "import os\n\nVARIABLES = {\n    'ENGINE_MODE': lambda: os.getenv('ENGINE_MODE'),\n"
        "    'ENGINE_SIZE': lambda: os.getenv('ENGINE_SIZE'),\n}\n\n\n"
        "def __getattr__(name):\n    return VARIABLES[name]()\n"
    )
    after = before.replace("    'ENGINE_MODE': lambda: os.getenv('ENGINE_MODE'),\n", "")
    typed, old, new = ({"engine/envs.py": each} for each in (f"ENGINE_MODE: str = ''\n{before}", before, after))
    plugin = "from engine import envs\n\nmode = envs.ENGINE_MODE\n"
    assert told(typed, old, plugin) == []
    assert told(old, new, plugin) == ["attribute: removed: engine.envs.ENGINE_MODE"]


@pytest.mark.parametrize(
    ("text", "told_at"),
    [
        ("engine serve \\\n  --fast-mode\n", [2]),
        ("engine\n\nray start --fast-mode\n", []),
        ("engine\n\ndocker run --fast-mode image\n", []),
    ],
)
def test_a_flag_counts_in_commands_of_upstream(text: str, told_at: list[int]) -> None:
    """A command of another program may have a flag of the same name."""
    gone = fact(FactKind.REMOVED_FLAG, "--fast-mode")
    assert [each.downstream.line for each in found(gone, {SCRIPT: text})] == told_at
    assert found(gone, {"plugin/a.py": "import engine\n\nrun(['x', '--fast-mode'])\n"}) != []


@pytest.mark.parametrize(
    "reads",
    ["os.getenv('ENGINE_MODE')", "os.environ['ENGINE_MODE']", "Env('ENGINE_MODE', 1)", "{'ENGINE_MODE': lambda: 1}"],
)
def test_a_variable_that_the_plug_in_reads_itself_is_its_own(reads: str) -> None:
    """Whoever else reads it no longer, setting it has an effect."""
    gone = fact(FactKind.REMOVED_ENV, "ENGINE_MODE")
    files = {SCRIPT: "export ENGINE_MODE=1\n", "plugin/envs.py": f"import os\n\nmode = {reads}\n"}
    assert found(gone, files) == []


@pytest.mark.parametrize(
    ("path", "repository", "expected"),
    [("plugin/a.py", "engine", ["#7"]), ("plugin/a.py", "other", []), ("docs/a.md", "engine", [])],
)
def test_code_that_waits_for_a_pull_request_hears_of_its_merge(path: str, repository: str, expected: list[str]) -> None:
    """A file of source code that names the request of a commit has likely something of its own that may go."""
    old, new = {"engine/core.py": ""}, {"engine/core.py": "x = 1\n"}
    text = f"# until https://github.com/acme/{repository}/pull/7 is merged\n# not /pull/71\n"
    commit = commit_between(old, new, "Do it (#7)")
    impacts_found = impacts(commit, trees(old, new), SurfaceIndex(surface({path: text})), {"engine": ""}, ())
    assert [(each.name, each.certainty) for each in impacts_found] == [(each, Certainty.LIKELY) for each in expected]
