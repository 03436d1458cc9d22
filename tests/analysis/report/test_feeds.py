"""The feeds: valid for two readers, with ids and times that stay."""

from datetime import UTC, date, datetime

import atoma
import feedparser
import pytest

from analysis.models import Language, PublishedBreak, PublishedDay, PublishedYear, Stats
from analysis.report.feeds import FeedAddresses, breaking_feed, daily_feed

ADDRESSES = FeedAddresses("https://example.com/feed", "https://example.com/reports/", "engine", ".md")
HOSTILE = "</title><script>alert(1)</script> & `a<b>` ]]> \u202e"


def published(day: int, *lines: str, updated: int = 0, breaking: tuple[str, ...] = ()) -> PublishedDay:
    at = datetime(2026, 2, updated or day + 1, 9, tzinfo=UTC)
    broken = tuple(
        PublishedBreak(
            sha=sha * 40,
            url=f"https://github.com/acme/engine/commit/{sha * 40}",
            committed_at=at,
            line=line,
            updated=at,
        )
        for sha, line in zip("abc", breaking, strict=False)
    )
    return PublishedDay(
        date=date(2026, 2, day), updated=at, stats=Stats(total=3, high=1, medium=1, low=1), lines=lines, breaking=broken
    )


def year(*days: PublishedDay, language: Language = "en") -> PublishedYear:
    found = PublishedYear(repository="acme/engine", language=language, timezone="UTC")
    for each in days:
        found = found.with_day(each)
    return found


@pytest.mark.parametrize("language", ["en", "zh"])
def test_both_readers_understand_the_feeds(language: Language) -> None:
    """An entry a day and an entry a breaking commit, newest first, with absolute addresses."""
    days = year(published(4, "Removes `--old`", breaking=("Removes `--old`",)), published(5), language=language)
    for write, titles in (
        (daily_feed, ["acme/engine · 2026-02-05", "acme/engine · 2026-02-04"]),
        (breaking_feed, ["Removes --old (aaaaaaa)"]),
    ):
        text = write([days], ADDRESSES)
        one, other = feedparser.parse(text), atoma.parse_atom_bytes(text.encode())
        assert not one.bozo
        assert [each.title for each in one.entries] == [each.title.value for each in other.entries]
        assert [each.title[: len(title)] for each, title in zip(one.entries, titles, strict=True)] == titles
        assert [each.id for each in one.entries] == [each.id_ for each in other.entries]
        assert all(each.link.startswith("https://") for each in one.entries)
        assert one.feed.id.startswith("tag:github.com,2026:vllm-digest/acme/engine/")
        assert other.links[-1].rel == "self"


def test_entries_keep_their_ids_and_times() -> None:
    """A day that is added or changed leaves the other entries as they were."""
    first = feedparser.parse(daily_feed([year(published(4), published(5))], ADDRESSES))
    later = feedparser.parse(daily_feed([year(published(4), published(5, "x", updated=9), published(6))], ADDRESSES))
    assert {each.id for each in first.entries} < {each.id for each in later.entries}
    assert later.entries[2] == first.entries[1]
    assert [each.updated for each in later.entries] == [
        "2026-02-07T09:00:00+00:00",
        "2026-02-09T09:00:00+00:00",
        "2026-02-05T09:00:00+00:00",
    ]


@pytest.mark.parametrize("days", [[published(4)], [published(4), published(5, breaking=("Removes `--old`",))]])
def test_the_same_days_give_the_same_bytes(days: list[PublishedDay]) -> None:
    """No feed has the time of its writing, not even one without entries."""
    feeds = [(daily_feed([year(*days)], ADDRESSES), breaking_feed([year(*days)], ADDRESSES)) for _ in range(2)]
    assert feeds[0] == feeds[1]
    assert "<updated>2026-02-0" in feeds[0][1].partition("<entry>")[0]


def test_a_commit_is_one_entry() -> None:
    """One that landed late, and is in two days' reports, is of the first."""
    days = year(published(4, breaking=("Removes `--old`",)), published(5, breaking=("Removes `--old`",)))
    entries = feedparser.parse(breaking_feed([days], ADDRESSES)).entries
    assert [each.updated for each in entries] == ["2026-02-05T09:00:00+00:00"]


def test_text_of_a_commit_is_no_markup() -> None:
    """Readers that show an entry's content as HTML show the text as it was written."""
    text = breaking_feed([year(published(4, HOSTILE, breaking=(HOSTILE,)))], ADDRESSES)
    entry = atoma.parse_atom_bytes(text.encode()).entries[0]
    assert entry.content
    assert "<script" not in entry.content.value
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; <code>a&lt;b&gt;</code> ]]&gt; ⟨U+202E⟩" in entry.content.value


def test_the_feed_has_a_month_of_days() -> None:
    """Older days are in the index."""
    days = [published(number) for number in range(1, 28)]
    older = [each.model_copy(update={"date": date(2025, 12, number)}) for number, each in enumerate(days, 1)]
    assert len(feedparser.parse(daily_feed([year(*days), year(*older)], ADDRESSES)).entries) == 31
