"""The net change of a window: what is added and taken back within it is no change of it."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import pytest

from analysis.facts import facts
from analysis.impact.net_facts import NameInFile, added_facts, net_facts
from analysis.impact.reversal import reversed_commit, undone_commits
from analysis.models import Commit, Entry, Fact, FactKind, FileChange, Importance, Links, Ranked
from tests.analysis.facts.told import breaking, changed
from tests.analysis.facts.trees import Files, commit_between, trees
from tests.factories import commit, file, new_file, patch

ARGUMENTS = "def make(p):\n    p.add_argument('--other', type=int)\n{}    return p\n"
VARIABLES = 'import os\n\nVARIABLES = {{\n    "POOL_OTHER": lambda: os.getenv("POOL_OTHER"),\n{}}}\n'


def history(*versions: Files) -> list[Commit]:
    """The commits between successive versions of some files, oldest first."""
    made = (commit_between(*pair) for pair in pairwise(versions))
    return [each.model_copy(update={"sha": f"{number:040x}"}) for number, each in enumerate(made, 1)]


def entries(commits: Sequence[Commit], links: Mapping[int, Links] | None = None) -> list[Entry]:
    return [
        Entry(
            commit=each,
            facts=facts(each),
            ranked=Ranked(score=0, importance=Importance.LOW),
            links=(links or {}).get(number, Links()),
        )
        for number, each in enumerate(commits, 1)
    ]


def net(window: Sequence[Entry]) -> list[tuple[int, FactKind, str, str | None, str | None]]:
    """(number of the commit, kind, name, old, new) of what breaks or changes over a window, read from its patches."""

    def additions(wanted: Mapping[str, frozenset[NameInFile]]) -> dict[str, Sequence[Fact]]:
        return {each.commit.sha: added_facts(each.commit, wanted.get(each.commit.sha, ())) for each in window}

    standing = net_facts(window, additions)
    return [
        (number, fact.kind, fact.name, fact.old, fact.new)
        for number, entry in enumerate(window, 1)
        for fact in standing.get(entry.commit.sha, entry.facts)
    ]


def of_flags(*flags: str) -> list[tuple[int, FactKind, str, str | None, str | None]]:
    """The net change of a file whose versions have these flags, "" for none."""
    texts = (ARGUMENTS.format(f"    p.add_argument('{flag}', type=int)\n" if flag else "") for flag in flags)
    return net(entries(history(*({"pool/cli.py": text} for text in texts))))


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["--size", "", "--size"], []),
        (["", "--size", ""], []),
        (["--size", "", "--size", ""], [(3, FactKind.REMOVED_FLAG, "--size", None, None)]),
        (["--size", "", "--unlike-the-old"], [(1, FactKind.REMOVED_FLAG, "--size", None, None)]),
        (["--pool-size", "--pools-size", "--pools-sizes"], [(1, FactKind.RENAMED_FLAG, "--pool-size", None, "--pools-sizes")]),
        (["--pool-size", "--pools-size", "--pool-size"], []),
        (["--pool-size", "--pools-size", ""], [(1, FactKind.REMOVED_FLAG, "--pool-size", None, None)]),
        (["", "--pool-size", "--pools-size"], []),
    ],
)  # fmt: skip
def test_a_flag_is_told_as_it_is_at_the_end(names: Sequence[str], expected: list[object]) -> None:
    """A flag taken away and restored, or added and taken away, is no change; an old name has the last of its new names."""
    assert of_flags(*names) == expected


def of_default(*values: int | None) -> list[tuple[int, FactKind, str, str | None, str | None]]:
    lines = (
        f'    "POOL_SIZE": lambda: int(os.getenv("POOL_SIZE", "{value}")),\n' if value is not None else ""
        for value in values
    )
    return net(entries(history(*({"pool/envs.py": VARIABLES.format(line)} for line in lines))))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2, 1], []),
        ([1, 2, 3], [(2, FactKind.DEFAULT_CHANGED, "POOL_SIZE", '"1"', '"3"')]),
        ([1, 2, 3, 1], []),
        ([None, 1, 2], []),
    ],
)
def test_a_default_changes_from_the_first_to_the_last_value(
    values: Sequence[int | None], expected: list[object]
) -> None:
    """A default that is what it was has not changed, nor has that of a variable that is new."""
    assert of_default(*values) == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["torch>=2.8\n", "torch>=2.9\n", "torch>=2.8\n"], []),
        (
            ["torch==2.8\n", "torch==2.9\n", "torch==2.10\n"],
            [(2, FactKind.DEPENDENCY_MOVED, "torch", "==2.8", "==2.10")],
        ),
        (["", "torch==2.9\n", ""], []),
        (["", "torch==2.9\n", "torch==2.10\n"], [(2, FactKind.DEPENDENCY_ADDED, "torch", None, "==2.10")]),
        (["torch==2.8\n", "", "torch==2.9\n"], [(2, FactKind.DEPENDENCY_MOVED, "torch", "==2.8", "==2.9")]),
    ],
)
def test_a_dependency_changes_from_the_first_to_the_last_version(lines: Sequence[str], expected: list[object]) -> None:
    """Versions in between are no change of the window, and a package that came and went is none."""
    assert net(entries(history(*({"requirements.txt": f"numpy\n{line}"} for line in lines)))) == expected


def test_a_name_that_moves_back_has_not_moved() -> None:
    """A class that leaves its module and returns to it is where it was."""
    pool, other = "class Pool:\n    pass\n\n\nclass Kept:\n    pass\n", "class Kept:\n    pass\n"
    away: Files = {"pool/core.py": other, "pool/more.py": pool}
    home: Files = {"pool/core.py": pool, "pool/more.py": other}
    assert [kind for _, kind, *_ in net(entries(history(home, away)))] == [FactKind.MOVED_NAME]
    assert net(entries(history(home, away, home))) == []


def test_a_required_parameter_that_becomes_optional_again_is_no_change() -> None:
    """Calls that fitted before the window fit after it."""
    text = "def take(\n    a: int,\n    b: int{},\n) -> int:\n    return a\n"
    versions: list[Files] = [{"pool/core.py": text.format(each)} for each in (" = 1", "", " = 1")]
    assert [kind for _, kind, *_ in net(entries(history(*versions[:2])))] == [FactKind.REQUIRED_PARAMETER]
    assert net(entries(history(*versions))) == []


def test_whole_files_tell_what_a_commit_adds_where_its_patch_does_not() -> None:
    """A method that one commit removes and another restores is no change, where facts come from whole files."""
    text = "class Pool:\n    def keep(self):\n        return 1\n{}"
    there, gone = ({"pool/core.py": text.format(each)} for each in ("\n    def take(self):\n        return 2\n", ""))
    window = [
        each.model_copy(update={"facts": facts(each.commit, trees(*pair))})
        for each, pair in zip(entries(history(there, gone, there)), ((there, gone), (gone, there)), strict=True)
    ]
    assert [fact.kind for fact in window[0].facts] == [FactKind.REMOVED_METHOD]
    restoring = window[1].commit
    added = {restoring.sha: added_facts(restoring, [NameInFile("pool/core.py", "take")], trees(gone, there))}
    assert net_facts(window, lambda _: added) == {window[0].commit.sha: ()}


def revert(number: int, of: int) -> tuple[int, Links]:
    return number, Links(reverts=f"{of:040x}")


REMOVAL = [{"pool/cli.py": ARGUMENTS.format(each)} for each in ("    p.add_argument('--size', type=int)\n", "")]


def test_a_commit_and_its_revert_change_nothing() -> None:
    """Both are left out, though neither patch can be read; a revert of something older stands."""
    window = entries(history(REMOVAL[0], REMOVAL[1], REMOVAL[0]), dict([revert(2, 1)]))
    assert net_facts(window, lambda _: {}) == {window[0].commit.sha: ()}
    older = entries(history(*REMOVAL), dict([revert(1, 9)]))
    assert net_facts(older, lambda _: {}) == {}


ELSEWHERE, RETOUCHED = file("README.md", additions=9), file("pool/cli.py", additions=0, deletions=1)
RESTORED, RESTORED_ELSEWHERE = file("pool/cli.py", additions=1), file("pool/cli.py", was="pool/old.py", additions=1)


@pytest.mark.parametrize(
    ("changed_by_revert", "stands"),
    [
        ([ELSEWHERE], True),
        ([], True),
        ([RETOUCHED], True),
        ([RESTORED], False),
        ([RESTORED, ELSEWHERE], False),
        ([RESTORED_ELSEWHERE], False),
    ],
)
def test_a_message_alone_undoes_nothing(changed_by_revert: Sequence[FileChange], stands: bool) -> None:
    """A proven break stands unless the commit that says that it reverts it puts lines back in the file of the break."""
    [removal] = history(*REMOVAL)
    window = entries([removal, commit("Revert it", changed_by_revert, sha=f"{2:040x}")], dict([revert(2, 1)]))
    assert bool(net(window)) is stands
    assert undone_commits(window) == (frozenset() if stands else {each.commit.sha for each in window})


@pytest.mark.parametrize(
    ("lines", "is_undone"),
    [
        (["+    p.add_argument('--size', type=int)"], True),
        (["+    p.add_argument(", "+        '--size', type=int)"], False),
        (["+\tp.add_argument( '--size',type=int )"], True),
        (["+    p.add_argument('--width', type=int)"], False),
        (["+    # nothing", "+    # is put back"], False),
    ],
)
def test_as_many_lines_are_no_revert(lines: Sequence[str], is_undone: bool) -> None:
    """A revert with its patch puts back the removed lines, but for whitespace: others in the same file undo nothing."""
    [removal] = history(*REMOVAL)
    claimed = commit("Revert it", [changed("pool/cli.py", " def make(p):", *lines, "     return p")], sha=f"{2:040x}")
    window = entries([removal, claimed], dict([revert(2, 1)]))
    assert undone_commits(window) == (frozenset({each.commit.sha for each in window}) if is_undone else frozenset())


def test_half_of_the_lines_of_a_file_are_enough() -> None:
    """Lines that another commit has changed meanwhile cannot be put back as they were."""
    added = [f"+    take_{number}()" for number in range(4)]
    made = commit("Take", [changed("pool/core.py", " def take():", *added)], sha=f"{1:040x}")
    for left, is_undone in ((2, True), (1, False)):
        removed = ["-" + line[1:] for line in added[:left]] + ["-    other()"] * (4 - left)
        claimed = commit("Revert it", [changed("pool/core.py", " def take():", *removed)], sha=f"{2:040x}")
        assert bool(undone_commits(entries([made, claimed], dict([revert(2, 1)])))) is is_undone


def test_a_partial_revert_undoes_what_it_restores_and_no_more() -> None:
    """Of two files from which a commit removes flags, a revert that restores one leaves the other's flag removed."""
    there, gone = (text["pool/cli.py"] for text in REMOVAL)
    other = there.replace("--size", "--width")
    both, none, one = ({"a.py": a, "b.py": b} for a, b in ((there, other), (gone, gone), (there, gone)))
    window = entries(history(both, none, one), dict([revert(2, 1)]))
    assert {fact.name for fact in window[0].facts} == {"--size", "--width"}
    assert [(number, name) for number, _, name, *_ in net(window)] == [(1, "--width")]


