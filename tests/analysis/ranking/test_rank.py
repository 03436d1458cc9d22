"""How much a commit matters, and why."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.facts import facts
from analysis.models import Commit, Entry, Fact, FactKind, FileChange, Importance, Ranked, Repository
from analysis.ranking import Weights, ceiling, corrected, floor, general_weights, packaged_weights, rank, within
from analysis.ranking.signals import signals, split_title
from analysis.ranking.vocabulary import AREAS, TAGS, TITLE_WORDS
from tests.factories import commit, file, new_file, patch

LOW, MEDIUM, HIGH = Importance.LOW, Importance.MEDIUM, Importance.HIGH
ORDER = [LOW, MEDIUM, HIGH]
CORE = file("vllm/v1/engine/core.py", additions=40, deletions=12)
TEST = file("tests/v1/test_core.py", additions=30)
DOCS = file("docs/serving.md", additions=5)
CI = file(".buildkite/pipeline.yaml", additions=9, deletions=2)
FILES = st.lists(
    st.builds(
        file,
        st.sampled_from(
            [
                "vllm/core.py",
                "csrc/a.cu",
                "tests/test_a.py",
                "docs/a.md",
                "ci/run.sh",
                "requirements.txt",
                "a.json",
                "vllm/models/x.py",
            ]
        ),
        additions=st.integers(0, 5000),
        deletions=st.integers(0, 5000),
        status=st.sampled_from(["added", "modified", "removed"]),
    ),
    max_size=6,
)
TITLES = st.lists(
    st.sampled_from(
        [
            "[Bugfix]",
            "[Core]",
            "[CI]",
            "fix:",
            "Support",
            "VLLM_USE_V1",
            "security",
            "crash",
            "typo",
            "docs",
            "2x",
            "Revert",
            "x",
        ]
    ),
    max_size=6,
).map(" ".join)
COMMITS = st.builds(commit, TITLES, FILES, read=st.booleans())
FACTS = st.lists(
    st.builds(Fact, kind=st.sampled_from(FactKind), name=st.sampled_from(["--flag", "VLLM_X", "name"])), max_size=5
)


def ranked(title: str, *files: FileChange, body: str = "") -> Ranked:
    made = commit(title, files, body=body)
    return rank(made, facts(made))


@given(COMMITS, FACTS)
def test_the_reasons_are_the_score(made: Commit, found: list[Fact]) -> None:
    """The intercept and the reasons' points add up to the score, strongest first, and none of them is nothing."""
    result = rank(made, found)
    points = [reason.points for reason in result.reasons]
    assert result.score == pytest.approx(general_weights().intercept + sum(points), abs=0.006)
    assert points == sorted(points, key=abs, reverse=True)
    assert all(points)
    assert all(reason.evidence for reason in result.reasons)


@given(COMMITS, FACTS)
def test_a_rank_lies_between_its_floor_and_its_ceiling(made: Commit, found: list[Fact]) -> None:
    """The tier is the score's, moved up to what is proven and then down to what is harmless."""
    result = rank(made, found)
    weights = general_weights()
    by_score = HIGH if result.score >= weights.high else MEDIUM if result.score >= weights.medium else LOW
    low, high = floor(found), ceiling(made, result.change_types, found)
    assert ORDER.index(result.importance) <= ORDER.index(high)
    assert ORDER.index(result.importance) >= min(ORDER.index(low), ORDER.index(high))
    assert result.importance in (by_score, low, high)


@pytest.mark.parametrize(
    "title", ["Require Python 3.12", "[Misc] Remove deprecated options", "[Core] Drop --swap-space"]
)
def test_a_title_that_takes_something_from_people_is_not_low(title: str) -> None:
    """What asks for more than before, or takes away what people use, is at least medium by its title alone."""
    assert ranked(title, CORE).importance is not LOW


def test_the_score_that_is_shown_has_the_tier() -> None:
    """A commit whose points add up to a threshold has its tier, however floating point adds them."""
    weights = Weights(intercept=0.3, points={"tag: feature": -0.1}, medium=0.0, high=0.2)  # which add up to .1999...
    assert rank(commit("[Feature] Support it", [CORE]), weights=weights).importance is HIGH


@given(COMMITS, FACTS)
def test_the_same_commit_has_the_same_rank(made: Commit, found: list[Fact]) -> None:
    """A rank depends on the commit and its facts, and on nothing else."""
    assert rank(made, found) == rank(made.model_copy(update={"sha": "e" * 40, "author": "Bob"}), list(found))


