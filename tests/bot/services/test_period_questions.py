"""Questions over all that is stored of a repository, and the history of a name in its mirror."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import date
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from analysis.models import Repository
from bot.models.subjects import DayRef
from bot.services.factory import Services
from bot.services.period_questions import PeriodQuestion
from tests.conftest import recorded
from tests.servers.downstream import DAY, MORNING_AFTER, UPSTREAM, Pair
from tests.servers.github import FaultyGitHub


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    with ExitStack() as stack:
        yield Pair(tmp_path, stack)


def answered(services: Services, question: str) -> tuple[str, list[str]]:
    """The text of an answer over everything, and the labels that it cites."""
    asked = PeriodQuestion(question, UPSTREAM, (), ZoneInfo("UTC"), "en")
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


def test_without_a_mirror_what_is_stored_answers(pair: Pair) -> None:
    """The search index finds the commits; a name that none mentions is denied with their number."""
    services = pair.services(mirrored=False)
    text, _ = answered(services, "what removed Zyzzyva9000?")
    assert text == "None of the 0 commits mentions `Zyzzyva9000`."


def test_what_is_beyond_the_index_is_not_denied(
    serve: Callable[..., FaultyGitHub], services: Callable[..., Services]
) -> None:
    """A word that stands only in a lock file, or after thousands of names, is found in the patches before it is denied."""
    lines = "\n".join(f"+name_{number} = {number}" for number in range(4_000)) + "\n+tapir_j = 1"
    large = {"filename": "pkg/big.py", "status": "added", "additions": 4_001, "deletions": 0}
    locked = {"filename": "poetry.lock", "status": "modified", "additions": 1, "deletions": 0}
    at = services(
        serve(
            recorded(1, files=[{**large, "patch": f"@@ -0,0 +1,4001 @@\n{lines}"}]),
            recorded(2, files=[{**locked, "patch": '@@ -1 +1,2 @@\n x\n+name = "serval"'}]),
            recorded(3),
        )
    )

    def told(question: str) -> str:
        asked = PeriodQuestion(question, Repository.parse("o/n"), (date(2026, 2, 5),), ZoneInfo("UTC"), "en")
        statements = at.period_questions.answer(asked, lambda ref: at.digests.report(ref, MORNING_AFTER))
        return "\n".join(each.text for each in statements)

    assert "Change part 1" in told("does anything mention tapir_j?")
    assert "Change part 2" in told("does anything mention `serval`?")
    assert "None of the 3 commits mentions `ocelot_k`" in told("does anything mention ocelot_k?")