def test_a_revert_of_a_revert_stands() -> None:
    """What is changed, reverted and changed again is changed by the last of them."""
    window = entries(history(*REMOVAL, *REMOVAL), dict([revert(2, 1), revert(3, 2)]))
    assert [(number, name) for number, _, name, *_ in net(window)] == [(3, "--size")]


def test_only_commits_that_touch_the_same_file_are_read() -> None:
    """The patches of a commit are asked for only if another takes something from a file that it touches."""
    asked: list[Mapping[str, frozenset[NameInFile]]] = []
    apart = history({"a/cli.py": REMOVAL[0]["pool/cli.py"], "b.py": "x = 1\n"}, {"a/cli.py": REMOVAL[1]["pool/cli.py"], "b.py": "x = 1\n"}, {"a/cli.py": REMOVAL[1]["pool/cli.py"], "b.py": "y()\n"})  # fmt: skip

    def additions(wanted: Mapping[str, frozenset[NameInFile]]) -> dict[str, Sequence[Fact]]:
        asked.append(wanted)
        return {}

    net_facts(entries(apart), additions)
    net_facts(entries(history(REMOVAL[0], REMOVAL[1], REMOVAL[0])), additions)
    assert asked == [{}, {f"{2:040x}": frozenset({NameInFile("pool/cli.py", "--size")})}]


@pytest.mark.parametrize(
    "change",
    [
        changed("pool/cli.py", " def make(p):", "-    a()", "-    b()", "+    c()", " ", under="class Pool:"),
        new_file("pool/cli.py", "class Pool:", "    size = 1"),
        file("pool/new.py", patch("-a", "+b"), status="renamed", was="pool/old.py"),
        file("pool/image.png"),
    ],
)
def test_a_commit_reversed_twice_is_itself(change: FileChange) -> None:
    """Sides, paths, status, counts and patch are swapped, and swapped back."""
    made = commit("", [change])
    assert reversed_commit(made).files != made.files or change.patch is None
    assert reversed_commit(reversed_commit(made)) == made


def test_the_reverse_of_an_addition_is_a_removal() -> None:
    """What a reversed commit removes is what the commit adds."""
    added = changed("pool/cli.py", " def make(p):", "+    p.add_argument('--size', type=int)", "     return p")
    assert breaking(*reversed_commit(commit(files=[added])).files) == [("removed flag", "--size")]
