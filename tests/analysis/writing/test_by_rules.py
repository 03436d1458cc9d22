"""An analysis that says what the commit says, and nothing else."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.facts import facts
from analysis.locale import LANGUAGES, catalogue
from analysis.models import (
    Analysis,
    ChangeType,
    Commit,
    Fact,
    FactKind,
    FileChange,
    Importance,
    Language,
    Ranked,
    Reason,
)
from analysis.ranking import rank
from analysis.writing.by_rules import analyse_by_rules, code
from analysis.writing.fact_sentences import FACT_SENTENCES
from tests.factories import commit, file, new_file, patch

BIG = [
    file("vllm/envs.py", patch("-    VLLM_OLD: bool = True", "+    # gone")),
    file("vllm/args.py", patch('-    add_argument("--size", default=1)', '+    add_argument("--size", default=2)')),
    file("requirements.txt", patch("-torch==2.9.0", "+torch==2.9.1")),
    new_file("vllm/v1/core/sched.py", *["x = 1"] * 120),
]
BIG_COMMIT = commit("[Core] Tidy", BIG, pull="Blocks were freed twice.")


def analysed(
    made: Commit,
    tier: Importance,
    language: Language,
    found: tuple[Fact, ...] | None = None,
    kinds: tuple[ChangeType, ...] = (ChangeType.OTHER,),
) -> Analysis:
    ranked = Ranked(score=0, importance=tier, change_types=kinds)
    return analyse_by_rules(made, facts(made) if found is None else found, ranked, language)


def texts(analysis: Analysis) -> list[str]:
    risks = [text for risk in analysis.risks for text in (risk.risk, risk.mitigation) if text]
    return [analysis.summary, *analysis.scope, *risks, *analysis.advice]


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_analysis_is_as_deep_as_its_tier(language: Language) -> None:
    """A low commit has a summary, a medium one scope and advice too, a high one risks as well."""
    low, medium, high = (
        analysed(BIG_COMMIT, tier, language) for tier in (Importance.LOW, Importance.MEDIUM, Importance.HIGH)
    )
    assert low.summary == medium.summary == high.summary
    assert (low.scope, low.risks, low.advice) == ((), (), ())
    assert medium.scope == high.scope != ()
    assert medium.advice == high.advice != ()
    assert medium.risks == ()
    assert high.risks
    assert {each.by for each in (low, medium, high)} == {"rules"}


@pytest.mark.parametrize(
    ("language", "summary"),
    [
        (
            "en",
            (
                "Removes environment variable `VLLM_OLD` (`vllm/envs.py:1`). Changes the default of `--size` `1` → `2` (`vllm/args.py:1`). "
                "Changes the version of `torch` `==2.9.0` → `==2.9.1` (`requirements.txt:1`). The author writes: Blocks were freed twice. "
                "4 files changed (+123 −3), mostly in `vllm/v1/core/sched.py`, `vllm`."
            ),
        ),
        (
            "zh",
            (
                "移除环境变量 `VLLM_OLD` (`vllm/envs.py:1`)。修改默认值 `--size` `1` → `2` (`vllm/args.py:1`)。"
                "变更依赖版本 `torch` `==2.9.0` → `==2.9.1` (`requirements.txt:1`)。提交者说明：Blocks were freed twice。"
                "共改动 4 个文件（+123 −3），集中在 `vllm/v1/core/sched.py`、`vllm`。"
            ),
        ),
    ],
)
def test_a_summary_tells_facts_then_purpose_then_size(language: Language, summary: str) -> None:
    """A summary holds a sentence a kind of fact with its place, the author's words, and how much changed where."""
    assert analysed(BIG_COMMIT, Importance.LOW, language).summary == summary


