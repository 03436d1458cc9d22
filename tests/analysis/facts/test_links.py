"""What a commit says of others."""

from time import thread_time

import pytest

from analysis.facts.links import Keys, keys, series
from analysis.models import PullRequest, Series
from tests.factories import commit

NOTHING = Keys(reverts_sha=None, reverts_title=None, reverts_pulls=(), series=None, part=None, of=None, fixes=())


@pytest.mark.parametrize(
    "title", ["[Core] Tidy up (#12)", "Support 1/2 precision", "Fix #", "Fixed-size buffers 3", ""]
)
def test_a_commit_by_itself_names_no_other(title: str) -> None:
    """Without a reference there is no key."""
    assert keys(commit(title)) == NOTHING


@pytest.mark.parametrize(
    ("title", "body", "sha", "reverted"),
    [
        ('Revert "[Core] Add x (#12)" (#34)', "", None, "[Core] Add x (#12)"),
        (
            'Revert "Add x"',
            "This reverts commit 0123456789ABCDEF0123456789abcdef01234567.",
            "0123456789abcdef0123456789abcdef01234567",
            "Add x",
        ),
        ("[Core] Revert “Add x” (#3)", "", None, "Add x"),
        ("revert: add x", "", None, "add x"),
        ("Take x out again", "this reverts commit 0123abcd", "0123abcd", None),
    ],
)
def test_a_revert_names_what_it_reverts(title: str, body: str, sha: str | None, reverted: str | None) -> None:
    """The title in a revert's title and the SHA in its body are both kept, the SHA in lower case."""
    found = keys(commit(title, body=body))
    assert (found.reverts_sha, found.reverts_title) == (sha, reverted)


@pytest.mark.parametrize(
    ("title", "part", "of"),
    [
        ("[Core][1/3] Split", 1, 3),
        ("[Core] Split (2/N)", 2, None),
        ("[Core] Split [ 10 / 12 ]", 10, 12),
        ("[3/x][Core] Split", 3, None),
    ],
)
def test_a_title_tells_the_part_of_a_series(title: str, part: int, of: int | None) -> None:
    """A part and its total stand in brackets; N is a total not known yet."""
    found = keys(commit(title))
    assert (found.part, found.of) == (part, of)
    assert found.series is not None


def test_the_parts_of_a_series_share_its_name() -> None:
    """Parts with the author, the tags and the total in common belong together."""
    first, second = keys(commit("[Core][Sched] [1/3] Begin")), keys(commit("[core][sched] [2/3] Go on (#4)"))
    assert first.series == second.series is not None


@pytest.mark.parametrize(
    ("title", "author"),
    [("[Core][Sched] [2/3] Go on", "Bob"), ("[Core] [2/3] Go on", "Ada"), ("[Core][Sched] [2/4] Go on", "Ada")],
)
def test_other_authors_tags_and_totals_are_other_series(title: str, author: str) -> None:
    """A part by somebody else, under other tags or of another total is of another series."""
    assert keys(commit(title, author=author)).series != keys(commit("[Core][Sched] [1/3] Begin")).series


def test_a_part_without_tags_has_no_series() -> None:
    """An author's bare parts could belong to anything."""
    found = keys(commit("[1/N] Begin"))
    assert (found.part, found.of, found.series) == (1, None, None)


@pytest.mark.parametrize(
    ("text", "fixes"),
    [
        ("Fixes #12", ("#12",)),
        ("fix: #12 and fixed #13", ("#12", "#13")),
        ("Follow-up to #7; a follow up for PR #8", ("#7", "#8")),
        ("A regression introduced in 0123abcd", ("0123abcd",)),
        ("Regression from commit 0123456789ABCDEF", ("0123456789ABCDEF",)),
        ("broken by pull request #9, caused by #9", ("#9",)),
        ("Regressions from #7, broken since #8", ("#7", "#8")),
        ("follow-up on https://github.com/acme/engine/pull/7", ("#7",)),
        ("caused by https://github.com/Acme/Engine/commit/0123abcd", ("0123abcd",)),
        ("caused by https://github.com/other/engine/pull/7 and fixes other/engine#8", ()),
        ('Fixes: 012abcd ("Do it")', ("012abcd",)),
        ("Fixes: 0123456 of them", ()),
        ("Fix what is slow after #12", ()),
        ("Related to #12", ()),
        ("prefix #12", ()),
        ("fixes 1234567", ()),
        ("fixes #1234567890", ()),
    ],
)
def test_what_a_commit_fixes_is_found_in_its_text(text: str, fixes: tuple[str, ...]) -> None:
    """Numbers and SHAs after words for fixing or following up are kept once each, in order."""
    assert keys(commit("Do it", body=text)).fixes == fixes
    assert keys(commit("Do it", pull=text)).fixes == fixes


