"""Patches as lines, and what of them fits a budget."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.diff import Excerpt, changed_lines, excerpt, hunks, tokens
from analysis.models import FileChange
from tests.factories import commit, file, new_file, patch

SOURCE = file("pkg/core.py", patch(" def work():", "-    return 1", "+    return 2"))
TEST = file("tests/test_core.py", patch("-assert work() == 1", "+assert work() == 2"))
DOCS = file("docs/core.md", patch("-It returns 1.", "+It returns 2."))
GENERATED = file("uv.lock", patch("-a", "+b"))
PLENTY = 10_000  # tokens


def test_lines_have_the_numbers_of_their_files() -> None:
    """A kept line has both numbers, a removed one the old and an added one the new."""
    text = "@@ -10,3 +20,3 @@ def work():\n a\n-b\n+c\n d\n@@ -30,1 +41,2 @@\n-e\n+f\n+g"
    first, second = hunks(text)
    assert [(line.sign, line.text, line.old, line.new) for line in first] == [
        (" ", "a", 10, 20),
        ("-", "b", 11, None),
        ("+", "c", None, 21),
        (" ", "d", 12, 22),
    ]
    assert [line.number for line in second] == [30, 41, 42]


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "not a patch",
        "@@ -1,2 +1,2 @@\n a",
        "@@ -1,2 +1,2 @@\n-a\nno sign\n+b",
        "@@ -x,1 +1,1 @@\n-a",
        "Binary files a/x and b/x differ",
        "--- a\n+++ b",
    ],
)
def test_a_malformed_patch_yields_nothing(text: str | None) -> None:
    """A patch that is missing or breaks its own counts has no hunks, and nothing is raised."""
    assert hunks(text) == ()
    assert list(changed_lines(file("a.py", text))) == []


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file",
            ["-a", "+b"],
        ),
        (
            "@@ -1,2 +1,2 @@\n--- a/old\n-@@ -1 +1 @@\n+++ b/new\n+@@ -1 +1 @@",
            ["--- a/old", "-@@ -1 +1 @@", "+++ b/new", "+@@ -1 +1 @@"],
        ),
        ("@@ -1,2 +1,2 @@\n a\n-b\n+c", ["-b", "+c"]),
        *(
            (f"@@ -1,2 +1,2 @@\n a{odd}b\n-c{odd}\n+d{odd}e", [f"-c{odd}", f"+d{odd}e"])
            for odd in ("\r", "\f", "\v", "\x1c", "\x85", "\u2028", "\u2029")
        ),
    ],
)
def test_changed_lines_are_those_with_a_sign(text: str, lines: list[str]) -> None:
    """In the patch's order, whatever they begin with or hold; a line feed alone ends one, and git's remarks are none."""
    assert [line.sign + line.text for line in changed_lines(file("a.py", text))] == lines


def test_a_small_commit_is_excerpted_whole() -> None:
    """Where the budget is ample every path and every hunk is there and nothing is left out."""
    found = excerpt(commit(files=[TEST, SOURCE]), PLENTY)
    assert found.left_out == ()
    assert "modified tests/test_core.py +1 -1" in found.text
    assert "+    return 2" in found.text
    assert "+assert work() == 2" in found.text
    assert "left out" not in found.text


def test_sources_come_before_tests_and_documents() -> None:
    """Of files of one size the sources stand first, then the tests, and documents are the first to be left out."""
    change = patch("-before", "+after")
    source, test, docs = (file(path, change) for path in ("pkg/core.py", "tests/pa.py", "docs/paa.md"))
    shown = [excerpt(commit(files=[docs, test, source]), budget) for budget in range(300)]
    places = [shown[-1].text.index(f"--- {each.path}") for each in (source, test, docs)]
    assert places == sorted(places)
    assert list(dict.fromkeys(found.left_out for found in shown)) == [
        (source.path, test.path, docs.path),
        (test.path, docs.path),
        (docs.path,),
        (),
    ]


def test_every_path_is_listed_whatever_the_budget() -> None:
    """The list of paths, with what was renamed, is never cut."""
    moved = file("new.py", status="renamed", was="old.py")
    found = excerpt(commit(files=[SOURCE, moved, GENERATED]), 0)
    assert found.text.split("\n") == [
        "modified pkg/core.py +1 -1",
        "renamed new.py (was old.py) +0 -0",
        "modified uv.lock +1 -1",
    ]
    assert found.left_out == ("pkg/core.py", "uv.lock")


@pytest.mark.parametrize(
    "left",
    [
        GENERATED,
        file("vendor/lib.c", patch("-a", "+b")),
        file("big.py", None, additions=9000),
        file("broken.py", "garbage", additions=1),
    ],
)
def test_what_is_not_shown_is_named(left: FileChange) -> None:
    """A lock file, a vendored one, one without a patch and one that cannot be parsed are named as left out."""
    found = excerpt(commit(files=[SOURCE, left]), PLENTY)
    assert found.left_out == (left.path,)
    assert f"--- {left.path}" not in found.text


def test_a_pure_renaming_leaves_nothing_out() -> None:
    """A file that only moved has no lines that could be missing."""
    assert excerpt(commit(files=[file("b.py", status="renamed", was="a.py")]), PLENTY).left_out == ()


def test_lines_are_numbered_over_all_files() -> None:
    """A long hunk is cut, each piece under git's heading, and every line has a number of its own."""
    giant = new_file("pkg/big.py", *(f"line {number}" for number in range(1, 71)))
    other = file("pkg/small.py", "@@ -7,1 +7,1 @@ class Pool:\n-    size = 1\n+    size = 2")
    found = excerpt(commit(files=[giant, other]), PLENTY)
    assert re.findall(r"@@ .*", found.text) == ["@@ -0 +1 @@", "@@ -0 +61 @@", "@@ -7 +7 @@ class Pool:"]
    assert re.findall(r"^\d+ \+line (\d+)$", found.text, re.MULTILINE) == [str(number) for number in range(1, 71)]
    assert "71 -    size = 1\n72 +    size = 2" in found.text