@pytest.mark.parametrize(
    ("importance", "low", "high", "result"),
    [
        (LOW, LOW, HIGH, LOW),
        (LOW, MEDIUM, HIGH, MEDIUM),
        (HIGH, LOW, MEDIUM, MEDIUM),
        (HIGH, MEDIUM, HIGH, HIGH),
        (LOW, HIGH, MEDIUM, MEDIUM),
    ],
)
def test_a_ceiling_outweighs_a_floor(
    importance: Importance, low: Importance, high: Importance, result: Importance
) -> None:
    """A tier is moved up to the floor and then down to the ceiling."""
    assert within(importance, low, high) == result


@pytest.mark.parametrize(
    ("kind", "name", "lowest"),
    [
        (FactKind.REMOVED_ENV, "VLLM_X", MEDIUM),
        (FactKind.RENAMED_FLAG, "--x", MEDIUM),
        (FactKind.REMOVED_NAME, "schedule", MEDIUM),
        (FactKind.MOVED_MODULE, "a.py", MEDIUM),
        (FactKind.SECURITY, "CVE-2025-1", MEDIUM),
        (FactKind.DEFAULT_CHANGED, "--size", MEDIUM),
        (FactKind.DEFAULT_CHANGED, "size", LOW),
        (FactKind.DEPENDENCY_MOVED, "torch", LOW),
        (FactKind.CONCURRENCY, "lock", LOW),
        (FactKind.REVERT, "x", LOW),
        (FactKind.TEST_REMOVED, "test_x", LOW),
    ],
)
def test_what_breaks_or_endangers_is_never_low(kind: FactKind, name: str, lowest: Importance) -> None:
    """A proven breaking change, a flag's new default and a security fix are medium at least, whatever the title says."""
    found = [Fact(kind=kind, name=name)]
    assert floor(found) == lowest
    if lowest is MEDIUM:
        assert rank(commit("[Chore] Clean up typos", [CORE]), found).importance is not LOW


@pytest.mark.parametrize("files", [[DOCS], [TEST], [CI], [DOCS, TEST, CI], [file("examples/a.py", additions=900)], []])
def test_documents_tests_and_ci_are_never_high(files: list[FileChange]) -> None:
    """A commit that touches no source is medium at most, even if its title promises more; one source file lifts that."""
    made = commit("[Feature][Perf] Support security: fix crash with --flag and VLLM_X", files)
    assert rank(made, [Fact(kind=FactKind.SECURITY, name="CVE-2025-1")]).importance is MEDIUM
    assert ceiling(commit(files=[*files, CORE]), (), ()) is HIGH


@pytest.mark.parametrize(
    ("title", "highest"), [("[Doc] Support all", MEDIUM), ("[CI] Support all", MEDIUM), ("[Core] Support all", HIGH)]
)
def test_a_commit_that_was_only_listed_is_judged_by_its_title(title: str, highest: Importance) -> None:
    """Without files the title's kind sets the ceiling."""
    made = commit(title, read=False)
    assert ceiling(made, rank(made).change_types, ()) is highest


@pytest.mark.parametrize(
    ("title", "files"),
    [
        ("[Bugfix][Core] Fix double free of KV blocks when a request is aborted", [CORE]),
        ("[Bugfix] Fix hang of the engine at shutdown", [CORE]),
        ("[Core] Remove VLLM_USE_V0 and --use-v0", [CORE, TEST]),
        ("[Feature] Support speculative decoding for all models", [CORE, TEST]),
        ("[Security] Prevent path traversal in the loader", [CORE]),
    ],
)
@pytest.mark.parametrize(
    ("other", "others"),
    [
        ("[CI] 2x speedup of the nightly pipeline", [CI]),
        ("[Doc] Fix typo in the serving guide", [DOCS]),
        ("[Test] Deflake a test", [TEST]),
        ("[Chore] Rename a helper", [CORE]),
    ],
)
def test_what_users_wait_for_outranks_what_they_never_see(
    title: str, files: list[FileChange], other: str, others: list[FileChange]
) -> None:
    """Crashes, features, removals and security matter more than CI, documents, tests and tidying."""
    assert ranked(title, *files).score > ranked(other, *others).score


def test_a_removed_variable_raises_a_commit_above_its_twin() -> None:
    """Two commits alike but for what the patch proves differ by that."""
    gone = file("vllm/envs.py", patch("-    VLLM_OLD: bool = True"))
    plain = file("vllm/envs.py", patch("-    count += 1"))
    with_fact, without = ranked("[Chore] Tidy", gone), ranked("[Chore] Tidy", plain)
    assert with_fact.score - without.score == pytest.approx(general_weights().points["removed environment variable"])
    assert (with_fact.importance, without.importance) == (MEDIUM, LOW)
    assert [reason.evidence for reason in with_fact.reasons if reason.signal == "removed environment variable"] == [
        "VLLM_OLD"
    ]


