"""Questions over all that is stored of a repository, and the history of a name in its mirror."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from datetime import date
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from analysis.models import Repository
from analysis.questions.days_asked import scope_of
from analysis.questions.question import parse_question
from bot.models.downstream import DownstreamCheck
from bot.models.question_subject import QuestionSubject
from bot.models.subjects import DayRef
from bot.services.factory import Services
from bot.services.period_wording import PeriodQuestion
from tests.conftest import recorded
from tests.servers.downstream import DAY, MORNING_AFTER, PACKAGE, UPSTREAM, Pair
from tests.servers.github import FaultyGitHub

REPOSITORY = Repository(owner="o", name="n")
DAY_OF_RECORDED = (date(2026, 2, 5),)
DAYS = (DAY_OF_RECORDED, ())

Stored = Callable[..., Services]


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    with ExitStack() as stack:
        yield Pair(tmp_path, stack)


def answered(services: Services, question: str) -> tuple[str, list[str]]:
    """The text of an answer over everything, and the labels that it cites."""
    asked = PeriodQuestion(parse_question(question), UPSTREAM, (), ZoneInfo("UTC"), "en")
    statements = list(services.period_questions.answer(asked, lambda ref: services.digests.report(ref, MORNING_AFTER)))
    return "\n".join(each.text for each in statements), [place.label for each in statements for place in each.citations]


def read_a_day(services: Services) -> None:
    services.digests.report(DayRef(UPSTREAM, DAY, "UTC", "en"), MORNING_AFTER)


def test_a_names_history_comes_from_the_mirror(pair: Pair) -> None:
    """Commits that were never stored are found, newest first, each with when, by whom, and the line that touches the name."""
    services = pair.services()
    read_a_day(services)
    text, labels = answered(services, "when did Worker.step change?")
    first, second = (line for line in text.split("\n") if line.startswith("2026-"))
    assert (first[:10], "Pass the cache (#7)" in first) == ("2026-02-05", True)
    assert (second[:10], "Begin" in second) == ("2026-01-27", True)
    assert "engine/core.py:2" in labels
    text, _ = answered(services, "which commit added Worker.step?")
    assert ("Begin" in text, "Pass the cache" in text) == (True, False)


def test_what_removed_a_name_is_told_alone(pair: Pair) -> None:
    """Commits that only use the name are left out."""
    services = pair.services()
    read_a_day(services)
    text, labels = answered(services, "what removed `load`?")
    assert "Pass the cache" in text
    assert "Begin" not in text
    assert "engine/core.py:6" in labels


def test_the_history_of_a_name_and_of_a_commit_is_read_from_titles(pair: Pair) -> None:
    """What replaced a name that came and went, what undid a commit and what brought it back, none of them stored."""
    base = {"engine/__init__.py": PACKAGE, "engine/core.py": b"class Worker:\n    pass\n"}
    old = b'import os\n\nENGINE_OLD_MODE = os.environ.get("ENGINE_OLD_MODE", "0")\nENGINE_SIZE = 1\n'
    new = b"ENGINE_SIZE = 1\n"
    sha = pair.breaking
    steps = [
        (base | {"engine/envs.py": old}, b"Add the old mode (#8)"),
        (base | {"engine/envs.py": new}, b"Drop ENGINE_OLD_MODE in favour of --mode (#9)"),
        (base | {"engine/envs.py": new, "engine/fast.py": b"x = 1\n"}, b"Enable the fast path (#10)"),
        (base | {"engine/envs.py": new}, b'Revert "Enable the fast path (#10)" (#11)'),
        (base | {"engine/envs.py": new, "engine/fast.py": b"x = 2\n"}, b"Reapply the fast path (#12)"),
    ]
    at = int(MORNING_AFTER.timestamp()) - 3_600 * 12
    shas = [sha := pair.upstream.commit(tree, sha, message=message, at=(at := at + 60)) for tree, message in steps]
    services = pair.services()
    read_a_day(services)
    text, labels = answered(services, "when was ENGINE_OLD_MODE removed and what replaces it?")
    assert text.split("\n")[0].endswith(
        "`Drop ENGINE_OLD_MODE in favour of --mode (#9)`: Use `--mode` instead of `ENGINE_OLD_MODE`."
    )
    assert labels[0] == shas[1][:7]
    asked, read = "was #10 reverted? did it come back?", lambda ref: services.digests.report(ref, MORNING_AFTER)
    subject = QuestionSubject(scope_of(asked, DAY), [UPSTREAM], by_question=True)
    told = services.period_questions.answer_subject(subject, asked, "en", ZoneInfo("UTC"), read)
    text = "\n".join(each.text for each in told)
    assert [line.partition(": ")[2][:8] for line in text.split("\n")[1:]] == ["`Revert ", "`Reapply"]


def test_new_settings_are_told_in_one_line_with_their_defaults(pair: Pair) -> None:
    """Of the sort that a question names, and no commit that only uses its words; of another sort that none is proven."""
    before = b"import argparse\n\nparser = argparse.ArgumentParser()\n"
    after = before + b'parser.add_argument("--tapir-depth", type=int, default=7)\n'
    at = int(MORNING_AFTER.timestamp()) - 3_600 * 9
    sha = pair.upstream.commit({"engine/cli.py": before}, pair.breaking, message=b"Begin a command", at=at)
    pair.upstream.commit({"engine/cli.py": after}, sha, message=b"Measure tapirs (#9)", at=at + 60)
    services = pair.services()

    def told(question: str) -> list[str]:
        asked = PeriodQuestion(parse_question(question), UPSTREAM, [DAY], ZoneInfo("UTC"), "en")
        read = services.period_questions.answer(asked, lambda ref: services.digests.report(ref, MORNING_AFTER))
        return [each.text for each in read]

    first, _, *items = told("list the new flags with their defaults")
    assert first == "Adds `--tapir-depth` (default `7`)."
    assert ["Measure tapirs" in each for each in items] == [True]
    assert told("any new environment variables?") == ["None of the 3 commits is proven to do this."]


def test_of_what_was_never_stored_nothing_is_denied(pair: Pair) -> None:
    """Without a mirror and a stored commit, the answer says that nothing is there yet."""
    text, _ = answered(pair.services(mirrored=False), "what removed Zyzzyva9000?")
    assert text == f"No commits of `{UPSTREAM}` are stored yet. Ask about a day, and they are read."


def asked(at: Services, question: str, days: tuple[date, ...] = ()) -> str:
    """The answer to a question about days of `o/n`, or about all that is stored of it."""
    about = PeriodQuestion(parse_question(question), REPOSITORY, days, ZoneInfo("UTC"), "en")
    statements = at.period_questions.answer(about, lambda ref: at.digests.report(ref, MORNING_AFTER))
    return "\n".join(each.text for each in statements)


@pytest.fixture
def stored(serve: Callable[..., FaultyGitHub], services: Callable[..., Services]) -> Stored:
    """The services of `o/n` once its day with some commits was read."""

    def of(*commits: dict[str, Any]) -> Services:
        at = services(serve(*commits))
        at.digests.report(DayRef(REPOSITORY, DAY_OF_RECORDED[0], "UTC", "en"), MORNING_AFTER)
        return at

    return of


def changed(name: str, patch: str | None, lines: int = 1) -> dict[str, Any]:
    return {"filename": name, "status": "modified", "additions": lines, "deletions": 0, "patch": patch}


@pytest.mark.parametrize("days", DAYS, ids=["of a day", "of all that is stored"])
def test_what_is_beyond_the_index_is_not_denied(stored: Stored, days: tuple[date, ...]) -> None:
    """What stands only in a lock file, after thousands of names, or in a trailer is found before it is denied."""
    lines = "\n".join(f"+name_{number} = {number}" for number in range(4_000)) + "\n+tapir_j = 1"
    at = stored(
        recorded(1, files=[changed("pkg/big.py", f"@@ -0,0 +1,4001 @@\n{lines}", 4_001)]),
        recorded(2, files=[changed("poetry.lock", '@@ -1 +1,2 @@\n x\n+name = "serval"')]),
        recorded(3, message="Change part 3\n\nCo-authored-by: Quokka <q@example.com>"),
    )
    assert "Change part 1" in asked(at, "does anything mention tapir_j?", days)
    assert "Change part 2" in asked(at, "does anything mention `serval`?", days)
    assert "Change part 3" in asked(at, "what did quokka do?", days)
    kept = "" if days else "stored "
    assert f"None of the 3 {kept}commits mentions `ocelot_k`" in asked(at, "does anything mention ocelot_k?", days)


@pytest.mark.parametrize("days", DAYS, ids=["of a day", "of all that is stored"])
def test_changes_that_github_leaves_out_are_told_with_a_denial(stored: Stored, days: tuple[date, ...]) -> None:
    """Where a patch was too large to be served, no name is said to be absent, and the commit is counted."""
    at = stored(recorded(1, files=[changed("pkg/big.py", None, 90_000)]), recorded(2))
    answer = asked(at, "does anything mention ocelot_k?", days)
    assert answer == "None of the 2 commits matches. 1 commit was searched in part only."


@pytest.mark.parametrize("days", DAYS, ids=["of a day", "of all that is stored"])
def test_a_flag_is_not_taken_for_its_word(stored: Stored, days: tuple[date, ...]) -> None:
    """Of commits that have the flag and commits that have its word, the former are named; without any, that is said."""
    word = [changed("pkg/net.py", "@@ -1 +1,2 @@\n x\n+port = open_port()")]
    flag = [changed("pkg/cli.py", '@@ -1,2 +1 @@\n x\n-parser.add_argument("--port", type=int)')]
    at = stored(recorded(1, files=word), recorded(2, files=flag))
    answer = asked(at, "what removed --port?", days)
    assert ("Change part 2" in answer, "Change part 1" in answer) == (True, False)
    assert asked(at, "what removed --host?", days).startswith("None of the 2 ")


def test_a_flag_of_which_only_the_word_is_there_is_told(stored: Stored) -> None:
    """Commits that have the word without its dashes are named, after saying that the flag was not found."""
    at = stored(recorded(1, files=[changed("pkg/net.py", "@@ -1 +1,2 @@\n x\n+port = open_port()")]), recorded(2))
    for days in (DAY_OF_RECORDED, ()):
        answer = asked(at, "what touches --port?", days)
        assert answer.startswith("Not found: `--port`.")
        assert "Change part 1" in answer


@pytest.mark.parametrize("days", DAYS, ids=["of a day", "of all that is stored"])
@pytest.mark.parametrize("is_gone", [False, True])
def test_a_removal_that_no_fact_proves_is_denied_first(stored: Stored, days: tuple[date, ...], is_gone: bool) -> None:
    """What only takes out lines with the name is no removal; a commit that a fact proves to be one is told alone."""
    patches = ["@@ -1 +1,2 @@\n x\n+tapir_j = 1", "@@ -1,2 +1 @@\n x\n-run(args.tapir_j)"]
    used = [recorded(number, files=[changed("pkg/a.py", patch)]) for number, patch in enumerate(patches, 1)]
    gone = recorded(4, files=[changed("pkg/cli.py", '@@ -1 +0,0 @@\n-parser.add_argument("--tapir-j")')])
    answer = asked(stored(*used, *[gone] * is_gone), "Which commits removed `--tapir-j`?", days)
    assert [answer == "No commit here is proven to remove `--tapir-j`.", "part 4" in answer] == [not is_gone, is_gone]
    assert "\n" not in answer


def test_a_deleted_file_and_the_old_path_of_a_moved_one_are_no_denial(stored: Stored) -> None:
    """What deletes or moves a file is found by the end of its path."""
    gone = {**changed("pkg/net/limiter.py", "@@ -1 +0,0 @@\n-x = 1"), "status": "removed"}
    moved = {**changed("pkg/new/ops.py", None, 0), "status": "renamed", "previous_filename": "pkg/old_ops/ops.py"}
    at = stored(recorded(1, files=[gone]), recorded(2, files=[moved]))
    for days in (DAY_OF_RECORDED, ()):
        answer = asked(at, "what removed limiter.py?", days)
        assert "Change part 1" in answer.split("\n")[0]
        assert "Change part 2" in asked(at, "what moved old_ops/ops.py?", days)


@pytest.mark.parametrize(
    ("question", "told", "certain"),
    [
        ("what was done about lanterns?", "Change part 1", False),
        ("what uses tapir_j?", "Change part 1", True),
        ("is the kookaburra cage open?", "kookaburra", True),
    ],
)
def test_what_only_has_the_words_of_a_question_is_not_said_to_answer_it(
    stored: Stored, question: str, told: str, certain: bool
) -> None:
    """Commits that touch a name, or whose titles say most of it, match; any others are called the nearest, and not counted."""
    at = stored(
        recorded(1, files=[changed("pkg/a.py", "@@ -1 +1,2 @@\n x\n+tapir_j = 1  # of lanterns")]),
        recorded(2, message="Open the kookaburra cage"),
    )
    for days in (DAY_OF_RECORDED, ()):
        answer = asked(at, question, days)
        assert answer.startswith("Matching" if certain else "Not proven to answer it, but nearest by their words:")
        assert told in answer


def test_the_rest_of_a_question_is_answered_after_what_was_not_found(stored: Stored) -> None:
    """A name that nothing mentions is told, and the commits that have the other one follow."""
    at = stored(recorded(1, files=[changed("pkg/a.py", "@@ -1 +1,2 @@\n x\n+tapir_j = 1")]), recorded(2))
    for days in (DAY_OF_RECORDED, ()):
        answer = asked(at, "does anything mention tapir_j or ocelot_k?", days)
        assert answer.startswith("Not found: `ocelot_k`. These commits match the rest of the question.")
        assert "Change part 1" in answer


def test_the_same_word_is_found_among_many_longer_ones(stored: Stored) -> None:
    """A name that begins many others is found where it stands alone, though the index lists the others first."""
    longer = [
        recorded(
            number,
            files=[changed("pkg/a.py", "@@ -1 +1,2 @@\n x\n+" + "tapirhouse = tapirhouse " * 3)],
            message=f"tapirhouse {number}",
        )
        for number in range(2, 130)
    ]
    alone = recorded(
        1, files=[changed("pkg/b.py", f"@@ -1 +1,2 @@\n x\n+{' '.join(f'n{each}' for each in range(900))} tapir")]
    )
    at = stored(alone, *longer)
    assert "Change part 1" in asked(at, "what touches tapir?")


@pytest.mark.parametrize("days", DAYS, ids=["of a day", "of all that is stored"])
def test_a_removal_that_nothing_proves_is_not_claimed(stored: Stored, days: tuple[date, ...]) -> None:
    """Commits that only use the words of a question are left out, and the answer says that none does it."""
    at = stored(recorded(1, message="Set environment variables", files=[changed("a.sh", "@@ -0,0 +1 @@\n+env A=1")]))
    answer = asked(at, "which environment variables were removed?", days)
    assert answer == "1 commit was looked at; it is not proven to do this."


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("how many commits are there?", "3 commits: 0 high, 0 medium, 3 low."),
        ("how many are important?", "3 commits: 0 high, 0 medium, 3 low.\nThe most important commits:"),
        ("how many commits touch tapir_j?", "2 of 3 commits match.\nMatching commits:"),
        ("who committed the most?", "Most commits: `Core Team` (2), `Ada` (1)."),
    ],
)
def test_a_question_for_a_number_gets_one(stored: Stored, question: str, answer: str) -> None:
    """Of all commits, by tier; of those that match; and of the authors."""
    at = stored(
        recorded(1, files=[changed("a.py", "@@ -0,0 +1 @@\n+tapir_j(1)")]),
        recorded(2, files=[changed("a.py", "@@ -0,0 +1 @@\n+tapir_j(2)")]),
        recorded(3, author={"name": "Ada", "date": "2026-02-05T12:00:00Z"}),
    )
    assert asked(at, question, DAY_OF_RECORDED).startswith(answer)
    assert asked(at, question).startswith(answer)


def test_what_facts_prove_is_found_among_many_that_use_the_words(stored: Stored) -> None:
    """Also if its own texts have none of them, and more commits do than are looked through."""
    at = stored(
        recorded(1, files=[changed("pkg/part1.py", "@@ -1 +0,0 @@\n-TAPIR_J = 1")]),
        *(recorded(number, message=f"Removed function of functions {number}") for number in range(2, 110)),
    )
    assert "`TAPIR_J`" in asked(at, "which commit removed a function?")


@pytest.mark.parametrize(
    ("question", "told", "untold"),
    [
        ("what is #2 about?", "Change part 2", "Change part 1"),
        ("what is PR #2 about?", "Change part 2", "Change part 1"),
        ("anything risky for part1?", "Change part 1", "Change part 2"),
        ("what did Ada Lovelace change?", "Change part 3", "Change part 1"),
        ("which commits by Ada Lovelace touch tapir_j?", "Change part 3", "Change part 4"),
        ("what did Ada Lovelace change on 2026-02-05?", "Change part 3", "Change part 1"),
        ("which commits touch pkg/deep?", "Change part 4", "Change part 3"),
        ("how many lines does tapir_j have?", "Matching commits:", " match."),
    ],
)
def test_what_a_question_names_narrows_the_answer(stored: Stored, question: str, told: str, untold: str) -> None:
    """A commit, an author, a day, and a folder, which a text that only mentions it is not in."""
    at = stored(
        recorded(1),
        recorded(2),
        recorded(
            3,
            author={"name": "Ada Lovelace", "date": "2026-02-05T12:00:00Z"},
            files=[changed("pkg/part3.py", "@@ -0,0 +1,2 @@\n+from pkg.deep import thing\n+tapir_j(3)", 2)],
        ),
        recorded(4, files=[changed("pkg/deep/part4.py", "@@ -0,0 +1 @@\n+tapir_j(4)")]),
    )
    answer = asked(at, question, DAY_OF_RECORDED)
    assert (told in answer, untold in answer) == (True, False), answer


def test_what_older_rules_found_is_not_claimed(stored: Stored, tmp_path: Path) -> None:
    """A commit is no answer by facts that the current rules do not find, though nobody has read it since."""
    at = stored(recorded(1))
    with closing(sqlite3.connect(tmp_path / "test.db")) as connection, connection:
        connection.execute(
            """UPDATE commits SET facts_version = 1, facts = '[{"kind": "removed flag", "name": "--zz"}]'"""
        )
    assert "Change part 1" not in asked(at, "which commit removed a flag?")


def test_days_without_commits_break_nothing_and_say_so(pair: Pair) -> None:
    """Who asks what breaks code on days without commits is told that there are none, and no more is compared."""
    services = pair.services()

    def check(_: object) -> DownstreamCheck:
        raise AssertionError("nothing is to be compared")

    asked = PeriodQuestion(
        parse_question("does anything break us?"), UPSTREAM, (DAY,), ZoneInfo("UTC"), "en", check=check
    )
    assert [each.text for each in services.period_questions.answer_from(asked, ())] == ["There are no commits here."]


@pytest.mark.parametrize("days", DAYS, ids=["of a day", "of all that is stored"])
def test_a_removal_that_only_a_title_tells_is_told(stored: Stored, days: tuple[date, ...]) -> None:
    """A name is found in titles in any case; what other commits only mention is no removal."""
    gone = recorded(1, message="Remove TapirQuant (#1)", files=[changed("pkg/a.py", "@@ -1 +0,0 @@\n-tapir_j = 1")])
    used = recorded(2, files=[changed("pkg/b.py", "@@ -1 +1,2 @@\n x\n+use('TapirQUANT')")])
    answer = asked(stored(gone, used), "who removed TapirQUANT?", days)
    assert ("Remove TapirQuant" in answer, "Change part 2" in answer, "proven" in answer) == (True, False, False)


def test_what_was_removed_is_told_by_facts(stored: Stored) -> None:
    """A question that names nothing else is answered by each commit that removes something, without a denial."""
    patch = "@@ -1,3 +1 @@\n x\n-def tapir_j():\n-    return 1"
    gone = recorded(1, files=[changed("pkg/a.py", patch)])
    answer = asked(stored(gone, recorded(2)), "what was removed?", DAY_OF_RECORDED)
    assert ("tapir_j" in answer, "part 2" in answer, "proven" in answer) == (True, False, False)