@pytest.mark.parametrize(
    ("title", "fixes"),
    [
        ("[Bugfix] Fix slots after #12 (#34)", ("#12",)),
        ("Fix import error from #12", ("#12",)),
        ("[Bugfix] Fix mocks after the restriction in #12 (#34)", ("#12",)),
        ("[Bugfix] Undo part of the change in #12 (#34)", ()),
        ("Fix the cache (#34)", ()),
    ],
)
def test_a_title_tells_what_it_fixes(title: str, fixes: tuple[str, ...]) -> None:
    """A title that fixes something after, in or from another pull request is of that one."""
    assert keys(commit(title)).fixes == fixes


@pytest.mark.parametrize(
    ("title", "pull", "reverted"),
    [
        ("Revert #12 (#34)", None, ("#12",)),
        ("[Critical] Revert PRs #12, #13 and #14 (#34)", None, ("#12", "#13", "#14")),
        ('Revert "[Core] Add x" (#12) (#34)', None, ("#12",)),
        ('Revert "[Core] Add x (#12)" (#34)', None, ("#12",)),
        ('[Core] Revert "Add x" (#12 and #13) (#34)', None, ("#12", "#13")),
        ('Revert "Revert #12 (#34)" (#56)', None, ("#34",)),
        ('Revert "Add x" (#34)', "Reverts acme/engine#12", ("#12",)),
        ('Revert "Add x" (#34)', "Reverts other/engine#12", ()),
        ("[Bugfix] Revert part of the change in #12 (#34)", None, ()),
        ("[Core] Restore x (reverts #12) (#34)", None, ("#12",)),
        ("Restore x, reverts #12 and #13 (#34)", None, ("#12", "#13")),
        ("[CI] Revert PRs 12 and 13 (#34)", None, ("#12", "#13")),
        ("[Core] Revert PR #12: restore x (#34)", None, ("#12",)),
        ('Revert #12 "[Core] Add x" (#34)', None, ("#12",)),
        ("Restore x (#34)", "Reverts #12", ("#12",)),
        ("Restore x (#34)", "This PR reverts https://github.com/acme/engine/pull/12, which is slow", ("#12",)),
        ("Restore x (#34)", "reverts https://github.com/other/engine/pull/12", ()),
        ("Restore x (#34)", "Stop reverting #12", ()),
        ("Restore x (#34)", "It reverts to the default of #12", ()),
        ("Restore x that partially reverts #12 (#34)", None, ()),
        ("Revert to the default of #12 (#34)", None, ()),
        ("Partial revert of #12 (#34)", None, ()),
        ("Do not revert #12 (#34)", None, ()),
    ],
)
def test_a_revert_names_pull_requests(title: str, pull: str | None, reverted: tuple[str, ...]) -> None:
    """A revert may name what it reverts by number, in its title or as GitHub writes it; what it reverts in part it does not."""
    assert (
        keys(commit(title, pull=PullRequest(number=34, title="", body=pull) if pull else None)).reverts_pulls
        == reverted
    )


@pytest.mark.parametrize(
    "text",
    [
        "fix " * 20_000,
        "fix after " * 10_000,
        "fix" + " " * 60_000 + "x",
        'Revert "' + "(#1" * 20_000,
        'Revert "(#1' + ", #1" * 20_000,
        'Revert "' + "(#1) " * 15_000 + "x",
        "Revert " + "#1, " * 15_000,
        "(reverts " * 10_000,
        "(reverts #1, and " + "#1, and " * 5_000,
        "Revert PRs " + "1 and " * 10_000,
    ],
)
def test_a_hostile_text_is_read_in_time(text: str) -> None:
    """However a message repeats itself, what it names is found in time proportional to its length."""
    begun = thread_time()
    keys(commit("x" + text, body=text))
    keys(commit("Core " + text).model_copy(update={"message": text}))
    assert thread_time() - begun < 5


def test_a_commit_does_not_fix_itself() -> None:
    """A pull request that names its own number names no other."""
    assert keys(commit("Do it (#12)", body="Fixes #12, fixes #11")).fixes == ("#11",)
    assert keys(commit("Do it", pull=PullRequest(number=12, title="", body="Fixes #12"))).fixes == ()


def test_a_series_holds_the_commits_that_are_known() -> None:
    """A key with a part becomes a series, one without becomes none."""
    assert series(keys(commit("[Core] [2/3] Go on")), ("a", "b")) == Series(part=2, of=3, commits=("a", "b"))
    assert series(NOTHING, ("a",)) is None