@pytest.mark.parametrize(
    ("language", "foreign"), [("en", r"[\u4e00-\u9fff：。、]"), ("zh", r"\b(the|and|files?|changed|in|of)\b")]
)
def test_every_fact_is_told_in_one_language(language: Language, foreign: str) -> None:
    """Whatever is found is told in the report's language, with its name in a code span."""
    for kind in FactKind:
        found = (Fact(kind=kind, name="NAME", path="p.py", line=3, old="1", new="2"),)
        analysis = analysed(commit("Do it", BIG), Importance.HIGH, language, found, tuple(ChangeType)[:4])
        assert "`NAME`" in analysis.summary
        assert "`p.py:3`" in analysis.summary
        outside = [re.sub(r"`[^`]*`", "", text) for text in texts(analysis)]
        assert [text for text in outside if re.search(foreign, text)] == [], kind
        told, say = FACT_SENTENCES[kind], catalogue(language)
        assert any(say(told.risk) in risk.risk for risk in analysis.risks) or not told.risk


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_name_is_in_a_code_span(language: Language) -> None:
    """Outside code spans there is nothing that looks like a path, a flag, a variable or a version."""
    for text in texts(analysed(commit("[Core] Tidy", BIG), Importance.HIGH, language)):
        assert text.count("`") % 2 == 0
        assert re.search(r"\w/\w|\w\.\w|--\w|[A-Z]+_[A-Z]|_\w|==", re.sub(r"`[^`]*`", "", text)) is None


FILES = st.lists(
    st.builds(
        file,
        st.sampled_from(
            ["vllm/core.py", "vllm/a/b/c/d.py", "csrc/kernels/x.cu", "tests/test_a.py", "README.md", "requirements.txt"]
        ),
        additions=st.integers(0, 999),
        deletions=st.integers(0, 999),
        status=st.sampled_from(["added", "modified", "removed", "renamed"]),
    ),
    max_size=9,
)


@given(FILES, st.sampled_from(["[Perf] Go", "Fix it", "Do it (#1)"]), st.sampled_from(LANGUAGES))
def test_nothing_is_said_that_is_not_in_the_commit(files: list[FileChange], title: str, language: Language) -> None:
    """Every name in an analysis is a path, a folder or a fact of the commit, and every number can be counted in it."""
    made = commit(title, files)
    found = facts(made)
    analysis = analyse_by_rules(made, found, rank(made, found), language)
    known = " ".join(
        [*made.paths, *(text for fact in found for text in (fact.name, fact.place, fact.old or "", fact.new or ""))]
    )
    for text in texts(analysis):
        assert all(name in known for name in re.findall(r"`([^`]*)`", text))
    assert f"+{made.additions} −{made.deletions}" in analysis.summary or not files


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (commit("Empty"), "This commit changes no file."),
        (commit("One", [file("vllm/a/b/c/d.py", additions=1)]), "1 file changed (+1 −0), in `vllm/a/b/c/d.py`."),
        (commit("Two", [file("a/x.py"), file("a/y.py")]), "2 files changed (+0 −0), in `a`."),
        (
            commit("Merge branch x", [file("a.py", additions=1)], parents=["a" * 40, "b" * 40]),
            "1 file changed (+1 −0), in `a.py`, a merge, compared with its first parent.",
        ),
    ],
)
def test_the_size_is_told(made: Commit, says: str) -> None:
    """How many files and lines changed, where, and against what."""
    assert analysed(made, Importance.LOW, "en").summary == says


def test_a_scope_names_areas_and_counts_the_rest() -> None:
    """Six areas at most are told, four files in each, the most changed first, and the rest is counted."""
    crowd = [file(f"vllm/core/f{n}.py", additions=10 - n) for n in range(6)]
    wide = [file(f"part{n}/a.py", additions=9 - n) for n in range(7)]
    made = commit("Do it", [*wide, *crowd]).model_copy(update={"additions": 1000})
    scope = analysed(made, Importance.MEDIUM, "en").scope
    assert scope[0] == ("`vllm/core` (6 files, +45 −0): `f0.py`, `f1.py`, `f2.py`, `f3.py`, and 2 more files")
    assert scope[1:6] == tuple(f"`part{n}/a.py` (+{9 - n} −0)" for n in range(5))
    assert scope[6:] == ("and 2 more files", "GitHub does not list the files of the other 913 changed lines")


def test_more_names_than_shown_are_counted() -> None:
    """Of many facts of a kind five are named, and the others are counted."""
    found = tuple(Fact(kind=FactKind.REMOVED_NAME, name=f"name{n}") for n in range(7))
    summary = analysed(commit("Do it", BIG), Importance.LOW, "en", found).summary
    assert "`name4` and 2 more" in summary
    assert "name5" not in summary


