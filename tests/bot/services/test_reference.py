"""What people call a commit."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import Misuse
from analysis.models import Repository
from analysis.questions.days_asked import QuestionScope
from bot.models.question_subject import question_subject
from bot.models.reference import parse_reference

HERE = Repository(owner="acme", name="engine")
TODAY = date(2026, 2, 10)
FIRST, SECOND = date(2026, 2, 5), date(2026, 2, 6)


@pytest.mark.parametrize("text", ["abcd", "ABCD", " 0123abc ", "0123", "1234567", "0" * 40, "f" * 64, "000000"])
def test_hexadecimal_digits_are_a_sha(text: str) -> None:
    """Four to 64 digits are a SHA or its beginning, in lower case; so is a number that is too long for a pull request's."""
    found = parse_reference(text)
    assert (found.sha, found.pr, found.repository, found.text) == (text.strip().lower(), None, None, text)


@pytest.mark.parametrize(
    ("text", "number"), [("#123", 123), ("123", 123), ("123456", 123456), ("#1234567", 1234567), (" #7 ", 7)]
)
def test_a_number_is_a_pull_request(text: str, number: int) -> None:
    """A number with # and a short one without are a pull request."""
    found = parse_reference(text)
    assert (found.sha, found.pr, found.repository) == (None, number, None)


@pytest.mark.parametrize(
    ("text", "sha", "pr"),
    [
        ("https://github.com/acme/engine/commit/0123ABCD", "0123abcd", None),
        ("https://github.com/acme/engine/commit/0123abcd#diff-1", "0123abcd", None),
        ("https://github.com/acme/engine/commits/0123abcd?x=y", "0123abcd", None),
        ("https://github.com/acme/engine/pull/12", None, 12),
        ("<https://github.com/acme/engine/pull/12>", None, 12),
        ("https://github.com/acme/engine/pull/12/files", None, 12),
        ("https://github.com/acme/engine/pull/12/commits/0123abcd", "0123abcd", None),
        ("https://github.example/api/v3/repos/acme/engine/commits/0123abcd", "0123abcd", None),
        ("http://127.0.0.1:8080/acme/engine/pull/12", None, 12),
    ],
)
def test_an_address_names_its_repository(text: str, sha: str | None, pr: int | None) -> None:
    """The web address of a commit or a pull request, on any server, says where it is."""
    found = parse_reference(text)
    assert (found.repository, found.sha, found.pr) == (HERE, sha, pr)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "abc",
        "#",
        "#0",
        "#abc",
        "ghij",
        "f" * 65,
        "#1234567890",
        "1 2",
        "HEAD",
        "main",
        "https://github.com/acme/engine",
        "https://github.com/acme/engine/issues/12",
        "https://github.com/acme/engine/commit/main",
        "ftp://github.com/acme/engine/pull/12",
        "\u0661\u0662\u0663",
        ("https://github.com/acme/engine/pull/0"),
        ("https://github.com/../engine/pull/12"),
    ],
)
def test_what_names_no_commit_is_misuse(text: str) -> None:
    """What is neither a SHA nor a number nor an address says what would have been."""
    with pytest.raises(Misuse, match="is not a commit; use a SHA of at least 4 digits, #123, or the URL"):
        parse_reference(text)


@given(st.text(max_size=80))
def test_any_text_is_a_reference_or_misuse(text: str) -> None:
    """A reference has either a SHA or a number, and everything else is refused in one line."""
    try:
        found = parse_reference(text)
    except Misuse as refused:
        told = str(refused)
    else:
        told = found.sha or f"#{found.pr}"
        assert (found.sha is None) != (found.pr is None)
    assert len(told.splitlines()) == 1


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("what touches ROCm?", (FIRST, SECOND)),
        ("what landed on 2026-02-06?", (SECOND,)),
        ("2月6日有什么改动？", (SECOND,)),
        ("what landed on 2026-02-09?", (FIRST, SECOND)),
        ("what goes away on 2027-01-01?", (FIRST, SECOND)),
    ],
)
def test_a_question_names_some_of_its_days(question: str, days: tuple[date, ...]) -> None:
    """Other days, and those to come, are no days of the question."""
    subject = question_subject("2026-02-05..2026-02-06", question, lambda _: [HERE], None, TODAY)
    assert isinstance(subject.about, QuestionScope)
    assert subject.about.days == days