def test_many_facts_of_a_kind_weigh_as_one() -> None:
    """Each kind of fact counts once, and says how many more there are."""
    names = [Fact(kind=FactKind.REMOVED_NAME, name=name) for name in ("a", "b", "c")]
    one, many = rank(commit(files=[CORE]), names[:1]), rank(commit(files=[CORE]), names)
    assert one.score == many.score
    assert [reason.evidence for reason in many.reasons if reason.signal == "removed public name"] == ["a (+2)"]


def test_other_weights_rank_otherwise() -> None:
    """Weights that a repository learned take the general ones' place, and a signal without a weight is no reason."""
    weights = Weights(intercept=1.0, points={"tag: core": 2.5}, medium=0.0, high=3.0)
    result = rank(commit("[Core] Tidy up", [CORE]), (), weights)
    assert (result.score, result.importance) == (3.5, HIGH)
    assert [(reason.signal, reason.points, reason.evidence) for reason in result.reasons] == [
        ("tag: core", 2.5, "Core")
    ]


def test_every_weight_belongs_to_a_signal() -> None:
    """No weight in the package is for a signal that cannot be seen, and vLLM's know every word and area."""
    every = commit(
        "[Core] x",
        [CORE, TEST, DOCS, file("requirements.txt", additions=1), file("b.py", deletions=900), new_file("a.py", "a")],
    )
    mostly_tests = commit(files=[file("a.py", additions=1), file("tests/test_a.py", additions=500)])
    with_data = commit(files=[file("a.json", additions=9, status="added")])
    found = [Fact(kind=kind, name="x") for kind in FactKind]
    shape = {
        signal.name
        for made in (every, mostly_tests, with_data, commit(), commit(files=[DOCS]))
        for signal in signals(made, found)
    }
    vllm = packaged_weights(Repository(owner="somebody", name="vLLM"))
    assert set(general_weights().points) < set(vllm.points) <= shape | set(TAGS) | set(TITLE_WORDS) | set(AREAS)
    assert {name for name in (*TAGS, *TITLE_WORDS, *AREAS) if name not in vllm.points} == set()


@pytest.mark.parametrize(
    ("title", "tags", "rest"),
    [
        ("[Bugfix][Core] Fix it", ["Bugfix", "Core"], "Fix it"),
        ("fix(api): do it", ["fix", "api"], "do it"),
        ("feat!: do it", ["feat"], "do it"),
        ("[V1] [2/N] Go on", ["V1", "2/N"], "Go on"),
        ("Fix it", [], "Fix it"),
        ("Add a: b", ["Add", "a"], "b"),
        ("", [], ""),
    ],
)
def test_a_title_begins_with_its_tags(title: str, tags: list[str], rest: str) -> None:
    """Tags stand in brackets or before a colon, and the rest of the title is without them."""
    found, said = split_title(title)
    assert (found.split(), said) == (tags, rest)


@pytest.mark.parametrize(
    ("title", "signal", "evidence"),
    [
        ("Fix memory leak in cache", "words: crash, hang or corruption", "memory leak"),
        ("Remove VLLM_USE_V0", "words: a setting", "VLLM_USE_V0"),
        ("Add --kv-offload", "words: a setting", "--kv-offload"),
        ("Bump torch", "words: upgrade", "Bump"),
        ("[CI/Build] Do it", "tag: tests or CI", "CI"),
        ("[Model] Do it", "tag: model", "Model"),
        ("perf(kernel): do it", "tag: performance", "perf"),
    ],
)
def test_a_signal_shows_the_words_it_was_seen_in(title: str, signal: str, evidence: str) -> None:
    """The evidence of a tag or a word is what stands in the title."""
    assert (signal, evidence) in [(each.name, each.evidence) for each in signals(commit(title))]


@pytest.mark.parametrize(
    ("title", "signal"),
    [
        ("Add a leaky-bucket limiter", "words: crash, hang or corruption"),
        ("Use MAX size", "words: a setting"),
        ("Change banana", "words: crash, hang or corruption"),
        ("Latest contest", "words: tests or CI"),
    ],
)
def test_a_signal_is_a_whole_word(title: str, signal: str) -> None:
    """A word inside another is none."""
    assert signal not in [each.name for each in signals(commit(title))]


def test_a_persons_correction_keeps_to_the_bounds() -> None:
    """It moves a commit by one tier, but a proven break is never low, and documentation alone never high."""
    breaking = Fact(kind=FactKind.REMOVED_FLAG, name="--x", path="a.py", line=1)
    for path, found, before, up, after in (
        ("a.py", (), LOW, True, MEDIUM),
        ("a.py", (breaking,), MEDIUM, False, MEDIUM),
        ("docs/a.md", (), MEDIUM, True, MEDIUM),
    ):
        ranked = rank(commit("Change it", [file(path)]), found).model_copy(update={"importance": before})
        entry = Entry(commit=commit("Change it", [file(path)]), facts=found, ranked=ranked)
        assert corrected(entry, up=up).ranked.importance is after
