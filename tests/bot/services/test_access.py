"""Who may see which repository, as far as GitHub's word and the settings decide it."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from analysis.errors import DigestError, UnknownRepository, Unreachable
from analysis.models import Repository
from bot.services.reader import Access

OPS, ELSEWHERE = "C0OPS", "C0DIGEST"
NOW = datetime(2026, 2, 6, 9, tzinfo=UTC)


def repository(name: str) -> Repository:
    return Repository.parse(name)


def github_says(answer: bool | DigestError) -> Callable[[Repository], bool]:
    def is_public(_: Repository) -> bool:
        if isinstance(answer, DigestError):
            raise answer
        return answer

    return is_public


def access(answer: bool | DigestError) -> Access:
    return Access({"o/secret": frozenset({OPS})}, github_says(answer), lambda: NOW)


@pytest.mark.parametrize("name", ["o/secret", "O/Secret", "o/secret@dev"])
@pytest.mark.parametrize("public", [True, False])
def test_a_listed_repository_is_seen_where_it_is_listed_only(name: str, public: bool) -> None:
    """However its name is written, and whatever GitHub says of it."""
    assert access(public).sees(OPS, repository(name))
    assert not access(public).sees(ELSEWHERE, repository(name))
    assert not access(public).sees("", repository(name))
    assert access(public).hides(ELSEWHERE, repository(name))
    assert not access(public).hides(OPS, repository(name))


@pytest.mark.parametrize("answer", [True, False, UnknownRepository("none"), Unreachable("GitHub does not answer")])
def test_nothing_tells_a_hidden_repository_from_one_that_is_not_there(answer: bool | DigestError) -> None:
    """Where it is not listed it fares as one that GitHub does not have, also while GitHub is silent."""

    def fate(name: str, answer: bool | DigestError) -> str:
        with pytest.raises(DigestError) as raised:
            access(answer).check(ELSEWHERE, repository(name))
        return f"{raised.type} {raised.value}".replace(name, "it")

    absent = answer if isinstance(answer, DigestError) else UnknownRepository("none")
    assert fate("o/secret", answer) == fate("o/absent", absent)


def test_what_is_private_to_github_is_seen_nowhere() -> None:
    """A repository that GitHub calls private and nobody lists is unknown, even to the channels of others."""
    assert not access(answer=False).sees(OPS, repository("o/other"))


def test_githubs_word_holds_for_half_an_hour() -> None:
    """A public repository is asked for once in half an hour, and stays public while GitHub is silent after that."""
    asked: list[Repository] = []
    now = [NOW]

    def is_public(each: Repository) -> bool:
        asked.append(each)
        if len(asked) > 1:
            raise Unreachable("GitHub does not answer")
        return True

    held = Access({}, is_public, lambda: now[0])
    assert all(held.sees(ELSEWHERE, repository("o/n")) for _ in range(3))
    now[0] += timedelta(minutes=31)
    assert held.sees(ELSEWHERE, repository("o/n"))
    assert len(asked) == 2
