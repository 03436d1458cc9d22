"""A folder as a target: nothing leaves it, and a publication that was killed is completed."""

import json
import shutil
from datetime import UTC, datetime, time
from pathlib import Path

import pytest

from analysis.errors import BadSetting, Misuse
from analysis.models.upgrades import RangeEnd, ReleaseNotes, UpgradeGroup, UpgradeReport, UpgradeRow
from bot.publishing.folder import FolderFiles, FolderTarget
from bot.publishing.publisher import plan, publish
from tests.bot.publishing.reports import HOME, LATER, NOW, on, sample_report

DAY = sample_report().date


@pytest.mark.parametrize("link", ["reports", "reports/2026", HOME])
def test_a_symbolic_link_out_of_the_folder_is_not_followed(link: str, tmp_path: Path) -> None:
    """The refusal names the path; outside, nothing is written."""
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    outside.mkdir()
    (inside / link).parent.mkdir(parents=True)
    (inside / link).symlink_to(outside)
    with pytest.raises(Misuse, match="lies outside that folder"):
        publish(FolderTarget(inside), sample_report(), NOW)
    assert list(outside.iterdir()) == []


def test_a_file_that_is_a_symbolic_link_is_somebody_elses(tmp_path: Path) -> None:
    """It is neither followed nor replaced."""
    inside, victim = tmp_path / "inside", tmp_path / "victim"
    victim.write_text("Mine.\n")
    (inside / HOME).mkdir(parents=True)
    (inside / HOME / "README.md").symlink_to(victim)
    with pytest.raises(Misuse, match=r"README\.md of .* was not written by vllm-digest"):
        publish(FolderTarget(inside), sample_report(), NOW)
    assert victim.read_text() == "Mine.\n"


def test_a_folder_that_does_not_exist_is_not_created(tmp_path: Path) -> None:
    """Its name may be a typing error."""
    with pytest.raises(BadSetting, match="is not a folder; create it"):
        publish(FolderTarget(tmp_path / "reprots"), sample_report(), NOW)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("written", range(8))
def test_a_publication_that_was_killed_is_completed(written: int, tmp_path: Path) -> None:
    """Whatever had been written of an update, the next run writes the rest, even if the report has changed since."""
    whole, part = tmp_path / "whole", tmp_path / "part"
    whole.mkdir()
    publish(FolderTarget(whole), on(DAY, entries=sample_report().entries[:5]), NOW)
    shutil.copytree(whole, part)
    _write_some(part, written)
    changed = on(DAY, entries=sample_report().entries[:9])
    assert publish(FolderTarget(part), changed, LATER)
    publish(FolderTarget(whole), changed, LATER)
    assert _files(part) == _files(whole)
    assert not publish(FolderTarget(part), changed, LATER)


def _write_some(folder: Path, count: int) -> None:
    """Leave a folder as a process does that is killed after so many files of an update."""
    target = FolderTarget(folder)
    with target.opened() as files:
        found = plan(target, files, sample_report(), LATER)
    assert len(found.files) == 6
    some = dict(list(found.files.items())[:count])
    FolderFiles(folder, "").write(some, "")
    if count <= len(found.files):
        from bot.publishing.folder import blob_sha

        note = {path: blob_sha(text.encode()) for path, text in found.files.items()}
        (folder / "reports/.vllm-digest-unfinished.json").write_text(json.dumps(note))


def _files(folder: Path) -> dict[str, bytes]:
    return {str(each.relative_to(folder)): each.read_bytes() for each in folder.rglob("*") if each.is_file()}


def test_a_release_is_a_page_beside_the_days(tmp_path: Path) -> None:
    """It has its files, a line in the index and an entry in the feed; published again it changes nothing, and days stay."""
    day, folder = sample_report(), FolderTarget(tmp_path)
    publish(folder, day, NOW)
    group = {UpgradeGroup.BREAKING: tuple(UpgradeRow(entry=each, facts=each.facts) for each in day.entries[:2])}
    released = datetime.combine(DAY, time(12), UTC)
    report = UpgradeReport(
        repository=day.repository,
        start=RangeEnd(name="v1/<b>", sha="a" * 40),
        end=RangeEnd(name="v2", sha="b" * 40),
        timezone=day.timezone,
        language=day.language,
        release=ReleaseNotes(tag="rel/v2", date=released),
        commits=2,
        groups=group,
    )
    assert publish(folder, report, LATER)
    assert not publish(folder, report, LATER)
    page = (tmp_path / HOME / "rel-v2.html").read_text()
    assert "v1/&lt;b&gt;" in page
    assert "<script" not in page
    assert "[rel/v2](rel-v2.md)" in (tmp_path / HOME / "README.md").read_text()
    [feed] = (tmp_path / "reports").glob("*-breaking.atom")
    entries = (tmp_path / "reports" / feed.name.replace("-breaking", "")).read_text()
    assert "/release/rel/v2" in entries
    assert f"{DAY}.md" in entries or f"{DAY}.html" in entries