def test_of_much_removed_code_only_definitions_are_shown() -> None:
    """The lines between them are counted."""
    body = [f"-        step({number})" for number in range(20)]
    gone = file("pkg/old.py", patch("-class Old:", "-    def run(self):", *body, "+new = 1"))
    shown = excerpt(commit(files=[gone]), PLENTY).text.split("\n")[4:]
    assert shown == ["1 -class Old:", "2 -    def run(self):", "- ... 20 removed lines", "23 +new = 1"]


def test_no_file_is_left_out_for_the_later_hunks_of_another() -> None:
    """The first hunks of each file come before the fifth of any."""
    long = file("pkg/long.py", "\n".join(f"@@ -{n},1 +{n},1 @@\n-old = {n}\n+new = {n}" for n in range(1, 400, 5)))
    found = excerpt(commit(files=[long, SOURCE]), 300)
    assert SOURCE.path not in found.left_out
    assert found.left_out == (long.path,)


def test_a_file_in_part_says_how_much_is_missing() -> None:
    """Where only some of a file's hunks fit, their number is told, and the file is among those left out."""
    giant = new_file("pkg/big.py", *("x = 1" for _ in range(200)))
    whole = excerpt(commit(files=[giant]), PLENTY)
    found = excerpt(commit(files=[giant]), whole.tokens // 2)
    assert re.search(r"--- pkg/big\.py \([1-3] of 4 hunks left out\)\n@@ ", found.text)
    assert found.left_out == ("pkg/big.py",)


LINES = st.lists(st.text("ab /中\t", max_size=200), min_size=1, max_size=90)
FILES = st.lists(
    st.tuples(st.sampled_from(["pkg/a.py", "tests/test_a.py", "docs/a.md", "a.txt", "uv.lock"]), LINES),
    min_size=1,
    max_size=4,
)


@given(FILES, st.integers(0, 8000))
def test_an_excerpt_stays_within_its_budget(contents: list[tuple[str, list[str]]], budget: int) -> None:
    """Beyond the list of paths no more is shown than the budget holds, and the count given is no less than the text's."""
    files = [new_file(f"{number}/{path}", *lines) for number, (path, lines) in enumerate(contents)]
    found = excerpt(commit(files=files), budget)
    assert all(each.path in found.text for each in files)
    assert found.tokens <= max(budget, excerpt(commit(files=files), 0).tokens)
    assert tokens(found.text) <= max(budget, tokens(excerpt(commit(files=files), 0).text))
    assert set(found.left_out) == {each.path for each in files if not whole(each.path, found)}


def whole(path: str, found: Excerpt) -> bool:
    return f"\n--- {path}\n" in found.text


@pytest.mark.parametrize(("text", "most"), [("", 1), ("abc", 3), ("x" * 3000, 1200)])
def test_tokens_are_estimated_from_above(text: str, most: int) -> None:
    """An estimate is at least one, a little more than a third of the characters."""
    assert len(text) / 3 < tokens(text) <= most
