"""What kinds of change a commit is."""

import pytest

from analysis.facts import facts
from analysis.models import ChangeType, Fact, FactKind, FileChange, Importance, PullRequest
from analysis.ranking import rank
from analysis.ranking.change_types import change_types
from tests.factories import commit, file, new_file, patch

SOURCE = file("vllm/engine.py", additions=10, deletions=2)
TEST = file("tests/test_engine.py", additions=10)
DOCS = file("docs/a.md", additions=3)
CI = file(".github/workflows/ci.yml", additions=3)
BUILD = file("docker/Dockerfile", additions=1)
PINS = file("requirements.txt", additions=1, deletions=1)


@pytest.mark.parametrize(
    ("title", "files", "first"),
    [
        ("[Bugfix] Add missing support for x", [SOURCE], ChangeType.BUG_FIX),
        ("fix: typo in docs", [SOURCE], ChangeType.BUG_FIX),
        ("Fix crash on empty batch", [SOURCE], ChangeType.BUG_FIX),
        ("[Feature] Fix the future", [SOURCE], ChangeType.FEATURE),
        ("Support prefix caching", [SOURCE], ChangeType.FEATURE),
        ("Add a scheduler", [SOURCE], ChangeType.FEATURE),
        ("Add logging to the scheduler", [SOURCE], ChangeType.OTHER),
        ("[Perf] Overlap copies", [SOURCE], ChangeType.PERFORMANCE),
        ("Speed up sampling", [SOURCE], ChangeType.PERFORMANCE),
        ("[Refactor] Split the engine", [SOURCE], ChangeType.REFACTOR),
        ("Remove dead code", [SOURCE], ChangeType.REFACTOR),
        ("[Security] Harden", [SOURCE], ChangeType.SECURITY),
        ("[Model] Qwen4", [SOURCE], ChangeType.MODEL_SUPPORT),
        ("[Doc] Explain", [DOCS], ChangeType.DOCS),
        ("Explain", [DOCS], ChangeType.DOCS),
        ("Cover it", [TEST], ChangeType.TESTS),
        ("Cache wheels", [CI], ChangeType.CI_BUILD),
        ("Smaller image", [BUILD], ChangeType.CI_BUILD),
        ("Bump torch", [PINS], ChangeType.DEPENDENCY),
        ("Change default block size", [SOURCE], ChangeType.CONFIG),
        ('Revert "[Perf] Overlap copies"', [SOURCE], ChangeType.REVERT),
        ("Something", [SOURCE], ChangeType.OTHER),
        ("", [], ChangeType.OTHER),
    ],
)
def test_a_commit_has_a_first_kind(title: str, files: list[FileChange], first: ChangeType) -> None:
    """A tag tells more than files, and files more than words; what tells nothing is other."""
    assert change_types(commit(title, files))[0] is first


@pytest.mark.parametrize(
    ("files", "found", "importance"),
    [
        (
            [new_file("vllm/engine.py", *["x = 1"] * 3000), TEST],
            [Fact(kind=FactKind.REMOVED_ENV, name="VLLM_X")],
            Importance.HIGH,
        ),
        ([SOURCE], [Fact(kind=FactKind.REMOVED_NAME, name="x")], Importance.MEDIUM),
        ([SOURCE], [], Importance.LOW),
    ],
)
@pytest.mark.parametrize("title", ["[Bugfix] Repair blocks", "Fix blocks", "fix(core): blocks"])
def test_a_bug_fix_is_one_in_every_tier(
    title: str, files: list[FileChange], found: list[Fact], importance: Importance
) -> None:
    """A kind does not depend on importance: high, medium or low, a fix is a bug fix."""
    result = rank(commit(title, files), found)
    assert result.importance is importance
    assert result.change_types[0] is ChangeType.BUG_FIX


@pytest.mark.parametrize(
    ("title", "files", "bug_fix"),
    [
        ("[Frontend][Bug] Allow calls", [SOURCE], True),
        ("Engine bugfix: keep addresses", [SOURCE], True),
        ("[CI] Fix a flaky test", [TEST], True),
        ("[Docker] fix the image", [BUILD], True),
        ("[Doc] Fix a typo", [DOCS], False),
        ("[CI] Cache wheels", [CI], False),
    ],
)
def test_what_repairs_is_a_bug_fix_wherever_it_is(title: str, files: list[FileChange], bug_fix: bool) -> None:
    """Repaired tests, CI and images are bug fixes beside what they are; a typo in documentation is none."""
    assert (ChangeType.BUG_FIX in change_types(commit(title, files))) is bug_fix


def test_a_merge_is_typed_by_its_pull_request() -> None:
    """For GitHub's merge commits the pull request's title tells the kind."""
    merge = commit(
        "Merge pull request #1 from a/b", [SOURCE], body="[Bugfix] Repair blocks", parents=["a" * 40, "b" * 40]
    )
    assert change_types(merge)[0] is ChangeType.BUG_FIX
    alone = commit("Merge pull request #1 from a/b", [SOURCE], pull=PullRequest(number=1, title="x"))
    assert change_types(alone) == (ChangeType.OTHER,)


def test_words_about_tests_do_not_type_a_change_of_source() -> None:
    """What comes along with a change of source is not its kind."""
    assert change_types(commit("Support x, with tests and docs and CI", [SOURCE, TEST])) == (ChangeType.FEATURE,)


def test_a_revert_is_nothing_else_by_its_words() -> None:
    """The words of the reverted title are not the revert's."""
    assert change_types(commit('Revert "Fix crash and support docs"', [SOURCE])) == (ChangeType.REVERT,)


@pytest.mark.parametrize(
    ("change", "proven"),
    [
        (file("requirements.txt", patch("-torch==1", "+torch==2")), ChangeType.DEPENDENCY),
        (file("vllm/envs.py", patch("-    VLLM_X: bool = True")), ChangeType.CONFIG),
        (file("vllm/args.py", patch('-add_argument("--x")')), ChangeType.CONFIG),
        (file("vllm/a.py", patch("-pickle.loads(x)")), ChangeType.SECURITY),
    ],
)
def test_facts_add_kinds(change: FileChange, proven: ChangeType) -> None:
    """What the diff proves is a kind, also where the title does not say so."""
    made = commit("Something", [change, SOURCE])
    assert change_types(made) == (ChangeType.OTHER,)
    assert change_types(made, facts(made)) == (proven,)


@pytest.mark.parametrize(
    ("files", "moves"),
    [
        ([file(f"vllm/m{n}.py", additions=1) for n in range(40)], True),
        ([file(f"vllm/m{n}.py", additions=1) for n in range(39)], False),
        ([file(f"vllm/new/m{n}.py", status="renamed", was=f"vllm/m{n}.py") for n in range(5)], True),
        ([file(f"vllm/m{n}.py", status="added") for n in range(20)], False),
        ([file(f"tests/test_{n}.py", additions=1) for n in range(60)], False),
    ],
)
def test_a_wide_or_moving_change_is_architecture(files: list[FileChange], moves: bool) -> None:
    """Many sources at once, or several that go or change their place, move the structure; new ones do not."""
    assert (ChangeType.ARCHITECTURE in change_types(commit("Something", files))) is moves


def test_a_commit_has_four_kinds_at_most() -> None:
    """Kinds are told once each, and not more than four."""
    kinds = change_types(
        commit("[Bugfix][Perf][Model][Security][Config][Refactor] Fix faster default upgrade", [SOURCE])
    )
    assert len(kinds) == len(set(kinds)) == 4
