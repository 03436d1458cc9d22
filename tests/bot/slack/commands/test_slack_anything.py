"""Whatever people type in Slack is answered where an answer is due, and nothing of it goes wrong."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from loopback.github import RecordedRepository
from loopback.sample import SAMPLE_REPOSITORY, sample_repository
from loopback.slack import LoopbackSlack
from tests.conftest import recorded
from tests.servers.clock import SettableClock
from tests.servers.crowd import KINDS, PIECES, Crowd, Said
from tests.servers.github import FaultyGitHub
from tests.servers.talk import Talk
from tests.strategies import TIMES, examples

TYPED = st.one_of(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map(" ".join),
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=5)), min_size=1, max_size=6).map("".join),
    st.text(min_size=1, max_size=60),
)


@pytest.fixture(scope="module")
def batches() -> list[list[Said]]:
    """What Hypothesis thinks of, before there is a bot: its threads use random numbers, which Hypothesis forbids meanwhile."""
    found: list[list[Said]] = []

    @settings(examples(2), phases=[Phase.generate])
    @given(st.lists(st.builds(Said, st.sampled_from(KINDS), TYPED, st.booleans()), min_size=50, max_size=50))
    def keep(said: list[Said]) -> None:
        found.append(said)

    keep()
    return found


@pytest.fixture(scope="module")
def crowd(batches: list[list[Said]], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crowd]:
    """Twenty-five people and a bot, which knows the sample."""
    small = [recorded(number, sha=f"abcdef{number}" * 6 + "0000", parents=[]) for number in (1, 2)]
    repositories = {SAMPLE_REPOSITORY: sample_repository(), "o/small": RecordedRepository(small)}
    with (
        # How soon it acknowledges, and at what pace it speaks while time stands still, is not asked here.
        LoopbackSlack(command_timeout=30, pace=False) as slack,
        FaultyGitHub(repositories) as github,
        Talk(
            slack,
            github.url,
            tmp_path_factory.mktemp("bot"),
            now=SettableClock(datetime(2026, 2, 6, 9, tzinfo=UTC)),
            digest_repos=SAMPLE_REPOSITORY,
            log_level="error",
        ) as talk,
    ):
        yield Crowd(talk, 25)


@pytest.mark.hypothesis
def test_whatever_is_typed_is_answered(batches: list[list[Said]], crowd: Crowd) -> None:
    """Of 100 texts in commands, mentions, direct messages and threads each gets the answer that is due, and no bug shows."""
    assert sum(map(len, batches)) == 100 * TIMES
    for said in batches:
        assert crowd.says(said) == []