def reason(made: Commit, signal: str) -> Reason | None:
    """What a signal says of a commit; None where it is silent."""
    return next((each for each in rank(made, ()).reasons if each.signal == signal), None)


DEFAULTS = [
    Fact(kind=FactKind.DEFAULT_CHANGED, name=name, old=old, new="2", path="a.py", line=1)
    for name, old in [
        ("size", "False"),
        ("POOL_FAST", '"0"'),
        ("mode", '"slow"'),
        ("--size", "1"),
        ("--mode", '"slow"'),
        ("Pool.__init__(size)", "4"),
    ]
]
SWITCHES = [
    Fact(kind=FactKind.DEFAULT_CHANGED, name=name, old=old, new="2")
    for name, old in [("--on", "True"), ("--off", "False"), ("--any", "None"), ("POOL_PATH", '""')]
]
FLAG = Fact(kind=FactKind.REMOVED_FLAG, name="--f", path="a.py", line=1)


@pytest.mark.parametrize(
    ("found", "english", "chinese"),
    [
        (DEFAULTS[:1], "To keep the old behaviour, set `size=False`.", "如需旧行为，请设置 `size=False`。"),
        (DEFAULTS[1:2], "To keep the old behaviour, set `POOL_FAST=0`.", "如需旧行为，请设置 `POOL_FAST=0`。"),
        (DEFAULTS[2:3], 'To keep the old behaviour, set `mode="slow"`.', '如需旧行为，请设置 `mode="slow"`。'),
        (DEFAULTS[3:4], "To keep the old behaviour, pass `--size 1`.", "如需旧行为，请传入 `--size 1`。"),
        (DEFAULTS[5:], "To keep the old behaviour, call `Pool(size=4)`.", "如需旧行为，请调用 `Pool(size=4)`。"),
        (DEFAULTS[4:5], "To keep the old behaviour, pass `--mode slow`.", "如需旧行为，请传入 `--mode slow`。"),
        (
            [*DEFAULTS[:2], DEFAULTS[3]],
            "To keep the old behaviour, set `size=False`, `POOL_FAST=0` and pass `--size 1`.",
            "如需旧行为，请设置 `size=False`、`POOL_FAST=0`，并传入 `--size 1`。",
        ),
        (SWITCHES[:1], "To keep the old behaviour, pass `--on`.", "如需旧行为，请传入 `--on`。"),
        (SWITCHES[1:2], "To keep the old behaviour, turn `--off` off.", "如需旧行为，请关闭 `--off`。"),
        (SWITCHES[2:3], "To keep the old behaviour, check the new default of `--any`.", "如需旧行为，请核对 `--any` 的新默认值。"),
        (SWITCHES[3:], 'To keep the old behaviour, set `POOL_PATH=""`.', '如需旧行为，请设置 `POOL_PATH=""`。'),
        ([FLAG], "Remove `--f` from your launch commands.", "请从启动命令中移除 `--f`。"),
        (
            [FLAG, FLAG.model_copy(update={"path": "b.py"})],
            "Remove `--f` from your launch commands.",
            "请从启动命令中移除 `--f`。",
        ),
        (
            [Fact(kind=FactKind.RENAMED_ENV, name="POOL_A", new="POOL_B")],
            "Use the new name in your deployments: `POOL_A` → `POOL_B`.",
            "请在部署配置中改用新变量名：`POOL_A` → `POOL_B`。",
        ),
    ],
)  # fmt: skip
def test_advice_says_what_to_do(found: list[Fact], english: str, chinese: str) -> None:
    """To keep an old default its old value is set, as a variable or a flag is; what is gone is taken off commands."""
    told = [analysed(commit("Do it", BIG), Importance.HIGH, each, tuple(found)) for each in ("en", "zh")]
    assert [each.advice[0] for each in told] == [english, chinese]
    assert [each.risks[0].mitigation for each in told] == [english, chinese]


@pytest.mark.parametrize(
    ("text", "span"), [("a_b", "`a_b`"), ("a`b`", "`a'b'`"), ("a\nb", "`a b`"), ("a\u202eb", "`a⟨U+202E⟩b`")]
)
def test_a_code_span_holds_anything(text: str, span: str) -> None:
    """Backticks, line breaks and hidden characters do not end a code span."""
    assert code(text) == span
