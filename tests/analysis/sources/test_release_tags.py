"""Which tags are the releases of a repository, in which order."""

from datetime import UTC, datetime, timedelta

import pytest

from analysis.models import ReleaseTag
from analysis.sources.release_tags import main_releases

DAY = datetime(2026, 1, 1, tzinfo=UTC)


def tags(names: str) -> list[ReleaseTag]:
    return [
        ReleaseTag(name=name, sha="a" * 40, date=DAY + timedelta(days=number))
        for number, name in enumerate(names.split())
    ]


@pytest.mark.parametrize(
    ("given", "releases", "candidates"),
    [
        ("v0.9.2 v0.10.0 v0.10.0rc1 v0.11.0.dev1", "v0.9.2 v0.10.0", "v0.10.0rc1 v0.11.0.dev1"),
        ("1.0 v1.1 lantern-v1.2 release-1.3 sdk-v9.0", "1.0 v1.1 lantern-v1.2 release-1.3", ""),
        ("core==0.1 core==0.2 cli==0.9", "core==0.1 core==0.2", ""),
        ("1.0.0-rc.1 1.0.0-canary.4 1.0.0.Final 2.0-beta", "1.0.0.Final", "1.0.0-canary.4 1.0.0-rc.1 2.0-beta"),
        ("v0.1a1 v0.1a2", "v0.1a1 v0.1a2", ""),
        ("nightly latest py3-v1.5 v", "py3-v1.5", ""),
        ("nightly", "", ""),
        ("v7 v10 v9", "v7 v9 v10", ""),
    ],
)
def test_releases_are_the_versions_of_the_main_package(given: str, releases: str, candidates: str) -> None:
    """Versions of one package count, in the order of versions; candidates are told apart unless there is nothing else."""
    found = main_releases(tags(given), "lantern")
    assert [each.name for each in found if not each.is_candidate] == releases.split()
    assert sorted(each.name for each in found if each.is_candidate) == sorted(candidates.split())


def test_a_prefix_chooses_the_package() -> None:
    """Where the prefix is known, the tags that begin with it alone are releases."""
    found = main_releases(tags("v1.0 sdk-v0.1 sdk-v0.2"), "lantern", "sdk-v")
    assert [each.name for each in found] == ["sdk-v0.1", "sdk-v0.2"]
